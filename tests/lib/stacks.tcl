# SPDX-License-Identifier: MPL-2.0
# stacks.tcl --
#
#       Stacks of requests, as ns_server stack has them.
#
#       lineOf FRAME             the name of its file, and the text of its line; or ""
#       procOf FRAME             its procedure; or ""
#       waitingPages PAGES       text for -init: for each name and body a procedure
#                                waits_NAME, and a page /waits/NAME that replies what it
#                                returns
#       beginWait NAME WHAT      asks for that page, until its request waits for WHAT
#       awaitWait NAME WHAT      until it waits for another thing
#                                Both return what has called the wait: the command, its
#                                file, the line, and the procedure; `ended` if the request
#                                has ended before that was seen
#       endWait                  what the page replies

proc lineOf {frame} {
    if {![dict exists $frame file]} { return "" }
    set file [dict get $frame file]
    list [file tail $file] [string trim [lindex [split [readFile $file] \n] [dict get $frame line]-1]]
}
proc procOf {frame} { expr {[dict exists $frame proc] ? [dict get $frame proc] : ""} }

proc waitingPages {pages} {
    set library ""
    foreach {name body} $pages {
        append library "proc waits_$name {} {$body}\n" [string map [list NAME $name] {
            ns_register_proc GET /waits/NAME {
                nsv_set waits NAME [ns_conn id]
                ns_return 200 text/plain [waits_NAME]
            } ;#
        }]
    }
    return $library
}

proc beginWait {name what} {
    inServer [list nsv_unset -nocomplain waits $name]
    set ::stacks::sock [connect]
    send $::stacks::sock "GET /waits/$name HTTP/1.0\r\n\r\n"
    waitFor {[inServer [list nsv_exists waits $name]]}
    awaitWait $name $what
}
proc awaitWait {name what} {
    set id [inServer [list nsv_get waits $name]]
    waitFor {[catch {inServer [list ns_server stack $id]} stack] ? [string match "no such running request*" $stack]
        : [llength $stack] > 1 && [dict get [lindex $stack 0] type] eq "waiting"
            && [dict get [lindex $stack 0] cmd] eq $what}
    if {[string match "no such*" $stack]} { return ended }
    set caller [lindex $stack 1]
    list [string trim [dict get $caller cmd]] {*}[lineOf $caller] [procOf $caller]
}
proc endWait {} {
    set reply [readReply $::stacks::sock]
    disconnect $::stacks::sock
    dict get $reply body
}
namespace eval stacks { variable sock "" }
