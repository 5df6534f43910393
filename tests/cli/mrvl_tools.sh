#!/bin/sh
# Marvell's compiler and simulator, played by scripts that work, refuse, fail,
# hang and leave garbage: what a user of `marq search` and `marq run` sees.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
mkdir bin
"$MARQ_BUILD/tests/standin_model" net.onnx || exit 1

# The compiler: a header as the real one writes it, inputs and outputs counted in
# the nodes file. Each call is noted.
cat >bin/tmlc <<'EOF'
#!/bin/sh
symbol=$1 nodes=$2 bin=$4
echo "$*" >>"$CALLS"
test -s "$3" || exit 9
count() { sed -n "s/.*\"num_subgraph_$1\": *\"\([0-9]*\)\".*/\\1/p" "$nodes"; }
put() { printf "$2" | dd of="$bin" bs=1 seek="$1" conv=notrunc 2>/dev/null; }
mkdir "bin_$symbol"
head -c 512 /dev/zero >"$bin"
put 0 'MRVL\002'
put 140 '\200'
put 343 '\003'
put 344 '\001'
put 345 "\\00$(count inputs)"
put 346 "\\00$(count outputs)"
put 360 '\002'
put 368 '\000\000\017'
EOF
# The simulator of a network that changes nothing.
cat >bin/mlsim <<'EOF'
#!/bin/sh
test -s "$1" && cp "$2" "$3-0.bin" && echo "total cycles: 12" && echo "total cycles: 4000"
EOF
chmod +x bin/tmlc bin/mlsim
PATH="$work/bin:$PATH"
CALLS="$work/calls"
export CALLS PATH
tmlc='tmlc {symbol} {nodes} {consts} {bin} {opts}'
mlsim='mlsim {bin} {in} {out}'
both="mrvl:num_tiles=4,tmlc=$tmlc,mlsim=$mlsim"
pins='--pin op:MaxPool=mrvl --pin op:Conv=mrvl'
search() { # TARGET more... (verifying a plan calls the simulator, too)
	target=$1
	shift
	: >calls
	run search net.onnx -t "$target" -t host --db prices.db --no-verify $pins "$@"
}
leaves_nothing() {
	set -- "$TMPDIR"/marq-*
	[ ! -e "$1" ] || fail "left behind: $*"
}
mkdir tmp
export TMPDIR="$work/tmp"

# without a figure the price stays simulated, but it was compiled
search "$both" -o plain
expect_status 0
expect_in plain/result.json '"tmlc": "tmlc {symbol}'
expect_in plain/result.json '"tmlc_files"'
expect_in plain/provenance.json 'compiled: 2 layers, 0 B code, 0 B data, tiles 0-3; cycles rest on'
expect_in plain/provenance.json '"origin": "external tool now", "source": "simulated"'
expect_lines 3 calls
grep -q -- '-arch=mlip -quantize=fp16 .*-num_tiles=4' calls || fail 'no options'
leaves_nothing

# with one, prices are the tools'; a comma in it is written \,
latency='latency=cycles: ([0-9]{1\,9})$,ns_per_unit=0.5'
search "$both,$latency" -o external
expect_status 0
expect_in external/result.json '"prices": "external"'
expect_in external/provenance.json '"source": "external"'
# two layers alone and both as one region, which costs no more than one of them
expect_in external/result.json '"ns": 2000'
expect_in external/result.json '"parts_ns": 4000, "whole_ns": 2000'
expect_in external/report.md 'external'
expect_lines 3 calls
# remembered: the tools are not called again
search "$both,$latency" -o again
expect_status 0
expect_lines 0 calls
expect_in again/provenance.json '"origin": "database", "source": "external"'
expect_in again/provenance.json 'compiled: 2 layers'
# another build of a tool is another tool
echo '# newer' >>bin/mlsim
search "$both,$latency" -o none
expect_lines 3 calls
leaves_nothing
# what is feasible alone need not be as a region: then there are two
search "mrvl:tmlc=(! grep -q Conv2D {nodes} || ! grep -q Maxpool2D {nodes}) && $tmlc" -o cut
expect_status 0
expect_in cut/result.json '"whole_ns": null'
expect_in out 'mrvl'
cat out

# run: outputs are the simulator's
run run net.onnx -t "$both,$latency" -t host --db prices.db $pins --runs 3
expect_status 0
expect_in out 'matches the host reference'
cat >bin/mlsim2 <<'EOF'
#!/bin/sh
n=$(wc -c <"$2")
head -c "$n" /dev/zero >"$3-0.bin"
EOF
chmod +x bin/mlsim2
lying="mrvl:tmlc=$tmlc,mlsim=mlsim2 {bin} {in} {out}"
run run net.onnx -t "$lying" -t host --db none --no-measure --no-verify $pins --runs 3
expect_status 1
expect_in out 'DIFFERS'
# and such a plan is not written: what computes something else is barred, and
# the pins leave no other
run search net.onnx -t "$lying" -t host --db none --no-measure $pins -o lies
expect_status 1
expect_absent lies
run run net.onnx -t "mrvl:tmlc=$tmlc,mlsim=echo no licence; exit 4" -t host --db none --no-measure $pins
expect_status 4
expect_in err 'the simulator ended with status 4: no licence'
leaves_nothing

