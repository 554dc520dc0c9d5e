# SPDX-License-Identifier: MPL-2.0
# manual.tcl --
#
#       The manual: doc/*.md as HTML, in the order of doc/README.md, with an index of
#       its headings, commands and parameters.
#
#       manual::pages directory             the names in reading order, README first
#       manual::article directory name url  the HTML of a page, with its menu; empty if
#                                           there is none of this name
#       manual::index directory             {KIND TITLE PLACE PAGE ID TEXT} of whatever
#                                           can be found
#       manual::find index words            those of them that match, the best first
#
#       Links are made by the command prefix url, which gets a page and an id; without
#       a page it is to return what the form of the search is sent to.  No command of
#       the server is needed, so tools/manual writes the same pages to files.

namespace eval manual {
    # Put before a command whose result is to be kept, such as ns_memoize.
    variable keep {}
    # The page that is made of all others: each command, and where it is explained;
    # and the one that is made of the headers for modules, if they are there.
    variable commandPage commands
    variable functionPage functions
}

proc manual::Quote {text} { string map {& &amp; < &lt; > &gt; \" &quot; ' &#39;} $text }

proc manual::Text {directory name} {
    set channel [open [file join $directory $name.md]]
    fconfigure $channel -encoding utf-8
    set text [read $channel]
    close $channel
    return $text
}

#
# {CHAPTER {PAGE TITLE ...} ...} as the index has them.
#
proc manual::Chapters {directory} {
    set chapters {}
    foreach line [split [Text $directory README] \n] {
        if {[regexp {^## (.*)} $line - chapter]} {
            dict set chapters $chapter {}
        } elseif {[regexp {^- \[([^\]]+)\]\(([\w-]+)\.md\)} $line - title page] && [file exists $directory/$page.md]} {
            dict set chapters $chapter $page $title
        }
    }
    variable commandPage
    variable functionPage
    if {[Headers $directory] ne ""} { dict set chapters "Extending the server" $functionPage "C functions" }
    dict set chapters Reference $commandPage "Commands"
    return $chapters
}

proc manual::pages {directory} {
    return [concat README {*}[lmap {- pages} [Chapters $directory] { dict keys $pages }]]
}

# --- Markdown

#
# Text without marks, and as HTML.  Cells of tables write \| for a bar.
#
proc manual::Plain {text} {
    regsub -all {\[([^\]]+)\]\([^)]+\)} $text {\1} text
    return [string map {` "" ** ""} $text]
}

proc manual::Inline {text url} {
    # Code stands aside meanwhile.
    set codes {}
    set rest ""
    foreach {words code} [split $text `] {
        append rest $words
        if {$code eq ""} continue
        append rest \x02[llength $codes]\x03
        lappend codes \x02[llength $codes]\x03 <code>[Quote $code]</code>
    }
    set html [Quote $rest]
    if {[string first \]( $html] >= 0} {
        foreach {link label target} [lsort -unique -stride 3 [regexp -all -inline {\[([^\]]+)\]\(([^)]+)\)} $html]] {
            set html [string map [list $link "<a href=\"[Target $target $url]\">$label</a>"] $html]
        }
    }
    if {[string first * $html] >= 0} {
        regsub -all {\*\*([^*]+)\*\*} $html {<strong>\1</strong>} html
        regsub -all {\*([A-Za-z][\w -]*)\*} $html {<em>\1</em>} html
    }
    return [string map $codes $html]
}

