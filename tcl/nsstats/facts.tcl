# SPDX-License-Identifier: MPL-2.0
# facts.tcl --
#
#       What the kernel knows about this process, and the recent past: samples that
#       a scheduled procedure takes while the monitor is enabled.

namespace eval nsstats {
    # Samples that are kept: one each 5 seconds for half an hour, and one each 4 minutes
    # for a day.
    variable historyLength 360
    variable coarseStep 48
    # Points of a chart at most.
    variable maxPoints 120
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

#
# Memory of the process's control group in bytes: in use, and, if there is one, the
# limit.  In a container the path may be one outside; what is mounted is the group then.
#
proc nsstats::groupMemory {} {
    set groups [ReadFile /proc/self/cgroup]
    foreach {line mount used limit} {
        {^0::(.*)$}         /sys/fs/cgroup        memory.current        memory.max
        {^\d+:memory:(.*)$} /sys/fs/cgroup/memory memory.usage_in_bytes memory.limit_in_bytes
    } {
        if {![regexp -line $line $groups - path]} continue
        foreach directory [list $mount$path $mount] {
            set bytes [string trim [ReadFile $directory/$used]]
            if {![string is wideinteger -strict $bytes]} continue
            set memory [list "" $bytes]
            set bytes [string trim [ReadFile $directory/$limit]]
            # Version 1 has a number for none.
            if {[string is wideinteger -strict $bytes] && $bytes < 1 << 62} { lappend memory limit_ $bytes }
            return $memory
        }
    }
    return {}
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
                 1xx 0 2xx 0 3xx 0 4xx 0 5xx 0 \
                 lines 0 lost 0 pending 0 counts [counts]]
    forPools {server pool} {
        set stats [ns_server -server $server -pool $pool stats]
        foreach key {requests sent dropped} { dict incr now $key [dict get $stats $key] }
        foreach key {accepttime queuetime filtertime runtime} {
            dict set now $key [expr {[dict get $now $key] + [dict get $stats $key]}]
        }
        dict for {status n} [ns_server -server $server -pool $pool statuses] {
            if {$status > 0} { dict incr now [string index $status 0]xx $n }
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
# The bounds of durations; the last, Inf, stands for all.
#
proc nsstats::bounds {} {
    variable bounds
    if {![info exists bounds]} {
        set values [ns_server -server [lindex [ns_info servers] 0] buckets]
        set bounds [dict keys [dict get $values run buckets]]
        lappend bounds Inf
    }
    return $bounds
}

#
# For each span, how many did not exceed each bound, in all servers together.
#
proc nsstats::counts {} {
    set sums {}
    foreach server [ns_info servers] {
        dict for {span values} [ns_server -server $server buckets] {
            set counts [dict values [dict get $values buckets]]
            lappend counts [dict get $values count]
            if {[dict exists $sums $span]} {
                set counts [lmap sum [dict get $sums $span] n $counts { expr {$sum + $n} }]
            }
            dict set sums $span $counts
        }
    }
    return $sums
}

#
# What a share of those spans did not exceed that came between two such rows of
# numbers, as if they were spread evenly between the bounds; 0 if there were none.
#
proc nsstats::percentile {bounds before after share} {
    set wanted [expr {$share * ([lindex $after end] - [lindex $before end])}]
    if {$wanted <= 0} { return 0.0 }
    set last 0.0
    set nLast 0
    foreach bound $bounds nBefore $before n $after {
        if {$bound eq "Inf"} { return $last }
        incr n -$nBefore
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
    variable coarseStep
    set n [nsv_incr nsstats n]
    set now [now]
    nsv_set nsstats fine[expr {$n % $historyLength}] $now
    if {$n % $coarseStep == 0} {
        nsv_set nsstats coarse[expr {$n / $coarseStep % $historyLength}] $now
    }
    if {[nsv_exists nsstats tasks]} { nsv_set nsstats earliertasks [nsv_get nsstats tasks] }
    nsv_set nsstats tasks [tasks]
}

#
# The time, and the CPU seconds of each thread until now.
#
proc nsstats::tasks {} {
    set seconds {}
    foreach directory [glob -nocomplain -directory /proc/self/task *] {
        set task [file tail $directory]
        lassign [cpu $task] - user system
        if {$user ne ""} { dict set seconds $task [expr {$user + $system}] }
    }
    return [list [expr {[clock milliseconds] / 1000.0}] $seconds]
}

#
# Likewise, some seconds ago; a dict without keys when nobody has looked then.
#
proc nsstats::earlierTasks {} {
    foreach key {tasks earliertasks} {
        if {[nsv_exists nsstats $key] && [nsv_get nsstats $key tasks] && [clock milliseconds] / 1000.0 - [lindex $tasks 0] >= 2} { return $tasks }
    }
    return {0 {}}
}

#
# The samples of the last seconds, oldest first, the last one taken now.
#
proc nsstats::history {{seconds 1800}} {
    variable historyLength
    variable coarseStep
    set n 0
    if {[nsv_exists nsstats n]} { set n [nsv_get nsstats n] }
    set now [now]
    set first [expr {[dict get $now time] - $seconds}]
    set samples [Kept fine $n $first]
    set oldest [expr {$samples eq "" ? [dict get $now time] : [dict get [lindex $samples 0] time]}]
    if {$oldest - $first > 10} {
        set samples [concat [lmap sample [Kept coarse [expr {$n / $coarseStep}] $first] {
            if {[dict get $sample time] >= $oldest} continue
            set sample
        }] $samples]
    }
    # Too little time has passed since then for a rate.
    if {[llength $samples] > 1
        && [dict get $now time] - [dict get [lindex $samples end] time] < 1.0} {
        set samples [lrange $samples 0 end-1]
    }
    return [lappend samples $now]
}

#
# The samples of the last half hour, newest first.
#
proc nsstats::Recent {} {
    if {![nsv_exists nsstats n]} { return {} }
    return [lreverse [Kept fine [nsv_get nsstats n] 0]]
}

#
# Those of one kind, the last being the n-th, that are not older than first.
#
proc nsstats::Kept {kind n first} {
    variable historyLength
    set samples {}
    for {set i $n} {$i > max(0, $n - $historyLength)} {incr i -1} {
        if {![nsv_get nsstats $kind[expr {$i % $historyLength}] sample] || [dict get $sample time] < $first} break
        lappend samples $sample
    }
    return [lreverse $samples]
}

#
# How much a sum of the samples has grown in the last seconds.
#
proc nsstats::growth {samples key seconds} {
    set now [lindex $samples end]
    set then $now
    foreach sample $samples {
        if {[dict get $now time] - [dict get $sample time] <= $seconds} {
            set then $sample
            break
        }
    }
    return [expr {[dict get $now $key] - [dict get $then $key]}]
}

#
# What happened between samples: a list of dicts with rates per second, mean times per
# request, percentiles, and the highest values of states.  Samples that are close to each
# other are taken together, so that there are no more than a chart has points.
#
proc nsstats::changes {samples} {
    variable maxPoints
    if {[llength $samples] < 2} { return {} }
    set before [lindex $samples 0]
    set last [lindex $samples end]
    set width [expr {([dict get $last time] - [dict get $before time]) / $maxPoints}]
    set highest {}
    set result {}
    foreach sample [lrange $samples 1 end] {
        dict set sample busy [expr {[dict get $sample current] - [dict get $sample idle]}]
        foreach key {memory waiting current busy pending} {
            set value [dict get $sample $key]
            if {![dict exists $highest $key] || $value > [dict get $highest $key]} { dict set highest $key $value }
        }
        if {[dict get $sample time] - [dict get $before time] < $width && [dict get $sample time] < [dict get $last time]} continue
        lappend result [dict merge [Change $before $sample] $highest]
        set before $sample
        set highest {}
    }
    return $result
}

proc nsstats::Change {before after} {
    set seconds [expr {max(0.001, [dict get $after time] - [dict get $before time])}]
    set n [expr {[dict get $after requests] - [dict get $before requests]}]
    set change [dict create time [dict get $after time]]
    foreach key {requests sent lines cpu 1xx 2xx 3xx 4xx 5xx} {
        dict set change $key [expr {max(0.0, ([dict get $after $key] - [dict get $before $key]) / double($seconds))}]
    }
    foreach key {accepttime queuetime filtertime runtime} {
        dict set change $key [expr {$n <= 0 ? 0.0 : max(0.0, double([dict get $after $key] - [dict get $before $key]) / $n)}]
    }
    foreach span {queue run} {
        foreach {name share} {p50 0.5 p99 0.99} {
            dict set change $span$name \
                [percentile [bounds] [dict get $before counts $span] [dict get $after counts $span] $share]
        }
    }
    return $change
}
