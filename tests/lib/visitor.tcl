# SPDX-License-Identifier: MPL-2.0
# visitor.tcl --
#
#       Visitors of a site, many at a time in one process: coroutines, each with its own
#       connection and cookies.
#
#       visitor::start NAME BODY     starts one: BODY is a lambda with the parameter NAME
#       visitor::await               returns when all are done; fails if one has failed
#       visitor::site PORT           the site that they visit from now on, as new visitors
#       visitor::as NAME SCRIPT      runs a script as this visitor; its result
#
#       For them:
#       get URL ?-headers L?         a dict of status, headers, body (text, in the reply's
#       post URL FIELDS ?options?    charset); cookies are kept, redirects are not followed.
#                                    FIELDS is a list of names and values, in -charset
#                                    (utf-8); -files {FIELD FILENAME TYPE BYTES ...}; the
#                                    token of forms comes from the last page, or -token
#       webSocket URL                connects; the name of a list to which messages are added
#       say LIST TEXT                sends one
#       hangUp LIST                  sends a close frame, and waits for the end
#       until {CONDITION}            lets others run until it is true
#       visitor::requests            how many requests have been made
#       visitor::agent NAME          the User-Agent of all from now on
#
#       smtp::listen                 starts a mail server: its port
#       smtp::messages               what has come: a list of {RECIPIENT LINES}
#       smtp::refuse N               the next N messages are refused for now
#       smtp::serveUntil {CONDITION} waits, while mail is taken

namespace eval visitor {
    variable port 0
    variable nRunning 0
    variable nRequests 0
    variable agent visitor
    variable failures {}
    variable state          ;# NAME,cookies  NAME,socket  NAME,token
    array set state {}
    namespace export get post webSocket say hangUp until
}
namespace eval smtp {
    variable received {}
    variable nRefused 0
    variable state
}

proc visitor::requests {} { variable nRequests; return $nRequests }

proc visitor::site {number} {
    variable port
    variable state
    foreach key [array names state *,socket] { catch {close $state($key)} }
    array unset state
    set port $number
    set ::smtp::received {}
}

proc visitor::agent {name} { variable agent; set agent $name }

proc visitor::start {name body} {
    variable nRunning
    incr nRunning
    coroutine ::visitor::run,$name visitor::Run $name $body
}
proc visitor::Run {name body} {
    variable nRunning
    variable failures
    after 0 [info coroutine]
    yield
    if {[catch {apply $body $name} message options]} {
        lappend failures "$name: [dict get $options -errorinfo]"
    }
    incr nRunning -1
}
proc visitor::await {{ms 600000}} {
    variable nRunning
    variable failures
    set timer [after $ms {lappend visitor::failures "visitors are not done"; set visitor::nRunning 0}]
    while {$nRunning > 0} { vwait visitor::nRunning }
    after cancel $timer
    set all $failures
    set failures {}
    if {$all ne ""} { error [join [lrange $all 0 4] \n] }
}
proc visitor::as {name script} {
    variable result
    unset -nocomplain result
    start $name [list name "set ::visitor::result \[eval [list $script]\]"]
    await
    return $result
}
proc visitor::Name {} { return [lindex [split [info coroutine] ,] end] }

proc visitor::until {condition} {
    set end [expr {[clock milliseconds] + 300000}]
    while {![uplevel 1 [list expr $condition]]} {
        if {[clock milliseconds] > $end} { error "waited in vain for $condition" }
        after 20 [info coroutine]
        yield
    }
}

# --- Requests

proc visitor::get {url args} { Request GET $url {} "" $args }

