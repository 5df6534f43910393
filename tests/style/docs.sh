#!/bin/sh
# Pictures are drawn of what lies beside them, and links between our pages lead
# somewhere.
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
exit $bad
