#!/bin/sh
# A result that replaces one takes the large file that marq wrote there, when it is to have
# the same bytes: nothing is copied. A file that somebody has written to, that has
# another name or is none any more is written anew, and what it was is left alone.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
again() { # [OPTION...]
	run search m.onnx -t mrvl -t host --db p.db -o r.marq --force -q "$@"
	expect_status 0
	run verify r.marq
	expect_status 0
	before=$inode
	inode=$(stat -c %i r.marq/annotated.onnx)
}
same_bytes() { # WHEN
	cmp -s r.marq/annotated.onnx fresh/annotated.onnx || fail "$1: other bytes"
}
is_taken() { # WHEN
	[ "$inode" = "$before" ] || fail "$1: written anew"
	same_bytes "$1"
}
is_anew() { # WHEN
	[ "$inode" != "$before" ] || fail "$1: taken"
	same_bytes "$1"
}
inode=none
run model make squeezenet -o m.onnx -q
again
cp -r r.marq fresh
again
is_taken 'the same command'
again
is_taken 'once more'
# in place, and nothing to be seen of it but when the file changed
touch -r r.marq/annotated.onnx when
printf x | dd of=r.marq/annotated.onnx bs=1 seek=3000000 conv=notrunc 2>/dev/null
touch -r when r.marq/annotated.onnx
again
is_anew 'written to'
again
is_taken 'after that'
# another name: whoever has it may write to it later
ln r.marq/annotated.onnx mine.onnx
again
is_anew 'another name'
cmp -s mine.onnx fresh/annotated.onnx || fail 'the other name has lost its bytes'
mv r.marq/annotated.onnx away.onnx
ln -s ../away.onnx r.marq/annotated.onnx
again
is_anew 'a symbolic link'
[ ! -L r.marq/annotated.onnx ] || fail 'a symbolic link was taken'
rm r.marq/annotated.onnx
again
same_bytes 'none'
# other bytes, and back: a folder that is another's is not asked
again -t dnnl
! cmp -s r.marq/annotated.onnx fresh/annotated.onnx || fail 'an annotation without the new target'
again
same_bytes 'the first mix again'
run search m.onnx -t mrvl -t host --db p.db -o other.marq -q
expect_status 0
again
is_taken 'another folder between'
# killed when it had been linked
mkdir r.marq.tmp-4194305
ln r.marq/annotated.onnx r.marq.tmp-4194305
again
is_anew 'linked by one that was killed'
expect_absent r.marq.tmp-4194305
again
is_taken 'after a kill'
# no more than may be written
run search m.onnx -t mrvl -t host --db p.db -o r.marq --force -q --max-output 1MiB
expect_status 3
[ "$(stat -c %i r.marq/annotated.onnx)" = "$inode" ] || fail 'a failed search has replaced it'
same_bytes 'a failed search'
done_testing
