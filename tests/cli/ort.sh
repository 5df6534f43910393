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
done_testing
