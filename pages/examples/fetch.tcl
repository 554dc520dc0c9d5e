# SPDX-License-Identifier: MPL-2.0
# fetch.tcl --
#
#       Asking another server, with a limit in time, and what can go wrong.

# For the sake of the example this server asks itself.  Never take a URL from a visitor:
# it may lead to what only this machine can reach.
set host [ns_conn currentaddr]
if {[string match *:* $host]} { set host \[$host\] }
set self [ns_conn protocol]://$host:[ns_conn currentport][file dirname [ns_conn url]]
set targets [dict create \
    works   $self/tasks \
    missing $self/there-is-no-such-page \
    silent  $self/fetch.tcl?silent=1 \
    closed  http://127.0.0.1:1/]

# A server that is silent for three seconds, and holds no thread meanwhile.
if {[ns_queryexists silent]} {
    return [ns_after 3 [list ns_connchan close [ns_connchan detach]]]
}

set what [ns_queryget what]
set result ""
if {$what ne ""} {
    if {![dict exists $targets $what]} { return [ns_returnbadrequest "There is no such target."] }
    set start [clock milliseconds]
    try {
        set reply [ns_http run -connecttimeout 1s -expire 1s -maxresponse 100kB [dict get $targets $what]]
        set status [dict get $reply status]
        if {$status == 200} {
            set said "an answer: [string range [dict get $reply body] 0 200]"
        } else {
            set said "an answer with status $status"
        }
    } trap NS_TIMEOUT {} {
        set said "no answer in time"
    } on error message {
        set said "no answer: $message"
    }
    set result "<p role=\"status\"><b>[ns_quotehtml $what]</b>: [ns_quotehtml $said],
        after [expr {[clock milliseconds] - $start}] ms.</p>"
}

set buttons ""
foreach name [dict keys $targets] { append buttons "<button name=\"what\" value=\"$name\">$name</button>\n" }
welcome::reply "Asking another server" "<p>Which server shall be asked?</p>
<form method=\"get\" class=\"line\">$buttons</form>
$result" "A connection thread until the answer is there, a second at most. With ns_http queue it is free meanwhile." \
    {http-client revproxy}
