# SPDX-License-Identifier: MPL-2.0
# h2frames.tcl --
#
#       A client of HTTP/2 that sends single frames, also wrong ones.  Fields are sent as
#       literals without Huffman coding; of those received only the status is read.

namespace eval h2 {
    array set types {data 0 headers 1 priority 2 rst 3 settings 4 ping 6 goaway 7 window 8 continuation 9 priority_update 16}
    array set names {0 data 1 headers 2 priority 3 rst 4 settings 6 ping 7 goaway 8 window 9 continuation}
    array set codes {0 NO_ERROR 1 PROTOCOL_ERROR 2 INTERNAL_ERROR 3 FLOW_CONTROL_ERROR 5 STREAM_CLOSED 6 FRAME_SIZE_ERROR \
                         7 REFUSED_STREAM 8 CANCEL 9 COMPRESSION_ERROR 11 ENHANCE_YOUR_CALM}
}

# A connection; the settings are identifiers and values.
proc h2::open {{settings {}} {handle ""}} {
    set channel [connect $handle]
    fconfigure $channel -buffering full -buffersize 100000
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
    set head [read $channel 9]
    if {[string length $head] < 9} { return "" }
    binary scan $head cuSuccuI high low type flags id
    set payload [read $channel [expr {($high << 16) + $low}]]
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