proc visitor::post {url fields args} {
    variable state
    set options [dict merge {-charset utf-8 -files {} -headers {} -token ""} $args]
    set token [dict get $options -token]
    if {$token eq "" && [info exists state([Name],token)]} { set token $state([Name],token) }
    set fields [list {*}$fields token $token]
    set encoding [dict get {utf-8 utf-8 iso-8859-1 iso8859-1 koi8-r koi8-r} [dict get $options -charset]]
    if {[dict get $options -charset] ne "utf-8"} { lappend fields _charset_ [dict get $options -charset] }
    if {[dict get $options -files] eq ""} {
        set type application/x-www-form-urlencoded
        set body [join [lmap {name value} $fields {
            string cat $name = [Escape [encoding convertto $encoding $value]]
        }] &]
    } else {
        set limit limit[clock clicks]
        set type "multipart/form-data; boundary=$limit"
        foreach {name value} $fields {
            append body "--$limit\r\nContent-Disposition: form-data; name=\"$name\"\r\n\r\n[encoding convertto $encoding $value]\r\n"
        }
        foreach {field file mimeType bytes} [dict get $options -files] {
            append body "--$limit\r\nContent-Disposition: form-data; name=\"$field\"; filename=\"[encoding convertto $encoding $file]\"\r\nContent-Type: $mimeType\r\n\r\n$bytes\r\n"
        }
        append body "--$limit--\r\n"
    }
    Request POST $url [list Content-Type $type] $body $options
}
proc visitor::Escape {bytes} {
    set text ""
    foreach byte [split $bytes ""] {
        append text [expr {[regexp {[\w.-]} $byte] && $byte < "\x7f" ? $byte : [format %%%02X [scan $byte %c]]}]
    }
    return $text
}

proc visitor::Request {method url headers body options} {
    variable state
    variable port
    variable nRequests
    variable agent
    set name [Name]
    set head "$method $url HTTP/1.1\r\nHost: 127.0.0.1:$port\r\nUser-Agent: $agent\r\n"
    foreach {key value} [concat $headers [expr {[dict exists $options -headers] ? [dict get $options -headers] : {}}]] {
        append head "$key: $value\r\n"
    }
    if {[info exists state($name,cookies)]} {
        append head "Cookie: [join [lmap {key value} $state($name,cookies) {string cat $key = $value}] {; }]\r\n"
    }
    if {$method eq "POST"} { append head "Content-Length: [string length $body]\r\n" }
    # A kept connection may end when it has been idle: once more, with another.
    while 1 {
        set isKept [info exists state($name,socket)]
        if {!$isKept} { set state($name,socket) [Connect] }
        set socket $state($name,socket)
        if {![catch { puts -nonewline $socket $head\r\n$body; flush $socket; Line $socket } line]} break
        catch {close $socket}
        unset state($name,socket)
        if {!$isKept} { error "$method $url: no reply: $line" }
    }
    incr nRequests
    set reply [Reply $socket $line]
    if {[dict exists $reply headers connection] && [dict get $reply headers connection] eq "close"} {
        close $socket
        unset state($name,socket)
    }
    foreach {key value} [dict get $reply fields] { if {$key eq "set-cookie"} { KeepCookie $name $value } }
    regexp {name="token" value="([^"]*)"} [dict get $reply body] - state($name,token)
    return $reply
}
proc visitor::KeepCookie {name field} {
    variable state
    regexp {^([^=]+)="?([^";]*)"?(.*)} $field - key value attributes
    if {![info exists state($name,cookies)]} { set state($name,cookies) {} }
    if {[regexp {(?i)max-age=0|expires=\w+, 0?1.Jan.1970} $attributes] || $value eq ""} {
        dict unset state($name,cookies) $key
    } else {
        dict set state($name,cookies) $key $value
    }
}

proc visitor::Connect {} {
    variable port
    set socket [socket 127.0.0.1 $port]
    fconfigure $socket -blocking 0 -translation binary -buffersize 65536
    return $socket
}
proc visitor::Wait {socket} {
    fileevent $socket readable [info coroutine]
    yield
    fileevent $socket readable {}
}
proc visitor::Line {socket} {
    while {[gets $socket line] < 0} {
        if {[eof $socket]} { error "end of connection" }
        Wait $socket
    }
    return [string trimright $line \r]
}
proc visitor::Bytes {socket n} {
    set data ""
    while {[string length $data] < $n} {
        set piece [read $socket [expr {$n - [string length $data]}]]
        if {$piece eq ""} {
            if {[eof $socket]} { error "end of connection" }
            Wait $socket
        }
        append data $piece
    }
    return $data
}
proc visitor::Reply {socket line} {
    if {![regexp {^HTTP/1.1 (\d+)} $line - status]} { error "bad status line: $line" }
    set fields {}
    while {[set line [Line $socket]] ne ""} {
        regexp {^([^:]+): ?(.*)$} $line - key value
        lappend fields [string tolower $key] $value
    }
    set headers [dict create {*}$fields]
    set body ""
    if {$status == 101} {
    } elseif {[dict exists $headers transfer-encoding]} {
        while {[scan [Line $socket] %x n] && $n > 0} {
            append body [Bytes $socket $n]
            Bytes $socket 2
        }
        Line $socket
    } elseif {[dict exists $headers content-length]} {
        set body [Bytes $socket [dict get $headers content-length]]
    }
    if {[dict exists $headers content-type] && [regexp {charset=([\w-]+)} [dict get $headers content-type] - charset]} {
        set body [encoding convertfrom [dict get {utf-8 utf-8 iso-8859-1 iso8859-1 koi8-r koi8-r} $charset] $body]
    }
    return [dict create status $status headers $headers fields $fields body $body]
}

