#compdef nsd
# SPDX-License-Identifier: MPL-2.0
# Completion for zsh: options of nsd, and what `nsd ctl` can be asked.  Both come
# from the program: the usage text, its help, and what the running server says.

_nsd() {
    local program=${(Q)words[1]} command= i=3
    local -a options list
    case $words[CURRENT-1] in
        -t | -B | -r | --socket | --logs) _files; return ;;
        --init) _files -/; return ;;
        -u) _users; return ;;
        -g) _groups; return ;;
        --help) list=($($program --help '?' | sed -n 's/.*it is one of //p' | tr -d ,)); compadd -a list; return ;;
    esac
    if [[ $words[2] != ctl ]] || (( CURRENT == 2 )); then
        list=(${(f)"$($program -h 2>&1 | sed -n 's/^  \(-[-a-zA-Z]*\|ctl\) \(.*\)/\1:\2/p' | sed 's/:  */:/')"})
        _describe -o 'option' list
        return
    fi
    while (( i < CURRENT )); do
        case $words[i] in
            -s | --server) (( i + 1 == CURRENT )) && command=--server; (( i++ )) ;;
            -t | --socket) options+=($words[i] ${(Q)words[i+1]}); (( i++ )) ;;
            -*) ;;
            *) command=$words[i]; break ;;
        esac
        (( i++ ))
    done
    case $command in
        "" | help)
            list=(${(f)"$($program --help ctl | sed -n 's/^  \([a-z]*\) \(.*\)/\1:\2/p' | sed 's/:  */:/')"})
            [[ $command == help ]] || list+=(-t:'configuration file' --socket:'socket of the server' \
                --server:'server in whose interpreter scripts run' --json:'reply in JSON')
            _describe -o 'command' list
            return ;;
        --server) list=(${(f)"$($program ctl $options names servers 2>/dev/null)"}) ;;
        roll) list=(${(f)"$($program ctl $options names sinks 2>/dev/null)"}) ;;
        stats) list=($($program ctl $options stats '?' 2>&1 | sed -n 's/.*it is one of //p' | tr -d ,)) ;;
        get | set) list=($($program ctl $options get '?' 2>&1 | sed -n 's/.*it is one of //p' | tr -d ,)) ;;
        stack | cancel) list=($($program ctl $options requests 2>/dev/null | grep -o '\<cns[0-9]*\>')) ;;
        log) list=($($program ctl $options log 2>/dev/null | sed 's/ .*//') sinks leftovers forget) ;;
        drain) list=(on off) ;;
        requests) list=(--slow) ;;
        slowest) list=(--errors --since) ;;
        reload) list=(--dry-run --libraries) ;;
        stop) list=(-timeout) ;;
    esac
    compadd -a list
}

_nsd "$@"
