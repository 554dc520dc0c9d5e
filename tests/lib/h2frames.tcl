# SPDX-License-Identifier: MPL-2.0
# h2frames.tcl --
#
#       A client of HTTP/2 that sends single frames, also wrong ones.  Fields are sent as
#       literals without Huffman coding; of those received only the status is read.
#
#       Of WebSockets (RFC 8441) the state is kept by connection and stream, so that frames
#       of all streams may come in any order, and windows are opened again for what came.

namespace eval h2 {
    array set types {data 0 headers 1 priority 2 rst 3 settings 4 ping 6 goaway 7 window 8 continuation 9 priority_update 16}
    array set names {0 data 1 headers 2 priority 3 rst 4 settings 6 ping 7 goaway 8 window 9 continuation}
    array set codes {0 NO_ERROR 1 PROTOCOL_ERROR 2 INTERNAL_ERROR 3 FLOW_CONTROL_ERROR 5 STREAM_CLOSED 6 FRAME_SIZE_ERROR \
                         7 REFUSED_STREAM 8 CANCEL 9 COMPRESSION_ERROR 11 ENHANCE_YOUR_CALM 13 HTTP_1_1_REQUIRED}
}

# A connection; the settings are identifiers and values.
proc h2::open {{settings {}} {handle ""}} {
    set channel [connect $handle]
    fconfigure $channel -buffering full -buffersize 100000
    # Its name may be that of an earlier one.
    foreach name {statuses bytes ends resets opened} { array unset h2::$name $channel,* }
    unset -nocomplain h2::isMean($channel)
    set payload ""
    foreach {id value} $settings { append payload [binary format SI $id $value] }
    puts -nonewline $channel "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n[frame settings 0 0 $payload]"
    flush $channel
    return $channel
}
proc h2::frame {type flags id payload} {
    set length [string length $payload]
    binary format cSccIa* [expr {$length >> 16}] [expr {$length & 0xffff}] $h2::types($type) $flags $id $payload
}
proc h2::send {channel args} {
    foreach frame $args { puts -nonewline $channel $frame }
    flush $channel
}
proc h2::integer {value prefix} {
    if {$value < (1 << $prefix) - 1} { return [binary format c $value] }
    set bytes [binary format c [expr {(1 << $prefix) - 1}]]
    for {set value [expr {$value - (1 << $prefix) + 1}]} {$value >= 128} {set value [expr {$value >> 7}]} {
        append bytes [binary format c [expr {$value & 127 | 128}]]
    }
    return $bytes[binary format c $value]
}
proc h2::fields {args} {
    set block ""
    foreach {name value} $args {
        append block \0[integer [string length $name] 7]$name[integer [string length $value] 7]$value
    }
    return $block
}
# The frame of a request; flags: 4 end of the fields, 1 end of the stream.
proc h2::request {id path {flags 5} args} {
    frame headers $flags $id [fields :method GET :scheme http :path $path :authority a.example {*}$args]
}
# The next frame as type, flags, stream, payload; "" at the end.
proc h2::receive {channel} {
    set head [harness::receive $channel 9]
    if {[string length $head] < 9} { return "" }
    binary scan $head cuSuccuI high low type flags id
    set payload [harness::receive $channel [expr {($high << 16) + $low}]]
    set name [expr {[info exists h2::names($type)] ? $h2::names($type) : $type}]
    return [list $name $flags $id $payload]
}
# Frames of that type and stream (-1: any); "" if the connection ends before.
proc h2::await {channel type {id -1}} {
    while {[set frame [receive $channel]] ne ""} {
        if {[lindex $frame 0] eq $type && ($id < 0 || [lindex $frame 2] == $id)} { return $frame }
    }
    return ""
}
# The code of the GOAWAY with which the server ends the connection; "closed" without one.
proc h2::ending {channel} {
    while {![catch {await $channel goaway} frame] && $frame ne ""} {
        binary scan [lindex $frame 3] II last code
        if {$code != 0} { return $h2::codes($code) }
    }
    return closed
}
proc h2::resetCode {frame} {
    binary scan [lindex $frame 3] I code
    return $h2::codes($code)
}
# The status in the first field of a connection's first reply.
proc h2::status {frame} {
    binary scan [lindex $frame 3] cucu first length
    # There may be an update of the table's size.
    set indexed {200 204 206 304 400 404 500}
    if {$first >= 0x88 && $first <= 0x8e} { return [lindex $indexed [expr {$first - 0x88}]] }
    if {$length < 128} { return [string range [lindex $frame 3] 2 4] }
    binary scan [string range [lindex $frame 3] 2 [expr {1 + ($length & 127)}]] B* bits
    set status ""
    array set digit {00000 0 00001 1 00010 2 011001 3 011010 4 011011 5 011100 6 011101 7 011110 8 011111 9}
    while {[string length $status] < 3} {
        set n [expr {[info exists digit([string range $bits 0 4])] ? 5 : 6}]
        append status $digit([string range $bits 0 [expr {$n - 1}]])
        set bits [string range $bits $n end]
    }
    return $status
}

# --- WebSockets

