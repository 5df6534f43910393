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

run model check none.onnx
expect_status 7
run model info bad.onnx
expect_status 3
expect_lines 1 err
done_testing
