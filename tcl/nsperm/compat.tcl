# SPDX-License-Identifier: MPL-2.0
# compat.tcl --
#
#       nsperm: commands beside ns_perm.

# ns_permreload --
#
#       Read the files again.

proc ns_permreload {} {
    init_nsperm
}

# ns_passwordcheck --
#
#       Deprecated: 0 if this is the user's password, else 1.

proc ns_passwordcheck {user pwd} {
    return [catch {ns_perm checkpass $user $pwd}]
}

# ns_permpasswd --
#
#       Change a password, in the file and for this server.  The old one may be that
#       of the administrator.  Empty, or a text that says why not.

proc ns_permpasswd {user oldpass newpass} {
    ns_mutex eval [nsv_get nsperm lock] {
        if {[catch {ns_perm checkpass $user $oldpass}] && [catch {ns_perm checkpass nsadmin $oldpass}]} {
            return "incorrect old password"
        }
        if {$newpass eq ""} {
            return "empty new password"
        }
        set hash [::nsperm::Hash $newpass]
        ::nsperm::ReplaceHash $user $hash
        ns_perm setpass $user $hash
    }
    return
}

# SHA-512 with a salt of its own.

proc ::nsperm::Hash {password} {
    set salt ""
    set chars ./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz
    for {set i 0} {$i < 16} {incr i} {
        append salt [string index $chars [ns_rand 64]]
    }
    return [ns_crypt $password \$6\$$salt]
}

# Change a line of passwd: a new file takes the place of the old one.

proc ::nsperm::ReplaceHash {user hash} {
    set file [File passwd]
    set channel [open $file]
    try {
        fconfigure $channel -encoding utf-8 -translation lf
        set lines [split [read $channel] \n]
    } finally {
        close $channel
    }
    set isFound 0
    set lines [lmap line $lines {
        set fields [split $line :]
        if {![string match #* $line] && [llength $fields] == 7 && [Name [lindex $fields 0]] eq $user} {
            set line [join [lreplace $fields 1 1 $hash] :]
            set isFound 1
        }
        set line
    }]
    if {!$isFound} {
        error "user \"$user\" is not in $file"
    }
    set new $file.new
    file delete $new
    set channel [open $new {WRONLY CREAT EXCL} 0600]
    try {
        fconfigure $channel -encoding utf-8 -translation lf
        puts -nonewline $channel [join $lines \n]
        close $channel
        set channel ""
        file attributes $new -owner [file attributes $file -owner] -group [file attributes $file -group] \
            -permissions [file attributes $file -permissions]
        file rename -force $new $file
    } finally {
        if {$channel ne ""} {
            close $channel
        }
        file delete $new
    }
}
