# monitor.tcl --
#
#       The views of nsstats.tcl: what the process does, as tables.

namespace eval welcome::monitor {
    # View -> its name in the navigation.
    variable views {
        pools     Pools
        requests  Requests
        threads   Threads
        locks     Locks
        logs      Logs
        caches    Caches
        jobs      Jobs
        scheduled Scheduled
        handlers  Handlers
    }
}

#
# May this request look?  ok, unauthorized (a user and password are configured, and
# these are others), forbidden (none are, and the client is on another machine), or
# disabled.
#
proc welcome::monitor::access {} {
    set section ns/module/nsstats
    if {![ns_config -bool $section enabled true]} { return disabled }
    set user [ns_config $section user ""]
    set password [ns_config $section password ""]
    if {$user ne "" || $password ne ""} {
        set isRight [expr {[ns_conn authuser] eq $user && [ns_conn authpassword] eq $password}]
        return [expr {$isRight ? "ok" : "unauthorized"}]
    }
    # A proxy on this machine passes on the requests of others.
    set isProxied [expr {[ns_set ifind [ns_conn headers] X-Forwarded-For] >= 0}]
    set isLocal [expr {[ns_conn peeraddr] in {127.0.0.1 ::1 ::ffff:127.0.0.1}}]
    return [expr {$isLocal && !$isProxied ? "ok" : "forbidden"}]
}

#
# A view as HTML, or empty if there is none of this name.
#
proc welcome::monitor::view {name} {
    variable views
    if {![dict exists $views $name]} { return "" }
    return "<h1>[dict get $views $name]</h1>\n[View-$name]"
}

#
# A table from a list of heads and a list of rows; all cells are text.
#
proc welcome::monitor::Grid {heads rows} {
    if {[llength $rows] == 0} { return "<p class=\"note\">None.</p>\n" }
    set html "<div class=\"scroll\"><table class=\"grid\">\n<tr>"
    foreach head $heads { append html "<th scope=\"col\">[ns_quotehtml $head]</th>" }
    append html "</tr>\n"
    foreach row $rows {
        append html "<tr>"
        foreach cell $row { append html "<td>[ns_quotehtml $cell]</td>" }
        append html "</tr>\n"
    }
    return "$html</table></div>\n"
}

proc welcome::monitor::Clock {seconds} {
    if {$seconds <= 0} { return "–" }
    return [clock format [expr {int($seconds)}] -format "%Y-%m-%d %H:%M:%S"]
}

#
# The mean of a sum of times, in milliseconds.
#
proc welcome::monitor::Mean {sum n} {
    return [expr {$n == 0 ? "–" : [format "%.3f ms" [expr {$sum * 1000.0 / $n}]]}]
}

proc welcome::monitor::ForPools {varNames body} {
    upvar 1 [lindex $varNames 0] server [lindex $varNames 1] pool
    foreach server [ns_info servers] {
        foreach pool [ns_server -server $server pools] { uplevel 1 $body }
    }
}

proc welcome::monitor::PoolName {pool} { return [expr {$pool eq "" ? "default" : $pool}] }

proc welcome::monitor::View-pools {} {
    set rows {}
    ForPools {server pool} {
        set stats [ns_server -server $server -pool $pool stats]
        set threads [ns_server -server $server -pool $pool threads]
        set n [dict get $stats requests]
        lappend rows [list $server [PoolName $pool] $n [dict get $stats queued] \
            [dict get $stats spools] [ns_server -server $server -pool $pool waiting] \
            "[dict get $threads current] of [dict get $threads max]" [dict get $threads idle] \
            [Mean [dict get $stats queuetime] $n] [Mean [dict get $stats filtertime] $n] \
            [Mean [dict get $stats runtime] $n]]
    }
    return [Grid {Server Pool Requests Queued {To writers} Waiting Threads Idle Queue Filter Run} $rows]
}

proc welcome::monitor::View-requests {} {
    set rows {}
    ForPools {server pool} {
        foreach request [ns_server -server $server -pool $pool all] {
            lappend rows [list $server [PoolName $pool] {*}$request]
        }
    }
    return [Grid {Server Pool Id Peer State Method URL Elapsed {Bytes sent}} $rows]
}