# --- WebSocket

proc visitor::webSocket {url} {
    variable state
    variable port
    variable nRequests
    variable nSockets
    variable agent
    set socket [Connect]
    set cookies [join [lmap {key value} $state([Name],cookies) {string cat $key = $value}] {; }]
    puts -nonewline $socket "GET $url HTTP/1.1\r\nHost: 127.0.0.1:$port\r\nUser-Agent: $agent\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: http://127.0.0.1:$port\r\nCookie: $cookies\r\n\r\n"
    flush $socket
    set reply [Reply $socket [Line $socket]]
    incr nRequests
    if {[dict get $reply headers sec-websocket-accept] ne "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="} { error "no WebSocket: $reply" }
    set list ::visitor::socket,[incr nSockets]
    set $list {}
    set state($list) $socket
    coroutine ::visitor::listen,$nSockets visitor::Listen $socket $list
    return $list
}
proc visitor::Listen {socket list} {
    variable state
    after 0 [info coroutine]
    yield
    catch {
        while 1 {
            binary scan [Bytes $socket 2] cucu first length
            if {$length == 126} { binary scan [Bytes $socket 2] Su length }
            if {$length == 127} { binary scan [Bytes $socket 8] Wu length }
            set payload [Bytes $socket $length]
            if {$first == 0x81} { lappend $list [encoding convertfrom utf-8 $payload] }
            if {$first == 0x88} break
        }
    }
    close $socket
    unset state($list)
}
# A mask of zeros leaves the bytes as they are.
proc visitor::Frame {first payload} {
    set n [string length $payload]
    set head [expr {$n < 126 ? [binary format cc $first [expr {0x80 | $n}]] : [binary format ccS $first 0xfe $n]}]
    return $head[binary format I 0]$payload
}
proc visitor::say {list text} {
    variable state
    puts -nonewline $state($list) [Frame 0x81 [encoding convertto utf-8 $text]]
    flush $state($list)
}
proc visitor::hangUp {list} {
    variable state
    puts -nonewline $state($list) [Frame 0x88 [binary format S 1000]]
    flush $state($list)
    until {![info exists ::visitor::state($list)]}
}

# --- Mail

proc smtp::listen {} { lindex [fconfigure [socket -server smtp::Accept -myaddr 127.0.0.1 0] -sockname] 2 }
proc smtp::messages {} { variable received; return $received }
proc smtp::refuse {n} { variable nRefused; set nRefused $n }
proc smtp::serveUntil {condition} {
    set end [expr {[clock milliseconds] + 600000}]
    while {![uplevel 1 [list expr $condition]]} {
        if {[clock milliseconds] > $end} { error "waited in vain for $condition" }
        after 20 {set smtp::tick 1}
        vwait smtp::tick
    }
}

proc smtp::Accept {channel args} {
    variable state
    fconfigure $channel -blocking 0 -translation crlf -encoding binary -buffering line
    set state($channel) command
    puts $channel "220 ready"
    fileevent $channel readable [list smtp::Hear $channel]
}
proc smtp::Hear {channel} {
    variable state
    variable received
    variable nRefused
    while {[gets $channel line] >= 0} {
        if {$state($channel) eq "data"} {
            if {$line ne "."} { lappend state($channel,lines) $line; continue }
            set state($channel) command
            if {$nRefused > 0} {
                incr nRefused -1
                puts $channel "451 later"
            } else {
                lappend received [list $state($channel,to) $state($channel,lines)]
                puts $channel "250 ok"
            }
            continue
        }
        switch -glob -nocase $line {
            RCPT*   { regexp {<(.*)>} $line - state($channel,to); puts $channel "250 ok" }
            DATA*   { set state($channel) data; set state($channel,lines) {}; puts $channel "354 go on" }
            QUIT*   { puts $channel "221 bye" }
            default { puts $channel "250 ok" }
        }
    }
    if {[eof $channel]} {
        close $channel
        array unset state $channel*
    }
}
