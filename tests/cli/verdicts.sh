#!/bin/sh
# A plan that was found right is not run again while all it depends on is the same:
# the plan, the bytes of the model, the program, how it is verified.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
"$MARQ_BUILD/tests/standin_model" net.onnx cs || exit 1

search() { # MODEL OPTIONS...
	rm -rf out.marq
	run search -t host --db t.db -o out.marq "$@"
	expect_status 0
	expect_in out 'verified: max error'
}
anew() {
	expect_not_in out '(on record)'
}
# Its words in the database.
edit() { # VALUE
	python3 - "$1" <<'END' || fail 'no verdict in the database'
import sqlite3, sys
db = sqlite3.connect("t.db")
n = db.execute("UPDATE meta SET v = ? WHERE k LIKE 'text.%'", sys.argv[1:]).rowcount
db.commit()
raise SystemExit(n == 0)
END
}

search net.onnx
anew
cp out.marq/result.json first.json
search net.onnx
expect_in out '(on record)'
cmp -s first.json out.marq/result.json || fail 'another result'
cp net.onnx other-name.onnx
search other-name.onnx
expect_in out '(on record)'

# The same shapes and so the same prices, another weight.
python3 - <<'END' || fail 'the model has no weight 1.0'
data = open("net.onnx", "rb").read()
changed = data.replace(b"\x4a\x04\x00\x00\x80\x3f", b"\x4a\x04\x00\x00\xc0\x3f")
open("changed.onnx", "wb").write(changed)
raise SystemExit(changed == data)
END
search changed.onnx
expect_in out ' 0 measured'
anew
search net.onnx
expect_in out '(on record)'

# Words that nobody wrote are none, whatever they say.
for words in '' right right: 'right:nan' 'right:-1' 'right:1e999' 'right:0x' 'wrong:0' \
	'right :0' "right:$(printf %04000d 0)x"; do
	edit "$words"
	search net.onnx
	anew
done
search net.onnx
expect_in out '(on record)'

done_testing
