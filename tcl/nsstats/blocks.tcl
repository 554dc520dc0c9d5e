# SPDX-License-Identifier: MPL-2.0
# blocks.tcl --
#
#       What views consist of.  A view is a list of blocks, dicts that hold plain
#       values; they become HTML when a page is asked for, and JSON when its script
#       brings the page up to date.  Only here are values formatted and escaped.
#
#       Types of values: text, id, count, number, bytes, time (seconds), share (of 1),
#       clock (seconds since 1970).

namespace eval nsstats {
    # Rows of a table that are shown.
    variable maxRows 500
}

#
# items: label, type and value of each figure.
#
proc nsstats::figures {items} {
    return [dict create kind figures items $items]
}

#
# columns: head and type of each; rows: lists of values.  order: the column that
# rows are sorted by, and up or down; {} leaves them as they are.
#
proc nsstats::table {title columns rows {order {}}} {
    return [dict create kind table title $title columns $columns rows $rows order $order]
}

#
# Values in an order.  series: label and values of each; axis: what stands below, from
# left to right.  Times, which differ by orders of magnitude, get a logarithmic scale.
#
proc nsstats::chart {title type series axis} {
    return [dict create kind chart title $title type $type series $series axis $axis]
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
# A form that asks for the view again.  fields: name, label, value and, where one of
# several is to be chosen, these.
#
proc nsstats::form {view fields} {
    return [dict create kind form view $view fields $fields]
}

proc nsstats::Text {type value} {
    if {$value eq ""} { return "–" }
    switch -- $type {
        text - line - id { return $value }
        clock {
            if {$value <= 0} { return "–" }
            return [clock format [expr {int($value)}] -format "%Y-%m-%d %H:%M:%S"]
        }
    }
    if {![string is double -strict $value]} { return $value }
    switch -- $type {
        count  { return [Grouped $value] }
        number { return [Grouped [format %.[expr {abs($value) < 10 ? 2 : abs($value) < 100 ? 1 : 0}]f $value]] }
        bytes  { return [Scaled $value 1024.0 {B KiB MiB GiB TiB}] }
        time   { return [Duration $value] }
        share  { return [format %.[expr {$value > 0 && $value < 0.001 ? 4 : 1}]f%% [expr {100.0 * $value}]] }
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
        set isText [expr {[lindex [dict get $block columns] [expr {2 * $column + 1}]] in {text line}}]
        set keyed [lmap row $rows {
            set key [lindex $row $column]
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

#
# The cells of a row as text.
#
proc nsstats::Cells {columns row} {
    set i -1
    return [lmap {head type} $columns { Text $type [lindex $row [incr i]] }]
}

#
# The points of the lines of a chart in a box of 300 by 80, for each series; and the
# values at the top and at the bottom of the box.
#
proc nsstats::Lines {type series} {
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
    }
    set lines {}
    foreach {label values} $series {
        set points {}
        set x 0
        set step [expr {300.0 / max(1, [llength $values] - 1)}]
        foreach value $values {
            if {$isLog} {
                set height [expr {log(max($value, $bottom) / $bottom) / log($top / $bottom)}]
            } else {
                set height [expr {$top > 0 ? double($value) / $top : 0}]
            }
            lappend points [format %.1f,%.1f $x [expr {78 - 76 * $height}]]
            set x [expr {$x + $step}]
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
    if {$type ni {text line} && [regexp {^-?(0|[1-9]\d*)(\.\d+)?(e[-+]?\d+)?$} $value]} { return $value }
    return [JsonString $value]
}

proc nsstats::Json-figures {block} {
    set items [lmap {label type value} [dict get $block items] {
        string cat "{\"label\":[JsonString $label],\"value\":[JsonValue $type $value]," \
            "\"text\":[JsonString [Text $type $value]]}"
    }]
    return "{\"kind\":\"figures\",\"items\":\[[join $items ,]\]}"
}

proc nsstats::Json-table {block} {
    set columns [dict get $block columns]
    set values {}
    set texts {}
    foreach row [dict get $block rows] {
        set i -1
        lappend values \[[join [lmap {head type} $columns { JsonValue $type [lindex $row [incr i]] }] ,]\]
        lappend texts [JsonStrings [Cells $columns $row]]
    }
    return "{\"kind\":\"table\",\"title\":[JsonString [dict get $block title]],\"columns\":[JsonStrings [dict keys $columns]],\"values\":\[[join $values ,]\],\"rows\":\[[join $texts ,]\]}"
}

proc nsstats::Json-chart {block} {
    set type [dict get $block type]
    lassign [Lines $type [dict get $block series]] lines top bottom
    set items {}
    foreach {label values} [dict get $block series] points $lines {
        lappend items "{\"label\":[JsonString $label],\"values\":\[[join $values ,]\],\"points\":[JsonString $points],\"last\":[JsonString [Text $type [lindex $values end]]]}"
    }
    return "{\"kind\":\"chart\",\"title\":[JsonString [dict get $block title]],\"top\":[JsonString [Text $type $top]],\"bottom\":[JsonString [Bottom $type $bottom]],\"axis\":[JsonStrings [dict get $block axis]],\"series\":\[[join $items ,]\]}"
}

proc nsstats::Bottom {type value} { return [expr {$value > 0 ? [Text $type $value] : ""}] }

proc nsstats::Json-bars {block} {
    set counts [dict get $block counts]
    set most [::tcl::mathfunc::max 1 {*}[dict values $counts]]
    set items [lmap {label n} $counts {
        string cat "{\"label\":[JsonString $label],\"value\":$n," \
            "\"text\":[JsonString [Text count $n]],\"height\":[format %.1f [expr {76.0 * $n / $most}]]}"
    }]
    return "{\"kind\":\"bars\",\"items\":\[[join $items ,]\]}"
}

proc nsstats::Json-alerts {block} {
    return "{\"kind\":\"alerts\",\"sentences\":[JsonStrings [dict get $block sentences]]}"
}

proc nsstats::Json-note {block} {
    return "{\"kind\":\"note\",\"text\":[JsonString [dict get $block text]]}"
}

proc nsstats::Json-form {block} { return "{\"kind\":\"form\"}" }
