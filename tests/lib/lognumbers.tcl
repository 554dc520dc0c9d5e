# SPDX-License-Identifier: MPL-2.0
# lognumbers.tcl --
#
#       Records that carry numbers, as in ns_audit event n NUMBER, and which of them there are.

# The numbers in a text, in the order they have there.
proc numbersIn {text {pattern {"n":"(\d+)"}}} {
    set numbers {}
    foreach {- n} [regexp -all -inline $pattern $text] { lappend numbers $n }
    return $numbers
}

# Those in files, one behind the other.
proc numbersInFiles {args} {
    set numbers {}
    foreach name $args { lappend numbers {*}[numbersIn [readFile $name]] }
    return $numbers
}

# from, from + 1, ... n - 1
proc upTo {n {from 0}} {
    set all {}
    for {set i $from} {$i < $n} {incr i} { lappend all $i }
    return $all
}
