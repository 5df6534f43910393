#!/bin/sh
# marq solve: problems from files, searchers by name, faults by place.
. "$MARQ_SOURCE/tests/cli/lib.sh"

# Two nodes in a row; target b is cheaper for both but pays for a conversion
# and a launch.
cat >problem.json <<'END'
{"schema": "marq.problem/1",
 "formats": ["plain", "packed"],
 "targets": [{"name": "a"}, {"name": "b", "launch": 5}],
 "conversions": [[[0, 3], [3, 0]]],
 "values": [{"class": 0, "initial": [0]}, {"class": 0},
            {"class": 0, "required": [0]}],
 "nodes": [{"inputs": [0], "outputs": [1]}, {"inputs": [1], "outputs": [2]}],
 "candidates": [
  {"target": 0, "cost": 10, "nodes": [0], "inputs": [[0, 0]], "outputs": [[1, 0]]},
  {"target": 0, "cost": 10, "nodes": [1], "inputs": [[1, 0]], "outputs": [[2, 0]]},
  {"target": 1, "cost": 2, "nodes": [0], "inputs": [[0, 1]], "outputs": [[1, 1]]},
  {"target": 1, "cost": 2, "nodes": [1], "inputs": [[1, 1]], "outputs": [[2, 1]]}]}
END
run solve problem.json
expect_status 0
expect_in out "cost         15 ns"
expect_in out "(proven optimal)"
for searcher in beam greedy eager brute single:b; do
	run solve --search $searcher problem.json
	expect_status 0
done
run solve --search single:a problem.json
expect_in out "cost         20 ns"
run solve --search guess problem.json
expect_status 2
expect_in err "no searcher 'guess'"
run solve --format json problem.json
expect_status 0
expect_in out '"cost": 15'
run solve missing.json
expect_status 7
sed 's/"target": 1/"target": 9/' problem.json >wrong.json
run solve wrong.json
expect_status 3
expect_in err "candidate 2: target 9 of 2"
sed 's/"cost": [0-9]*, "nodes": \[0\]/"cost": null, "nodes": [0]/' problem.json >none.json
run solve none.json
expect_status 1
expect_in out "no legal cover exists"
expect_in out "infeasible   node 0: candidate 0 has no cost; candidate 2 has no cost"
run solve --format json none.json
expect_status 1
expect_in out '"infeasible": "node 0: candidate 0 has no cost'

# Why there is no cover: each constraint named is needed for that.
sed 's/"name": "b", /"name": "b", "capacity": 3, /; s/"target": 1, /&"resource": 2, /' problem.json |
	sed 's/"target": 0, /&"banned": true, /' >pinned.json
run solve pinned.json
expect_status 1
expect_in out "infeasible   no cover while target 'b' has capacity 3 and candidate 0 is banned and candidate 1 is banned"
sed 's/"target": 0, "cost": 10, "nodes": \[1\]/"target": 9, "nodes": [1]/; /"target": 9/d' problem.json |
	sed 's/"target": 1, "cost": 2, "nodes": \[1\]/"target": 0, "banned": true, "cost": 2, "nodes": [1]/' >banned.json
run solve banned.json
expect_status 1
expect_in out "infeasible   node 1: candidate 2 is banned"

# Each stage says what it found.
run solve --trace=search problem.json
expect_status 0
expect_in err "search: plain       below any: a cover"
expect_in err "bound 15, incumbent 15"
run solve --trace=plan problem.json
expect_status 2

# The worked examples of transfers and of a capacity (search/README.md).
cat >transfers.json <<'END'
{"schema": "marq.problem/1",
 "formats": ["plain", "chip"], "local": [1],
 "targets": [{"name": "a"}, {"name": "b"}],
 "conversions": [[[0, 3], [4, 0]]],
 "values": [{"class": 0, "initial": [0]}, {"class": 0}, {"class": 0}, {"class": 0, "required": [0]}],
 "nodes": [{"inputs": [0], "outputs": [1]}, {"inputs": [1], "outputs": [2]}, {"inputs": [0, 2], "outputs": [3]}],
 "candidates": [
  {"target": 0, "cost": 20, "nodes": [0], "inputs": [[0, 0]], "outputs": [[1, 0]]},
  {"target": 0, "cost": 5, "nodes": [1], "inputs": [[1, 0]], "outputs": [[2, 0]]},
  {"target": 0, "cost": 20, "nodes": [2], "inputs": [[0, 0], [2, 0]], "outputs": [[3, 0]]},
  {"target": 1, "cost": 2, "nodes": [0], "inputs": [[0, 1]], "outputs": [[1, 1]]},
  {"target": 1, "cost": 2, "nodes": [2], "inputs": [[0, 1], [2, 1]], "outputs": [[3, 1]]}]}
