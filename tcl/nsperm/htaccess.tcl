# SPDX-License-Identifier: MPL-2.0
# htaccess.tcl --
#
#       nsperm: rules from files .htaccess in the directories of pages, for servers whose
#       parameter htaccess is true.

# Before each request: the rules of all directories from the page root to the page.

proc ::nsperm::Htaccess {when} {
    set url [ns_conn url]
    foreach segment [split $url /] {
        if {$segment in {.htaccess .htpasswd}} {
            ns_returnnotfound
            return filter_return
        }
    }
    ReadPasswords [nsv_get nsperm passwdfile]
    set directory ""
    ReadHtaccess /
    foreach segment [split [string trim $url /] /] {
        if {$segment ne ""} {
            append directory / $segment
            ReadHtaccess $directory
        }
    }
    return filter_ok
}

# Call the command with the lines of a file that changed; without any when it is gone.

proc ::nsperm::IfChanged {file command} {
    set stamp ""
    if {![catch {file stat $file status}]} {
        set stamp "$status(mtime) $status(size) $status(ino) $status(ctime)"
    }
    if {[nsv_get nsperm-stamps $file known] ? $known eq $stamp : $stamp eq ""} {
        return
    }
    ns_mutex eval [nsv_get nsperm lock] {
        set lines {}
        if {$stamp ne ""} {
            set channel [open $file]
            try {
                set lines [split [read $channel] \n]
            } finally {
                close $channel
            }
        }
        {*}$command $lines
        # Of a change in the same second the stamp would tell nothing.
        if {$stamp ne "" && abs([clock seconds] - $status(ctime)) < 2} {
            set stamp young
        }
        nsv_set nsperm-stamps $file $stamp
    }
}

proc ::nsperm::ReadHtaccess {directory} {
    set file [file join [ns_url2file $directory] .htaccess]
    IfChanged $file [list ::nsperm::SetRules $directory $file]
}

proc ::nsperm::SetRules {directory file lines} {
    set users {allow {} deny {}}
    set isAny 0
    foreach line $lines {
        set words [regexp -all -inline {\S+} $line]
        lassign $words action
        if {$action in {allow deny} && [llength $words] <= 2} {
            if {[llength $words] == 1} {
                dict set users $action {}
            } else {
                dict lappend users $action [Name [lindex $words 1]]
            }
            set isAny 1
        } elseif {$action ne "" && ![string match #* $action]} {
            # Whoever wrote it wanted to keep somebody away.
            ns_log Error "nsperm: bad line in $file: $line"
            set isAny 1
        }
    }
    if {$isAny} {
        _ns_perm set * $directory [dict get $users allow] [dict get $users deny]
    } else {
        _ns_perm unset * $directory
    }
}

proc ::nsperm::ReadPasswords {file} {
    IfChanged $file [list ::nsperm::SetPasswords $file]
}

# name:password, or lines as init_nsperm reads them.  Hashes begin with CU or $; what else
# stands behind a name alone is the password itself.

proc ::nsperm::SetPasswords {file lines} {
    set names {}
    foreach line $lines {
        if {[string match #* $line] || ![regexp {^([^:]*):([^:]*)(.*)$} $line - name password more]} {
            continue
        }
        set name [Name $name]
        lappend names $name
        set options [expr {$more ne "" || [regexp {^(CU|\$)} $password] ? "" : "-clear"}]
        if {![catch {ns_perm adduser {*}$options -- $name $password ""}]} {
            continue
        }
        if {$options eq ""} {
            ns_perm setpass $name $password
        } elseif {[catch {ns_perm checkpass $name $password}]} {
            ns_perm deluser $name
            ns_perm adduser -clear -- $name $password ""
        }
    }
    if {[nsv_get nsperm-stamps "names $file" known]} {
        foreach name $known {
            if {$name ni $names} {
                ns_perm deluser $name
            }
        }
    }
    nsv_set nsperm-stamps "names $file" $names
}

namespace eval ::nsperm {
    set section ns/server/[ns_info server]/module/[ns_module name]
    nsv_set nsperm passwdfile [file join [ns_info home] [ns_config $section passwdfile modules/nsperm/passwd]]
    if {[ns_config -bool $section htaccess false]} {
        ns_log Notice "nsperm: enabling .htaccess support"
        ns_register_filter preauth * /* ::nsperm::Htaccess
    }
    unset section
}
