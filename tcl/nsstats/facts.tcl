# SPDX-License-Identifier: MPL-2.0
# facts.tcl --
#
#       What the kernel knows about this process, and the recent past: samples that
#       a scheduled procedure takes while the monitor is enabled.

namespace eval nsstats {
    # Samples that are kept, one each 5 seconds.
    variable historyLength 360
    # Ticks per second in /proc; the same for all that Linux shows to processes.
    variable ticks 100
}

proc nsstats::ReadFile {name} {
    if {[catch {open $name} channel]} { return "" }
    set code [catch {read $channel} text]
    close $channel
    return [expr {$code ? "" : $text}]
}

#
# State, and seconds in user and in system mode, of the process or of one of its
# threads; empty when it is gone.
#
proc nsstats::cpu {{task ""}} {
    variable ticks
    set file [expr {$task eq "" ? "/proc/self/stat" : "/proc/self/task/$task/stat"}]
    # The name, in parentheses, may contain anything.
    if {![regexp {.*\) (\S) (.*)} [ReadFile $file] - state rest]} { return "" }
    set user [lindex $rest 10]
    set system [lindex $rest 11]
    return [list $state [expr {double($user) / $ticks}] [expr {double($system) / $ticks}]]
}

proc nsstats::cpuSeconds {} {
    lassign [cpu] - user system
    return [expr {$user eq "" ? 0.0 : $user + $system}]
}

#
# Sizes of the process in bytes: VmRSS, VmHWM, VmSize, ...
#
proc nsstats::memory {} {
    set sizes [dict create VmRSS 0 VmHWM 0 VmSize 0]
    foreach {- key kilobytes} [regexp -all -inline -line {^(Vm\w+|Rss\w+):\s+(\d+) kB} \
                                   [ReadFile /proc/self/status]] {
        dict set sizes $key [expr {$kilobytes * 1024}]
    }
    return $sizes
}

proc nsstats::openFiles {} {
    set most ""
    regexp -line {^Max open files\s+(\d+)} [ReadFile /proc/self/limits] - most
    return [list [llength [glob -nocomplain -directory /proc/self/fd *]] $most]
}

#
# Evaluate body for each pool of each server.
#
proc nsstats::forPools {varNames body} {
    upvar 1 [lindex $varNames 0] server [lindex $varNames 1] pool
    foreach server [ns_info servers] {
        foreach pool [lreverse [ns_server -server $server pools]] { uplevel 1 $body }
    }
}

proc nsstats::poolName {pool} { return [expr {$pool eq "" ? "default" : $pool}] }

#
# The state of the process now, as a dict of sums.
#
proc nsstats::now {} {
    set now [dict create time [expr {[clock milliseconds] / 1000.0}] cpu [cpuSeconds] \
                 memory [dict get [memory] VmRSS] requests 0 sent 0 dropped 0 waiting 0 \
                 current 0 idle 0 accepttime 0 queuetime 0 filtertime 0 runtime 0 \
                 lines 0 lost 0 pending 0 queuecounts [counts queue] runcounts [counts run]]
    forPools {server pool} {
        set stats [ns_server -server $server -pool $pool stats]
        foreach key {requests sent dropped} { dict incr now $key [dict get $stats $key] }
        foreach key {accepttime queuetime filtertime runtime} {
            dict set now $key [expr {[dict get $now $key] + [dict get $stats $key]}]
        }
        dict incr now waiting [ns_server -server $server -pool $pool waiting]
        set threads [ns_server -server $server -pool $pool threads]
        foreach key {current idle} { dict incr now $key [dict get $threads $key] }
    }
    foreach sink [ns_logsink list] {
        # One that was removed meanwhile is not there.
        if {[catch {ns_logsink stats $sink} stats]} continue
        dict incr now lines [dict get $stats delivered]
        dict incr now pending [dict get $stats pending]
        foreach {key value} $stats {
            if {[string match dropped* $key]} { dict incr now lost $value }
        }
    }
    return $now
}

#
# How long a sink has been in trouble, by its statistics.
#
proc nsstats::troubleSeconds {stats} {
    if {[dict get $stats state] eq "ok"} { return 0 }
    return [expr {max(0.0, [clock milliseconds] / 1000.0 - [dict get $stats since])}]
}

#
# For each bound, as a dict, how many spans of that kind did not exceed it, in all
# servers together; the bound Inf stands for all.
#
proc nsstats::counts {span} {
    set counts {}
    foreach server [ns_info servers] {
        set values [dict get [ns_server -server $server buckets] $span]
        dict for {bound n} [dict get $values buckets] { dict incr counts $bound $n }
        dict incr counts Inf [dict get $values count]
    }
    return $counts
}

#
# What a share of those spans did not exceed that came between two results of
# counts, as if they were spread evenly between the bounds; 0 if there were none.
#
proc nsstats::percentile {before after share} {
    set wanted [expr {$share * ([dict get $after Inf] - [dict get $before Inf])}]
    if {$wanted <= 0} { return 0.0 }
    set last 0.0
    set nLast 0
    dict for {bound n} $after {
        if {$bound eq "Inf"} { return $last }
        incr n -[dict get $before $bound]
        if {$n >= $wanted} {
            return [expr {$last + ($bound - $last) * ($wanted - $nLast) / double($n - $nLast)}]
        }
        set last $bound
        set nLast $n
    }
}

#
# Called by the scheduler.
#
proc nsstats::sample {} {
    variable historyLength
    set n [nsv_incr nsstats n]
    nsv_set nsstats sample[expr {$n % $historyLength}] [now]
}

#
# The samples so far, oldest first, the last one taken now.
#
proc nsstats::history {} {
    variable historyLength
    set samples {}
    set last 0
    if {[nsv_exists nsstats n]} { set last [nsv_get nsstats n] }
    for {set n [expr {max(1, $last - $historyLength + 1)}]} {$n <= $last} {incr n} {
        if {[nsv_get nsstats sample[expr {$n % $historyLength}] sample]} { lappend samples $sample }
    }
    set now [now]
    # Too little time has passed since then for a rate.
    if {[llength $samples] > 1
        && [dict get $now time] - [dict get [lindex $samples end] time] < 1.0} {
        set samples [lrange $samples 0 end-1]
    }
    return [lappend samples $now]
}

#
# What happened between samples that follow each other: a list of dicts with rates
# per second, mean times per request, and the states at the end.
#
proc nsstats::changes {samples} {
    set result {}
    foreach before [lrange $samples 0 end-1] after [lrange $samples 1 end] {
        set seconds [expr {max(0.001, [dict get $after time] - [dict get $before time])}]
        set n [expr {[dict get $after requests] - [dict get $before requests]}]
        set change [dict create time [dict get $after time]]
        foreach key {requests sent lines cpu} {
            dict set change $key \
                [expr {max(0.0, ([dict get $after $key] - [dict get $before $key]) / double($seconds))}]
        }
        foreach key {accepttime queuetime filtertime runtime} {
            dict set change $key [expr {$n <= 0 ? 0.0
                : max(0.0, double([dict get $after $key] - [dict get $before $key]) / $n)}]
        }
        foreach key {memory waiting current idle pending} {
            dict set change $key [dict get $after $key]
        }
        foreach span {queue run} {
            foreach {name share} {p50 0.5 p99 0.99} {
                dict set change $span$name [percentile [dict get $before ${span}counts] \
                                                [dict get $after ${span}counts] $share]
            }
        }
        dict set change busy [expr {[dict get $after current] - [dict get $after idle]}]
        lappend result $change
    }
    return $result
}
