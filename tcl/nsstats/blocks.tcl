# SPDX-License-Identifier: MPL-2.0
# blocks.tcl --
#
#       What views consist of.  A view is a list of blocks, dicts that hold plain
#       values; they become HTML when a page is asked for, and JSON when its script
#       brings the page up to date.  Only here are values formatted and escaped.
#
#       Types of values: text, wide (text that may be long), line (not broken), word (coloured when it tells of
#       trouble), id, count, trouble (a count that stands out unless it is 0), number,
#       bytes, time (seconds), share (of 1), percent (likewise, to a tenth), use (a share,
#       drawn as well), clock (seconds since 1970), link (a text, and the query of this
#       page that it leads to, or {}), action (the label of a button, what it does and to
#       what, or {}).

namespace eval nsstats {
    # Rows of a table that are shown.
    variable maxRows 500
}

#
# items: label, type and value of each figure.  marks: label -> bad or ok, and perhaps
# a query of this page that tells more; bad ones stand out unless they are 0.
#
proc nsstats::figures {items {marks {}}} {
    return [dict create kind figures items $items marks $marks]
}

#
# columns: head and type of each; rows: lists of values.  order: the column that
# rows are sorted by, and up or down; {} leaves them as they are.  none: what stands
# there instead of a table without rows.
#
proc nsstats::table {title columns rows {order {}} {none None.}} {
    return [dict create kind table title $title columns $columns rows $rows order $order none $none]
}

#
# Values in an order.  series: label and values of each; axis: what stands below, from
# left to right; labels: what each value is of, a time (seconds since 1970) or a text.
# Durations, which differ by orders of magnitude, get a logarithmic scale.
#
proc nsstats::chart {title type series axis labels} {
    return [dict create kind chart title $title type $type series $series axis $axis labels $labels]
}

#
# How many there are of each; counts: label and number.
#
proc nsstats::bars {title counts} {
    return [dict create kind bars title $title counts $counts]
}

#
# What somebody has to look after, a sentence each; nothing is shown without any.
#
proc nsstats::alerts {sentences} { return [dict create kind alerts sentences $sentences] }

proc nsstats::note {text} { return [dict create kind note text $text] }

#
# Text and query of each link to this page.
#
proc nsstats::links {items} { return [dict create kind links items $items] }

#
# One of several: the label of all, the name of a parameter of this page, its value, and
# value and text of each.
#
proc nsstats::choices {label name value items} {
    return [dict create kind choices label $label name $name value $value items $items]
}

#
# A button, as a value of type action.
#
proc nsstats::button {action} { return [dict create kind button action $action] }

#
# A form that asks for the view again.  fields: name, label, value and, where one of
# several is to be chosen, these; one that is called since takes a time.
#
proc nsstats::form {view fields} {
    return [dict create kind form view $view fields $fields]
}

proc nsstats::Text {type value} {
    if {$value eq ""} { return [expr {$type eq "action" ? "" : "–"}] }
    switch -- $type {
        text - wide - line - word - id { return $value }
        link - action { return [lindex $value 0] }
        clock {
            if {$value <= 0} { return "–" }
            return [clock format [expr {int($value)}] -format "%Y-%m-%d %H:%M:%S"]
        }
    }
    if {![string is double -strict $value]} { return $value }
    switch -- $type {
        count - trouble { return [Grouped $value] }
        number { return [Grouped [format %.[expr {abs($value) < 10 ? 2 : abs($value) < 100 ? 1 : 0}]f $value]] }
        bytes  { return [Scaled $value 1024.0 {B KiB MiB GiB TiB}] }
        time   { return [Duration $value] }
        percent - use { return [format %.1f%% [expr {100.0 * $value}]] }
        share { return [format %.[expr {$value > 0 && $value < 0.001 ? 4 : 1}]f%% [expr {100.0 * $value}]] }
    }
}

proc nsstats::Grouped {value} {
    if {[string is wideinteger -strict $value]} {
        while {[regsub {^(-?\d+)(\d{3})} $value {\1 \2} value]} {}
    }
    return $value
}

proc nsstats::Scaled {value step units} {
    set value [expr {double($value)}]
    foreach unit $units {
        if {abs($value) < $step || $unit eq [lindex $units end]} break
        set value [expr {$value / $step}]
    }
    return "[format [expr {$unit eq [lindex $units 0] ? "%.0f" : "%.1f"}] $value] $unit"
}

proc nsstats::Duration {seconds} {
    foreach {below factor pattern} {
        1e-9 1 "0" 1e-3 1e6 "%.0f µs" 0.01 1e3 "%.2f ms" 1 1e3 "%.0f ms" 10 1 "%.2f s" 120 1 "%.0f s"
        7200 0.016666667 "%.0f min" 172800 0.000277778 "%.1f h" Inf 0.0000115741 "%.1f d"
    } {
        if {abs($seconds) < $below} { return [format $pattern [expr {$seconds * $factor}]] }
    }
}

