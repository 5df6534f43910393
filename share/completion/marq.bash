# Bash completion for marq. Commands and options come from the program's own
# help, so this never goes stale.
_marq_commands() {
	"$1" --help 2>/dev/null |
		awk '/^Commands:/ { on = 1; next } on && NF == 0 { exit } on { print $1 }'
}

_marq_options() {
	"$1" "$2" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u
}

_marq() {
	local current=${COMP_WORDS[COMP_CWORD]}
	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_marq_commands "$1")" -- "$current")
	elif [[ $current == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W \
			"$(_marq_options "$1" "${COMP_WORDS[1]}")" -- "$current")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
	fi
}
complete -o filenames -F _marq marq
