# SPDX-License-Identifier: MPL-2.0
# util.tcl --
#
#       Names, dates and times in SQL, and files of comma-separated values.

nsv_set _nsdb months {January February March April May June July August September October November December}

# Names with a blank are quoted; to quote others would change their case.
proc ns_dbquotename {name} {
    if {[string first " " $name] < 0} { return $name }
    return "\"[string map {\" \"\"} $name]\""
}

# Elements are separated by blanks; '...' may contain some, and \X is X.
proc ns_quotelisttolist {quotelist} {
    set list {}
    set element ""
    set isQuoted 0
    set length [string length $quotelist]
    for {set i 0} {$i < $length} {incr i} {
        set c [string index $quotelist $i]
        if {$c eq "\\"} {
            append element [string index $quotelist [incr i]]
        } elseif {$c eq "'"} {
            # A closing quote ends an element, also an empty one.
            if {$isQuoted || $element ne ""} { lappend list $element }
            set element ""
            set isQuoted [expr {!$isQuoted}]
        } elseif {$isQuoted || ![string is space $c]} {
            append element $c
        } elseif {$element ne ""} {
            lappend list $element
            set element ""
        }
    }
    if {$isQuoted || $element ne ""} { lappend list $element }
    return $list
}

proc ns_writecsv {datafp db table {header 1}} {
    set quote {{fields} {
        join [lmap field $fields { return -level 0 "\"[string map {\" \"\"} $field]\"" }] ,
    }}
    set row [ns_db select $db "select * from [ns_dbquotename $table]"]
    if {$header} { puts -nonewline $datafp "[apply $quote [ns_set keys $row]]\r\n" }
    while {[ns_db getrow $db $row]} {
        puts -nonewline $datafp "[apply $quote [ns_set values $row]]\r\n"
    }
}

proc ns_localsqltimestamp {} {
    return [clock format [clock seconds] -format "%Y-%m-%d %H:%M:%S"]
}

proc ns_parsesqldate {opt sqldate} {
    lassign [split $sqldate -] year month day
    switch -- $opt {
        month { return [lindex [nsv_get _nsdb months] [expr {[scan $month %d] - 1}]] }
        day { return [scan $day %d] }
        year { return $year }
    }
    error "Unknown option \"$opt\": should be year, month or day"
}

proc ns_parsesqltime {opt sqltime} {
    if {$opt ni {time ampm}} { error "Unknown command \"$opt\": should be time or ampm" }
    set minutes 0
    set seconds 0
    scan $sqltime %d:%d:%d hours minutes seconds
    if {$opt eq "ampm"} { return [expr {$hours < 12 ? "AM" : "PM"}] }
    set hours [expr {$hours % 12 == 0 ? 12 : $hours % 12}]
    if {$seconds == 0} { return [format %d:%02d $hours $minutes] }
    return [format %d:%02d:%02d $hours $minutes $seconds]
}

proc ns_parsesqltimestamp {opt sqltimestamp} {
    lassign [split $sqltimestamp] date time
    switch -- $opt {
        month - day - year { return [ns_parsesqldate $opt $date] }
        time - ampm { return [ns_parsesqltime $opt $time] }
    }
    error "Unknown command \"$opt\": should be month, day, year, time or ampm"
}

proc ns_buildsqltime {time ampm} {
    if {$time eq "" && $ampm eq ""} { return "" }
    if {![regexp {^(\d{1,2}):(\d{2})(?::(\d{2}))?$} $time - hours minutes seconds]
        || ![regexp -nocase {^[ap]m$} $ampm]
        || [scan $hours %d] < 1 || [scan $hours %d] > 12 || [scan $minutes %d] > 59
        || ($seconds ne "" && [scan $seconds %d] > 61)} {
        error "Invalid time: $time $ampm"
    }
    set hours [expr {[scan $hours %d] % 12 + ([string equal -nocase $ampm pm] ? 12 : 0)}]
    if {$seconds eq ""} { set seconds 00 }
    return [format %02d:%s:%s $hours $minutes $seconds]
}

# Each fourth year is a leap year here.
proc ns_buildsqldate {month day year} {
    if {$month eq "" && $day eq "" && $year eq ""} { return "" }
    set number [lsearch -nocase [nsv_get _nsdb months] $month]
    if {$number >= 0} {
        incr number
    } elseif {[regexp {^\d{1,2}$} $month]} {
        set number [scan $month %d]
    }
    if {$number < 1 || $number > 12 || ![regexp {^\d{1,2}$} $day] || ![regexp {^\d{1,4}$} $year]} {
        error "Invalid date: $month $day $year"
    }
    set last [lindex {31 28 31 30 31 30 31 31 30 31 30 31} $number-1]
    if {$number == 2 && [scan $year %d] % 4 == 0} { set last 29 }
    if {[scan $day %d] < 1 || [scan $day %d] > $last} {
        error "Invalid date: $month $day $year"
    }
    return [format %04d-%02d-%02d [scan $year %d] $number [scan $day %d]]
}

proc ns_buildsqltimestamp {month day year time ampm} {
    set date [ns_buildsqldate $month $day $year]
    set time [ns_buildsqltime $time $ampm]
    if {$date eq "" || $time eq ""} { return "" }
    return "$date $time"
}

proc ns_dbshutdown {args} {
    foreach pool [ns_db pools] { ns_db bouncepool $pool }
}
