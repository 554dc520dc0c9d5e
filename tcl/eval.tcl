# SPDX-License-Identifier: MPL-2.0
# eval.tcl --
#
#       ns_eval: definitions for all interpreters of the server.

# ns_eval ?-sync? script ?arg ...? --
# ns_eval -pending --
#
#       Evaluate here, then in a clean interpreter whose state becomes that of all
#       others.  While the server starts, and inside a script of ns_eval, the
#       first part is enough.

proc ns_eval {args} {
    if {[llength $args] == 0} {
        return ""
    }
    set isSync 0
    switch -exact -- [lindex $args 0] {
        -pending {
            if {[llength $args] > 1} {
                error "ns_eval: command arguments not allowed with -pending"
            }
            return [_ns_eval_pending]
        }
        -sync {
            set isSync 1
            set args [lrange $args 1 end]
        }
    }
    set script [_ns_eval_script $args]

    if {[info exists ::_ns_eval_nested]} {
        return [uplevel #0 $script]
    }
    set ::_ns_eval_nested 1
    try {
        set result [uplevel #0 $script]
    } on error {message options} {
        ns_ictl markfordelete
        return -options $options $message
    } finally {
        unset -nocomplain ::_ns_eval_nested
    }
    if {[ns_ictl epoch] > 0} {
        # What has changed here is meant to (see damage.c); gone with the request.
        set ::_ns_eval_done 1
        _ns_eval_queue $isSync $script
    }
    return $result
}

# Several words are concatenated.  A single word is a script, or a list whose only
# element is one.

proc _ns_eval_script {words} {
    if {[llength $words] > 1} {
        return [concat {*}$words]
    }
    set script [lindex $words 0]
    if {![catch {llength $script} n] && $n == 1 && [llength [lindex $script 0]] > 1} {
        return [lindex $script 0]
    }
    return $script
}

proc _ns_eval_queue {isSync script} {
    set queue ns_eval_q:[ns_info server]
    set work [list ns_ictl remake "set ::_ns_eval_nested 1\n$script\nunset ::_ns_eval_nested"]
    # Another thread may be first to create the queue.
    if {$queue ni [ns_job queues] && [catch {ns_job create $queue 1} message]
            && $queue ni [ns_job queues]} {
        error $message
    }
    if {$isSync} {
        ns_job wait $queue [ns_job queue $queue $work]
    } else {
        ns_job queue -detached $queue $work
    }
    return
}

proc _ns_eval_pending {} {
    set queue ns_eval_q:[ns_info server]
    set result {}
    if {$queue in [ns_job queues]} {
        foreach job [ns_job joblist $queue] {
            set script [lindex [dict get $job script] 2]
            lappend result [list [dict get $job starttime] \
                [join [lrange [split $script \n] 1 end-1] \n]]
        }
    }
    return $result
}
