# SPDX-License-Identifier: MPL-2.0
# share.tcl --
#
#       ns_share: variables that all threads of a server have in common, as scripts
#       for AOLserver use them.  New scripts use nsv_set and its relatives.
#
#       The values are in shared arrays; in each interpreter, a variable of this
#       namespace stands for them, with traces that fetch and store.  What Tcl appends
#       to without reading it (append, lappend) is as old as the last ns_share or read.

namespace eval _ns_share {
    variable scalars _ns_share
}
nstrace::excludensp ::_ns_share::v

# ns_share ?-init script? name ?name ...? --
#
#       Link the caller's variables to shared ones.  The script runs in the caller
#       when the first of them has no value yet.

proc ns_share {args} {
    set init ""
    if {[lindex $args 0] eq "-init" && [llength $args] > 2} {
        set args [lassign $args - init]
    }
    if {[llength $args] == 0 || [string match -* [lindex $args 0]]} {
        error "wrong # args: should be \"ns_share ?-init script? name ?name ...?\"" {} {TCL WRONGARGS}
    }
    foreach name $args {
        _ns_share::Attach $name
        if {![uplevel 1 [list ::_ns_share::IsLinked $name]]} {
            uplevel 1 [list unset -nocomplain $name]
            uplevel 1 [list upvar #0 ::_ns_share::v::[namespace tail $name] $name]
        }
    }
    if {$init eq "" || [_ns_share::Exists [lindex $args 0]]} {
        return
    }
    # Scripts may share variables themselves.
    set lock [ns_critsec create _ns_share]
    ns_critsec enter $lock
    try {
        if {![_ns_share::Exists [lindex $args 0]]} {
            uplevel 1 $init
        }
    } finally {
        ns_critsec leave $lock
    }
    # Another thread may have made them meanwhile.
    foreach name $args { _ns_share::Attach $name }
}

proc _ns_share::IsLinked {name} {
    upvar 1 $name variable
    return [expr {[lsearch -index 1 [trace info variable variable] {::_ns_share::Trace *}] >= 0}]
}

proc _ns_share::Exists {name} {
    variable scalars
    set name [namespace tail $name]
    return [expr {[nsv_exists $scalars $name] || [nsv_array exists $scalars:$name]}]
}

# The variable of this interpreter, with the value of now.

proc _ns_share::Attach {name} {
    variable scalars
    set name [namespace tail $name]
    set variable ::_ns_share::v::$name
    namespace eval ::_ns_share::v {}
    if {[trace info variable $variable] ne ""} {
        trace remove variable $variable {array read write unset} [list ::_ns_share::Trace $name]
    }
    # It may have become an array, or be one no more.
    unset -nocomplain $variable
    if {[nsv_array exists $scalars:$name]} {
        array set $variable {}
        FetchArray $name
    } elseif {[nsv_exists $scalars $name]} {
        set $variable [nsv_get $scalars $name]
    }
    trace add variable $variable {array read write unset} [list ::_ns_share::Trace $name]
}

# Not: unset the variable.  Its traces would go with it.

proc _ns_share::FetchArray {name} {
    variable scalars
    set variable ::_ns_share::v::$name
    if {[nsv_array exists $scalars:$name]} {
        array unset $variable *
        array set $variable [nsv_array get $scalars:$name]
    }
}

proc _ns_share::Trace {name - element operation} {
    variable scalars
    set variable ::_ns_share::v::$name
    switch -- $operation {
        read {
            # Not: array exists.  That has a trace of its own.
            if {$element eq ""} {
                if {[nsv_exists $scalars $name]} {
                    set $variable [nsv_get $scalars $name]
                } else {
                    unset -nocomplain $variable
                }
            } elseif {[nsv_exists $scalars:$name $element]} {
                set ${variable}($element) [nsv_get $scalars:$name $element]
            } else {
                unset -nocomplain ${variable}($element)
            }
        }
        write {
            if {$element ne ""} {
                nsv_set $scalars:$name $element [set ${variable}($element)]
            } else {
                nsv_set $scalars $name [set $variable]
            }
        }
        array {
            FetchArray $name
        }
        unset {
            Unset $name $element
        }
    }
}

# A whole variable ends for all when a procedure unsets it.  At the end of a request
# the server does, and that is about the link alone.

proc _ns_share::Unset {name element} {
    variable scalars
    if {$element ne ""} {
        nsv_unset -nocomplain $scalars:$name $element
    } elseif {[info level] > 2} {
        nsv_unset -nocomplain $scalars:$name
        nsv_unset -nocomplain $scalars $name
    }
}
