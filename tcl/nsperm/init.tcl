# SPDX-License-Identifier: MPL-2.0
# init.tcl --
#
#       nsperm: users, groups and permissions from the files in modules/nsperm below
#       the home directory: passwd, group, hosts.allow, hosts.deny, perms.

# init_nsperm --
#
#       Read the files.  What they say holds when all have been read; on an error what
#       held before stays.

proc init_nsperm {} {
    ns_mutex eval [nsv_get nsperm lock] {
        _ns_perm begin
        try {
            ::nsperm::ReadUsers
            ::nsperm::ReadGroups
            ::nsperm::ReadPermissions
        } on ok {} {
            _ns_perm commit
            # Users of .htaccess files are to be read again.
            nsv_array reset nsperm-stamps {start ""}
        } finally {
            _ns_perm abort
        }
    }
    return
}

namespace eval ::nsperm {}

proc ::nsperm::File {name} {
    return [file join [ns_info home] modules nsperm $name]
}

# The lines of a file that say something; none if there is no such file.

proc ::nsperm::Lines {name} {
    set file [File $name]
    if {![file exists $file]} {
        return {}
    }
    set channel [open $file]
    try {
        fconfigure $channel -encoding utf-8
        set text [read $channel]
    } finally {
        close $channel
    }
    set lines {}
    foreach line [split $text \n] {
        set line [string trim $line]
        if {$line ne "" && ![string match #* $line]} {
            lappend lines $line
        }
    }
    return $lines
}

# "" is how the files write the anonymous user.

proc ::nsperm::Name {word} {
    set word [string trim $word]
    return [expr {$word eq {""} ? "" : $word}]
}

proc ::nsperm::Bad {name line {reason ""}} {
    # A line of passwd has a hash.
    if {$name eq "passwd"} {
        set line [lindex [split $line :] 0]:...
    }
    set who [expr {[string match hosts.* $name] ? "init_nsperm" : "nsperm_init"}]
    ns_log Error "$who: bad line in [File $name]: $line[expr {$reason eq "" ? "" : ": $reason"}]"
}

proc ::nsperm::ReadUsers {} {
    set allowed [ReadHosts hosts.allow]
    set denied [ReadHosts hosts.deny]
    foreach line [Lines passwd] {
        set fields [split $line :]
        if {[llength $fields] != 7} {
            Bad passwd $line "not seven fields"
            continue
        }
        set user [Name [lindex $fields 0]]
        set options {}
        set hosts {}
        if {[dict exists $allowed $user]} {
            set options -allow
            set hosts [dict get $allowed $user]
            if {[dict exists $denied $user]} {
                ns_log Error "init_nsperm: both allow and deny entries exist for user \"$user\""
            }
        } elseif {[dict exists $denied $user]} {
            set options -deny
            set hosts [dict get $denied $user]
        }
        if {[catch {
            ns_perm adduser {*}$options -- $user [lindex $fields 1] [lindex $fields 4] {*}$hosts
        } message]} {
            Bad passwd $line $message
            # Whom a rule should keep away does not come in without it.
            if {$hosts ne ""} {
                catch { ns_perm adduser -allow -- $user [lindex $fields 1] [lindex $fields 4] }
            }
        }
    }
}

# Hosts by user.

proc ::nsperm::ReadHosts {name} {
    set hosts {}
    foreach line [Lines $name] {
        if {![regexp {^([^:]*):(.*)$} $line - user rest] || [string trim $user] eq ""} {
            Bad $name $line
            continue
        }
        dict lappend hosts [Name $user]
        foreach host [split $rest ", \t"] {
            if {$host ne ""} {
                dict lappend hosts [Name $user] $host
            }
        }
    }
    return $hosts
}

proc ::nsperm::ReadGroups {} {
    foreach line [Lines group] {
        set fields [split $line :]
        if {[llength $fields] != 4} {
            Bad group $line "not four fields"
            continue
        }
        set users [lmap user [split [lindex $fields 3] ,] {
            if {[string trim $user] eq ""} continue
            Name $user
        }]
        if {$users eq ""} {
            continue
        }
        if {[catch {ns_perm addgroup [lindex $fields 0] {*}$users} message]} {
            Bad group $line $message
        }
    }
}

proc ::nsperm::ReadPermissions {} {
    foreach line [Lines perms] {
        set words [regexp -all -inline {\S+} $line]
        lassign $words action inheritance method url entity
        if {[llength $words] != 5 || $action ni {allowuser denyuser allowgroup denygroup}
                || $inheritance ni {inherit noinherit}} {
            Bad perms $line
            continue
        }
        set options [expr {$inheritance eq "noinherit" ? "-noinherit" : ""}]
        ns_perm $action {*}$options -- $method $url [Name $entity]
    }
}

nsv_set nsperm lock [ns_mutex create nsperm]
init_nsperm
