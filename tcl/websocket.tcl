# SPDX-License-Identifier: MPL-2.0
# websocket.tcl --
#
#       ns_websocket: WebSocket (RFC 6455) for servers, on channels of ns_connchan.
#
#       No connection has a thread.  What clients send is read by callbacks, one after the
#       other in one thread; what is sent to them may come from any thread, and never
#       waits: what a socket does not take is kept in the channel, up to a bound.
#
#       nsv _ns_websocket           CHANNEL  a dict of options, bits, url, subprotocol; who
#                                            unsets it ends the connection for the scripts
#       nsv _ns_websocket.groups    CHANNEL  the groups that it was ever in
#       nsv _ns_websocket.idle      CHANNEL  bytes received when a ping was sent
#       nsv _ns_websocket:GROUP     CHANNEL  its bits: the window for compressing, or 0

namespace eval ns_websocket {
    namespace export close info list multicast ping register send subscribe unsubscribe upgrade
    namespace ensemble create
}
namespace eval _ns_websocket {
    variable defaults {onopen {} onmessage {} onclose {} subprotocols {} origins same
        maxmessage 1MB maxqueue 1MB timeout 1h compress true context false}
    # So long the other side may take to answer a close frame.
    variable closeTimeout 5s
    # After an error of the client, its data are read until it is silent for a while or has
    # sent too much: a socket that is closed before destroys what was sent to the client.
    variable quiet 0.5s
    variable maxDrained 16777216
    # Less is not worth compressing.
    variable minDeflate 100
}

# Whether there is something about a channel, and what.
proc _ns_websocket::Knows {kind channel variable} {
    upvar 1 $variable value
    return [expr {[nsv_exists _ns_websocket$kind $channel] && [nsv_get _ns_websocket$kind $channel value]}]
}

# --- Connecting

# ns_websocket register ?-OPTION value ...? url
proc ns_websocket::register {args} {
    if {[llength $args] % 2 == 0} { error "wrong # args: should be \"ns_websocket register ?-option value ...? url\"" {} {TCL WRONGARGS} }
    set options [::_ns_websocket::Options [lrange $args 0 end-1]]
    ns_register_proc GET [lindex $args end] [::list ::_ns_websocket::Serve $options]
}

# ns_websocket upgrade ?-OPTION value ...?: the current request becomes a WebSocket.  Its
# channel; empty if the request was answered otherwise.
proc ns_websocket::upgrade {args} {
    return [::_ns_websocket::Serve [::_ns_websocket::Options $args]]
}

proc _ns_websocket::Options {words} {
    variable defaults
    set options $defaults
    foreach {word value} $words {
        set name [string range $word 1 end]
        if {![string match -* $word] || ![dict exists $defaults $name]} {
            error "bad option \"$word\": must be -[join [lsort [dict keys $defaults]] {, -}]" {} [list TCL LOOKUP INDEX option $word]
        }
        dict set options $name $value
    }
    if {[llength $words] % 2} { error "no value for option \"$word\"" }
    foreach name {compress context} {
        if {![string is boolean -strict [dict get $options $name]]} { error "-$name is not a boolean: [dict get $options $name]" }
    }
    return $options
}

