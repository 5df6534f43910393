#!/bin/sh
# `cmake --install` into an empty root: the program works from there, and its
# manual pages and completions know every option of every command.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
command='cmake --install'
DESTDIR=$work/root cmake --install "$MARQ_BUILD" --prefix /usr >installed 2>&1 ||
	{ fail 'does not install'; cat installed; }
usr=$work/root/usr
MARQ=$usr/bin/marq
run --version
expect_status 0
run model make tiny -o tiny.onnx
expect_status 0
run search tiny.onnx -t mrvl -t host --db none --no-measure --search greedy
expect_status 0
[ -s tiny.marq/report.html ] || fail 'no report from an installed program'
run doctor
[ "$status" -le 1 ] || fail "status $status"
PATH=/nowhere "$MARQ" doctor >out 2>err
expect_in out 'no `mrvl-tmlc` on PATH'

for file in README.md CHANGELOG.md LICENSE; do
	[ -s "$usr/share/doc/marquetry/$file" ] || fail "no $file"
done
command=debian/
# Every file is in a Debian package, or named as one that is in none. (Plug-ins for
# runtimes are not built there.)
(cd "$work/root" && find usr -type f ! -path 'usr/lib/marq/*') |
	while read -r file; do
		cat "$MARQ_SOURCE"/debian/*.install "$MARQ_SOURCE/debian/not-installed" |
			while read -r entry; do
				# shellcheck disable=SC2254
				case $file in $entry | $entry/*) echo in ;; esac
			done | grep -q in || echo "$file"
	done >unpacked
[ ! -s unpacked ] || { fail 'files are in no package of debian/'; cat unpacked; }
# whatis finds a page by the one word its NAME begins with, and that is its file.
for page in "$usr"/share/man/man1/*.1; do
	name=$(sed -n '/^\.SH NAME/{n;s/ .*//;p;}' "$page")
	[ "$name" = "$(basename "$page" .1)" ] || fail "$page is about '$name'"
done

# Commands as the program's own table has them, options as its help has them.
"$MARQ" --help >help
awk '/^Commands:/ { on = 1; next } on && NF == 0 { exit } on { print $1 }' help >commands
[ "$(wc -l <commands)" = "$(grep -c '^COMMAND(' "$MARQ_SOURCE/cli/commands.def")" ] ||
	fail 'the help lacks commands'
PATH=$usr/bin:$PATH
cat >complete.bash <<'EOS'
. "$1"
shift
COMP_WORDS=(marq "$@") COMP_CWORD=$#
_marq marq
printf '%s\n' "${COMPREPLY[@]}" | sort -u
EOS
completed() { # WORD...: what bash offers for the last one
	bash complete.bash "$usr/share/bash-completion/completions/marq" "$@"
}
command='completion'
completed '' >out
sort commands | cmp -s - out || fail 'offers other commands'
completed model in | grep -qx info || fail 'offers no verbs'
completed db ver | grep -qx verify || fail 'offers no verbs of db'
manual=$usr/share/man/man1

# COMMAND [VERB]: every option of its help is offered and in the manual.
check_options() {
	command="marq $*"
	marq "$@" --help | grep -oE -- '^ +(-[a-zA-Z?], +)?--[a-z][a-z-]*' |
		grep -oE -- '--.*' | sort -u >options
	[ -s options ] || fail 'its help shows no options'
	completed "$@" -- >offered
	[ -z "$(comm -23 options offered)" ] ||
		fail "completion lacks $(comm -23 options offered | tr '\n' ' ')"
	page=$manual/marq-$(echo "$*" | tr ' ' -).1
	[ -d "$manual" ] || return
	[ -f "$page" ] || { fail "no $page"; return; }
	sed 's/\\-/-/g; s/\\f[A-Z]//g' "$page" >page
	for option in $(cat options); do
		grep -qE -- "$option([^a-z-]|$)" page || fail "the manual lacks $option"
	done
}
for name in $(cat commands); do
	[ "$name" = model ] || check_options "$name"
done
for verb in $(marq model --help | awk '/^Verbs:/ { on = 1; next } on && NF == 0 { exit } on { print $1 }'); do
	check_options model "$verb"
done
[ -d "$manual" ] || echo 'not checked: no manual pages (no help2man)'

# The other shells read what they are given, where they are installed.
for shell in zsh fish; do
	command -v $shell >/dev/null || { echo "not checked: no $shell"; continue; }
	case $shell in
	zsh) file=$usr/share/zsh/site-functions/_marq ;;
	fish) file=$usr/share/fish/vendor_completions.d/marq.fish ;;
	esac
	$shell -n "$file" || fail "$shell does not read its completion"
done
[ -s "$usr/share/zsh/site-functions/_marq" ] || fail 'no completion for zsh'
[ -s "$usr/share/fish/vendor_completions.d/marq.fish" ] || fail 'no completion for fish'
done_testing
