# SPDX-License-Identifier: MPL-2.0
# page.tcl --
#
#       What the pages of the welcome site have in common.  The site is a module
#       of scripts: `ns_param welcome tcl` in the modules of a server loads it.

namespace eval welcome {
    # Page -> its name in the navigation.
    variable navigation {
        index.adp   Server
        example.adp ADP
        hello.tcl   Tcl
        upload.tcl  Upload
        nsstats.tcl Monitor
        manual.tcl  Manual
    }
}

#
# The beginning and the end of a page.  The title is text, not HTML.
#
proc welcome::top {title} {
    variable navigation
    set here [lindex [ns_conn urlv] end]
    if {$here eq ""} { set here index.adp }
    set links ""
    foreach {page name} $navigation {
        set mark [expr {$page eq $here ? { aria-current="page"} : ""}]
        append links "<a href=\"$page\"$mark>$name</a>\n"
    }
    set title [ns_quotehtml $title]
    return [subst -nocommands -nobackslashes {<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>$title</title>
<link rel="icon" href="favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="style.css">
</head>
<body>
<header><nav aria-label="Pages">
<a class="brand" href="index.adp"><img src="favicon.svg" alt="" width="24" height="24">nsd</a>
$links</nav></header>
<main>
}]
}

proc welcome::bottom {} {
    return "</main>
<footer>nsd [ns_quotehtml [ns_info patchlevel]], server
[ns_quotehtml [ns_conn server]] on [ns_quotehtml [ns_info hostname]]</footer>
</body>
</html>
"
}

#
# A source file as HTML.
#
proc welcome::source {file} {
    set channel [open $file]
    fconfigure $channel -encoding utf-8
    set text [read $channel]
    close $channel
    return "<details class=\"source\"><summary>Source of [ns_quotehtml [file tail $file]]</summary>
<pre tabindex=\"0\"><code>[ns_quotehtml [string trimright $text]]</code></pre></details>\n"
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
