# SPDX-License-Identifier: MPL-2.0
# i18n-procs.tcl --
#
#       Languages and charsets.
#
#       [_ KEY ?NAME VALUE ...?] is the message of that key in the visitor's language,
#       from i18n/LANGUAGE.msg: a file of keys and texts, in which %NAME% stands for a
#       value.  What a language lacks is there in English.

namespace eval i18n {}

proc i18n::load {} {
    foreach file [glob -directory [site::parameter directory]/i18n *.msg] {
        set channel [open $file]
        fconfigure $channel -encoding utf-8
        nsv_array set i18n.[file rootname [file tail $file]] [read $channel]
        close $channel
    }
}

proc i18n::locales {} { lsort [lmap name [nsv_names i18n.*] { string range $name 5 end }] }

proc _ {key args} { i18n::message [conn locale] $key {*}$args }

proc i18n::message {locale key args} {
    if {![nsv_exists i18n.$locale $key]} { set locale en }
    set text [nsv_get i18n.$locale $key]
    foreach {name value} $args { set text [string map [list %$name% $value] $text] }
    return $text
}

# The charset of pages in a language.
proc i18n::charset {locale} {
    set charsets [site::parameter charsets]
    return [expr {[dict exists $charsets $locale] ? [dict get $charsets $locale] : "utf-8"}]
}

# The language that a visitor wants: of the account, of the cookie, or of the browser.
proc i18n::choose {accountLocale} {
    set wanted [list $accountLocale [ns_getcookie locale ""]]
    foreach element [ns_parsefieldvalue -lower [ns_set iget [ns_conn headers] Accept-Language]] {
        lappend wanted [lindex [split [lindex $element 0] -] 0]
    }
    foreach locale $wanted {
        if {$locale in [locales]} { return $locale }
    }
    return en
}

# HTML in which each character that the charset lacks is a reference.
proc i18n::encodable {html charset} {
    if {$charset eq "utf-8"} { return $html }
    set encoding [ns_encodingforcharset $charset]
    if {[encoding convertfrom $encoding [encoding convertto $encoding $html]] eq $html} { return $html }
    set result ""
    foreach character [split $html ""] {
        if {[encoding convertfrom $encoding [encoding convertto $encoding $character]] eq $character} {
            append result $character
        } else {
            append result "&#[scan $character %c];"
        }
    }
    return $result
}