proc _ns_websocket::Serve {options args} {
    set headers [ns_conn headers]
    set problem [Problem $headers]
    if {$problem ne ""} {
        set status [expr {$problem eq "version" ? 426 : 400}]
        ns_set put [ns_conn outputheaders] Sec-WebSocket-Version 13
        if {$status == 426} { ns_set put [ns_conn outputheaders] Upgrade websocket }
        ns_returnerror $status "This address is for WebSocket: $problem"
        return ""
    }
    if {![IsAllowedOrigin $headers [dict get $options origins]]} {
        ns_log Notice "websocket\[[ns_conn url]\]: refused: pages of \"[ns_set iget $headers origin]\" may not connect; see -origins"
        ns_returnforbidden
        return ""
    }
    set subprotocol [Subprotocol $headers [dict get $options subprotocols]]
    lassign [Compression $headers $options] extension bits hasContext
    set accept [ns_crypto::md string -digest sha1 -encoding base64 \
        [string trim [ns_set iget $headers sec-websocket-key]]258EAFA5-E914-47DA-95CA-C5AB0DC85B11]
    set answer "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: $accept\r\n"
    if {$subprotocol ne ""} { append answer "Sec-WebSocket-Protocol: $subprotocol\r\n" }
    if {$extension ne ""} { append answer "Sec-WebSocket-Extensions: $extension\r\n" }
    set state [dict create options $options bits $bits url [ns_conn url] subprotocol $subprotocol]

    # Over HTTP/2 the driver makes 200 of it, and leaves out what only HTTP/1.1 has.
    ns_conn status [expr {[ns_conn version] < 2 ? 101 : 200}]
    set channel [ns_connchan detach]
    set command [list ns_connchan websocket -answer $answer\r\n \
        -maxmessage [dict get $options maxmessage] -maxunsent [dict get $options maxqueue]]
    if {$bits > 0} { lappend command -deflate }
    if {$hasContext} { lappend command -context }
    {*}$command $channel
    # The answer is sent before whatever the script, or others because of it, may send.
    nsv_set _ns_websocket $channel $state
    Call $channel $state onopen
    if {[Write $channel ""]} { Listen $channel $state }
    return $channel
}

# What the request lacks to be an opening handshake (RFC 6455, section 4.2.1).
proc _ns_websocket::Problem {headers} {
    set keys [Values $headers sec-websocket-key]
    if {[ns_conn method] ne "GET" || [ns_conn version] < 1.1} { return "not GET with HTTP/1.1" }
    if {"websocket" ni [Words $headers upgrade]} { return "no field Upgrade: websocket" }
    if {"upgrade" ni [Words $headers connection]} { return "no field Connection: Upgrade" }
    if {[llength $keys] != 1 || ![regexp {^[A-Za-z0-9+/]{21}[AQgw]==$} [lindex $keys 0]]} { return "no valid Sec-WebSocket-Key" }
    if {[string trim [ns_set iget $headers sec-websocket-version]] ne "13"} { return version }
    return ""
}

# All values of a field, which is a list separated by commas; as they are, or in lower case.
proc _ns_websocket::Values {headers name} {
    set values {}
    for {set i 0} {$i < [ns_set size $headers]} {incr i} {
        if {![string equal -nocase [ns_set key $headers $i] $name]} continue
        foreach value [split [ns_set value $headers $i] ,] {
            if {[string trim $value] ne ""} { lappend values [string trim $value] }
        }
    }
    return $values
}
proc _ns_websocket::Words {headers name} { return [string tolower [Values $headers $name]] }

