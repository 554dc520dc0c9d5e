# SPDX-License-Identifier: MPL-2.0
# libraries.tcl --
#
#       New code without a restart: all libraries are sourced again.

namespace eval ::nsd::ctl {}

#
# The files of all libraries, as the start sources them: a file of the private
# directory replaces its namesake of the shared one, files init.tcl come first.
# Pairs of module and file.
#
proc ::nsd::ctl::LibraryFiles {} {
    set pairs {}
    foreach module [concat [list ""] [ns_ictl getmodules]] {
        set words [expr {$module eq "" ? {} : [list $module]}]
        set shared [ns_library shared {*}$words]
        set private [ns_library private {*}$words]
        set files [lmap directory [list $shared $private] {
            if {![file isfile $directory/init.tcl]} continue
            set directory $directory/init.tcl
        }]
        set others [lmap file [lsort [glob -nocomplain -types f -directory $shared *.tcl]] {
            if {[file exists $private/[file tail $file]]} continue
            set file
        }]
        lappend others {*}[lsort [glob -nocomplain -types f -directory $private *.tcl]]
        foreach file [concat $files [lsearch -all -inline -not -glob $others */init.tcl]] {
            lappend pairs $module $file
        }
    }
    return $pairs
}

#
# Source all libraries in a new interpreter, whose state all threads take over with
# their next request.  What is registered for the life of the server - filters,
# traces, schedules, callbacks - is there already, and is not registered again.  An
# error changes nothing.
#
proc ::nsd::ctl::ReloadLibraries {} {
    set once [lmap command [concat [info commands ::ns_schedule_*] [info commands ::ns_at*] \
                                [info commands ::ns_register_filter] [info commands ::ns_register_trace] \
                                [info commands ::ns_after] [info commands ::ns_thread]] {
        string trimleft $command :
    }]
    set pairs [LibraryFiles]
    ns_ictl remake [string cat [list set ::_nsd_once $once] \n [list set ::_nsd_files $pairs] {
        foreach ::_nsd_name $::_nsd_once {
            interp hide {} $::_nsd_name
            proc ::$::_nsd_name args {}
        }
        foreach {::_nsd_name ::_nsd_file} $::_nsd_files {
            if {[catch { source $::_nsd_file } ::_nsd_name ::_nsd_once]} {
                regexp {\(file ".*" line (\d+)\)} [dict get $::_nsd_once -errorinfo] - ::_nsd_once
                error "$::_nsd_file:[lindex $::_nsd_once 0]: $::_nsd_name"
            }
        }
        foreach ::_nsd_name [interp hidden] {
            if {[string first : $::_nsd_name] >= 0 || [info commands ::$::_nsd_name] eq ""} continue
            rename ::$::_nsd_name {}
            interp expose {} $::_nsd_name
        }
        unset ::_nsd_name ::_nsd_once ::_nsd_file ::_nsd_files
    }]
    return "[expr {[llength $pairs] / 2}] files"
}
