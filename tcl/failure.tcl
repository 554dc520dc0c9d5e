# SPDX-License-Identifier: MPL-2.0
# failure.tcl --
#
#       Pages for authors: why a request failed (parameter development).

# _ns_noindex --
#
#       Answers a request for a directory that has no index file.

proc _ns_noindex {} {
    if {![_ns_islocal]} {
        ns_returnnotfound
        return
    }
    set name [expr {[ns_config ns/server/[ns_info server]/adp map] ne "" ? "index.adp" : "index.html"}]
    set directory [ns_quotehtml [ns_url2file [ns_conn url]]]
    ns_returnnotice 404 "No index file" "<p>no index file in $directory; create $name</p>"
}

# _ns_failurepage --
#
#       Answer a request whose script failed with that error: its trace, the sources
#       that it names and the request.  0: the client is not on this machine, so there
#       is no reply yet.

proc _ns_failurepage {status trace} {
    if {![_ns_islocal]} { return 0 }
    set headers [ns_conn headers]
    set message [lindex [split $trace \n] 0]
    # Of the log, with all fields of the request.
    regsub {\n +while processing connection #.*} $trace "" trace
    if {[ns_set size [ns_conn outputheaders]] > 0} { ns_set truncate [ns_conn outputheaders] 0 }
    ns_set put [ns_conn outputheaders] Cache-Control no-store
    if {[regexp {json} [ns_set iget $headers Accept ""]] && ![regexp {html} [ns_set iget $headers Accept ""]]} {
        ns_return $status application/problem+json [format "{\"type\":\"about:blank\",\"title\":%s,\"status\":%d,\"detail\":%s,\"trace\":%s}\n" \
            [_ns_failurejson [ns_conn method]\ failed] $status [_ns_failurejson $message] [_ns_failurejson $trace]]
        return 1
    }
    set sources ""
    foreach place [_ns_failureplaces $trace] {
        append sources [_ns_failuresource {*}$place]
    }
    set rows ""
    foreach {name value} [ns_set array $headers] {
        if {[string tolower $name] in {cookie authorization proxy-authorization}} { set value "(not shown)" }
        append rows "<tr><th>[ns_quotehtml $name]</th><td>[ns_quotehtml $value]</td></tr>\n"
    }
    set hint [_ns_failurehint $trace]
    if {$hint ne ""} { set hint "<p>$hint</p>\n" }
    set problem [_ns_devproblem]
    if {$problem ne ""} {
        set problem "<p role=\"alert\">The libraries could not be reloaded, and are as they were before: [ns_quotehtml $problem]</p>\n"
    }
    # The script is that of the live reload.
    ns_set put [ns_conn outputheaders] Content-Security-Policy \
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'self'; connect-src 'self'"
    ns_return $status "text/html; charset=utf-8" "<!DOCTYPE html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<meta name=\"color-scheme\" content=\"light dark\">
<title>[ns_quotehtml [string range $message 0 100]]</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.3rem; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 2rem 0 0.5rem; overflow-wrap: anywhere; }
pre { font-size: 0.9rem; overflow-x: auto; padding: 0.5rem; border: 1px solid; }
pre b { display: block; border-left: 0.3rem solid #c00; padding-left: 0.3rem; margin-left: -0.6rem; }
th { text-align: left; padding-right: 1rem; vertical-align: top; font-weight: normal; }
td { overflow-wrap: anywhere; }
</style>
</head>
<body>
<main>
<h1>[ns_quotehtml $message]</h1>
${problem}${hint}${sources}<h2>Trace</h2>
<pre tabindex=\"0\">[ns_quotehtml $trace]</pre>
<h2>Request</h2>
<p><code>[ns_quotehtml [ns_conn request]]</code></p>
<table>
$rows</table>
<p><small>The same is in the log, [ns_quotehtml [ns_info log]]. Only clients on this machine see this page, because
<code>development</code> is on in <code>ns/parameters</code>; all others get a page that says nothing.</small></p>
</main>
</body>
</html>
"
    return 1
}

# A string of JSON.
proc _ns_failurejson {text} {
    set result ""
    foreach char [split $text ""] {
        if {$char in {\" \\}} {
            append result \\$char
        } elseif {[scan $char %c] < 32} {
            append result [format \\u%04x [scan $char %c]]
        } else {
            append result $char
        }
    }
    return "\"$result\""
}

# The places that a trace names, innermost first: lists of file or proc, name, line.
proc _ns_failureplaces {trace} {
    set places {}
    foreach {- adpLine adp proc procLine file fileLine} [regexp -all -inline -line \
            {at line (\d+) of adp file "([^"]+)"|\(procedure "([^"]+)" line (\d+)\)|\(file "([^"]+)" line (\d+)\)} $trace] {
        if {$adp ne ""} {
            lappend places [list file $adp $adpLine]
        } elseif {$proc ne ""} {
            lappend places [list proc $proc $procLine]
        } else {
            lappend places [list file $file $fileLine]
        }
    }
    set seen {}
    foreach place $places {
        if {$place ni $seen && [llength $seen] < 5} { lappend seen $place }
    }
    return $seen
}

# The lines around one place, as HTML; empty if it cannot be read.
proc _ns_failuresource {kind name line} {
    if {$kind eq "proc"} {
        if {[llength [info procs ::[string trimleft $name :]]] != 1} { return "" }
        set text [info body ::[string trimleft $name :]]
    } elseif {[catch {
        set channel [open $name]
        try {
            fconfigure $channel -encoding utf-8
            set text [read $channel]
        } finally {
            close $channel
        }
    }]} {
        return ""
    }
    set lines [split $text \n]
    set html ""
    for {set i [expr {max(1, $line - 5)}]} {$i <= min([llength $lines], $line + 5)} {incr i} {
        set shown [ns_quotehtml [format "%5d  %s" $i [lindex $lines $i-1]]]
        append html [expr {$i == $line ? "<b>$shown</b>" : "$shown\n"}]
    }
    set title [expr {$kind eq "proc" ? "procedure $name, line $line of its body" : "$name, line $line"}]
    return "<h2>[ns_quotehtml $title]</h2>\n<pre tabindex=\"0\">$html</pre>\n"
}

# What helps with mistakes that many make, as HTML.
proc _ns_failurehint {trace} {
    if {[string match "*adp file*" $trace] && [regexp {^(missing close-b|extra characters after close-brace|invalid command name "\}"|wrong # args: no script following)} $trace]} {
        return "Each <code>&lt;% … %&gt;</code> has to be complete Tcl. Around HTML, write\
            <code>&lt;% if {\$n > 0} { ns_adp_puts \"…\" } %&gt;</code> or put the HTML into a page of its own and use\
            <code>ns_adp_include</code>; with <code>singlescript true</code> in <code>ns/server/…/adp</code>, blocks may\
            open and close braces across HTML."
    }
    return ""
}

# _ns_noticepage --
#
#       The page that a template (parameter noticeadp) makes of a title, a text of HTML
#       and the line about the server.

proc _ns_noticepage {file title notice noticedetail} { ns_adp_parse -file $file }
