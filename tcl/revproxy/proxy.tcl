# SPDX-License-Identifier: MPL-2.0
# proxy.tcl --
#
#       revproxy: requests are passed on to other servers, and their replies back.
#
#       A reply goes to the client while it comes, so its length does not matter.  An
#       upgrade to WebSocket joins two channels, between which bytes are relayed in
#       both directions; while one side is slow, the other one is not read.

namespace eval revproxy {
    # Fields that are meant for one connection alone (RFC 9110, section 7.6.1), and
    # those that each server makes itself.
    variable ours {connection keep-alive proxy-connection proxy-authenticate proxy-authorization te trailer
        transfer-encoding upgrade proxy host content-length expect date server}
    variable defaults {connecttimeout 1s receivetimeout 10s sendtimeout 10s regsubs {} backendconnection {} insecure 0}
    variable maxHead 65536
    variable maxWaiting 1000000
}

# revproxy::upstream -target URLs ?-connecttimeout t? ?-receivetimeout t?
#       ?-sendtimeout t? ?-regsubs {{pattern text} ...}? ?-backendconnection kind?
#       ?-insecure? --
#
#       Answer the current request by what the server behind a URL answers; of several
#       URLs one is taken at random.  It may be a handler or a filter.

proc revproxy::upstream {args} {
    set options [Options $args]
    set target [dict get $options target]
    set url [string trimright [lindex $target [ns_rand [llength $target]]] /][ns_conn target]
    foreach regsub [dict get $options regsubs] {
        set url [regsub [lindex $regsub 0] $url [lindex $regsub 1]]
    }
    Note "[ns_conn method] $url"
    if {[IsUpgrade]} {
        Join $url $options
    } else {
        PassOn $url $options
    }
    return filter_return
}

# The options of a call as a dict, with the defaults.
proc revproxy::Options {words} {
    variable defaults
    set options $defaults
    # The phase comes first, or, behind a script with words of its own, last.
    foreach i {0 end} { if {[lindex $words $i] in {preauth postauth trace}} { set words [lreplace $words $i $i] } }
    while {[llength $words] > 0} {
        set words [lassign $words word]
        set name [string range $word 1 end]
        if {$name eq "insecure"} {
            dict set options insecure 1
        } elseif {[string match -* $word] && ($name eq "target" || [dict exists $defaults $name]) && [llength $words] > 0} {
            set words [lassign $words value]
            dict set options $name $value
        } else {
            error "bad option \"$word\": must be -target, -connecttimeout, -receivetimeout, -sendtimeout,\
                -regsubs, -backendconnection, or -insecure, each with a value but the last" {} [list TCL LOOKUP INDEX option $word]
        }
    }
    if {![dict exists $options target] || [llength [dict get $options target]] == 0} { error "no -target specified" }
    return $options
}

proc revproxy::Note {text} {
    if {[ns_config -bool ns/server/[ns_info server]/module/revproxy verbose false]} { ns_log notice "revproxy: $text" }
}

# Names of fields, in lower case, that go no further.
proc revproxy::Dropped {fields} {
    variable ours
    set dropped $ours
    for {set i 0} {$i < [ns_set size $fields]} {incr i} {
        if {![string equal -nocase [ns_set key $fields $i] connection]} continue
        foreach name [split [ns_set value $fields $i] ,] { lappend dropped [string tolower [string trim $name]] }
    }
    return $dropped
}

# The fields of the request, as the other server is to see them.
proc revproxy::RequestFields {} {
    set from [ns_conn headers]
    set to [ns_set create revproxy]
    set dropped [concat [Dropped $from] x-forwarded-for]
    # What a client says of other proxies is worth nothing; a trusted proxy knows.
    set peer [ns_conn peeraddr -source direct]
    set isTrusted [ns_ip trusted $peer]
    if {!$isTrusted} { lappend dropped x-forwarded-proto x-forwarded-host x-forwarded-port forwarded }
    set through {}
    for {set i 0} {$i < [ns_set size $from]} {incr i} {
        set name [string tolower [ns_set key $from $i]]
        if {$name eq "x-forwarded-for" && $isTrusted} { lappend through [ns_set value $from $i] }
        if {$name ni $dropped} { ns_set put $to [ns_set key $from $i] [ns_set value $from $i] }
    }
    ns_set put $to X-Forwarded-For [join [concat $through $peer] ", "]
    foreach {name value} [list X-Forwarded-Proto [ns_conn protocol] X-Forwarded-Host [ns_set iget $from host]] {
        if {[ns_set ifind $to $name] < 0 && $value ne ""} { ns_set put $to $name $value }
    }
    return $to
}

# --- Requests and replies

