# SPDX-License-Identifier: MPL-2.0
# html.tcl --
#
#       Forms in HTML: making selections, presetting fields.

# ns_htmlselect ?-multi? ?-sort? ?-labels labels? key values ?selecteddata? --
#
#       A SELECT with one OPTION per value.

proc ns_htmlselect {args} {
    set usage "wrong # args: should be \"ns_htmlselect ?-multi? ?-sort?\
        ?-labels labels? key values ?selecteddata?\""
    set isMulti 0
    set isSorted 0
    while {[string match -* [lindex $args 0]]} {
        set args [lassign $args option]
        switch -exact -- $option {
            -multi  { set isMulti 1 }
            -sort   { set isSorted 1 }
            -labels {
                if {[llength $args] == 0} { error $usage {} {TCL WRONGARGS} }
                set args [lassign $args labels]
            }
            default { error $usage {} {TCL WRONGARGS} }
        }
    }
    if {[llength $args] < 2 || [llength $args] > 3} {
        error $usage {} {TCL WRONGARGS}
    }
    lassign $args key values selected
    if {![info exists labels]} {
        set labels $values
    }
    set options {}
    foreach value $values label $labels {
        lappend options [list $value [string map {\" {}} $label]]
    }
    if {$isSorted} {
        set options [lsort -index 1 $options]
    }
    set n [llength $values]
    set html "<SELECT NAME=$key"
    if {$isMulti} {
        append html " MULTIPLE SIZE=[expr {min($n, 5)}]"
    } elseif {$n > 25} {
        append html " SIZE=5"
    }
    append html ">\n"
    foreach option $options {
        lassign $option value label
        append html "<OPTION VALUE=\"$value\"" \
            [expr {$value in $selected ? " SELECTED" : ""}] ">$label\n"
    }
    return "$html</SELECT>"
}

# ns_tagelement tag key --
#
#       The value of an attribute in the text of a tag; empty without it.

proc ns_tagelement {tag key} {
    set pattern "(?i)(?:^|\\s)[_ns_regexp_quote $key]\\s*=\\s*(?:\"(\[^\"\]*)\"|'(\[^'\]*)'|(\[^\\s>\"'\]\[^\\s>\]*))"
    if {[regexp $pattern $tag - double single bare]} {
        return $double$single$bare
    }
    return ""
}

# ns_tagelementset tagvar key value --
#
#       Take an attribute out of the tag in a variable, and append value="value".

proc ns_tagelementset {tagvar key value} {
    upvar 1 $tagvar tag
    set tag [_ns_tag_without $tag $key]
    set tag [_ns_tag_append $tag " value=\"$value\""]
    return $tag
}

# ns_formvalueput html name value --
#
#       The HTML with a field of a form preset.

proc ns_formvalueput {html name value} {
    set result ""
    set start 0
    while {[regexp -indices -start $start {<([^<>]*)>} $html whole inner]} {
        append result [string range $html $start [lindex $whole 0]-1]
        set tag [string range $html {*}$inner]
        set start [expr {[lindex $whole 1] + 1}]
        set kind [string tolower [lindex [split [string trim $tag]] 0]]
        if {$kind ni {input textarea select} || [ns_tagelement $tag name] ne $name} {
            append result <$tag>
            continue
        }
        switch -exact -- $kind {
            input {
                append result <[_ns_input_with_value $tag $value]>
            }
            textarea {
                append result <$tag> [ns_quotehtml $value]
                set start [_ns_find_close $html $start textarea]
            }
            select {
                set end [_ns_find_close $html $start select]
                append result <$tag> [_ns_select_with_value \
                    [string range $html $start $end-1] $value]
                set start $end
            }
        }
    }
    return $result[string range $html $start end]
}

proc _ns_input_with_value {tag value} {
    switch -exact -- [string tolower [ns_tagelement $tag type]] {
        submit - reset - image {
            return $tag
        }
        checkbox - radio {
            set isChecked [expr {[ns_tagelement $tag value] eq $value}]
            set tag [_ns_tag_without_word $tag checked]
            return [expr {$isChecked ? [_ns_tag_append $tag " CHECKED"] : $tag}]
        }
        default {
            set tag [_ns_tag_without $tag value]
            return [_ns_tag_append $tag " value=\"[ns_quotehtml $value]\""]
        }
    }
}

# The options of a SELECT, one of them selected: by its value, or its text.

proc _ns_select_with_value {options value} {
    set result ""
    set isFound 0
    set start 0
    while {[regexp -nocase -indices -start $start {<(option[^<>]*)>([^<]*)} $options whole tag text]} {
        append result [string range $options $start [lindex $whole 0]-1]
        set tag [_ns_tag_without_word [string range $options {*}$tag] selected]
        set text [string range $options {*}$text]
        set own [expr {[regexp -nocase {\svalue\s*=} $tag]
            ? [ns_tagelement $tag value] : [string trim $text]}]
        if {!$isFound && ($own eq $value || [string trim $text] eq $value)} {
            set tag [_ns_tag_append $tag " SELECTED"]
            set isFound 1
        }
        append result <$tag>$text
        set start [expr {[lindex $whole 1] + 1}]
    }
    append result [string range $options $start end]
    if {!$isFound} {
        append result "<option selected>[ns_quotehtml $value]"
    }
    return $result
}

# Where the end tag begins; the end of the text without one.

proc _ns_find_close {html start kind} {
    if {[regexp -nocase -indices -start $start "</\\s*$kind" $html found]} {
        return [lindex $found 0]
    }
    return [string length $html]
}

proc _ns_tag_without {tag key} {
    set pattern "(?i)\\s+[_ns_regexp_quote $key]\\s*=\\s*(?:\"\[^\"\]*\"|'\[^'\]*'|\[^\\s>\"'\]\[^\\s>\]*)"
    regsub -all $pattern $tag "" tag
    return $tag
}

proc _ns_tag_without_word {tag word} {
    regsub -all "(?i)\\s+$word\\M(?:\\s*=\\s*(?:\"\[^\"\]*\"|'\[^'\]*'|\[^\\s>\]+))?" $tag "" tag
    return $tag
}

# Before the end of the tag, which may be that of an empty element.

proc _ns_tag_append {tag text} {
    regexp {^(.*?)(\s*/?>?)$} $tag - tag end
    return $tag$text$end
}

proc _ns_regexp_quote {text} {
    regsub -all {\W} $text {\\&} text
    return $text
}
