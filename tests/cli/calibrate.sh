#!/bin/sh
# Probes for a board: whole models, names that come back in its statistics, and
# what the statistics cannot be.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
command=calibrate

"$MARQ" calibrate --probes probes 2>said || fail 'no probes'
sh -n probes/probes.sh || fail 'the script is no script'
for job in conv_h28w28c64o64k3g1_t8_fp16_pin fc_h1w1c512o1024k1g1_t8_fp16_stream \
	pool_h56w56c64o64k5g1_t8_fp16_pin conv_h28w28c64o64k3g64_t8_fp16_pin; do
	grep -q "^one $job " probes/probes.sh || fail "$job is not in the script"
	"$MARQ" search "probes/$job.onnx" -t mrvl -t host --no-measure \
		--db none -o "$job.marq" >/dev/null || fail "$job is no model"
	grep -q "\"symbol\": \"$job\"" "probes/$job-nodes.json" ||
		fail "$job has another name in its nodes"
done
"$MARQ" calibrate --probes probes 2>said && fail 'a folder is overwritten'

echo ' resnet50-Avg-HW-Latency-ns    = 12345' >stats.txt
"$MARQ" calibrate --from dpdk-stats stats.txt 2>said >/dev/null &&
	fail 'a fit to nothing'
grep -q 'no latency of a probe' said || fail 'the reason is not said'
"$MARQ" calibrate --from nonsense stats.txt 2>said >/dev/null &&
	fail 'a format that is none'
grep -q 'must be json or dpdk-stats' said || fail 'the formats are not said'
done_testing
