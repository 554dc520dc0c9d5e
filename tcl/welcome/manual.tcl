# SPDX-License-Identifier: MPL-2.0
# manual.tcl --
#
#       The manual: doc/*.md as HTML.  A page is made when it is asked for first,
#       and again when its file has changed.

namespace eval welcome {}

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
# The names of all pages, the index first.
#
proc welcome::manualPages {} {
    set names {}
    foreach file [lsort [glob -nocomplain -directory [manualDirectory] *.md]] {
        set name [file rootname [file tail $file]]
        if {$name eq "README"} continue
        lappend names $name
    }
    return [linsert $names 0 README]
}

#
# One page as HTML; empty if there is none of this name.  The name comes from a
# client: it only selects one of the files that are there.
#
proc welcome::manualPage {name} {
    if {$name ni [manualPages]} { return "" }
    set file [file join [manualDirectory] $name.md]
    if {![file readable $file]} { return "" }
    set channel [open $file]
    fconfigure $channel -encoding utf-8
    set text [read $channel]
    close $channel
    # Its time would not tell of an edit within the second of the last one.
    return [ns_memoize -- ::welcome::RenderManual $text]
}

proc welcome::RenderManual {text} {
    package require Markdown
    # Languages behind the fences are not needed.
    regsub -all -line {^```\w+$} $text ``` text
    set html [::Markdown::convert $text]
    return [AddAnchors [string map {
        "<table class=\"table\">" "<div class=\"scroll\"><table>"
        "</table>" "</table></div>"
        "<pre>" "<pre tabindex=\"0\">"
    } [LinkPages $html]]]
}

#
# Links between the files become links between the pages.
#
proc welcome::LinkPages {html} {
    regsub -all {href="README\.md} $html {href="manual.tcl} html
    regsub -all {href="([\w-]+)\.md} $html {href="manual.tcl?page=\1} html
    return $html
}

#
# Headings can be linked to, by their words in lower case joined by hyphens; the
# second one of the same id gets -1, and so on.
#
proc welcome::AddAnchors {html} {
    set result ""
    set at 0
    set seen {}
    foreach {whole level heading} [regexp -all -inline -indices {<h([1-6])>([^\n]*?)</h[1-6]>} $html] {
        lassign $whole first last
        set inner [string range $html {*}$heading]
        set n [string range $html {*}$level]
        regsub -all {<[^>]*>|&[^;]*;} $inner "" id
        regsub -all {[^\w -]} [string tolower $id] "" id
        set id [string map {" " -} $id]
        dict incr seen $id
        if {[dict get $seen $id] > 1} { append id -[expr {[dict get $seen $id] - 1}] }
        append result [string range $html $at [expr {$first - 1}]] \
            "<h$n id=\"$id\">$inner</h$n>"
        set at [expr {$last + 1}]
    }
    return $result[string range $html $at end]
}
