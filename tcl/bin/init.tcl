# init.tcl --
#
#       Boots one server: loads its modules, sources its libraries, and keeps the
#       resulting state for all its interpreters.  Run once per server, in an
#       interpreter that is discarded afterwards.

# nstrace --
#
#       Writes down the state of an interpreter as a script that gives it to
#       another one: procs, namespaces with their variables, exports and imports,
#       ensembles, renamed commands, packages.  Left out is what every new
#       interpreter has anyway: a bare interpreter is asked for comparison.

namespace eval nstrace {
    # Namespaces that are left out: patterns.
    variable excluded {::tcl ::tcl::* ::oo ::oo::*}
    # Name and script of those that add something of their own.
    variable added {}
    # Commands that were renamed, other than procs.
    variable renamed {}
}

# nstrace::excludensp pattern --
#
#       Leave out the namespaces that match.

proc nstrace::excludensp {pattern} {
    variable excluded
    if {$pattern ni $excluded} {
        lappend excluded $pattern
    }
}

# nstrace::addscript name script --
#
#       Evaluate script whenever the state is written down; its result is appended.

proc nstrace::addscript {name script} {
    variable added
    dict set added $name $script
}

# nstrace::statescript --
#
#       The state of this interpreter.

proc nstrace::statescript {} {
    variable added
    set base [interp create]
    try {
        set script ""
        append script [LibraryPaths] [LoadedPackages $base]
        append script {::namespace eval ::nstrace {}} \n [Definition ::nstrace::Rename] \n [Renames]
        set spaces [Namespaces ::]
        foreach space $spaces {
            append script [NamespaceItself $space $base]
        }
        foreach space $spaces {
            append script [Procs $space $base]
        }
        foreach space $spaces {
            append script [Ensembles $space $base] [Imports $space $base]
        }
        append script [ProvidedPackages $base]
        dict for {name command} $added {
            if {[catch {uplevel #0 $command} text] == 1} {
                ns_log Error "nstrace: script of $name failed: $::errorInfo"
            } else {
                append script $text \n
            }
        }
    } finally {
        interp delete $base
    }
    return $script
}

proc nstrace::LibraryPaths {} {
    append script [list set ::auto_path $::auto_path] \n
    append script {::tcl::tm::path remove {*}[::tcl::tm::path list]} \n
    append script [list ::tcl::tm::path add {*}[lreverse [::tcl::tm::path list]]] \n
    return $script
}

proc nstrace::LoadedPackages {base} {
    set script ""
    set known [info loaded $base]
    foreach item [lreverse [info loaded {}]] {
        if {$item ni $known} {
            lassign $item file prefix
            append script [list ::load $file $prefix] \n
        }
    }
    return $script
}

proc nstrace::ProvidedPackages {base} {
    set script ""
    foreach name [package names] {
        set version [package provide $name]
        if {$version ne "" && [interp eval $base [list package provide $name]] eq ""} {
            append script [list ::package provide $name $version] \n
        }
    }
    return $script
}

proc nstrace::Renames {} {
    variable renamed
    set script ""
    foreach {old new} $renamed {
        append script [list ::nstrace::Rename $old $new] \n
    }
    return $script
}

# An interpreter that is brought up to date may have it behind it.

proc nstrace::Rename {old new} {
    if {[info commands $old] ne "" && ($new eq "" || [info commands $new] eq "")} {
        rename $old $new
    }
}

# Called before each rename.  A proc's new name is seen when procs are listed.

proc nstrace::NoteRename {command operation} {
    variable renamed
    lassign $command - old new
    set old [uplevel 1 [list namespace which -command $old]]
    if {$old eq "" || [IsProc $old]} {
        return
    }
    if {$new ne "" && ![string match ::* $new]} {
        set new [string trimright [uplevel 1 {namespace current}] :]::$new
    }
    lappend renamed $old $new
}

proc nstrace::IsProc {name} {
    expr {![catch {info body $name}]}
}

# The namespaces below and with parent, each before its children.

proc nstrace::Namespaces {parent} {
    variable excluded
    foreach pattern $excluded {
        if {[string match $pattern $parent]} {
            return {}
        }
    }
    set result [list $parent]
    foreach child [lsort [namespace children $parent]] {
        lappend result {*}[Namespaces $child]
    }
    return $result
}

# Variables, exports, path and handler of unknown commands.

proc nstrace::NamespaceItself {space base} {
    set script ""
    if {$space ne "::"} {
        foreach name [lsort [info vars ${space}::*]] {
            append script [Variable $name $base]
        }
    }
    set exports [namespace eval $space {namespace export}]
    if {[llength $exports] > 0} {
        append script [list ::namespace export -clear {*}$exports] \n
    }
    set path [namespace eval $space {namespace path}]
    if {[llength $path] > 0} {
        append script [list ::namespace path $path] \n
    }
    set unknown [namespace eval $space {namespace unknown}]
    if {$unknown ne "" && $unknown ne "::unknown"} {
        append script [list ::namespace unknown $unknown] \n
    }
    if {$script eq "" && [interp eval $base [list namespace exists $space]]} {
        return ""
    }
    return [list ::namespace eval $space $script]\n
}

proc nstrace::Variable {name base} {
    set tail [namespace tail $name]
    if {[array exists $name]} {
        return [list ::variable $tail]\n[list ::array set $tail [array get $name]]\n
    }
    if {![info exists $name]} {
        return [list ::variable $tail]\n
    }
    set value [set $name]
    if {[interp eval $base [list info exists $name]]
            && [interp eval $base [list set $name]] eq $value} {
        return ""
    }
    return [list ::variable $tail $value]\n
}

proc nstrace::Procs {space base} {
    set script ""
    foreach name [lsort [info procs [Qualified $space *]]] {
        if {[namespace origin $name] ne $name} {
            continue
        }
        set definition [Definition $name]
        if {[interp eval $base [list info procs $name]] ne ""
                && [interp eval $base [list info body $name]] eq [lindex $definition 3]} {
            continue
        }
        append script $definition \n
    }
    return $script
}

proc nstrace::Definition {name} {
    set formals {}
    foreach formal [info args $name] {
        if {[info default $name $formal value]} {
            lappend formals [list $formal $value]
        } else {
            lappend formals $formal
        }
    }
    return [list ::proc $name $formals [info body $name]]
}

proc nstrace::Ensembles {space base} {
    set script ""
    foreach name [lsort [info commands [Qualified $space *]]] {
        if {![namespace ensemble exists $name] || [namespace origin $name] ne $name} {
            continue
        }
        set options [namespace ensemble configure $name]
        if {[interp eval $base [list namespace ensemble exists $name]]
                && [interp eval $base [list namespace ensemble configure $name]] eq $options} {
            continue
        }
        set home [dict get $options -namespace]
        dict unset options -namespace
        append script [list ::namespace eval $home \
            [list ::namespace ensemble create -command $name {*}$options]] \n
    }
    return $script
}

proc nstrace::Imports {space base} {
    set script ""
    foreach name [lsort [info commands [Qualified $space *]]] {
        set origin [namespace origin $name]
        if {$origin eq $name
                || [catch {interp eval $base [list namespace origin $name]} known] == 0
                    && $known eq $origin} {
            continue
        }
        append script [list ::namespace eval $space \
            [list ::namespace import -force $origin]] \n
    }
    return $script
}

proc nstrace::Qualified {space tail} {
    return [string trimright $space :]::$tail
}

# nsboot --
#
#       What happens at the start only; gone afterwards.

namespace eval nsboot {}

# Source a pair of directories.  A file of the private one replaces its namesake
# of the shared one; both files init.tcl come first.

proc nsboot::SourceLibrary {shared private} {
    set files {}
    foreach directory [list $shared $private] {
        if {[file isfile $directory/init.tcl]} {
            SourceFile $directory/init.tcl
        }
    }
    foreach file [lsort [glob -nocomplain -types f -directory $shared *.tcl]] {
        if {![file exists $private/[file tail $file]]} {
            lappend files $file
        }
    }
    lappend files {*}[lsort [glob -nocomplain -types f -directory $private *.tcl]]
    foreach file $files {
        if {[file tail $file] ne "init.tcl"} {
            SourceFile $file
        }
    }
}

proc nsboot::SourceFile {file} {
    if {[catch {uplevel #0 [list source $file]} message options]} {
        ns_log Error "nsd/init.tcl: loading $file failed:\
            [dict get $options -errorinfo]"
    }
}

proc nsboot::Modules {} {
    set section [ns_configsection ns/server/[ns_info server]/modules]
    set modules {}
    if {$section ne ""} {
        for {set i 0} {$i < [ns_set size $section]} {incr i} {
            lappend modules [ns_set key $section $i]
        }
    }
    return $modules
}

proc nsboot::Boot {} {
    ns_ictl loadmodules
    foreach module [Modules] {
        ns_ictl addmodule $module
    }
    SourceLibrary [ns_library shared] [ns_library private]
    foreach module [ns_ictl getmodules] {
        ns_module name $module
        ns_module shared [ns_library shared $module]
        ns_module private [ns_library private $module]
        SourceLibrary [ns_library shared $module] [ns_library private $module]
        ns_module clear
    }
    InitCommands [ns_config ns/server/[ns_info server]/tcl initcmds ""]
}

# What the configuration wants evaluated behind the libraries.

proc nsboot::InitCommands {script} {
    if {[catch {uplevel #0 $script} message options]} {
        ns_log Error "nsd/init.tcl: initcmds failed: [dict get $options -errorinfo]"
    }
}

trace add execution ::rename enter ::nstrace::NoteRename
nsboot::Boot
trace remove execution ::rename enter ::nstrace::NoteRename
namespace delete nsboot
ns_ictl save [nstrace::statescript]