# Browsers say from which page a script connects; others say nothing.
proc _ns_websocket::IsAllowedOrigin {headers origins} {
    set origin [string tolower [string trim [ns_set iget $headers origin]]]
    if {$origin eq "" || "any" in $origins || $origin in [string tolower $origins]} { return 1 }
    if {"same" ni $origins} { return 0 }
    return [expr {$origin eq [string tolower [ns_conn location]]
                  || [regsub {^https?://} $origin {}] eq [string tolower [ns_set iget $headers host]]}]
}

# The first that the client prefers.
proc _ns_websocket::Subprotocol {headers ours} {
    foreach name [Values $headers sec-websocket-protocol] { if {$name in $ours} { return $name } }
    return ""
}

# Of permessage-deflate (RFC 7692): our answer, the bits of the window that we use to compress, and whether the
# client's messages refer to earlier ones.  Ours never do: they are compressed once for all of a group.
proc _ns_websocket::Compression {headers options} {
    if {![dict get $options compress]} { return {{} 0 0} }
    foreach offer [Values $headers sec-websocket-extensions] {
        set words [lassign [split $offer \;] name]
        if {[string tolower [string trim $name]] ne "permessage-deflate" || [catch {Offer $words} parameters]} continue
        set answer "permessage-deflate; server_no_context_takeover"
        set hasContext [expr {[dict get $options context] && ![dict exists $parameters client_no_context_takeover]}]
        if {!$hasContext} { append answer "; client_no_context_takeover" }
        set bits 15
        if {[dict exists $parameters server_max_window_bits]} {
            set bits [dict get $parameters server_max_window_bits]
            append answer "; server_max_window_bits=$bits"
        }
        # zlib has no smaller window.
        if {$bits < 9} continue
        return [list $answer $bits $hasContext]
    }
    return {{} 0 0}
}

# The parameters of an offer; an error if one of them is not as RFC 7692, section 7.1, has it.
proc _ns_websocket::Offer {words} {
    set parameters {}
    foreach word $words {
        if {![regexp {^\s*([a-z_]+)\s*(?:=\s*"?(\d*)"?)?\s*$} $word - name value] || [dict exists $parameters $name]} { error bad }
        set hasValue [string match *=* $word]
        switch $name {
            server_no_context_takeover - client_no_context_takeover { set isValid [expr {!$hasValue}] }
            client_max_window_bits { set isValid [expr {!$hasValue || $value in {8 9 10 11 12 13 14 15}}] }
            server_max_window_bits { set isValid [expr {$value in {8 9 10 11 12 13 14 15}}] }
            default { set isValid 0 }
        }
        if {!$isValid} { error bad }
        dict set parameters $name $value
    }
    return $parameters
}

# --- What clients send

proc _ns_websocket::Listen {channel state} {
    ns_connchan callback -timeout [dict get $state options timeout] $channel [list ::_ns_websocket::Happened $channel] rx
}

# The callback: 1 goes on, also with another callback, 0 closes the channel.
proc _ns_websocket::Happened {channel reason} {
    if {![::_ns_websocket::Knows {} $channel state]} { return [Linger $channel $reason] }
    switch $reason {
        r { return [Read $channel $state] }
        t { return [Idle $channel] }
        x { return [End $channel 1001 "server stops"] }
    }
    Finish $channel 1006 ""
    return 0
}

proc _ns_websocket::Read {channel state} {
    while 1 {
        set frame [ns_connchan read -websocket $channel]
        if {[dict get $frame frame] eq "exception"} { return [Broken $channel $state $frame] }
        if {[dict exists $frame payload]} {
            set payload [dict get $frame payload]
            switch [dict get $frame opcode] {
                1 { Call $channel $state onmessage text [encoding convertfrom utf-8 $payload] }
                2 { Call $channel $state onmessage binary $payload }
                8 { return [Leave $channel $payload] }
                9 { Write $channel [ns_connchan wsencode -binary -opcode pong -- $payload] }
            }
            # Maybe the script has closed it.
            if {![nsv_exists _ns_websocket $channel]} { return [Linger $channel r] }
        }
        if {![dict get $frame havedata]} { return 1 }
    }
}

# The client has closed: the same goes back.
proc _ns_websocket::Leave {channel payload} {
    set code 1005
    set reason ""
    if {$payload ne ""} {
        binary scan $payload Su code
        set reason [encoding convertfrom utf-8 [string range $payload 2 end]]
    }
    if {![Finish $channel $code $reason]} { return 0 }
    if {[catch {ns_connchan write $channel [ns_connchan wsencode -binary -opcode close -- [string range $payload 0 1]]}]
        || [dict get [ns_connchan status $channel] sendbuffer] == 0} { return 0 }
    Replace $channel Drain
    return 1
}

# The end without a close frame, or what the protocol forbids.
proc _ns_websocket::Broken {channel state frame} {
    if {![dict exists $frame code]} {
        Finish $channel 1006 ""
        return 0
    }
    ns_log Notice "websocket\[[dict get $state url]\]: $channel closed: [dict get $frame reason]"
    return [End $channel [dict get $frame code] [dict get $frame reason]]
}

# Silence: one ping, and then as much patience again.
proc _ns_websocket::Idle {channel} {
    set received [dict get [ns_connchan status $channel] received]
    if {[Knows .idle $channel before] && $before == $received} {
        Finish $channel 1006 "no answer to a ping"
        return 0
    }
    nsv_set _ns_websocket.idle $channel $received
    Write $channel [ns_connchan wsencode -binary -opcode ping -- ""]
    return 1
}

# --- The end

# We close because of what has happened; the result is for Happened.
proc _ns_websocket::End {channel code reason} {
    if {![Finish $channel $code $reason] || ![SendClose $channel $code $reason]} { return 0 }
    Replace $channel Drain
    return 1
}

# Call onclose, once for each channel, and forget what we know.
proc _ns_websocket::Finish {channel code reason} {
    if {![::_ns_websocket::Knows {} $channel state] || [catch {nsv_unset _ns_websocket $channel}]} { return 0 }
    if {[Knows .groups $channel groups]} {
        foreach group $groups { nsv_unset -nocomplain _ns_websocket:$group $channel }
    }
    nsv_unset -nocomplain _ns_websocket.groups $channel
    nsv_unset -nocomplain _ns_websocket.idle $channel
    Call $channel $state onclose $code $reason
    return 1
}

proc _ns_websocket::SendClose {channel code reason} {
    set payload [binary format S $code][string range [encoding convertto utf-8 $reason] 0 122]
    return [expr {![catch {ns_connchan write $channel [ns_connchan wsencode -binary -opcode close -- $payload]}]}]
}

proc _ns_websocket::Replace {channel name} {
    variable closeTimeout
    variable quiet
    if {$name eq "Drain"} {
        set start [dict get [ns_connchan status $channel] received]
        ns_connchan callback -timeout $quiet $channel [list ::_ns_websocket::Drain $channel $start] rx
    } else {
        ns_connchan callback -timeout $closeTimeout $channel [list ::_ns_websocket::Linger $channel] rx
    }
}

# A callback: until the client has answered our close frame.
proc _ns_websocket::Linger {channel reason} {
    if {$reason ne "r"} { return 0 }
    while 1 {
        set frame [ns_connchan read -websocket $channel]
        if {[dict get $frame frame] eq "exception" || ([dict exists $frame opcode] && [dict get $frame opcode] == 8)} { return 0 }
        if {![dict get $frame havedata]} { return 1 }
    }
}

# A callback: until the client sends nothing more.
proc _ns_websocket::Drain {channel start reason} {
    variable maxDrained
    if {$reason ne "r"} { return 0 }
    ns_connchan read $channel
    return [expr {[dict get [ns_connchan status $channel] received] - $start < $maxDrained}]
}

# --- What is sent to clients

# Run a script of the application.
proc _ns_websocket::Call {channel state name args} {
    set script [dict get $state options $name]
    if {$script eq "" || ![catch {uplevel #0 [list {*}$script $channel {*}$args]} message details]} return
    ns_log Error "websocket\[[dict get $state url]\]: -$name failed: [dict get $details -errorinfo]"
    if {$name ne "onclose"} { ns_websocket close $channel 1011 "internal error" }
}

# Hand bytes to a channel; whether it takes them.  One that does not is closed.
proc _ns_websocket::Write {channel bytes} {
    if {![catch {ns_connchan write $channel $bytes} message]} { return 1 }
    if {[::_ns_websocket::Knows {} $channel state]} {
        if {[string match "*no buffer space*" $message]} {
            ns_log Notice "websocket\[[dict get $state url]\]: $channel closed: the client is too slow for what is sent to it; see -maxqueue"
            set message "too slow"
        }
        Finish $channel 1006 $message
    }
    catch {ns_connchan close $channel}
    return 0
}

proc _ns_websocket::Frame {type data bits} {
    variable minDeflate
    if {$type eq "text"} { set data [encoding convertto utf-8 $data] }
    if {$bits == 0 || [string length $data] < $minDeflate} {
        return [ns_connchan wsencode -binary -opcode $type -- $data]
    }
    return [ns_connchan wsencode -binary -opcode $type -deflate $bits -- $data]
}

# Take `?-binary?` and other options with values off the words of a command.
proc _ns_websocket::Parse {words names usage} {
    set type text
    set values [dict create]
    while {[string match -* [lindex $words 0]]} {
        set words [lassign $words word]
        if {$word eq "--"} break
        if {$word eq "-binary"} { set type binary; continue }
        if {$word ni $names || [llength $words] == 0} { error "wrong # args: should be \"ns_websocket $usage\"" {} {TCL WRONGARGS} }
        set words [lassign $words value]
        dict set values $word $value
    }
    if {[llength $words] != 2} { error "wrong # args: should be \"ns_websocket $usage\"" {} {TCL WRONGARGS} }
    return [list $type $values {*}$words]
}

# ns_websocket send ?-binary? ?--? channel data
proc ns_websocket::send {args} {
    lassign [::_ns_websocket::Parse $args {} "send ?-binary? ?--? channel data"] type - channel data
    if {![::_ns_websocket::Knows {} $channel state]} { return 0 }
    return [::_ns_websocket::Write $channel [::_ns_websocket::Frame $type $data [dict get $state bits]]]
}

# ns_websocket multicast ?-binary? ?-exclude channels? ?--? group data
proc ns_websocket::multicast {args} {
    lassign [::_ns_websocket::Parse $args -exclude "multicast ?-binary? ?-exclude channels? ?--? group data"] type options group data
    set excluded [expr {[dict exists $options -exclude] ? [dict get $options -exclude] : {}}]
    set n 0
    foreach {channel bits} [nsv_array get _ns_websocket:$group] {
        if {$channel in $excluded} continue
        if {![::info exists frames($bits)]} { set frames($bits) [::_ns_websocket::Frame $type $data $bits] }
        if {[::_ns_websocket::Write $channel $frames($bits)]} {
            incr n
        } else {
            nsv_unset -nocomplain _ns_websocket:$group $channel
        }
    }
    return $n
}

# ns_websocket ping channel ?data?
proc ns_websocket::ping {channel {data ""}} {
    if {![nsv_exists _ns_websocket $channel]} { return 0 }
    return [::_ns_websocket::Write $channel [ns_connchan wsencode -binary -opcode ping -- $data]]
}

# ns_websocket close channel ?code? ?reason?
proc ns_websocket::close {channel {code 1000} {reason ""}} {
    if {![string is integer -strict $code] || $code < 1000 || $code > 4999 || $code in {1004 1005 1006} || ($code > 1014 && $code < 3000)} {
        error "bad code \"$code\": must be 1000 to 1003, 1007 to 1014, or 3000 to 4999"
    }
    if {![::_ns_websocket::Finish $channel $code $reason]} { return 0 }
    if {![::_ns_websocket::SendClose $channel $code $reason]} {
        catch {ns_connchan close $channel}
    } else {
        catch {::_ns_websocket::Replace $channel Linger}
    }
    return 1
}

# ns_websocket subscribe channel group
proc ns_websocket::subscribe {channel group} {
    if {![::_ns_websocket::Knows {} $channel state]} { return 0 }
    nsv_lappend _ns_websocket.groups $channel $group
    nsv_set _ns_websocket:$group $channel [dict get $state bits]
    # It may have ended meanwhile.
    if {[nsv_exists _ns_websocket $channel]} { return 1 }
    nsv_unset -nocomplain _ns_websocket:$group $channel
    nsv_unset -nocomplain _ns_websocket.groups $channel
    return 0
}

proc ns_websocket::unsubscribe {channel group} {
    nsv_unset -nocomplain _ns_websocket:$group $channel
    return
}

# ns_websocket list ?group?
proc ns_websocket::list {args} {
    switch [llength $args] {
        0 { return [nsv_array names _ns_websocket] }
        1 { return [nsv_array names _ns_websocket:[lindex $args 0]] }
    }
    error "wrong # args: should be \"ns_websocket list ?group?\"" {} {TCL WRONGARGS}
}

# ns_websocket info channel
proc ns_websocket::info {channel} {
    if {![::_ns_websocket::Knows {} $channel state]} { error "channel \"$channel\" is not an open WebSocket" }
    set status [ns_connchan status $channel]
    return [dict create url [dict get $state url] peer [dict get $status peer] subprotocol [dict get $state subprotocol] \
        compressed [expr {[dict get $state bits] > 0}] start [dict get $status start] sent [dict get $status sent] \
        received [dict get $status received] queued [dict get $status sendbuffer]]
}
