# Bash completion for marq. Commands, verbs and options come from the program's
# own help, so this never goes stale.
_marq_list() { # MARQ TITLE [COMMAND]: first words of the block under TITLE
	local marq=$1 title=$2
	shift 2
	"$marq" "$@" --help 2>/dev/null |
		awk -v title="$title:" '$0 == title { on = 1; next }
			on && NF == 0 { exit } on { print $1 }'
}

_marq_options() { # MARQ COMMAND [VERB]
	"$@" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u
}

_marq() {
	local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} verb= words
	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		words=$(_marq_list "$1" Commands)
	elif [[ $current == -* ]]; then
		if [ "$COMP_CWORD" -gt 2 ]; then
			verb=$(_marq_list "$1" Verbs "$command" | grep -Fx -- "${COMP_WORDS[2]}")
		fi
		words=$(_marq_options "$1" "$command" ${verb:+"$verb"})
	elif [ "$COMP_CWORD" -eq 2 ]; then
		words=$(_marq_list "$1" Verbs "$command")
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return
	fi
	mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o filenames -F _marq marq
