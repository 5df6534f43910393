#!/bin/sh
# Pictures are drawn of what lies beside them, links between our pages lead
# somewhere, and the programs that pages and scripts name are built by somebody.
. "$MARQ_SOURCE/tests/style/files.sh"
bad=0
fail() {
	echo "$1"
	bad=1
}
for source in docs/*.dot; do
	grep -qF "drawn of ${source#docs/}, cksum $(cksum <"$source") " "${source%.dot}.svg" ||
		fail "$source is newer than its picture: run tools/draw-docs"
done
for page in $(git ls-files '*.md'); do
	for link in $(grep -oE '\]\([^)#:]+(#[^)]*)?\)' "$page" | sed 's/^](//; s/[#)].*//'); do
		[ -e "$(dirname "$page")/$link" ] || fail "$page: no $link"
	done
done
{
	cut -d' ' -f2- "$MARQ_BUILD/tests/needs.txt" | tr ' ' '\n'
	git ls-files 'bench/*.c' | sed 's,^bench/\(.*\)\.c$,bench_\1,'
} >"$MARQ_BUILD/tests/programs.txt"
for name in $(git grep -hoE 'build/[a-z]+/(tests|bench)/[a-z0-9_]+' |
	sed 's,.*/,,' | sort -u); do
	case $name in
	bench_ | needs) continue ;; # bench_<name>, needs.txt
	esac
	grep -qx "$name" "$MARQ_BUILD/tests/programs.txt" ||
		fail "nothing builds the program $name that is named here:
$(git grep -nE "build/[a-z]+/(tests|bench)/$name\b")"
done
exit $bad
