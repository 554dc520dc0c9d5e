# SPDX-License-Identifier: MPL-2.0
# Completion for fish: options of nsd, and what `nsd ctl` can be asked.  Both come
# from the program: the usage text, its help, and what the running server says.

# The words of a list at the end of a sentence of the program.
function __nsd_listed
    string match -r 'it is one of .*' -- $argv | string replace 'it is one of ' '' | string split ', '
end

# Words, each with a tab and what it means, for the word at the cursor.
function __nsd_words
    set -l words (commandline -opc)
    set -l program $words[1]
    switch "$words[-1]"
        case -t -B -r --socket --logs
            __fish_complete_path (commandline -ct)
            return
        case --init
            __fish_complete_directories (commandline -ct)
            return
        case -u
            __fish_complete_users
            return
        case -g
            __fish_complete_groups
            return
        case --help
            __nsd_listed ($program --help '?')
            return
    end
    if not contains -- ctl $words[2]
        $program -h 2>&1 | string match -r '^  (?:-[-a-zA-Z]+|ctl) .*' | string replace -r '^  (\S+) +(.*)' '$1\t$2'
        return
    end
    set -l options
    set -l command
    set -l i 3
    while test $i -le (count $words)
        switch $words[$i]
            case -s --server
                test $i -lt (count $words); or set command --server
                set i (math $i + 1)
            case -t --socket
                set options $options $words[$i] $words[(math $i + 1)]
                set i (math $i + 1)
            case '-*'
            case '*'
                set command $words[$i]
                break
        end
        set i (math $i + 1)
    end
    switch "$command"
        case '' help
            $program --help ctl | string match -r '^  [a-z]+ .*' | string replace -r '^  (\S+) +(.*)' '$1\t$2'
            test -n "$command"; or printf '%s\n' -t --socket --server --json
        case --server
            $program ctl $options names servers 2>/dev/null
        case roll
            $program ctl $options names sinks 2>/dev/null
        case stats
            __nsd_listed ($program ctl $options stats '?' 2>&1)
        case get set
            __nsd_listed ($program ctl $options get '?' 2>&1)
        case stack cancel
            $program ctl $options requests 2>/dev/null | string match -r '\bcns[0-9]+\b'
        case log
            $program ctl $options log 2>/dev/null | string replace -r ' .*' ''
            printf '%s\n' sinks leftovers forget
        case drain
            printf '%s\n' on off
        case requests
            printf '%s\n' --slow
        case slowest
            printf '%s\n' --errors --since
        case reload
            printf '%s\n' --dry-run --libraries
        case stop
            printf '%s\n' -timeout
    end
end

complete -c nsd -f -a '(__nsd_words)'