END
run solve transfers.json
expect_status 0
expect_in out "cost         26 ns"
expect_in out "steps        3 in 3 runs, 5 conversions"
cat >capacity.json <<'END'
{"schema": "marq.problem/1",
 "formats": ["f"],
 "targets": [{"name": "a"}, {"name": "b", "capacity": 5}],
 "values": [{"initial": [0]}, {}, {}, {"required": [0]}],
 "nodes": [{"inputs": [0], "outputs": [1]}, {"inputs": [1], "outputs": [2]}, {"inputs": [2], "outputs": [3]}],
 "candidates": [
  {"target": 0, "cost": 10, "nodes": [0], "inputs": [[0, 0]], "outputs": [[1, 0]]},
  {"target": 0, "cost": 10, "nodes": [1], "inputs": [[1, 0]], "outputs": [[2, 0]]},
  {"target": 0, "cost": 10, "nodes": [2], "inputs": [[2, 0]], "outputs": [[3, 0]]},
  {"target": 1, "cost": 1, "nodes": [0], "inputs": [[0, 0]], "outputs": [[1, 0]], "resource": 4},
  {"target": 1, "cost": 4, "nodes": [1], "inputs": [[1, 0]], "outputs": [[2, 0]], "resource": 2},
  {"target": 1, "cost": 5, "nodes": [2], "inputs": [[2, 0]], "outputs": [[3, 0]], "resource": 3}]}
END
run solve capacity.json
expect_status 0
expect_in out "cost         19 ns"
sed 's/, "capacity": 5//' capacity.json >free.json
run solve free.json
expect_status 0
expect_in out "cost         10 ns"

# A port that nothing feeds, and numbers that are none.
sed 's/"inputs": \[\[1, 0\]\]/"inputs": [[0, 0], [1, 0]]/' problem.json >port.json
run solve port.json
expect_status 3
expect_in err "candidate 1: inputs[0]: value 0 is read by none of its nodes"
sed 's/"cost": 10/"cost": 010/' problem.json >octal.json
run solve octal.json
expect_status 3
expect_in err "no such number"
sed 's/"cost": [0-9]*/"cost": 2305843009213693953/' problem.json >large.json
run solve large.json
expect_status 0
expect_in out "cost         4611686018427387906 ns"

# Device placement: 7 alone fits, and pays for its input and its output.
cat >placement.json <<'END'
{"maxSizePerFPGA": 10, "maxFPGAs": 1, "maxCPUs": 1,
 "nodes": [
  {"id": 5, "supportedOnFpga": 0, "cpuLatency": 1, "size": 0},
  {"id": 7, "supportedOnFpga": 1, "cpuLatency": 9, "fpgaLatency": 2, "size": 9},
  {"id": 6, "supportedOnFpga": 1, "cpuLatency": 3, "fpgaLatency": 1, "size": 9}],
 "edges": [
  {"sourceId": 5, "destId": 7, "cost": 0.5},
  {"sourceId": 7, "destId": 6, "cost": 0.25}]}
END
run solve --placement placement.json --dump-problem dumped.json
expect_status 0
expect_in out "cost         6750000 ns"
expect_in out "makespan     6750000 ns"
expect_in out "accelerator  candidate 2  nodes 7"
grep -v makespan out >direct
run solve --placement placement.json --format=json
expect_status 0
expect_in out '"makespan": 6750000'
sed 's/"maxFPGAs": 1/"maxFPGAs": 4/' placement.json >four.json
run solve --placement four.json
expect_status 0
expect_in err "one of the 4 accelerators is used"
run solve dumped.json
expect_status 0
cmp -s out direct || fail "the dumped problem is solved differently"
run solve --placement placement.json problem.json
expect_status 2
expect_in err "more than one problem"
sed 's/"cpuLatency": 9/"cpuLatency": -9/' placement.json >negative.json
run solve --placement negative.json
expect_status 3
expect_in err "nodes[1]: node 7: cpuLatency is -9"
run solve
expect_status 2
expect_in err "no problem given"
done_testing
