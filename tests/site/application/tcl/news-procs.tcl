# SPDX-License-Identifier: MPL-2.0
# news-procs.tcl --
#
#       News while a page is open: new posts, as server-sent events.
#
#       A request for them hands its socket over to one thread, which writes to all of
#       them, and is free for others then.  Channels and events reach the thread by name:
#
#           nsv news    queue (list of {BOARD EVENT}), arrivals (list of {CHANNEL READABLE BOARDS}), stop
#           ns_cond     news: something was put there

namespace eval news {
    variable listeners {}   ;# Of the thread: CHANNEL {boards it may hear of}.
}

proc news::init {} {
    nsv_array set news {queue {} arrivals {} stop 0}
    nsv_set news mutex [ns_mutex create news]
    nsv_set news cond [ns_cond create news]
}
proc news::start {} { nsv_set news thread [ns_thread begin -name -news- news::Run] }
proc news::stop {} {
    if {![nsv_exists news thread]} return
    Put stop 1
    ns_thread wait [nsv_get news thread]
}

proc news::Put {key value} {
    ns_mutex eval [nsv_get news mutex] {
        if {$key eq "stop"} { nsv_set news stop $value } else { nsv_lappend news $key $value }
        ns_cond broadcast [nsv_get news cond]
    }
}

proc news::publish {boardId event} { Put queue [list $boardId $event] }

# The request's socket leaves the request.
proc news::listen {} {
    set boards [lmap board [board::readable] { dict get $board id }]
    set channel [ns_conn channel]
    fconfigure $channel -translation binary -blocking 0
    puts -nonewline $channel "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n: welcome\n\n"
    flush $channel
    set name news[nsv_incr news n]
    ns_chan create $channel $name
    Put arrivals [list $name $boards]
    page::stop
}

# --- The thread

proc news::Run {} {
    while 1 {
        set work [Wait 15]
        if {[nsv_get news stop]} break
        dict with work {
            foreach arrival $arrivals { Arrive {*}$arrival }
            foreach item $queue { Tell {*}$item }
            # A comment shows who is still there.
            if {$arrivals eq "" && $queue eq ""} { Tell "" {} }
        }
    }
    variable listeners
    foreach channel [dict keys $listeners] { catch {close $channel} }
}

# What has come, or nothing after that many seconds.
proc news::Wait {seconds} {
    ns_mutex eval [nsv_get news mutex] {
        if {[nsv_get news queue] eq "" && [nsv_get news arrivals] eq "" && ![nsv_get news stop]} {
            ns_cond wait [nsv_get news cond] [nsv_get news mutex] $seconds
        }
        set work [dict create arrivals [nsv_set -reset news arrivals {}] queue [nsv_set -reset news queue {}]]
    }
    return $work
}

proc news::Arrive {name boards} {
    variable listeners
    dict set listeners [ns_chan get $name] $boards
}

proc news::Tell {boardId event} {
    variable listeners
    if {$boardId eq ""} {
        set data ": still here\n\n"
    } else {
        dict with event {
            set json [ns_json value -type object [list topic number $topic post number $post author string $author title string $title]]
        }
        set data "event: post\ndata: [encoding convertto utf-8 $json]\n\n"
    }
    dict for {channel boards} $listeners {
        if {$boardId ne "" && $boardId ni $boards} continue
        if {[catch { puts -nonewline $channel $data; flush $channel }] || [eof $channel]} {
            dict unset listeners $channel
            catch {close $channel}
        }
    }
}
