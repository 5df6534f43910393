#!/bin/sh
# A backend that is not part of the core is known by its table alone: no file
# outside its folder includes its headers or has its name, but targets.def.
. "$MARQ_SOURCE/tests/style/files.sh"
bad=0
sources() {
	git ls-files '*.c' '*.h' '*.def' |
		grep -vE "^(tests|bench|tools)/|^targets/($1)/|^targets/targets\.def$"
}
if sources mrvl | xargs grep -niE 'mrvl|marvell'; then
	echo 'only targets/mrvl and targets.def name mrvl'
	bad=1
fi
# The host is the reference, and tells which functions it runs.
for kind in $(sed -n 's/^TARGET(\(.*\))$/\1/p' targets/targets.def | grep -vx host); do
	if sources "$kind" | xargs grep -n "#include \"targets/$kind/"; then
		echo "only targets/$kind includes its headers"
		bad=1
	fi
done
exit $bad
