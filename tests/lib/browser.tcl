# SPDX-License-Identifier: MPL-2.0
# browser.tcl --
#
#       A browser without a window (Chromium), driven by its DevTools protocol.
#
#       browser start                       starts it; browser stop ends it
#       browser visit URL ?WIDTH? ?SCHEME?  loads a page of the server, or a whole URL, in a
#                                           window of this width (1280), light or dark, and
#                                           waits for it
#       browser evaluate SCRIPT             the value of an expression, also of a promise
#       browser press Tab                   presses a key and lets it go
#       browser notice EVENT EXPRESSION     from the next page on the array `noticed` has the
#                                           expression's values for each such `event`

package require json

namespace eval browser {
    variable chromium [auto_execok chromium]
    variable channel ""
    variable directory ""
    variable last 0
    namespace export start stop visit evaluate press notice
    namespace ensemble create
}
testConstraint chromium [expr {$browser::chromium ne ""}]

proc browser::start {} {
    variable chromium
    variable channel
    variable directory
    variable process
    set directory [string trim [exec mktemp -d --tmpdir nsd-browser.XXXXXX]]
    set process [exec {*}$chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
        --disable-background-networking --disable-component-update --disable-sync --disable-extensions \
        --ignore-certificate-errors --user-data-dir=$directory --remote-debugging-port=0 about:blank >$directory/log 2>@1 &]
    waitFor {[file exists $directory/DevToolsActivePort] && [llength [readFile $directory/DevToolsActivePort]] == 2}
    lassign [readFile $directory/DevToolsActivePort] port path
    set channel [socket 127.0.0.1 $port]
    fconfigure $channel -translation binary -buffering none
    send $channel [join [list "GET $path HTTP/1.1" "Host: 127.0.0.1:$port" "Upgrade: websocket" "Connection: Upgrade" \
        "Sec-WebSocket-Version: 13" "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="] \r\n]\r\n\r\n
    readReply $channel HEAD
    variable session ""
    set target [dict get [Call Target.createTarget {"url":"about:blank"}] targetId]
    set session [dict get [Call Target.attachToTarget "\"targetId\":\"$target\",\"flatten\":true"] sessionId]
    Call Page.enable ""
}

proc browser::stop {} {
    variable channel
    variable directory
    variable process
    if {$directory eq ""} return
    catch {close $channel}
    catch {exec kill $process}
    waitFor {[hasEnded $process]}
    # Its children may still write there.
    waitFor {![catch {file delete -force $directory}]}
    set directory ""
}

proc browser::visit {url {width 1280} {scheme light}} {
    Call Emulation.setDeviceMetricsOverride "\"width\":$width,\"height\":900,\"deviceScaleFactor\":1,\"mobile\":false"
    Call Emulation.setEmulatedMedia "\"features\":\[{\"name\":\"prefers-color-scheme\",\"value\":\"$scheme\"}\]"
    if {![string match *://* $url]} { set url http://127.0.0.1:[port]$url }
    Call Page.navigate "\"url\":[Quoted $url]" Page.loadEventFired
    return
}

proc browser::evaluate {script} {
    set result [Call Runtime.evaluate "\"expression\":[Quoted $script],\"awaitPromise\":true,\"returnByValue\":true"]
    if {[dict exists $result exceptionDetails]} { error "in the browser: $result" }
    set result [dict get $result result]
    return [expr {[dict exists $result value] ? [dict get $result value] : ""}]
}

proc browser::notice {event expression} {
    set script "window.noticed = \[\]; document.addEventListener([Quoted $event], event => noticed.push($expression));"
    Call Page.addScriptToEvaluateOnNewDocument "\"source\":[Quoted $script]"
}

proc browser::press {key} {
    set code [dict get {Tab 9 Enter 13 Escape 27 End 35 Home 36 ArrowLeft 37 ArrowRight 39} $key]
    foreach type {rawKeyDown keyUp} {
        Call Input.dispatchKeyEvent "\"type\":\"$type\",\"key\":\"$key\",\"code\":\"$key\",\"windowsVirtualKeyCode\":$code"
    }
}

# One command and its result; with an event, wait for that, too.
proc browser::Call {method parameters {event ""}} {
    variable last
    variable session
    variable channel
    set id [incr last]
    set head [expr {$session eq "" ? "" : "\"sessionId\":\"$session\","}]
    Send "{\"id\":$id,$head\"method\":\"$method\",\"params\":{$parameters}}"
    set hasResult 0
    set hasEvent [expr {$event eq ""}]
    while {!$hasResult || !$hasEvent} {
        set message [json::json2dict [Receive]]
        if {[dict exists $message method] && [dict get $message method] eq $event} { set hasEvent 1 }
        if {![dict exists $message id] || [dict get $message id] != $id} continue
        if {[dict exists $message error]} { error "$method: [dict get $message error]" }
        set result [dict get $message result]
        set hasResult 1
    }
    return $result
}

proc browser::Quoted {text} {
    set text [string map [list \\ \\\\ \" \\\" \n \\n \r \\r \t \\t] $text]
    # Other control characters, and what is beyond ASCII.
    set result ""
    foreach piece [regexp -all -inline {[ -~]+|[^ -~]} $text] {
        append result [expr {[string match {[ -~]*} $piece] ? $piece : [format \\u%04x [scan $piece %c]]}]
    }
    return "\"$result\""
}

# A text frame; the mask is zero.
proc browser::Send {text} {
    variable channel
    set n [string length $text]
    send $channel [binary format cua* 0x81 [expr {$n < 126 ? [binary format cu [expr {0x80 | $n}]]
        : $n < 65536 ? [binary format cuSu 0xfe $n] : [binary format cuWu 0xff $n]}]][binary format i 0]$text
}

proc browser::Receive {} {
    variable channel
    set text ""
    while 1 {
        binary scan [harness::receive $channel 2] cucu first n
        if {$n == 126} {
            binary scan [harness::receive $channel 2] Su n
        } elseif {$n == 127} {
            binary scan [harness::receive $channel 8] Wu n
        }
        append text [harness::receive $channel $n]
        if {$first & 0x80} { return [encoding convertfrom utf-8 $text] }
    }
}
