# SPDX-License-Identifier: MPL-2.0
# redis.tcl --
#
#       A Redis server of a test's own.
#
#       redis::reason              why there can be none here; "" if there can
#       redis::create ?OPTION ...? a directory and ports; options of redis-server
#       redis::start, redis::stop  both return when it is done
#       redis::pause, redis::resume  SIGSTOP and SIGCONT
#       redis::cli WORD ...        what redis-cli prints
#       redis::say LINE            the same, for words that exec would take for its own
#       redis::finish              stops it and removes everything
#
#       It listens at $redis::port, and at the socket $redis::dir/socket.

package require Tcl 8.6

namespace eval redis {
    variable dir ""
    variable port ""
    variable pid ""
    variable options {}
}

proc redis::reason {} {
    foreach program {redis-server redis-cli} {
        if {[auto_execok $program] eq ""} { return "there is no $program" }
    }
    if {![file exists $harness::root/nsredis/nsredis.so]} { return "built without hiredis" }
    return ""
}

proc redis::create {args} {
    variable dir [string trim [exec mktemp -d --tmpdir nsd-redis-XXXXXX]]
    variable port [freePort]
    variable options $args
}

proc redis::start {} {
    variable dir
    variable port
    variable pid
    variable options
    set pid [exec redis-server --bind 127.0.0.1 --port $port --unixsocket $dir/socket --dir $dir \
        --save "" --appendonly no --daemonize no --logfile $dir/log {*}$options &]
    if {[catch {waitFor {![catch {redis::cli ping}]}} message]} {
        catch {readFile $dir/log} log
        error "$message\nRedis says:\n[string range $log end-2000 end]"
    }
}

proc redis::cli {args} {
    variable dir
    exec redis-cli -s $dir/socket {*}$args 2>@1
}

proc redis::say {line} {
    variable dir
    exec redis-cli -s $dir/socket << $line 2>@1
}

proc redis::pause {} { exec kill -STOP $redis::pid }
proc redis::resume {} { exec kill -CONT $redis::pid }

proc redis::stop {} {
    variable pid
    if {$pid eq ""} return
    catch {exec kill -CONT $pid}
    catch {exec kill -KILL $pid}
    waitFor {![file exists /proc/$::redis::pid] || [string match "* Z *" [readFile /proc/$::redis::pid/stat]]}
    set pid ""
}

proc redis::finish {} {
    variable dir
    stop
    file delete -force $dir
}
