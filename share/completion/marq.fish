# Fish completion for marq. Commands and options come from the program's own
# help, so this never goes stale.
function __marq_commands
	marq --help 2>/dev/null | awk '/^Commands:/ { on = 1; next } on && NF == 0 { exit }
		on { name = $1; $1 = ""; print name "\t" substr($0, 2) }'
end

function __marq_options
	set -l words (commandline -opc)
	marq $words[2] --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u
end

complete -c marq -n '__fish_is_first_arg' -f -a '(__marq_commands)'
complete -c marq -n 'not __fish_is_first_arg' -a '(__marq_options)'