proc manual::Target {target url} {
    if {[regexp {^([\w-]+)\.md(?:#(.*))?$} $target - page id]} { return [Quote [{*}$url $page $id]] }
    return $target
}

#
# An id that the page does not have yet: the second one of a heading gets -1.
#
proc manual::Id {text seenVar} {
    upvar 1 $seenVar seen
    regsub -all {[^\w -]} [string tolower [Plain $text]] "" id
    return [Unique [string map {" " -} $id] seen]
}
proc manual::Unique {id seenVar} {
    upvar 1 $seenVar seen
    dict incr seen $id
    if {[dict get $seen $id] == 1} { return $id }
    return [Unique $id-[expr {[dict get $seen $id] - 1}] seen]
}

#
# The HTML of a page, and what is to be found there: {KIND TITLE PLACE ID TEXT}.  Kinds
# are command, parameter, row and section; of a section the text is all of it.  A usage
# is a command with arguments in a paragraph, or in a block whose line tells what they are.
#
proc manual::Render {text url isParameters} {
    set html ""
    set seen {}
    set entries {}
    set place ""
    set section {}
    set id ""
    set lines [split $text \n]
    set n [llength $lines]
    for {set i 0} {$i < $n} {} {
        set line [lindex $lines $i]
        if {$line eq ""} { incr i; continue }
        set first $i
        if {[regexp {^(#+) (.*)$} $line - level heading]} {
            if {$section ne {}} { lappend entries [lreplace $section 4 4 [string trim [lindex $section 4]]] }
            set level [string length $level]
            set id [Id $heading seen]
            if {$level == 1} { set place [Plain $heading] }
            set section [list section [Plain $heading] $place $id ""]
            if {[IsCommand [Plain $heading]]} { lappend entries [list command [Plain $heading] $place $id $heading] }
            append html "<h$level id=\"$id\">[Inline $heading $url]</h$level>\n"
            incr i
            continue
        } elseif {[regexp {^```} $line]} {
            while {[incr i] < $n && ![string match ```* [lindex $lines $i]]} {}
            incr i
            append html [Code [lrange $lines $first+1 $i-2]]
        } elseif {[string match "    *" $line]} {
            while {$i < $n && ([lindex $lines $i] eq "" || [string match "    *" [lindex $lines $i]])} { incr i }
            set block [lmap line [lrange $lines $first $i-1] { string range $line 4 end }]
            append html [Anchors [lsearch -all -inline -regexp $block {^[^%].*[?|]}] $place seen entries][Code $block]
        } elseif {[string index $line 0] eq "|"} {
            while {[string index [lindex $lines $i] 0] eq "|"} { incr i }
            append html [Table [lrange $lines $first $i-1] $url $id [expr {$isParameters ? [lindex $section 1] : $place}] $isParameters seen entries]
        } elseif {[regexp {^(- |\d+\. )} $line]} {
            append html [List $lines i $url]
        } else {
            while {$i < $n && ![regexp {^($|\||#+ |- |\d+\. |```)} [lindex $lines $i]]} { incr i }
            if {$i == $first} { incr i }
            set text [join [lrange $lines $first $i-1] \n]
            set codes [lmap {- code} [regexp -all -inline {`([^`]+)`} $text] { string map {\n " "} $code }]
            append html <p>[Anchors $codes $place seen entries][Inline $text $url]</p>\n
        }
        # Those of tables have entries of their own.
        lset section 4 "[lindex $section 4] [Plain [join [lmap line [lrange $lines $first $i-1] { string trim $line }] " "]]"
    }
    lappend entries $section
    return [list $html $entries]
}

proc manual::Anchors {codes place seenVar entriesVar} {
    upvar 1 $seenVar seen $entriesVar entries
    set html ""
    foreach code $codes {
        if {[regexp {^(nsv?_\w+(?:::\w+)*) [^\n]+$} $code - command] && ![dict exists $seen $command-use]} {
            set id [Unique $command-use seen]
            lappend entries [list usage $command $place $id $code]
            append html "<a id=\"$id\"></a>"
        }
    }
    return $html
}

proc manual::IsCommand {text} { regexp {^nsv?_\w+(::\w+)*$} $text }

proc manual::Code {lines} {
    return "<pre tabindex=\"0\"><code>[Quote [string trimright [join $lines \n]]]</code></pre>\n"
}

proc manual::List {lines iVar url} {
    upvar 1 $iVar i
    set tag [expr {[string match -* [lindex $lines $i]] ? "ul" : "ol"}]
    set html <$tag>\n
    while {[regexp {^(- |\d+\. )(.*)$} [lindex $lines $i] - - item]} {
        while {[regexp {^ +(\S.*)$} [lindex $lines [incr i]] - more]} { append item \n$more }
        append html <li>[Inline $item $url]</li>\n
        # Items may stand apart.
        if {[lindex $lines $i] eq "" && [regexp {^(- |\d+\. )} [lindex $lines $i+1]]} { incr i }
    }
    return $html</$tag>\n
}

proc manual::Cells {line} {
    set cells [split [string map {\\| \x01} [string trim $line]] |]
    return [lmap cell [lrange $cells 1 end-1] { string map {\x01 |} [string trim $cell] }]
}

#
# A row can be linked to when it begins with code: by the command and its option that
# stand there, or else by the section and the first word.
#
proc manual::Table {lines url section place isParameters seenVar entriesVar} {
    upvar 1 $seenVar seen $entriesVar entries
    set html "<div class=\"scroll\" role=\"region\" aria-label=\"Table\" tabindex=\"0\"><table>\n<thead><tr>"
    foreach cell [Cells [lindex $lines 0]] {
        append html [expr {$cell eq "" ? "<td></td>" : "<th scope=\"col\">[Inline $cell $url]</th>"}]
    }
    append html "</tr></thead>\n<tbody>\n"
    foreach line [lrange $lines 2 end] {
        set cells [lassign [Cells $line] cell]
        set ids ""
        set meaning [Plain [join $cells "; "]]
        foreach {- code} [regexp -all -inline {`([^`]+)`} $cell] {
            if {[regexp {^(nsv?_\w+(?:::\w+)*)(?: ([a-z]\w*)(?![^\s|]))?} $code - command option]} {
                set isNew [expr {![dict exists $seen $command]}]
                set id [Unique [expr {$isNew || $option eq "" ? $command : "$command-$option"}] seen]
                # A word behind it may be an argument, or an option as in `ns_time get`.
                if {$isNew || $option eq ""} { lappend entries [list command $command $place $id "$code: $meaning"] }
                if {$option ne ""} { lappend entries [list command "$command $option" $place $id "$code: $meaning"] }
            } elseif {$ids eq "" && [regexp {^[\w.*-]+} $code word] && [string match `* $cell]} {
                set id [Unique $section.[string map {* ""} $word] seen]
                lappend entries [list [expr {$isParameters ? "parameter" : "row"}] $word $place $id "$code: $meaning"]
            } else {
                continue
            }
            append ids "<a id=\"$id\"></a>"
        }
        append html "<tr><td>$ids[join [lmap cell [linsert $cells 0 $cell] { Inline $cell $url }] </td><td>]</td></tr>\n"
    }
    return "$html</tbody>\n</table></div>\n"
}

# --- pages

proc manual::Rendered {directory name url} {
    variable keep
    variable commandPage
    variable functionPage
    if {$name eq $commandPage} {
        set text [CommandPage $directory $url]
    } elseif {$name eq $functionPage} {
        set text [{*}$keep ::manual::FunctionPage [Headers $directory]]
    } else {
        set text [Text $directory $name]
    }
    return [{*}$keep ::manual::Render $text $url [expr {$name eq "parameters"}]]
}

#
# Where each command is explained, as a page of Markdown.
#
proc manual::CommandPage {directory url} {
    set text "# Commands\n\nEach command, and the page that explains it.\n\n| Command | Page |\n|---|---|\n"
    foreach {command entry} [lsort -stride 2 [commands $directory $url]] {
        lassign $entry place page id
        append text "| \[`$command`\]($page.md#$id) | $place |\n"
    }
    return $text
}

#
# What the headers say, as a page of Markdown: each comment below the declarations that
# it stands before.
#
proc manual::Headers {directory} {
    return [lsort [glob -nocomplain -directory [file join [file dirname $directory] include] ns*.h]]
}

proc manual::FunctionPage {headers} {
    set text "# C functions\n\nWhat the headers in `include/` declare and promise, for \[modules\](modules.md). `#include \"ns.h\"` has all\
        of them.\n"
    foreach header $headers {
        set channel [open $header]
        set code [read $channel]
        close $channel
        # The comments at the margin, each with what stands up to the next one.
        set parts [split [string map [list \n/* \0] \n$code] \0]
        append text "\n## [file tail $header]\n\n[Comment [regsub {.*? --\n} [lindex $parts 1] ""]]\n"
        foreach part [lrange $parts 2 end] {
            set end [string first */ $part]
            set comment [string range $part 0 $end-1]
            set code [string range $part $end+2 end]
            set names [Declared $code]
            if {$names eq ""} continue
            set shown [string trim [string map {"NS_EXTERN " ""} [regsub -all -line {^#(if|else|elif|endif|include).*\n?} $code ""]] \n]
            set more [expr {[llength $names] > 8 ? ", …" : ""}]
            append text "\n### [join [lrange $names 0 7] {, }]$more\n\n```\n$shown\n```\n\n[Comment $comment]\n"
        }
    }
    return $text
}

proc manual::Comment {comment} {
    set lines [lmap line [split [lindex [split [string map {*/ \0} $comment] \0] 0] \n] { regsub {^ \*? ?} $line "" }]
    # That of the whole header is indented.
    set indents [lmap line $lines { if {[string trim $line] eq ""} continue; string length [lindex [regexp -inline {^ *} $line] 0] }]
    set indent [expr {$indents eq "" ? 0 : [lindex [lsort -integer $indents] 0]}]
    # Pointers that are followed are code, lest they look like marks.
    return [string trim [regsub -all {\*+\w+} [join [lmap line $lines { string range $line $indent end }] \n] {`&`}] \n]
}

#
# Functions with parentheses, types, and macros.
#
proc manual::Declared {code} {
    set names [lmap {- name} [regexp -all -inline {NS_EXTERN[^;(]*?\m(\w+)\s*\(} $code] { string cat $name () }]
    foreach expression {{typedef[^;\x7b]*?\(?\*?\m(\w+)\)?\s*\(} {(?:^|\n)\x7d\s*(\w+);} {typedef \w+ \w+ \*?(\w+);}} {
        foreach {- name} [regexp -all -inline $expression $code] { lappend names $name }
    }
    if {$names eq ""} {
        set names [lmap {- name} [regexp -all -inline -line {^#define (\w+)} $code] { set name }]
    }
    return [lsort -unique $names]
}

#
# A dict: command -> {PLACE PAGE ID} of its entry: a heading of its name, or else the first
# row of a table that begins with it, or else where it stands first with arguments.
#
proc manual::commands {directory url} {
    variable commandPage
    variable functionPage
    set entries {}
    foreach page [pages $directory] {
        if {$page in [list README migration $commandPage $functionPage]} continue
        foreach entry [lindex [Rendered $directory $page $url] 1] {
            lassign $entry kind title place id
            if {![IsCommand $title]} continue
            set rank [lsearch {usage command section} $kind]
            if {![dict exists $entries $title] || [lindex [dict get $entries $title] 0] < $rank} {
                dict set entries $title [list $rank $place $page $id]
            }
        }
    }
    return [dict map {command entry} $entries { lrange $entry 1 end }]
}

proc manual::article {directory name url} {
    set pages [pages $directory]
    if {$name ni $pages} { return "" }
    set html [lindex [Rendered $directory $name $url] 0]
    set headings [regexp -all -inline {<h2 id="([^"]*)">([^\n]*)</h2>} $html]
    if {[llength $headings] > 6 && $name ne "README"} {
        set list [join [lmap {- id text} $headings { string cat "<li><a href=\"#$id\">[Unlinked $text]</a></li>" }] \n]
        regsub {</h1>\n} $html [string map {\\ \\\\ & \\&} \
            "</h1>\n<details class=\"contents\"><summary>On this page</summary>\n<ul>\n$list\n</ul></details>\n"] html
    }
    return "<div class=\"manual\">\n[Menu $directory $name $url]<article>\n$html[Neighbours $directory $pages $name $url]</article>\n</div>\n"
}
proc manual::Unlinked {html} { regsub -all {</?a[^>]*>} $html "" }

proc manual::Menu {directory name url} {
    set html "<nav aria-label=\"Manual\">\n[searchForm $url ""]"
    set menu [list "" [dict create README Contents] {*}[Chapters $directory]]
    foreach {chapter pages} $menu {
        if {$chapter ne ""} { append html "<h2>[Quote $chapter]</h2>\n" }
        append html "<ul>\n"
        dict for {page title} $pages {
            set mark [expr {$page eq $name ? { aria-current="page"} : ""}]
            append html "<li><a href=\"[Quote [{*}$url $page ""]]\"$mark>[Quote $title]</a></li>\n"
        }
        append html "</ul>\n"
    }
    return $html</nav>\n
}

proc manual::searchForm {url words} {
    return "<form role=\"search\" action=\"[{*}$url "" ""]\"><input type=\"search\" name=\"find\" value=\"[Quote $words]\"\
        placeholder=\"Search\" aria-label=\"Search the manual\"></form>\n"
}

proc manual::Neighbours {directory pages name url} {
    set titles [list README Contents]
    foreach {- some} [Chapters $directory] { lappend titles {*}$some }
    set at [lsearch -exact $pages $name]
    set html ""
    foreach {rel word other} [list prev Previous [expr {$at - 1}] next Next [expr {$at + 1}]] {
        set page [lindex $pages $other]
        if {$page eq ""} continue
        append html "<a rel=\"$rel\" href=\"[Quote [{*}$url $page ""]]\">$word: [Quote [dict get $titles $page]]</a>\n"
    }
    return "<nav class=\"neighbours\" aria-label=\"Reading order\">\n$html</nav>\n"
}

# --- search

proc manual::index {directory url} {
    variable commandPage
    set index {}
    set commands [commands $directory $url]
    foreach page [pages $directory] {
        if {$page in [list README $commandPage]} continue
        foreach entry [lindex [Rendered $directory $page $url] 1] {
            lassign $entry kind title place id text
            if {$kind eq "usage"} {
                if {[dict get $commands $title] ne [list $place $page $id]} continue
                set kind command
            }
            lappend index [list $kind $title $place $page $id $text]
        }
    }
    return $index
}

#
# What matches, the best first: the title itself, its beginning, all words in the title,
# all words in the text; of these commands, parameters, rows and sections.  The script of
# the pages in files, search.js, decides alike.
#
proc manual::find {index words} {
    set words [string tolower [string trim $words]]
    if {$words eq ""} { return {} }
    set parts [regexp -all -inline {\S+} $words]
    set found {}
    set i 0
    foreach entry $index {
        lassign $entry kind title - - - text
        set lower [string tolower $title]
        if {$lower eq $words} {
            set rank 0
        } elseif {[string first $words $lower] == 0} {
            set rank 1
        } elseif {[HasAll $lower $parts]} {
            set rank 2
        } elseif {[HasAll [string tolower "$title $text"] $parts]} {
            set rank 3
        } else {
            set rank -1
        }
        if {$rank >= 0} { lappend found [list [expr {($rank * 4 + [lsearch {command parameter row section} $kind]) * 100000 + $i}] $entry] }
        incr i
    }
    return [lmap hit [lrange [lsort -integer -index 0 $found] 0 99] { lindex $hit 1 }]
}
proc manual::HasAll {text parts} {
    foreach part $parts {
        if {[string first $part $text] < 0} { return 0 }
    }
    return 1
}

#
# The page with what was found.
#
proc manual::results {directory words url} {
    set hits [find [index $directory $url] $words]
    set list ""
    foreach hit $hits {
        lassign $hit kind title place page id text
        append list "<li><a href=\"[Quote [{*}$url $page $id]]\">[Quote $title]</a> <span class=\"note\">$kind, [Quote $place]</span><br>[Quote \
            [Excerpt $text $words]]</li>\n"
    }
    set count [expr {[llength $hits] == 0 ? "Nothing" : [llength $hits] == 1 ? "One place" : "[llength $hits] places"}]
    return "<div class=\"manual\">\n[Menu $directory "" $url]<article>\n<h1>Search</h1>\n[searchForm $url $words]<p>$count\
        found for “[Quote $words]”.</p>\n<ol class=\"found\">\n$list</ol>\n</article>\n</div>\n"
}
proc manual::Excerpt {text words} {
    set at [string first [lindex [regexp -inline {\S+} [string tolower $words]] 0] [string tolower $text]]
    set from [expr {max(0, $at - 60)}]
    return [expr {$from > 0 ? "… " : ""}][string range $text $from $from+160][expr {[string length $text] > $from + 161 ? " …" : ""}]
}
