# SPDX-License-Identifier: MPL-2.0
# status.tcl --
#
#       The figures of the running server that the start page shows.

namespace eval welcome {}

#
# A dict; durations are in microseconds, memory in bytes.
#
proc welcome::status {} {
    set status [dict create version [ns_info patchlevel] \
        uptime [ns_info uptime] requests 0 queued 0 waiting 0 \
        threads 0 idle 0 maxthreads 0]
    foreach pool [ns_server pools] {
        set stats [ns_server -pool $pool stats]
        set threads [ns_server -pool $pool threads]
        dict incr status requests [dict get $stats requests]
        dict incr status queued [dict get $stats queued]
        dict incr status waiting [ns_server -pool $pool waiting]
        dict incr status threads [dict get $threads current]
        dict incr status idle [dict get $threads idle]
        dict incr status maxthreads [dict get $threads max]
    }
    set histogram [ns_server histogram]
    foreach span {queue run} {
        foreach point {p50 p99} {
            set seconds [dict get $histogram $span $point]
            dict set status $span-$point [expr {round($seconds * 1e6)}]
        }
    }
    dict set status memory [Memory]
    return [dict merge $status [LogFigures]]
}

#
# Resident memory, from the kernel; 0 where it does not tell.
#
proc welcome::Memory {} {
    if {[catch {open /proc/self/status} channel]} {
        return 0
    }
    set text [read $channel]
    close $channel
    if {![regexp {VmRSS:\s+(\d+) kB} $text - kilobytes]} {
        return 0
    }
    return [expr {$kilobytes * 1024}]
}

#
# All sinks together.
#
proc welcome::LogFigures {} {
    set figures [dict create logengine direct sinks 0 delivered 0 pending 0 \
                     dropped 0 warnings 0 errors 0]
    if {[string is true -strict [ns_config ns/parameters asynclogwriter false]]} {
        dict set figures logengine threads
    }
    dict incr figures warnings [dict get [ns_logctl stats] Warning]
    dict incr figures errors [dict get [ns_logctl stats] Error]
    foreach sink [ns_logsink list] {
        dict incr figures sinks
        dict for {key value} [ns_logsink stats $sink] {
            switch -glob $key {
                delivered - pending { dict incr figures $key $value }
                dropped* { dict incr figures dropped $value }
            }
        }
    }
    return $figures
}

#
# A dict of numbers and words as a JSON object.
#
proc welcome::json {dict} {
    set members {}
    dict for {name value} $dict {
        if {![string is wideinteger -strict $value]} {
            set value "\"[string map {\\ \\\\ \" \\\" / \\/ < \\u003c} $value]\""
        }
        lappend members "\"$name\": $value"
    }
    return "{[join $members {, }]}\n"
}

#
# One figure as an entry of a <dl>; live.js formats it by its unit and keeps it up
# to date.  The label is HTML.
#
proc welcome::figure {status name label unit} {
    return "<div><dt>$label</dt><dd><b data-figure=\"$name\"\
        data-unit=\"$unit\">[ns_quotehtml [dict get $status $name]]</b></dd></div>"
}