proc revproxy::PassOn {url options} {
    set call [list ns_http run -raw -binary -method [ns_conn method] -headers [RequestFields] \
        -timeout [dict get $options receivetimeout] -connecttimeout [dict get $options connecttimeout] \
        -sendtimeout [dict get $options sendtimeout] -response_header_callback ::revproxy::Head -response_data_callback ::revproxy::Data]
    if {[ns_conn contentlength] > 0} {
        if {[ns_conn contentfile] ne ""} {
            lappend call -body_file [ns_conn contentfile]
        } else {
            lappend call -body [ns_conn content -binary]
        }
    }
    if {[dict get $options insecure] && [string match -nocase https:* $url]} { lappend call -insecure }
    if {[catch {{*}$call $url} result details]} {
        Failed $url $result [string match NS_TIMEOUT* [dict get $details -errorcode]]
    } elseif {![HasBegun]} {
        # No data came.
        ns_return -binary [dict get $result status] [ns_set iget [dict get $result headers] content-type] ""
    }
}

proc revproxy::HasBegun {} { expr {[string match *SENTHDRS* [dict get [ns_conn details] flags]] || ![ns_conn isconnected]} }

# Called with the head of the reply: what it says is said to the client.
proc revproxy::Head {reply} {
    set from [dict get $reply headers]
    set to [ns_conn outputheaders]
    set dropped [concat [Dropped $from] content-type]
    for {set i 0} {$i < [ns_set size $from]} {incr i} {
        if {[string tolower [ns_set key $from $i]] ni $dropped} { ns_set put $to [ns_set key $from $i] [ns_set value $from $i] }
    }
    set status [dict get $reply status]
    set length [ns_set iget $from content-length]
    if {[ns_conn method] eq "HEAD" || $status in {204 304} || $length eq "0"} return
    set type [ns_set iget $from content-type]
    if {$type eq ""} { set type application/octet-stream }
    if {[string is wideinteger -strict $length]} {
        ns_headers -binary $status $type $length
    } else {
        ns_headers -binary $status $type
    }
}

# Called with a part of the body.
proc revproxy::Data {part} {
    ns_write [dict get $part data]
    return -code break
}

proc revproxy::Failed {url reason isTimeout} {
    ns_log warning "revproxy: [ns_conn method] $url: $reason"
    if {[HasBegun]} {
        # The client sees that the reply is not whole.
        ns_conn close
    } elseif {$isTimeout} {
        ns_returnerror 504 "Gateway Timeout"
    } else {
        ns_returnerror 502 "Bad Gateway"
    }
}

# --- WebSocket

proc revproxy::IsUpgrade {} {
    set fields [ns_conn headers]
    return [expr {[string equal -nocase [ns_set iget $fields upgrade] websocket]
                  && [regexp -nocase {(^|,)\s*upgrade\s*(,|$)} [ns_set iget $fields connection]]}]
}

proc revproxy::Join {url options} {
    variable maxHead
    set fields [RequestFields]
    ns_set put $fields Connection Upgrade
    ns_set put $fields Upgrade websocket
    set call [list ns_connchan open -headers $fields -version 1.1 -timeout [dict get $options connecttimeout]]
    if {[dict get $options insecure]} { lappend call -insecure }
    set url [regsub -nocase {^ws} $url http]
    if {[catch {{*}$call $url} backend]} {
        Failed $url $backend [string match "*timed out*" $backend]
        return
    }
    # From here on, reading waits so long.
    ns_connchan callback -receivetimeout [dict get $options receivetimeout] $backend ::revproxy::Ended x
    set head ""
    while {[set end [string first \r\n\r\n $head]] < 0 && [string length $head] < $maxHead} {
        if {[catch {ns_connchan read $backend} data] || $data eq ""} break
        append head $data
    }
    if {$end < 0 || ![regexp {^HTTP/1\.[01] (\d{3})} $head - status]} {
        ns_connchan close $backend
        Failed $url "no reply to an upgrade" [expr {$head eq ""}]
    } elseif {$status != 101} {
        ns_connchan close $backend
        Failed $url "the upgrade was answered with $status" 0
    } else {
        set client [ns_connchan detach]
        ns_connchan write $client $head
        set limit [dict get $options sendtimeout]
        Relay $client $backend $limit
        Relay $backend $client $limit
    }
}

proc revproxy::Ended {reason} { return 0 }
proc revproxy::Relay {from to limit} { ns_connchan callback $from [list ::revproxy::Pass $from $to $limit] rx }

# Called when a channel can be read or, while bytes for it wait, be written; with
# another reason, it took none of them for too long, or the server stops.
proc revproxy::Pass {from to limit reason} {
    variable maxWaiting
    set goesOn 1
    if {[catch {
        if {$reason eq "w"} {
            ns_connchan write $from ""
            if {[dict get [ns_connchan status $from] sendbuffer] == 0} {
                Relay $from $to $limit
                Relay $to $from $limit
            }
        } elseif {$reason ne "r" || [set data [ns_connchan read $from]] eq ""} {
            error ended
        } else {
            ns_connchan write $to $data
            set waiting [dict get [ns_connchan status $to] sendbuffer]
            if {$waiting > 0} { ns_connchan callback -timeout $limit $to [list ::revproxy::Pass $to $from $limit] rwx }
            # Until it is sent, nothing is read here.
            if {$waiting > $maxWaiting} { set goesOn 2 }
        }
    }]} {
        catch {ns_connchan close $to}
        set goesOn 0
    }
    return $goesOn
}
