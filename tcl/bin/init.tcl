# SPDX-License-Identifier: MPL-2.0
# init.tcl --
#
#       Boots one server: loads its modules, sources its libraries, and keeps the
#       resulting state for all its interpreters.  Run once per server, in an
#       interpreter that is discarded afterwards.

# nstrace --
#
#       Writes down the state of an interpreter as a script that gives it to
#       another one: procs, namespaces with their variables, exports and imports,
#       ensembles, aliases, classes and objects of TclOO and NX, renamed commands,
#       packages.  Left out is what every new interpreter has anyway: what a bare
#       interpreter with the same binary packages has is known for comparison.
#
#       What only C code can make (classes of itcl, handles of a database) is left
#       out.  So is the mark that its package is there: `package require` loads
#       that again where it is needed.
#
#       Packages may have commands of their own called `namespace` or `list` in
#       their namespaces, so what is evaluated there has qualified names.

namespace eval nstrace {
    # Namespaces that are left out: patterns.  Those of the packages nsf and itcl
    # come with the packages.
    variable excluded {
        ::tcl::clock ::tcl::tm ::oo::Obj* ::itcl ::nsf ::nx ::xotcl ::nstrace::noted
    }
    # Packages that every interpreter loads for itself, because of these.
    variable reloaded {nsf nx nx::* XOTcl xotcl::*}
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

# nstrace::record script --
#
#       Evaluate script, and note what the interpreter cannot tell afterwards.

proc nstrace::record {script} {
    namespace eval noted {
        # Packages being loaded, innermost last: {name commands}, or just {name} for one
        # that is there.
        variable loading {}
        # By package: those that it requires.  By command: the package that made it.
        variable needs
        variable maker
        array set needs {}
        array set maker {}
        # Names of the commands that were there before: a list, and, to find one, an array.
        variable commands
        variable before
        # The sum of all that was there, or a list of it: what an interpreter has that is new.
        variable start
    }
    set noted::commands [AllCommands ::]
    set noted::start [ns_ictl sum {::nstrace ::nsboot ::oo::Obj*} ""]
    if {$noted::start eq ""} {
        set noted::start [list $noted::commands [AllVariables ::]]
    }
    trace add execution ::rename enter ::nstrace::NoteRename
    trace add execution ::package enter ::nstrace::NotePackage
    trace add execution ::package leave ::nstrace::NoteLoaded
    try {
        uplevel #0 $script
    } finally {
        trace remove execution ::rename enter ::nstrace::NoteRename
        trace remove execution ::package enter ::nstrace::NotePackage
        trace remove execution ::package leave ::nstrace::NoteLoaded
    }
}

# nstrace::statescript --
#
#       The state of this interpreter.
#
#       What the added scripts do not add is the same for interpreters whose sums are,
#       so one server has it from another.

proc nstrace::statescript {} {
    variable added
    namespace eval noted {
        variable isPlain 1
        variable sum ""
        # As the sum tells; empty: something has to be told or tried as well.
        variable repeatable ""
    }
    if {[info exists noted::start]} {
        set noted::sum [Sum [list [array get noted::maker] [array get noted::needs] $noted::start]]
    }
    set script [expr {$noted::sum eq "" ? "" : [ns_ictl stateof $noted::sum]}]
    set isQuiet [expr {$script ne "" || [Write script]}]
    if {$isQuiet && $noted::isPlain && $noted::sum ne ""} {
        set noted::repeatable [list $noted::sum $script]
    }
    # A single added script is at the end, and its error is caught.
    if {[dict size $added] > 1} {
        set noted::isPlain 0
    }
    dict for {name command} $added {
        if {[catch {uplevel #0 $command} text] == 1} {
            ns_log Error "nstrace: script of $name failed: $::errorInfo"
        } else {
            append script [Part "nstrace::addscript $name" $text]
        }
    }
    return $script
}

# nstrace::repeatable --
#
#       A sum, and the part of the last state script that servers with this sum have,
#       too; or an empty list.

proc nstrace::repeatable {} {
    return $noted::repeatable
}

# All that decides about the state script, except what is in the namespace noted: that
# is for the text to tell.  Objects of TclOO are told by their definitions; the names of
# their namespaces are never the same.  Empty: not known.

proc nstrace::Sum {text} {
    set objects [lmap name [AllObjects] {
        list $name [catch { ObjectDefinition $name 1 } definition] $definition
    }]
    set packages [lmap name [package names] { list $name [package provide $name] }]
    set aliases [lmap name [interp aliases {}] {
        list $name [catch { interp target {} $name } target] $target [interp alias {} $name]
    }]
    return [ns_ictl sum {::nstrace::noted ::oo::Obj*} \
        [list $text $::auto_path [info loaded {}] $objects $packages $aliases]]
}

# Write the state, without what is added, into the variable of the caller.  True when
# nothing was to be told the log.

proc nstrace::Write {variable} {
    upvar 1 $variable script
    set isQuiet 1
    set paths [LibraryPaths]
    set bare [Bare $paths]
    set loads [LoadedPackages $bare]
    set missing [Missing $bare]
    set spaces ""
    set procs ""
    set links ""
    foreach space [Namespaces :: [dict get $missing commands]] {
        try {
            set parts [list [NamespaceItself $space $bare] {*}[Commands $space $bare]]
        } on error {message} {
            ns_log Error "tcl\[[ns_info server]\]: namespace $space is missing in threads:\
                it cannot be saved: $message"
            set isQuiet 0
            continue
        }
        append spaces [lindex $parts 0]
        append procs [lindex $parts 1]
        append links [lindex $parts 2]
    }
    append links [Aliases $bare] [ProvidedPackages [dict get $missing packages] $bare]
    append loads [ReloadedPackages] [Renames]
    set objects [Part "objects of TclOO" [Objects [dict get $missing objects] $bare]]
    # Loads packages, so it comes last.
    set nxObjects [Part "objects of NX and XOTcl" [NxObjects]]
    append script $paths {::namespace eval ::nstrace {}} \n
    foreach helper {Try Rename Import} {
        append script [Definition ::nstrace::$helper] \n
    }
    append script $loads $spaces $procs $objects $nxObjects $links
    if {"$loads$objects$nxObjects" ne ""} {
        set noted::isPlain 0
    }
    Tell $missing
    return [expr {$isQuiet && [dict get $missing commands] eq ""
            && [dict get $missing packages] eq ""}]
}

# What a bare interpreter has after the paths were set and the binary packages loaded
# that this one has, and the packages that it cannot load: a dict.
#
# Interpreters that are alike in these have the same bare one, so the first that
# needs it writes down what it has, for all servers.

proc nstrace::Bare {paths} {
    set packages [lreverse [info loaded {}]]
    # Another init file may write down more.
    set helpers {Facts Spaces AllObjects ObjectDefinition Members}
    set key [list $paths $packages [lmap name $helpers { Definition ::nstrace::$name }]]
    set bare [ns_ictl bare $key]
    if {$bare ne ""} {
        return $bare
    }
    set base [interp create]
    try {
        interp eval $base $paths
        set known [info loaded $base]
        set loads {}
        foreach item $packages {
            if {$item ni $known} {
                set failed [catch {interp eval $base [linsert $item 0 ::load]} message]
                lappend loads [list $item $failed $message]
            }
        }
        interp eval $base {::namespace eval ::nstrace {}}
        foreach name $helpers {
            interp eval $base [Definition ::nstrace::$name]
        }
        set bare [interp eval $base ::nstrace::Facts]
    } finally {
        interp delete $base
    }
    dict set bare loads $loads
    return [ns_ictl bare $key $bare]
}

# Evaluated in the bare interpreter.  The namespace of these helpers is not its own.

proc nstrace::Facts {} {
    foreach fact {spaces variables commands procs ensembles imports packages objects} {
        set $fact {}
    }
    foreach space [Spaces ::] {
        dict set spaces $space 1
        set prefix [string trimright $space :]
        if {$space ne "::"} {
            foreach name [info vars ${prefix}::*] {
                if {[info exists $name] && ![array exists $name]} {
                    dict set variables $name [set $name]
                }
            }
        }
        foreach name [info procs ${prefix}::*] {
            dict set procs $name [info body $name]
        }
        foreach name [info commands ${prefix}::*] {
            dict set commands $name 1
            if {[namespace ensemble exists $name]} {
                dict set ensembles $name [namespace ensemble configure $name]
            }
            if {[namespace origin $name] ne $name} {
                dict set imports $name [namespace origin $name]
            }
        }
    }
    foreach name [package names] {
        if {[package provide $name] ne ""} {
            dict set packages $name 1
        }
    }
    foreach name [AllObjects] {
        dict set objects $name ""
        catch {dict set objects $name [ObjectDefinition $name 1]}
    }
    set aliases [interp aliases {}]
    set facts {}
    foreach fact {spaces variables commands procs ensembles imports packages objects aliases} {
        dict set facts $fact [set $fact]
    }
    return $facts
}

proc nstrace::Spaces {parent} {
    set result [list $parent]
    foreach child [namespace children $parent] {
        if {$child ne "::nstrace"} {
            lappend result {*}[Spaces $child]
        }
    }
    return $result
}

# nstrace::circumstances --
#
#       What decides, besides the script of nstrace::statescript, whether the script
#       succeeds in a new interpreter: what such an interpreter has.  Empty if the
#       script can do something other than define: if it loads something, makes
#       objects, or defines anew what Tcl has.  What it calls may then look at
#       anything, the name of the server included.

proc nstrace::circumstances {} {
    if {!$noted::isPlain || ![info exists noted::start]} {
        return ""
    }
    return $noted::start
}

proc nstrace::NoteOverride {name bare} {
    if {[dict exists $bare commands $name]} {
        set noted::isPlain 0
    }
}

# The variables of namespaces, and which are arrays; not those of objects.

proc nstrace::AllVariables {parent} {
    set result {}
    foreach space [namespace children $parent] {
        if {[string match ::oo::Obj* $space]} {
            continue
        }
        lappend result $space [lmap name [info vars ${space}::*] {
            list $name [array exists $name]
        }] {*}[AllVariables $space]
    }
    return $result
}

# A part of the script that may fail: the others are there in spite of that.

proc nstrace::Part {what script} {
    return [expr {$script eq "" ? "" : "[list ::nstrace::Try $what $script]\n"}]
}

proc nstrace::Try {what script} {
    if {[catch {uplevel #0 $script} message] == 1} {
        ns_log Error "tcl\[[ns_info server]\]: missing in this thread: $what: $message"
    }
}

proc nstrace::LibraryPaths {} {
    append script [list set ::auto_path $::auto_path] \n
    set paths [::tcl::tm::path list]
    append script [list ::if "\[::tcl::tm::path list\] ne \[[list ::list {*}$paths]\]" "
        ::tcl::tm::path remove {*}\[::tcl::tm::path list\]
        [list ::tcl::tm::path add {*}[lreverse $paths]]
    "] \n
    return $script
}

# Binary packages.  The bare interpreter has them, too: what they make when they are
# loaded is in all interpreters.

proc nstrace::LoadedPackages {bare} {
    set script ""
    if {[lsearch -nocase -index 1 [info loaded {}] nsf] >= 0} {
        append script [Definition ::nstrace::Channel] \n \
            {::close [::chan create write ::nstrace::Channel]} \n
    }
    foreach load [dict get $bare loads] {
        lassign $load item failed message
        if {$failed} {
            ns_log Error "tcl\[[ns_info server]\]: [lindex $item 0] is missing in threads:\
                a second interpreter cannot load it: $message"
        } else {
            append script [Part [lindex $item 0] [linsert $item 0 ::load]]
        }
    }
    return $script
}

# The package nsf keeps the interpreter until the thread ends.  If Tcl has by then
# forgotten the thread's channels that are written in Tcl, it crashes.  It forgets
# last what it met first, so it meets one before the package.

proc nstrace::Channel {method args} {
    return {initialize finalize watch write}
}

proc nstrace::ReloadedPackages {} {
    set script ""
    foreach name [lsort [package names]] {
        if {[package provide $name] ne "" && [IsReloaded $name]} {
            append script [Part "package $name" \
                [list ::package require $name [package provide $name]]]
        }
    }
    return $script
}

# The serializer of NX writes down itself, with what it was told.

proc nstrace::IsReloaded {package} {
    variable reloaded
    if {[string match *::serializer $package]} {
        return 0
    }
    foreach pattern $reloaded {
        if {[string match $pattern $package]} {
            return 1
        }
    }
    return 0
}

proc nstrace::ProvidedPackages {missing bare} {
    set script ""
    foreach name [lsort [package names]] {
        set version [package provide $name]
        if {$version ne "" && $name ni $missing && ![IsReloaded $name]
                && ![dict exists $bare packages $name]} {
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
    set old [uplevel 1 [list ::namespace which -command $old]]
    if {$old eq "" || [IsProc $old]} {
        return
    }
    if {$new ne "" && ![string match ::* $new]} {
        set new [string trimright [uplevel 1 {::namespace current}] :]::$new
    }
    lappend renamed $old $new
}

# Called before and after each use of `package`.  What comes into being while a
# package is loaded is made by it, or by one that it requires.

proc nstrace::NotePackage {command operation} {
    variable noted::loading
    variable noted::needs
    set name [RequiredPackage $command]
    if {$name eq ""} {
        return
    }
    if {[llength $loading] > 0} {
        lappend needs([lindex $loading end 0]) $name
    }
    set entry [list $name]
    if {[package provide $name] eq ""} {
        lappend entry [AllCommands ::]
    }
    lappend loading $entry
}

proc nstrace::NoteLoaded {command code result operation} {
    variable noted::loading
    variable noted::maker
    if {[RequiredPackage $command] eq ""} {
        return
    }
    lassign [lindex $loading end] name before
    set isNew [expr {[llength [lindex $loading end]] == 2}]
    set loading [lrange $loading 0 end-1]
    if {$isNew} {
        foreach command $before {
            set known($command) 1
        }
        foreach command [AllCommands ::] {
            if {![info exists known($command)] && ![info exists maker($command)]} {
                set maker($command) $name
            }
        }
    }
}

proc nstrace::RequiredPackage {command} {
    set words [lassign $command - operation]
    if {![string match r?* $operation] || ![string match $operation* require]} {
        return ""
    }
    return [lindex $words [expr {[lindex $words 0] eq "-exact"}]]
}

proc nstrace::IsProc {name} {
    expr {![catch {info body $name}]}
}

# All commands in space and below it, except those of single objects.

proc nstrace::AllCommands {space} {
    set names [info commands [Qualified $space *]]
    foreach child [namespace children $space] {
        if {![string match ::oo::Obj* $child]} {
            lappend names {*}[AllCommands $child]
        }
    }
    return $names
}

proc nstrace::IsExcluded {space} {
    variable excluded
    foreach pattern $excluded {
        if {[string match $pattern $space]} {
            return 1
        }
    }
    return 0
}

# The namespaces below and with parent, each before its children.  Objects that are
# left out, and those of NX, bring their own.

proc nstrace::Namespaces {parent without} {
    if {[IsExcluded $parent] || $parent in $without || [IsNxObject $parent]} {
        return {}
    }
    set result [list $parent]
    foreach child [lsort [namespace children $parent]] {
        lappend result {*}[Namespaces $child $without]
    }
    return $result
}

# Variables, exports, path and handler of unknown commands.

proc nstrace::NamespaceItself {space bare} {
    set script ""
    if {$space ne "::"} {
        foreach name [lsort [info vars ${space}::*]] {
            append script [Variable $name $bare]
        }
    }
    set exports [namespace eval $space {::namespace export}]
    if {[llength $exports] > 0} {
        append script [list ::namespace export -clear {*}$exports] \n
    }
    set path [namespace eval $space {::namespace path}]
    if {[llength $path] > 0} {
        append script [list ::namespace path $path] \n
    }
    set unknown [namespace eval $space {::namespace unknown}]
    if {$unknown ne "" && $unknown ne "::unknown"} {
        append script [list ::namespace unknown $unknown] \n
    }
    if {$script eq "" && [dict exists $bare spaces $space]} {
        return ""
    }
    return [list ::namespace eval $space $script]\n
}

proc nstrace::Variable {name bare} {
    if {[info exists $name] && ![array exists $name] && [dict exists $bare variables $name]
            && [dict get $bare variables $name] eq [set $name]} {
        return ""
    }
    return [VariableItself $name]
}

proc nstrace::VariableItself {name} {
    set tail [namespace tail $name]
    if {[array exists $name]} {
        return [list ::variable $tail]\n[list ::array set $tail [array get $name]]\n
    }
    if {![info exists $name]} {
        return [list ::variable $tail]\n
    }
    return [list ::variable $tail [set $name]]\n
}

# Procs, and a list of what comes behind those of all namespaces: ensembles, and what
# is imported.

proc nstrace::Commands {space bare} {
    set procs {}
    set ensembles ""
    set imports ""
    foreach name [info procs [Qualified $space *]] {
        set isProc($name) 1
    }
    foreach name [lsort [ns_ictl others [info commands [Qualified $space *]]]] {
        set origin [namespace origin $name]
        if {$origin ne $name} {
            if {![dict exists $bare imports $name]
                    || [dict get $bare imports $name] ne $origin} {
                append imports [list ::nstrace::Import $origin $name] \n
                NoteOverride $name $bare
            }
        } elseif {[info exists isProc($name)]} {
            if {![dict exists $bare procs $name]
                    || [dict get $bare procs $name] ne [info body $name]} {
                lappend procs $name
                NoteOverride $name $bare
            }
        } elseif {[namespace ensemble exists $name]} {
            set options [namespace ensemble configure $name]
            if {![dict exists $bare ensembles $name]
                    || [dict get $bare ensembles $name] ne $options} {
                append ensembles [Ensemble $name $options]
                NoteOverride $name $bare
            }
        }
    }
    return [list [ns_ictl definitions $procs] $ensembles$imports]
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

proc nstrace::Ensemble {name options} {
    set home [dict get $options -namespace]
    dict unset options -namespace
    return [list ::namespace eval $home \
        [list ::namespace ensemble create -command $name {*}$options]]\n
}

# An import may have been renamed since, and its origin not be exported any more.
# Others are not renamed: a package may take that for a move of the origin.

proc nstrace::Import {origin name} {
    if {[info commands $name] ne ""} {
        if {[namespace origin $name] eq $origin} {
            return
        }
        rename $name ""
    }
    set tail [namespace tail $origin]
    set isRenamed [expr {[namespace tail $name] ne $tail}]
    set target [expr {$isRenamed ? "::nstrace::imported" : [namespace qualifiers $name]}]
    set home [list ::namespace eval [namespace qualifiers $origin]::]
    set exports [{*}$home {::namespace export}]
    {*}$home [list ::namespace export $tail]
    namespace eval ${target}:: [list ::namespace import -force $origin]
    {*}$home [list ::namespace export -clear {*}$exports]
    if {$isRenamed} {
        rename ${target}::$tail $name
    }
}

# Other names for commands of this interpreter.

proc nstrace::Aliases {bare} {
    set script ""
    foreach name [lsort [interp aliases {}]] {
        if {$name ni [dict get $bare aliases] && [IsOwnAlias $name]} {
            NoteOverride ::[string trimleft $name :] $bare
            append script [list ::interp alias {} $name {} {*}[interp alias {} $name]] \n
        }
    }
    return $script
}

proc nstrace::IsOwnAlias {name} {
    expr {![catch {interp target {} $name} target] && $target eq ""}
}

proc nstrace::Qualified {space tail} {
    return [string trimright $space :]::$tail
}

# What cannot be written down: the commands, the packages that made some of them or
# require such a package, and the objects of TclOO that can be written, with their
# definitions.  A missing package makes its objects anew.

proc nstrace::Missing {bare} {
    upvar 0 ::nstrace::noted::before before
    if {[info exists noted::commands]} {
        foreach name $noted::commands {
            set before($name) 1
        }
    }
    set objects [NewObjects $bare]
    set commands {}
    foreach name [AllCommands ::] {
        if {![info exists before($name)] && ![IsWritable $name $bare]} {
            lappend commands $name
        }
    }
    set n -1
    while {[llength $commands] > $n} {
        set n [llength $commands]
        set packages [PackagesOf $commands]
        dict for {name definition} $objects {
            if {[Maker $name] in $packages || [IsLost $name $definition $commands $bare]} {
                lappend commands $name
                dict unset objects $name
            }
        }
    }
    return [dict create commands $commands packages $packages objects $objects]
}

proc nstrace::IsWritable {name bare} {
    variable renamed
    expr {![array exists noted::before] || [IsProc $name] || [namespace origin $name] ne $name
        || [namespace ensemble exists $name] || [info object isa object $name]
        || [IsNxObject $name] || [IsNxProc $name] || $name in $renamed
        || [IsElsewhere [namespace qualifiers $name]]
        || [IsOwnAlias $name] || [IsOwnAlias [string range $name 2 end]]
        || [dict exists $bare commands $name]}
}

# In a namespace that is left out, or that an object of NX brings.

proc nstrace::IsElsewhere {space} {
    while {$space ne ""} {
        if {[IsExcluded $space] || [IsNxObject $space]} {
            return 1
        }
        set space [namespace qualifiers $space]
    }
    return 0
}

proc nstrace::Maker {command} {
    expr {[info exists noted::maker($command)] ? $noted::maker($command) : ""}
}

proc nstrace::PackagesOf {commands} {
    set packages {}
    foreach name $commands {
        lappend packages [Maker $name]
    }
    set n -1
    while {[llength $packages] > $n} {
        set n [llength $packages]
        foreach {name needs} [array get noted::needs] {
            foreach other $needs {
                if {$other in $packages && $name ni $packages} {
                    lappend packages $name
                }
            }
        }
    }
    return [lsearch -all -inline -not -exact [lsort -unique $packages] ""]
}

# One line for what is not there.

proc nstrace::Tell {missing} {
    set packages [dict get $missing packages]
    set names {}
    foreach name [lsort [dict get $missing commands]] {
        if {[Maker $name] ni $packages && [namespace qualifiers $name] ni $names} {
            lappend names $name
        }
    }
    if {[llength $names] > 0} {
        lappend texts "commands [Shortened $names]"
    }
    if {[llength $packages] > 0} {
        lappend texts "packages [Shortened $packages] (until 'package require' loads them there)"
    }
    if {[info exists texts]} {
        ns_log Notice "tcl\[[ns_info server]\]: missing in threads,\
            because only C code can make them: [join $texts {; }]"
    }
}

proc nstrace::Shortened {names} {
    set more [expr {[llength $names] - 20}]
    return [join [lrange $names 0 19] ", "][expr {$more > 0 ? " and $more more" : ""}]
}

# TclOO.  The objects that the bare interpreter does not have, or has with another
# definition.

proc nstrace::NewObjects {bare} {
    set objects {}
    foreach name [AllObjects] {
        set isKnown [dict exists $bare objects $name]
        if {[catch {ObjectDefinition $name $isKnown} definition]} {
            # IsLost knows it.
            set definition ""
        } elseif {$isKnown && $definition eq [dict get $bare objects $name]} {
            continue
        }
        dict set objects $name $definition
    }
    return $objects
}

proc nstrace::AllObjects {} {
    set classes {}
    set below ::oo::object
    while {[llength $below] > 0} {
        lappend classes {*}$below
        set next {}
        foreach class $below {
            lappend next {*}[info class subclasses $class]
        }
        set below $next
    }
    set objects {}
    foreach class $classes {
        lappend objects {*}[info class instances $class]
    }
    return [lsort -unique $objects]
}

# An error for what C code has made, unless that is known to be everywhere.

proc nstrace::ObjectDefinition {name isKnown} {
    append script [Members object ::oo::objdefine $name $isKnown]
    if {[info object isa class $name]} {
        append script [Members class ::oo::define $name $isKnown]
        foreach member {constructor destructor} {
            if {[catch {info class $member $name} words]} {
                if {!$isKnown} {
                    error $words
                }
            } elseif {$words ne ""} {
                set words [expr {$member eq "destructor" ? [list $words] : $words}]
                append script [list ::oo::define $name $member {*}$words] \n
            }
        }
    }
    return $script
}

proc nstrace::Members {kind define name isKnown} {
    set all [info $kind methods $name -private]
    set exported [info $kind methods $name]
    foreach method [lsort $all] {
        switch [info $kind methodtype $name $method] {
            method {
                append script [list $define $name method $method \
                    {*}[info $kind definition $name $method]] \n
            }
            forward {
                append script [list $define $name forward $method \
                    {*}[info $kind forward $name $method]] \n
            }
            default {
                if {!$isKnown} {
                    error "$name $method is not written in Tcl"
                }
                continue
            }
        }
        append script [list $define $name \
            [expr {$method in $exported ? "export" : "unexport"}] $method] \n
    }
    foreach member {mixins filters variables} {
        append script [list $define $name [string trimright $member s] -set \
            {*}[info $kind $member $name]] \n
    }
    return $script
}

# Whether C code takes part in a class or object, or another one is needed that is
# not there.

proc nstrace::IsLost {name definition commands bare} {
    if {$definition eq ""} {
        return 1
    }
    set class [info object class $name]
    set parents [concat [list $class] [info object mixins $name]]
    if {[info object isa class $name]} {
        lappend parents {*}[info class superclasses $name] {*}[info class mixins $name]
        set makers [list $class]
    } else {
        set makers [Ancestors $class]
    }
    foreach parent $parents {
        if {$parent in $commands} {
            return 1
        }
    }
    if {[dict exists $bare objects $name]} {
        return 0
    }
    foreach maker $makers {
        if {$maker ni {::oo::object ::oo::class}
                && [dict exists $bare objects $maker]} {
            return 1
        }
    }
    return 0
}

proc nstrace::Ancestors {class} {
    set classes [list $class]
    foreach parent [concat [info class superclasses $class] [info class mixins $class]] {
        lappend classes {*}[Ancestors $parent]
    }
    return $classes
}

# All are made before the first is defined: they refer to each other.  No constructor
# runs; what it did is in the variables.

proc nstrace::Objects {objects bare} {
    if {[dict size $objects] == 0} {
        return ""
    }
    append script [Definition ::nstrace::Make] \n
    set last 0
    foreach name [dict keys $objects] {
        if {[scan $name ::oo::Obj%d%s number rest] == 1} {
            set last [expr {max($last, $number)}]
        }
    }
    append script [list ::nstrace::Make $last [lmap name [dict keys $objects] {
        list $name [expr {[info object isa class $name] ? "class" : "object"}]
    }]] \n
    foreach name [dict keys $objects] {
        if {[info object isa class $name] && [info class superclasses $name] ne ""} {
            append script [list ::oo::define $name superclass -set \
                {*}[info class superclasses $name]] \n
        }
    }
    foreach name [dict keys $objects] {
        if {[info object class $name] ni {::oo::object ::oo::class}} {
            append script [list ::oo::objdefine $name class [info object class $name]] \n
        }
    }
    dict for {name definition} $objects {
        append script $definition [ObjectVariables $name $bare]
    }
    return $script
}

# Objects with a number for a name have the numbers up to last: new ones must not
# get them.

proc nstrace::Make {last objects} {
    set number 0
    while {$number < $last} {
        set name [::oo::object new]
        scan [namespace tail $name] Obj%d number
        $name destroy
    }
    foreach item $objects {
        lassign $item name kind
        if {![info object isa object $name]} {
            ::oo::$kind create $name
        }
    }
}

proc nstrace::ObjectVariables {name bare} {
    if {[dict exists $bare objects $name]} {
        return ""
    }
    set script ""
    foreach variable [lsort [info vars [info object namespace $name]::*]] {
        append script [VariableItself $variable]
    }
    if {$script eq ""} {
        return ""
    }
    return "::namespace eval \[::info object namespace [list $name]\] [list $script]\n"
}

# NX and XOTcl.  Their own serializer writes down procs and objects; if it is there
# for us only, it does not write down itself.

proc nstrace::NxObjects {} {
    if {[info commands ::nsf::object::exists] eq ""} {
        return ""
    }
    set isOurs [expr {[package provide nx::serializer] eq ""}]
    try {
        package require nx::serializer
        if {$isOurs} {
            ::nx::serializer::Serializer eval {array unset :exportObjects}
        }
        return [::nx::serializer::Serializer all]\n
    } on error {message} {
        ns_log Error "tcl\[[ns_info server]\]: objects of NX and XOTcl are missing in threads:\
            the package nx::serializer cannot save them: $message"
        return ""
    }
}

proc nstrace::IsNxObject {name} {
    expr {[info commands ::nsf::object::exists] ne "" && [::nsf::object::exists $name]}
}

proc nstrace::IsNxProc {name} {
    expr {[info commands ::nsf::cmd::info] ne ""
        && ![catch {::nsf::cmd::info type $name} type] && $type eq "nsfproc"}
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
    set rootProc [ns_config ns/server/[ns_info server] serverrootproc ""]
    if {$rootProc ne ""} {
        ns_serverrootproc $rootProc
    }
    InitCommands [ns_config ns/server/[ns_info server]/tcl initcmds ""]
}

# What the configuration wants evaluated behind the libraries.

proc nsboot::InitCommands {script} {
    if {[catch {uplevel #0 $script} message options]} {
        ns_log Error "nsd/init.tcl: initcmds failed: [dict get $options -errorinfo]"
    }
}

ns_ictl loadmodules
nstrace::record nsboot::Boot
namespace delete nsboot
ns_ictl savestate [nstrace::statescript] [nstrace::circumstances] {*}[nstrace::repeatable]
