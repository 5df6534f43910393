#!/bin/sh
# marq model: make writes what info and check read; check finds all faults.
. "$MARQ_SOURCE/tests/cli/lib.sh"

run model make resnet50 --weights constant -o r.onnx
expect_status 0
run model info r.onnx
expect_status 0
expect_in out 'mrvl'
run model info r.onnx -t host
expect_status 0
grep -q '^parameters  256' out || fail "25.6 million parameters expected"
grep -q '^Conv  *53 ' out || fail "53 convolutions expected"
grep -q '^work  *8\.' out || fail "8 GFLOP expected"
run model info r.onnx -t host --format json
expect_status 0
expect_json out
expect_in out '"schema": "marq.model/1"'

run model check r.onnx
expect_status 0
expect_in out 'valid, 0 warnings'

# Two nodes read what nobody makes, one is of an unknown type.
printf '%b' '\0010\0010:0\0012\0013\0012\0001a\0022\0001y\0042\0003Abs\0012\0013\0012\0001b\0022\0001z\0042\0003Neg\0012\0014\0012\0001x\0022\0001u\0042\0004Nope\0022\0001gZ\0003\0012\0001xB\0002\0020\0015' >bad.onnx
run model check bad.onnx
expect_status 3
[ "$(grep -c ': error: ' out)" = 3 ] || fail "three faults expected: $(cat out)"
expect_in out "(#2, Nope): no operator Nope in domain ai.onnx, version 13"
run model check --format json bad.onnx
expect_status 3
expect_json out
expect_in out '"valid": false'

# Outputs stated otherwise than a Dropout hands them on: a warning, or refused.
printf '%b' '\0010\0010\0072\0066\0012\0017\0012\0001\0170\0022\0001\0171\0042\0007\0104\0162\0157\0160\0157\0165\0164\0022\0001\0147\0132\0017\0012\0001\0170\0022\0012\0012\0010\0010\0001\0022\0004\0012\0002\0010\0004\0142\0017\0012\0001\0171\0022\0012\0012\0010\0010\0001\0022\0004\0012\0002\0010\0005\0102\0004\0012\0000\0020\0015' >wider.onnx
run model check wider.onnx
expect_status 0
expect_in out "stated float32[5] but is float32[4]; the latter is used"
run model check --strict wider.onnx
expect_status 3
expect_in out "(rule 'dropout-output', refused by --strict)"
run run wider.onnx -t host --no-measure --db none
expect_status 0
run run wider.onnx -t host --no-measure --db none --strict
expect_status 3
expect_in err 'refused by --strict'

run model check none.onnx
expect_status 7
run model info bad.onnx
expect_status 3
expect_lines 1 err
done_testing