# every way to fail is recorded, costs one candidate, and is never chosen
outcome() { # COMMAND WORDS [more options of the target]
	: >calls
	run search net.onnx -t "mrvl:tmlc=$1${3-}" -t host --db failing.db -o bad --force --eager-pricing
	expect_status 0
	expect_in bad/provenance.json "$2"
	expect_not_in bad/result.json '"rule": "mrvl'
	leaves_nothing
}
outcome 'echo no such layer; exit 3 {nodes}' 'unsupported: the compiler ended with status 3: no such layer'
outcome 'kill -SEGV $$' 'crash: the compiler ended with status 139'
outcome 'sleep 60 & sleep 60' 'timeout: the compiler was not done after 1000 ms' ',tool_timeout=1'
outcome 'mkdir bin_{symbol}; echo what >{bin}' 'wrong result: binary of 5 bytes'
outcome 'true' 'wrong result: '
outcome 'mkdir bin_{symbol}; truncate -s 1073741825 {bin}' '1073741825 bytes, limit is 1073741824'
outcome "$tmlc" 'wrong result: differs from the reference' ',mlsim=mlsim2 {bin} {in} {out}'
outcome "$tmlc" 'wrong result: output 0 has 3 bytes' ',mlsim=echo no >{out}-0.bin'
outcome "$tmlc" "wrong result: no latency in what it printed" ",mlsim=$mlsim,latency=fps ([0-9]+)"
search 'mrvl:tmlc=(exit 3)' -o none
expect_status 1
expect_in err 'the compiler ended with status 3'
# a folder of one's own keeps what failed
mkdir kept
search "mrvl:tmlc=echo no; exit 3,tool_dir=$work/kept" -o none
expect_status 1
cat kept/*/compiler.log >said
expect_in said 'no'

# interrupted while a tool hangs: it is over at once, and with it what the tool's
# shell started
command='an interrupted search'
TOOL=$work/tool env --default-signal=INT "$MARQ" search net.onnx \
	-t 'mrvl:tool_timeout=1000,tmlc=sleep 1000 & echo $! >"$TOOL"; wait' \
	-t host --db none -o none -q --eager-pricing 2>err &
marq=$!
wait_until test -s tool || fail 'no tool was started'
kill -INT $marq
wait $marq
status=$?
expect_status 130
tool=$(cat tool)
wait_until is_gone "${tool:-self}" || fail 'the tool outlives it'
leaves_nothing

# what a command line gets wrong
refused() { # STATUS TARGET WORDS
	run targets check "$2"
	expect_status "$1"
	expect_in err "$3"
	expect_lines 1 err
}
refused 2 'mrvl:tmlc=tmlc {nose}' "unknown '{nose}' in a command; known are: {symbol}"
refused 2 'mrvl:tmlc=tmlc {in}' "unknown '{in}'"
refused 2 'mrvl:tmlc=tmlc a,b' "a comma inside a value is written \\,"
refused 4 'mrvl:tmlc=no-such-tool {nodes}' "tmlc: 'no-such-tool' is not there"
refused 2 'mrvl:tmlc=off,mlsim=mlsim {in}' 'mlsim needs tmlc'
refused 2 "mrvl:tmlc=$tmlc,latency=cycles" 'has no group'
refused 2 "mrvl:tmlc=$tmlc,latency=(" "latency: '('"
refused 2 "mrvl:tmlc=$tmlc,quantize=int8" 'quantize=int8'
refused 2 'mrvl:tool_timeout=0' 'tool_timeout'

# found on PATH without being named, and shown
run doctor
expect_in out 'no `mrvl-tmlc` on PATH'
run targets show mrvl
expect_in out 'tmlc=none'
printf '#!/bin/sh\nexit 3\n' >bin/mrvl-tmlc
chmod +x bin/mrvl-tmlc
run doctor
expect_in out "$work/bin/mrvl-tmlc"
run targets show mrvl
expect_in out 'tmlc=mrvl-tmlc -mn {symbol}'
run search net.onnx -t mrvl -t host --db none -o none --pin op:Conv=mrvl
expect_status 1
expect_in err 'the compiler ended with status 3'
run search net.onnx -t mrvl:tmlc=off -t host --db none -o none --pin op:Conv=mrvl
expect_status 0
done_testing
