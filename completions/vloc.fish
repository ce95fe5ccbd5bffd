# fish completion of vloc. `vloc completion complete` answers what is possible.

function __vloc_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct | string replace -ra '[\\\\"\']' '')
    set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
    set -l answer ($program completion complete -- $words[2..-1] "$current" 2>/dev/null)
    set -l head (string split \t -- $answer[1])
    # Fish replaces the whole word, with what is before the candidate in it, such as --to=es,
    for line in $answer[2..-1]
        printf '%s%s\n' "$head[2]" $line
    end
    # Without a command of that name, fish completes files.
    set -l paths (complete -C "'' "(commandline -ct | string replace -- "$head[2]" ''))
    switch "$head[1]"
        case files
            printf "$head[2]%s\n" $paths
        case folders
            printf "$head[2]%s\n" (string match -r '.*/$' -- $paths)
    end
end

# In the order of vloc: the newest job first.
complete -c vloc -f -k -a '(__vloc_complete)'