namespace eval h2 {
    # By channel and stream: the status; bytes that have come, and not been heard; what has ended
    # the stream first, "" as long as it goes on; the code of its reset, if there was one; by how
    # much the server has opened its window, that of the connection being stream 0.
    array set statuses {}
    array set bytes {}
    array set ends {}
    array set resets {}
    array set opened {}
    # Channels whose windows are not opened again.
    array set isMean {}
}

# The frame that asks for a WebSocket.
proc h2::connection {id path args} {
    frame headers 4 $id [fields :method CONNECT :protocol websocket :scheme http :path $path :authority a.example \
        {*}[dict merge {sec-websocket-version 13} $args]]
}
# Ask for one; the status, or how the stream has ended without.
proc h2::tunnel {channel id path args} {
    variable statuses
    variable ends
    send $channel [connection $id $path {*}$args]
    waitUntil $channel {[info exists statuses($channel,$id)] || [ended $channel $id]}
    return [expr {[info exists statuses($channel,$id)] ? $statuses($channel,$id) : $ends($channel,$id)}]
}
# A frame of WebSocket under a mask of zeros, from its first byte, or an opcode if it is the last.
proc h2::message {first data} {
    if {$first < 16} { incr first 128 }
    set n [string length $data]
    set head [binary format c $first]
    append head [expr {$n < 126 ? [binary format c [expr {128 | $n}]] : $n < 65536 ? [binary format cS 254 $n] : [binary format cW 255 $n]}]
    return $head[binary format I 0]$data
}
# Frames of data with these bytes, without a look at the windows.
proc h2::say {channel id args} {
    set bytes [join $args ""]
    for {set i 0} {$i < [string length $bytes]} {incr i 16384} {
        puts -nonewline $channel [frame data 0 $id [string range $bytes $i [expr {$i + 16383}]]]
    }
    flush $channel
}
# Take frames of all streams until the condition holds in this namespace; an error if the connection ends.
proc h2::waitUntil {channel condition} {
    while {![uplevel 1 [list expr $condition]]} {
        if {[take $channel] eq ""} { error "the connection has ended" }
    }
}
proc h2::ended {channel id} {
    variable ends
    return [expr {[info exists ends($channel,$id)] && $ends($channel,$id) ne ""}]
}
# Take the next frame; its type, "" at the end.
proc h2::take {channel} {
    variable statuses
    variable bytes
    variable ends
    variable resets
    variable opened
    variable isMean
    set frame [receive $channel]
    if {$frame eq ""} { return "" }
    lassign $frame type flags id payload
    switch $type {
        settings {
            # The server's windows are in force from now on.
            if {!($flags & 1)} { send $channel [frame settings 1 0 ""] }
        }
        headers { set statuses($channel,$id) [status $frame] }
        data {
            append bytes($channel,$id) $payload
            set n [string length $payload]
            if {$n > 0 && ![info exists isMean($channel)]} {
                send $channel [frame window 0 0 [binary format I $n]] [frame window 0 $id [binary format I $n]]
            }
        }
        rst {
            # After the end, it says that no more of the request is wanted.
            set resets($channel,$id) [resetCode $frame]
            if {![ended $channel $id]} { set ends($channel,$id) $resets($channel,$id) }
        }
        window {
            binary scan $payload I n
            incr opened($channel,$id) $n
        }
    }
    if {$type in {headers data} && $flags & 1} { set ends($channel,$id) end }
    return $type
}
# Take all frames that are an answer to what was sent by now: the answer to a PING comes before
# them, that to another one behind them.
proc h2::settle {channel} {
    foreach bytes {12345678 abcdefgh} {
        send $channel [frame ping 0 0 $bytes]
        while {[set type [take $channel]] ne "ping"} {
            if {$type eq ""} { error "the connection has ended" }
        }
    }
}
# The next frame of WebSocket: its first byte and payload; without one, how the stream has ended.
proc h2::hear {channel id} {
    variable bytes
    variable ends
    append bytes($channel,$id) ""
    while 1 {
        set held $bytes($channel,$id)
        set from 2
        if {[binary scan $held cucu first n] == 2} {
            if {$n == 126 && [binary scan [string range $held 2 3] Su n] == 1} { set from 4 }
            if {$n == 127 && [binary scan [string range $held 2 9] Wu n] == 1} { set from 10 }
            if {[string length $held] >= $from + $n && ($from > 2 || $n < 126)} {
                set bytes($channel,$id) [string range $held $from+$n end]
                return [list $first [string range $held $from $from+[expr {$n - 1}]]]
            }
        }
        if {[ended $channel $id]} { return $ends($channel,$id) }
        if {[take $channel] eq ""} { return closed }
    }
}
# The code and reason of a close frame.
proc h2::closing {channel id} {
    lassign [hear $channel $id] first payload
    if {$first != 0x88} { return "no close frame: $first $payload" }
    if {[binary scan $payload Sua* code reason] < 1} { return {} }
    return [list $code $reason]
}
# How the stream ends, whatever comes before.
proc h2::endOf {channel id} {
    variable ends
    waitUntil $channel {[ended $channel $id]}
    return $ends($channel,$id)
}
