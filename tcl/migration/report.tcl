# SPDX-License-Identifier: MPL-2.0
# report.tcl --
#
#       What `nsd -T --from-naviserver` says of a site's scripts: commands that they call
#       and that are not here.  Loaded when it is asked for, in an interpreter without a
#       server.
#
#       Called is what stands where a command begins; so a command that is made up of
#       parts is not found, and the first word of a line of text may be one too many.

namespace eval ::nsd::migration {
    # What C modules add.
    variable ofModules {
        nscgi      {ns_register_cgi}
        nsdb       {ns_db ns_dbconfigpath ns_dberrorcode ns_dberrormsg ns_dbpooldescription ns_dbquotelist ns_dbquotevalue ns_pooldescription}
        nsdbpg     {ns_pg ns_pg_bind}
        nsdbsqlite {ns_sqlite ns_sqlite_bind}
        nslog      {ns_accesslog}
        nsperm     {ns_perm}
        nsproxy    {ns_proxy}
        nsredis    {ns_redis}
        nsssl      {ns_certctl}
    }
    # Commands that are here and only say that they do nothing.
    variable stubs {ns_share}
    variable lines {}
    variable nFiles 0
    # Name -> {server or module ...}, of those that have the command.
    variable known
    # Name -> {file line ...}
    variable calls
    array set known {}
    array set calls {}
}

# nsd::migration::Report --
#
#       The number of commands that are missing and the lines of the report, given the
#       server's own commands, the shared library, and more directories with scripts.

proc ::nsd::migration::Report {commands library directories} {
    variable lines
    variable nFiles
    variable known
    variable calls
    variable ofModules
    variable stubs
    foreach name $commands {
        # Some are wrapped: _ns_adp_include.
        if {$name ni $stubs} { lappend known([string trimleft $name _]) "" }
    }
    foreach {module names} $ofModules {
        foreach name $names { lappend known($name) $module }
    }
    foreach file [Files $library] {
        set module [lindex [file split [string range $file [string length $library]+1 end]] 0]
        Definitions $file [expr {[file tail $file] eq $module ? "" : $module}]
    }
    foreach {module from} [Modules] { set loaded($module) $from }
    foreach directory [lsort -unique [concat [Directories] [lmap name $directories { file normalize $name }]]] {
        if {[file isdirectory $directory]} {
            foreach file [Files $directory] { set files($file) 1 }
        } else {
            lappend lines "$directory: warning: no such directory: its scripts are not looked at"
        }
    }
    foreach file [array names files] { Definitions $file "" }
    foreach file [lsort [array names files]] {
        incr nFiles
        Calls $file
    }
    set nMissing 0
    foreach name [lsort [array names calls]] {
        set modules [expr {[info exists known($name)] ? $known($name) : {-}}]
        if {"" in $modules || [HasAny loaded $modules]} continue
        incr nMissing
        set places [lmap {file line} $calls($name) { string cat $file:$line }]
        set more [expr {[llength $places] > 1 ? " ([llength $places] calls; next [join [lrange $places 1 3] {, }])" : ""}]
        lappend lines "[lindex $places 0]: warning: $name is [expr {
            $modules eq "-" ? "not a command of this server, of its modules, or of these scripts"
                            : "a command of the module [join [lsort -unique $modules] { or }], which no server loads"}]$more"
    }
    lappend lines "looked for commands in $nFiles files: $nMissing are missing"
    return [list $nMissing [join $lines \n]]
}

proc ::nsd::migration::HasAny {arrayName modules} {
    upvar 1 $arrayName loaded
    foreach module $modules {
        if {[info exists loaded($module)]} { return 1 }
    }
    return 0
}

proc ::nsd::migration::Servers {} {
    set section [ns_configsection ns/servers]
    return [expr {$section eq "" ? {} : [dict keys [ns_set array $section]]}]
}

# All modules that some server loads, by the names of their files.
proc ::nsd::migration::Modules {} {
    set modules {}
    foreach name [concat ns/modules [lmap server [Servers] { string cat ns/server/$server/modules }]] {
        set section [ns_configsection $name]
        if {$section eq ""} continue
        foreach {module file} [ns_set array $section] {
            lappend modules [expr {$file in {tcl Tcl} ? $module : [file rootname [file tail $file]]}] $name
        }
    }
    # Drivers of databases are modules of nsdb.
    set section [ns_configsection ns/db/drivers]
    if {$section ne ""} {
        foreach {name file} [ns_set array $section] { lappend modules [file rootname [file tail $file]] ns/db/drivers }
    }
    return $modules
}

# The libraries and pages of all servers.  OpenACS has packages beside its pages.
proc ::nsd::migration::Directories {} {
    set home [ns_config ns/parameters home]
    set directories {}
    foreach server [Servers] {
        set path ns/server/$server
        set base [file join $home [ns_config $path/fastpath serverdir [ns_config $path serverdir ""]]]
        set pages [file normalize [file join $base [ns_config $path/fastpath pagedir pages]]]
        foreach directory [list [file join $home [ns_config $path/tcl library modules/tcl]] $pages [file dirname $pages]/packages] {
            if {[file isdirectory $directory]} { lappend directories [file normalize $directory] }
        }
    }
    return $directories
}

proc ::nsd::migration::Files {directory} {
    set files [glob -nocomplain -directory $directory -types {f r} *.tcl *.adp *.vuh *.init]
    foreach below [glob -nocomplain -directory $directory -types {d r} *] {
        # A link may lead back.
        if {[file type $below] ne "link" && [file tail $below] ne "node_modules"} { lappend files {*}[Files $below] }
    }
    return [lmap file $files { file normalize $file }]
}

proc ::nsd::migration::Text {file} {
    if {[catch { open $file } channel]} { return "" }
    fconfigure $channel -encoding utf-8
    if {[catch { read $channel } text]} { set text "" }
    close $channel
    return $text
}

proc ::nsd::migration::Definitions {file module} {
    variable known
    foreach {- name} [regexp -all -inline -line {^\s*(?:(?:nsf::|xotcl::)?proc|ad_proc(?:\s+-\S+)*|ns_runonce\s+\{?\s*proc|interp\s+alias\s+\{\}|rename\s+\S+|namespace\s+ensemble\s+create\s+-command|namespace\s+eval)\s+(?:::)?(nsv?_[\w:]+)} [Text $file]] {
        lappend known($name) $module
    }
}

proc ::nsd::migration::Calls {file} {
    variable calls
    set text [Text $file]
    if {[file extension $file] eq ".adp"} { set text [OnlyCode $text] }
    set number 0
    foreach line [split $text \n] {
        incr number
        if {[string match #* [string trimleft $line]]} continue
        # Its arguments are no calls.
        regsub {\mproc\s+\S+\s+\{[^\}]*\}} $line "" line
        foreach {- name} [regexp -all -inline {(?:^|[\[;\{])\s*(?:::)?(nsv?_\w+(?:::\w+)*)(?=[\s\]\};]|$)} $line] {
            lappend calls($name) $file $number
        }
    }
}

# What is outside <% and %> becomes blank, but for the ends of lines.
proc ::nsd::migration::OnlyCode {text} {
    set code ""
    set at 0
    foreach place [regexp -all -inline -indices {<%.*?%>} $text] {
        lassign $place first last
        append code [regsub -all {[^\n]} [string range $text $at $first-1] " "]
        append code "  " [regsub {^=} [string range $text $first+2 $last-2] " "] " ;"
        set at [expr {$last + 1}]
    }
    return $code
}