#
# Sort the tables as asked for: order is TABLE.COLUMN.up or .down, the table being
# counted among the blocks.
#
proc nsstats::arranged {blocks order} {
    set result {}
    set i -1
    foreach block $blocks {
        incr i
        if {[dict get $block kind] eq "table"} {
            if {[regexp {^(\d{1,3})\.(\d{1,3})\.(up|down)$} $order - table column direction]
                && $table == $i && $column * 2 < [llength [dict get $block columns]]} {
                dict set block order [list $column $direction]
            }
            set block [Sorted $block]
        }
        lappend result $block
    }
    return $result
}

proc nsstats::Sorted {block} {
    variable maxRows
    set rows [dict get $block rows]
    if {[dict get $block order] ne ""} {
        lassign [dict get $block order] column direction
        set type [lindex [dict get $block columns] [expr {2 * $column + 1}]]
        set isText [IsText $type]
        set keyed [lmap row $rows {
            set key [lindex $row $column]
            if {$type in {link action}} { set key [lindex $key 0] }
            if {!$isText && ![string is double -strict $key]} { set key -1e300 }
            list $key $row
        }]
        set how [expr {$direction eq "up" ? "-increasing" : "-decreasing"}]
        set keyed [lsort -index 0 [expr {$isText ? "-dictionary" : "-real"}] $how $keyed]
        set rows [lmap pair $keyed { lindex $pair 1 }]
    }
    dict set block more [expr {max(0, [llength $rows] - $maxRows)}]
    dict set block rows [lrange $rows 0 $maxRows-1]
    return $block
}

proc nsstats::IsText {type} { return [expr {$type in {text wide line word link action}}] }

#
# The cells of a row as text.
#
proc nsstats::Cells {columns row} {
    set i -1
    return [lmap {head type} $columns { Text $type [lindex $row [incr i]] }]
}

#
# How far to the right the values of a chart stand, between 0 and 300: as their times
# tell, or in equal steps.
#
proc nsstats::Positions {labels} {
    set n [llength $labels]
    set first [lindex $labels 0]
    set span 0
    if {[string is double -strict $first]} { set span [expr {[lindex $labels end] - $first}] }
    set i -1
    return [lmap label $labels {
        incr i
        expr {$span > 0 ? 300.0 * ($label - $first) / $span : 300.0 * $i / max(1, $n - 1)}
    }]
}

#
# The next of 1, 2, 5, 10, ..., in the unit in which bytes are shown.
#
proc nsstats::RoundTop {type top} {
    if {$top <= 0} { return 0 }
    set unit [expr {$type eq "bytes" ? 1024 ** int(log($top) / log(1024) + 1e-9) : 1}]
    set power [expr {10.0 ** floor(log10($top / double($unit)) + 1e-9)}]
    foreach step {1 2 5} {
        if {$top <= $step * $power * $unit * 1.000001} break
        set step 10
    }
    if {$unit > 1 && $step * $power >= 1000} { return [expr {$unit * 1024}] }
    set top [expr {$step * $power * $unit}]
    return [expr {$type eq "count" ? int(ceil($top)) : $top}]
}

#
# The points of the lines of a chart in a box of 300 by 80, for each series; and the
# values at the top and at the bottom of the box.
#
proc nsstats::Lines {type series labels} {
    set positions [Positions $labels]
    set all {}
    foreach {label values} $series { lappend all {*}$values }
    set top [::tcl::mathfunc::max 0 {*}$all]
    set isLog [expr {$type eq "time" && $top > 0}]
    set bottom 0
    if {$isLog} {
        set positive [lmap value $all { if {$value <= 0} continue; set value }]
        # Whole powers of ten, no less than a microsecond.
        set bottom [expr {10.0 ** floor(log10(max(1e-6, [::tcl::mathfunc::min {*}$positive])) + 1e-9)}]
        set top [expr {10.0 ** ceil(log10(max(10 * $bottom, $top)) - 1e-9)}]
    } else {
        set top [RoundTop $type $top]
    }
    set lines {}
    foreach {label values} $series {
        set points {}
        foreach value $values x $positions {
            if {$isLog} {
                set height [expr {log(max($value, $bottom) / $bottom) / log($top / $bottom)}]
            } else {
                set height [expr {$top > 0 ? double($value) / $top : 0}]
            }
            lappend points [format %.1f,%.1f $x [expr {78 - 76 * $height}]]
        }
        lappend lines $points
    }
    return [list $lines $top $bottom]
}

#
# The blocks as JSON: what a page needs to be brought up to date, and the values as
# they are for other readers.
#
proc nsstats::json {blocks} {
    set items [lmap block $blocks { Json-[dict get $block kind] $block }]
    return "{\"time\":[clock seconds],\"blocks\":\[[join $items ,\n]\]}\n"
}

