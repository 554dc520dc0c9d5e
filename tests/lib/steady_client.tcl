# SPDX-License-Identifier: MPL-2.0
# steady_client.tcl --
#
#       Visitors who ask again and again, each for itself, and never twice for the same.
#
#       tclsh steady_client.tcl PORT COOKIE TOKEN READERS WRITERS NAME FILE
#
#       Until standard input ends.  A reader gets /me, a writer posts to /say, with a text
#       of its own each time.  The odd ones make a connection for each request, the others
#       keep theirs.  Each request is a line of FILE: KIND TEXT BEGIN STATUS MACHINE ID BODY,
#       in milliseconds; status 0: the connection ended before the reply.  TEXT is
#       NAME.VISITOR.NUMBER.

lassign $argv port cookie token nReaders nWriters name file
set log [open $file w]
fconfigure $log -buffering line
set isEnding 0
set running 0

proc readable {channel} {
    fileevent $channel readable [info coroutine]
    yield
    fileevent $channel readable {}
}
# Nothing after the end of the connection.
proc line {channel} {
    while {[gets $channel line] < 0} {
        if {[eof $channel]} { error "the connection ended" }
        readable $channel
    }
    return [string trimright $line \r]
}
proc bytes {channel n} {
    set data ""
    while {[string length $data] < $n} {
        append data [read $channel [expr {$n - [string length $data]}]]
        if {[eof $channel]} { error "the connection ended" }
        if {[string length $data] < $n} { readable $channel }
    }
    return $data
}

# {STATUS MACHINE ID BODY CLOSES}
proc reply {channel} {
    array set fields {x-machine "" x-request-id "" content-length 0 connection ""}
    regexp {^HTTP/1.1 (\d+)} [line $channel] - status
    while {[set line [line $channel]] ne ""} {
        regexp {^([^:]+): *(.*)$} $line - name value
        set fields([string tolower $name]) $value
    }
    set body [bytes $channel $fields(content-length)]
    list $status $fields(x-machine) $fields(x-request-id) $body [expr {$fields(connection) eq "close"}]
}

proc visit {kind number} {
    global port cookie token name log isEnding running
    set channel ""
    for {set i 0} {!$isEnding} {incr i} {
        set text $name.$kind$number.$i
        set isLast [expr {$number % 2 == 1}]
        set head "Host: board\r\nCookie: session=$cookie\r\n[expr {$isLast ? "Connection: close\r\n" : ""}]"
        if {$kind eq "GET"} {
            set request "GET /me?$text HTTP/1.1\r\n$head\r\n"
        } else {
            set body "token=$token&text=$text"
            set request "POST /say HTTP/1.1\r\n${head}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: [string length $body]\r\n\r\n$body"
        }
        set begin [clock milliseconds]
        if {[catch {
            if {$channel eq ""} {
                set channel [socket 127.0.0.1 $port]
                fconfigure $channel -blocking 0 -translation binary
            }
            puts -nonewline $channel $request
            flush $channel
            reply $channel
        } result]} {
            set result [list 0 "" "" $result 1]
        }
        lassign $result status machine id body closes
        if {$closes || $isLast} {
            catch {close $channel}
            set channel ""
        }
        puts $log [list $kind $text $begin $status $machine $id [lindex [split $body \n] 0]]
        # A steady load, and not all that the machine can do.
        after 5 [info coroutine]
        yield
    }
    if {$channel ne ""} { close $channel }
    incr running -1
}

foreach {kind n} [list GET $nReaders POST $nWriters] {
    for {set i 0} {$i < $n} {incr i} {
        incr running
        coroutine $kind$i visit $kind $i
    }
}
fileevent stdin readable { if {[gets stdin] eq "" && [eof stdin]} { set isEnding 1; fileevent stdin readable {} } }
while {$running > 0} { vwait running }
close $log
