#!/bin/sh
# A plan is decided by what is on record: the same command again measures nothing,
# looks at nothing and writes the same bytes, whatever the mix.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"

is_built() { # TARGET
	"$MARQ" targets 2>/dev/null | grep -q "^$1  *ok"
}

for model in tiny tiny-encoder; do
	run model make $model -o $model.onnx -q
	expect_status 0
	for mix in 'dnnl host' 'dnnl xnnpack blas host' 'mrvl xnnpack host'; do
		targets=
		for target in $mix; do
			is_built $target && targets="$targets -t $target"
		done
		rm -f t.db
		for i in 1 2 3; do
			rm -rf out.marq
			run search $model.onnx $targets --db t.db -o out.marq
			expect_status 0
			cp out.marq/result.json $i.json
			[ $i = 1 ] && continue
			expect_in out ' 0 measured'
			expect_not_in out 'probed'
			cmp -s 1.json $i.json || {
				fail "$model, $mix: result.json of run $i differs"
				diff 1.json $i.json | head -n 10
			}
		done
	done
done

# Results of programs before this one are read: in version 2 some fields had other
# names, in version 1 what a price rests on was not told.
sed -e 's|marq.result/3|marq.result/2|' -e 's/"substitute_/"rival_/g' \
	-e 's/"single_composite"/"lone"/' -e 's/"onloaded"/"left"/' \
	-e 's/"offloaded"/"gained"/' out.marq/result.json >2.json
sed -e 's|marq.result/2|marq.result/1|' -e '/"unpriced"/d' \
	-e 's/"basis": "[a-z]*", //' -e '/"basis":/d' 2.json >1.json
for version in 2 1; do
cp $version.json out.marq/result.json
expect_in out.marq/result.json "marq.result/$version"
run report out.marq -o old$version.html
expect_status 0
run search $model.onnx $targets --db t.db -o none --replay out.marq/result.json
expect_status 0
expect_in out 'by replay'
run explain out.marq --all --db t.db
expect_status 0
run compare out.marq out.marq --db t.db
expect_status 0
done
sed 's|marq.result/2|marq.result/4|' 2.json >out.marq/result.json
run report out.marq -o new.html
expect_status 3
expect_in err 'schema "marq.result/4", want "marq.result/3"'
done_testing