proc nsstats::JsonString {text} {
    set text [string map {\\ \\\\ \" \\\" < \\u003c > \\u003e & \\u0026 \u2028 \\u2028 \u2029 \\u2029} $text]
    while {[regexp {[\u0000-\u001f\u007f]} $text char]} {
        set text [string map [list $char \\u[format %04x [scan $char %c]]] $text]
    }
    return "\"$text\""
}

proc nsstats::JsonStrings {texts} {
    return \[[join [lmap text $texts { JsonString $text }] ,]\]
}

#
# A value as number, if its type says that it is one.
#
proc nsstats::JsonValue {type value} {
    if {$type in {link action}} { set value [lindex $value 0] }
    if {![IsText $type] && [regexp {^-?(0|[1-9]\d*)(\.\d+)?(e[-+]?\d+)?$} $value]} { return $value }
    return [JsonString $value]
}

proc nsstats::Json-figures {block} {
    set items [lmap {label type value} [dict get $block items] {
        string cat "{\"label\":[JsonString $label],\"value\":[JsonValue $type $value]," \
            "\"text\":[JsonString [Text $type $value]],\"bad\":[IsBad $block $label $value]}"
    }]
    return "{\"kind\":\"figures\",\"items\":\[[join $items ,]\]}"
}

proc nsstats::IsBad {block label value} {
    set marks [dict get $block marks]
    return [expr {[dict exists $marks $label] && [lindex [dict get $marks $label] 0] eq "bad" && $value ne "" && $value != 0}]
}

proc nsstats::Json-table {block} {
    set columns [dict get $block columns]
    set values {}
    set texts {}
    foreach row [dict get $block rows] {
        set i -1
        lappend values \[[join [lmap {head type} $columns { JsonValue $type [lindex $row [incr i]] }] ,]\]
        set i -1
        lappend texts \[[join [lmap {head type} $columns { JsonCell $type [lindex $row [incr i]] }] ,]\]
    }
    return "{\"kind\":\"table\",\"title\":[JsonString [dict get $block title]],\"columns\":[JsonStrings [dict keys $columns]],\"values\":\[[join $values ,]\],\"rows\":\[[join $texts ,]\]}"
}

#
# A cell as text, or, when it leads somewhere or does something, as an array.
#
proc nsstats::JsonCell {type value} {
    set text [Text $type $value]
    if {$type eq "link" && [lindex $value 1] ne ""} { return [JsonStrings [list $text [QueryText [lindex $value 1]]]] }
    if {$type eq "action" && $value ne ""} { return [JsonStrings $value] }
    return [JsonString $text]
}

proc nsstats::QueryText {query} {
    set words {}
    foreach {key value} $query { lappend words $key=[ns_urlencode $value] }
    return [join $words &]
}

#
# What a value of a chart is of.
#
proc nsstats::Label {label} {
    if {![string is double -strict $label]} { return $label }
    return [clock format [expr {int($label)}] -format [expr {[clock seconds] - $label < 43200 ? "%H:%M:%S" : "%a %H:%M"}]]
}

proc nsstats::Json-chart {block} {
    set type [dict get $block type]
    set labels [dict get $block labels]
    lassign [Lines $type [dict get $block series] $labels] lines top bottom
    set items {}
    foreach {label values} [dict get $block series] points $lines {
        lappend items [string cat "{\"label\":[JsonString $label],\"values\":\[[join $values ,]\]," \
            "\"points\":[JsonString $points],\"last\":[JsonString [Text $type [lindex $values end]]]," \
            "\"texts\":[JsonStrings [lmap value $values { Text $type $value }]]}"]
    }
    return "{\"kind\":\"chart\",\"title\":[JsonString [dict get $block title]],\"labels\":[JsonStrings [lmap label $labels { Label $label }]],\"top\":[JsonString [Text $type $top]],\"bottom\":[JsonString [Bottom $type $bottom]],\"axis\":[JsonStrings [dict get $block axis]],\"series\":\[[join $items ,]\]}"
}

proc nsstats::Bottom {type value} { return [expr {$value > 0 ? [Text $type $value] : ""}] }

proc nsstats::Json-bars {block} {
    lassign [Shown [dict get $block counts]] counts most
    set items [lmap {label n} $counts {
        string cat "{\"label\":[JsonString $label],\"value\":$n,\"text\":[JsonString [Text count $n]]}"
    }]
    return "{\"kind\":\"bars\",\"most\":$most,\"items\":\[[join $items ,]\]}"
}

#
# The bars from the first to the last that is not 0, and the largest number.
#
proc nsstats::Shown {counts} {
    set first -1
    set last -1
    set i 0
    foreach n [dict values $counts] {
        if {$n != 0} {
            if {$first < 0} { set first $i }
            set last $i
        }
        incr i
    }
    set counts [expr {$first < 0 ? {} : [lrange $counts [expr {2 * $first}] [expr {2 * $last + 1}]]}]
    return [list $counts [::tcl::mathfunc::max 1 {*}[dict values $counts]]]
}

proc nsstats::Json-alerts {block} {
    return "{\"kind\":\"alerts\",\"sentences\":[JsonStrings [dict get $block sentences]]}"
}

proc nsstats::Json-note {block} {
    return "{\"kind\":\"note\",\"text\":[JsonString [dict get $block text]]}"
}

proc nsstats::Json-links {block} { return "{\"kind\":\"links\"}" }

proc nsstats::Json-choices {block} { return "{\"kind\":\"choices\"}" }

proc nsstats::Json-button {block} { return "{\"kind\":\"button\"}" }

proc nsstats::Json-form {block} { return "{\"kind\":\"form\"}" }
