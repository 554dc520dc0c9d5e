# SPDX-License-Identifier: MPL-2.0
# page.tcl --
#
#       What the pages of the welcome site have in common.  The site is a module
#       of scripts: `ns_param welcome tcl` in the modules of a server loads it.

namespace eval welcome {
    variable library [file dirname [file normalize [info script]]]
    # Page -> its name in the navigation.
    variable navigation {
        index.adp          Start
        examples/index.adp Examples
        manual.tcl         Manual
        nsstats.tcl        Monitor
    }
}

#
# The way from this page to the root of the site: ../ for each directory.
#
proc welcome::Root {} {
    return [string repeat ../ [expr {[regexp -all / [ns_conn url]] - 1}]]
}

#
# The beginning and the end of a page.  The title is text, not HTML; more is HTML
# for the head.
#
proc welcome::top {title {more ""}} {
    variable navigation
    set root [Root]
    set here [string trimleft [ns_conn url] /]
    if {$here eq "" || [string index $here end] eq "/"} { append here index.adp }
    set links ""
    foreach {page name} $navigation {
        set mark ""
        if {$page eq $here} {
            set mark { aria-current="page"}
        } elseif {[string match */* $page] && [file dirname $page] eq [file dirname $here]} {
            set mark { aria-current="true"}
        }
        append links "<a href=\"$root$page\"$mark>$name</a>\n"
    }
    set title [ns_quotehtml $title]
    return [subst -nocommands -nobackslashes {<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>$title</title>
<link rel="icon" href="${root}favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${root}style.css">
$more</head>
<body>
<header><nav aria-label="Pages">
<a class="brand" href="${root}index.adp"><img src="${root}favicon.svg" alt="" width="24" height="24">nsd</a>
$links</nav></header>
<main>
}]
}

proc welcome::bottom {} {
    return "</main>
<footer>nsd [ns_quotehtml [ns_info release]], server
[ns_quotehtml [ns_conn server]] on [ns_quotehtml [ns_info hostname]]</footer>
</body>
</html>
"
}

#
# A page of examples/: HTML, what it costs the server (text), where the manual tells
# more (pages, perhaps with #anchor), and beside it its source.  More is for the head;
# files are shown besides the page's own.
#
proc welcome::example {title html cost manual {more ""} {files {}}} {
    set page [ns_url2file [ns_conn url]]
    set sources ""
    foreach file [concat [list $page] $files] {
        append sources [source [file join [file dirname $page] $file]]
    }
    return "[top $title $more]<div class=\"beside\">
<div>
<h1>[ns_quotehtml $title]</h1>
$html
[facts $cost $manual]</div>
<div>
$sources</div>
</div>
[bottom]"
}

proc welcome::facts {cost manual} {
    set links [lmap page $manual {
        set name [string map {- " " # ": "} $page]
        subst -nocommands {<a href="../manual.tcl?page=$page">$name</a>}
    }]
    return "<dl class=\"facts\"><dt>What it costs</dt><dd>[ns_quotehtml $cost]</dd>
<dt>In the manual</dt><dd>[join $links {, }]</dd></dl>
"
}

#
# The reply of an example, of this status.
#
proc welcome::reply {args} {
    set status 200
    if {[string is integer -strict [lindex $args 0]]} { set args [lassign $args status] }
    ns_return $status text/html [example {*}$args]
}

#
# A message about what the visitor has done, as HTML.
#
proc welcome::problem {message} {
    return "<p class=\"problem\" role=\"alert\">[ns_quotehtml $message]</p>\n"
}

#
# A source file as HTML, comments apart from code.
#
proc welcome::source {file} {
    set channel [open $file]
    fconfigure $channel -encoding utf-8
    set text [read $channel]
    close $channel
    regsub {^(?:#|/\*) SPDX-License-Identifier: [^\n]*\n} $text "" text
    set text [ns_quotehtml [string trimright $text]]
    regsub -all -line {^\s*(?:#|//).*$} $text {<i>&</i>} text
    return "<h2 class=\"source\">[ns_quotehtml [file tail $file]]</h2>
<pre tabindex=\"0\" aria-label=\"Source of [ns_quotehtml [file tail $file]]\" role=\"region\"><code>$text</code></pre>\n"
}

#
# A table of two columns, from names and values that are text.
#
proc welcome::table {pairs} {
    set rows ""
    foreach {name value} $pairs {
        append rows "<tr><th scope=\"row\">[ns_quotehtml $name]</th>" \
            "<td>[ns_quotehtml $value]</td></tr>\n"
    }
    return "<div class=\"scroll\"><table>\n$rows</table></div>\n"
}

#
# The directory of the manual: parameter `doc` of the module, or doc/ next to the
# Tcl library.
#
proc welcome::manualDirectory {} {
    set library [ns_config ns/parameters tcllibrary tcl]
    set default [file join [ns_info home] [file dirname $library] doc]
    return [ns_config ns/server/[ns_info server]/module/welcome doc $default]
}

#
# Where a page of the manual is, or the search.
#
proc welcome::manualUrl {page id} {
    return manual.tcl[expr {$page in {"" README} ? "" : "?page=[ns_urlencode $page]"}][expr {$id eq "" ? "" : "#$id"}]
}