proc welcome::monitor::View-threads {} {
    set rows {}
    foreach thread [ns_info threads] {
        lassign $thread name parent id flags created proc
        lappend rows [list $name $parent $id [lindex $thread end] [Clock $created] $proc]
    }
    return [Grid {Name {Started by} Id {System's id} Since Procedure} [lsort -index 0 $rows]]
}

proc welcome::monitor::View-locks {} {
    set rows {}
    foreach lock [ns_info locks] {
        lassign $lock name - - nLock nBusy totalWait maxWait totalLock
        if {$nLock == 0} continue
        lappend rows [list $name $nLock $nBusy [format %.4f%% [expr {100.0 * $nBusy / $nLock}]] \
            $totalWait $maxWait $totalLock]
    }
    return [Grid {Name Taken Busy Share {Total wait} {Longest wait} {Total held}} \
        [lrange [lsort -integer -decreasing -index 1 [lsort -integer -decreasing -index 2 $rows]] 0 199]]
}

proc welcome::monitor::View-logs {} {
    set rows {}
    set keys {accepted delivered ignored pending bytes writes errors deepest longestwrite}
    foreach sink [ns_logsink list] {
        set stats [ns_logsink stats $sink]
        set row [list $sink]
        foreach key $keys { lappend row [dict get $stats $key] }
        lappend rows $row
    }
    set severities {}
    foreach {severity n} [ns_logctl stats] {
        lappend severities [list $severity $n [expr {[ns_logctl severity $severity] ? "on" : "off"}]]
    }
    return "<h2>Sinks</h2>\n[Grid {Sink Accepted Delivered Ignored Pending Bytes Writes Errors Deepest {Longest write}} $rows
        ]<h2>Severities</h2>\n[Grid {Severity Entries State} $severities]"
}

proc welcome::monitor::View-caches {} {
    set rows {}
    set keys {maxsize size entries hits missed hitrate expired pruned flushed}
    foreach cache [lsort [ns_cache_names]] {
        set stats [ns_cache_stats $cache]
        set row [list $cache]
        foreach key $keys { lappend row [dict get $stats $key] }
        lappend rows $row
    }
    return [Grid {Cache {Most bytes} Bytes Entries Hits Missed {Hit rate} Expired Pruned Flushed} $rows]
}

proc welcome::monitor::View-jobs {} {
    set queues {}
    set jobs {}
    foreach queue [ns_job queuelist] {
        set name [dict get $queue name]
        lappend queues [list $name [dict get $queue desc] [dict get $queue numrunning] \
            [dict get $queue maxthreads]]
        foreach job [ns_job joblist $name] {
            lappend jobs [list $name [dict get $job id] [dict get $job state] [dict get $job type] \
                [dict get $job time] [string range [dict get $job script] 0 200]]
        }
    }
    return "<h2>Queues</h2>\n[Grid {Queue Description Running {At most}} $queues
        ]<h2>Jobs</h2>\n[Grid {Queue Job State Type Milliseconds Script} $jobs]"
}

proc welcome::monitor::View-scheduled {} {
    set rows {}
    foreach event [ns_info scheduled] {
        set args [lassign $event id flags interval next - lastStart lastEnd proc]
        lappend rows [list $id $interval [Clock $next] [Clock $lastStart] [Clock $lastEnd] $proc \
            [string range $args 0 200]]
    }
    return [Grid {Id Interval Next {Last start} {Last end} Procedure Arguments} $rows]
}

proc welcome::monitor::View-handlers {} {
    set html ""
    foreach server [ns_info servers] {
        set rows {}
        foreach row [ns_server -server $server requestprocs] {
            set args [lassign $row method url filter inherit proc]
            lappend rows [list $method $url $filter $inherit $proc [string range $args 0 200]]
        }
        append html "<h2>[ns_quotehtml $server]</h2>\n" \
            [Grid {Method URL Pattern Inherit Procedure Arguments} $rows]
        set rows {}
        foreach row [ns_server -server $server filters] {
            set args [lassign $row method url when proc]
            lappend rows [list $when $method $url $proc [string range $args 0 200]]
        }
        append html "<h3>Filters</h3>\n" [Grid {When Method URL Procedure Arguments} $rows]
    }
    return $html
}
