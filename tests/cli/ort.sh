#!/bin/sh
# ONNX Runtime as a plug-in.
. "$(dirname "$0")/runtime.sh"
# One that is older than what is needed says so.
if so=$(plain_name "$MARQ_BUILD/marq_ort.so") && [ -e "$so" ]; then
	cat >old.c <<-'EOS'
		struct base { const void *(*api)(unsigned); const char *(*version)(void); };
		static const void *api(unsigned n) { (void)n; return 0; }
		static const char *version(void) { return "1.10.0"; }
		const struct base *OrtGetApiBase(void);
		const struct base *OrtGetApiBase(void) { static const struct base b = {api, version}; return &b; }
	EOS
	cc -shared -fPIC -o libold.so old.c || exit 1
	run targets check "plugin:path=$so,library=$PWD/libold.so"
	expect_status 4
	expect_in err 'ONNX Runtime 1.10.0 is too old: 1.16 or newer is needed'
fi
runtime_tests ort onnxruntime_c_api.h 'ONNX Runtime' 1.
# An operator that is written out is offered as its author has it, too.
python3 "$MARQ_SOURCE/tests/support/authored.py" .25 3 scaler.onnx texts.onnx
run search scaler.onnx -t "plugin:path=$so" -t host --db prices.db --pin op:Sub=ort -o scaler
expect_status 0
expect_in scaler/result.json '"implementation": "authored/Scaler/'
grep -q Scaler scaler/ort/*.onnx || fail 'another model than was compiled'
run run scaler -t "plugin:path=$so" -t host --db prices.db --runs 3
expect_status 0
expect_in out "'y' matches the host reference"
run search texts.onnx -t "plugin:path=$so" -t host --db prices.db -o texts
expect_status 0
expect_not_in texts/result.json 'ort.region'
done_testing
