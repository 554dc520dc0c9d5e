# SPDX-License-Identifier: MPL-2.0
# Completion for bash: options of nsd, and what `nsd ctl` can be asked.  Both come
# from the program: the usage text, its help, and what the running server says.

_nsd() {
    local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
    local words i=2 options=() command=
    case $previous in
        -t | -B | -r | --socket | --logs) compopt -o filenames 2>/dev/null
            COMPREPLY=($(compgen -f -- "$word")); return ;;
        --init) COMPREPLY=($(compgen -d -- "$word")); return ;;
        -u) COMPREPLY=($(compgen -u -- "$word")); return ;;
        -g) COMPREPLY=($(compgen -g -- "$word")); return ;;
        --help) COMPREPLY=($(compgen -W "$("$program" --help '?' | sed -n 's/.*it is one of //p' | tr -d ,)" -- "$word")); return ;;
    esac
    if [ "${COMP_WORDS[1]}" != ctl ] || [ "$COMP_CWORD" -lt 2 ]; then
        words=$("$program" -h 2>&1 | sed -n 's/^  \(-[-a-zA-Z]*\|ctl\) .*/\1/p')
        COMPREPLY=($(compgen -W "$words" -- "$word"))
        return
    fi
    while [ $i -lt "$COMP_CWORD" ]; do
        case ${COMP_WORDS[i]} in
            -s | --server) [ $((i + 1)) -ne "$COMP_CWORD" ] || command=--server
                i=$((i + 1)) ;;
            -t | --socket) options+=("${COMP_WORDS[i]}" "${COMP_WORDS[i+1]}"); i=$((i + 1)) ;;
            -*) ;;
            *) command=${COMP_WORDS[i]}; break ;;
        esac
        i=$((i + 1))
    done
    case $command in
        "") words="-t --socket --server --json $("$program" --help ctl | sed -n 's/^  \([a-z]*\) .*/\1/p')" ;;
        help) words=$("$program" --help ctl | sed -n 's/^  \([a-z]*\) .*/\1/p') ;;
        --server) words=$("$program" ctl "${options[@]}" names servers 2>/dev/null) ;;
        roll) words=$("$program" ctl "${options[@]}" names sinks 2>/dev/null) ;;
        stats) words=$("$program" ctl "${options[@]}" stats '?' 2>&1 | sed -n 's/.*it is one of //p' | tr -d ,) ;;
        get | set) words=$("$program" ctl "${options[@]}" get '?' 2>&1 | sed -n 's/.*it is one of //p' | tr -d ,) ;;
        stack | cancel) words=$("$program" ctl "${options[@]}" requests 2>/dev/null | grep -o '\<cns[0-9]*\>') ;;
        log) words="$("$program" ctl "${options[@]}" log 2>/dev/null | sed 's/ .*//') sinks leftovers forget" ;;
        drain) words="on off" ;;
        requests) words=--slow ;;
        slowest) words="--errors --since" ;;
        reload) words="--dry-run --libraries" ;;
        stop) words=-timeout ;;
        *) words= ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -F _nsd nsd
