# SPDX-License-Identifier: MPL-2.0
# site-procs.tcl --
#
#       Small things that everything uses.

namespace eval site {}

# A parameter of section "commons" of the configuration.
proc site::parameter {name} { ns_config -exact commons $name }

# A time of it in seconds: "14d" is 1209600.
proc site::seconds {name} { ns_baseunit -time [site::parameter $name] }

proc site::title {} { site::parameter title }

# Text in a page: no character of it is markup.
proc h {text} { ns_quotehtml $text }

# What people write, as HTML: paragraphs, quotations, *bold* words and links.
proc site::markup {text} {
    set html ""
    foreach paragraph [split [regsub -all {\n\s*\n+} [string trim [string map {\r ""} $text]] \0] \0] {
        if {[regexp -line {\A(?:>.*\n?)+\Z} $paragraph]} {
            append html "<blockquote>[site::Inline [regsub -all -line {^> ?} $paragraph {}]]</blockquote>\n"
        } else {
            append html "<p>[site::Inline $paragraph]</p>\n"
        }
    }
    return $html
}
proc site::Inline {text} {
    set html [h $text]
    regsub -all {\mhttps?://[\w/.~%?=#@:+-]*[\w/=]} $html {<a href="&" rel="nofollow">&</a>} html
    regsub -all {(^|[\s(])\*([^\s*][^*\n]*)\*} $html {\1<strong>\2</strong>} html
    return [string map {\n <br>\n} $html]
}

# A moment, as visitors of this language write it.
proc site::time {seconds} {
    set ago [expr {[ns_time] - $seconds}]
    if {$ago < 60} { return [_ time.now] }
    if {$ago < 3600} { return [_ time.minutes n [expr {$ago / 60}]] }
    if {$ago < 86400} { return [_ time.hours n [expr {$ago / 3600}]] }
    return [clock format $seconds -format [_ time.format]]
}

proc site::size {bytes} {
    if {$bytes < 1024} { return "$bytes B" }
    if {$bytes < 1048576} { return "[expr {$bytes / 1024}] KB" }
    return [format "%.1f MB" [expr {$bytes / 1048576.0}]]
}

# People, one beside the other.
proc site::people {names} {
    return "<p class=\"people\">[join [lmap name $names { string cat <span> [avatar $name] [h $name] </span> }] { }]</p>"
}

# A name as two letters in a disc of its color.
proc site::hue {name} { expr {[ns_hash $name] % 360} }
proc site::avatar {name} {
    return "<span class=\"avatar\" style=\"--hue: [hue $name]\" aria-hidden=\"true\">[h [string toupper [string range $name 0 1]]]</span>"
}
