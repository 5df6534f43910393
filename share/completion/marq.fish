# Fish completion for marq. Commands, verbs and options come from the program's
# own help, so this never goes stale.
function __marq_list # TITLE [COMMAND]: "name<tab>what" of the block under TITLE
	marq $argv[2..-1] --help 2>/dev/null |
		awk -v title="$argv[1]:" '$0 == title { on = 1; next } on && NF == 0 { exit }
			on { name = $1; $1 = ""; print name "\t" substr($0, 2) }'
end

function __marq_words
	set -l words (commandline -opc)
	if test (count $words) -eq 2
		__marq_list Verbs $words[2]
	end
	set -l verb
	if test (count $words) -gt 2; and contains -- $words[3] (__marq_list Verbs $words[2] | cut -f 1)
		set verb $words[3]
	end
	marq $words[2] $verb --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u
end

complete -c marq -n '__fish_is_first_arg' -f -a '(__marq_list Commands)'
complete -c marq -n 'not __fish_is_first_arg' -a '(__marq_words)'
