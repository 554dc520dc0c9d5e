# SPDX-License-Identifier: MPL-2.0
# deprecated.tcl --
#
#       Names of earlier releases.  Each says what to use instead, and works.

proc ns_getchannels {} {
    ns_deprecated "file channels"
    return [file channels]
}

proc ns_cpfp {chanin chanout args} {
    ns_deprecated fcopy
    if {[llength $args] > 0} {
        return [fcopy $chanin $chanout -size [lindex $args 0]]
    }
    return [fcopy $chanin $chanout]
}

# Tcl's own copy always keeps times and attributes; without -preserve the copy is
# a new file.

proc ns_cp {args} {
    ns_deprecated "file copy"
    lassign [_ns_file_words $args -preserve "ns_cp ?-preserve? srcfile dstfile" 2] isKept src dst
    file copy -force -- $src $dst
    if {!$isKept && [file isfile $dst]} {
        file mtime $dst [clock seconds]
    }
    return
}

proc ns_mkdir {dir} {
    ns_deprecated "file mkdir"
    file mkdir $dir
}

proc ns_rmdir {dir} {
    ns_deprecated "file delete"
    if {[file exists $dir] && ![file isdirectory $dir]} {
        error "error deleting \"$dir\": not a directory"
    }
    # Tcl's own text speaks of a file that exists.
    try {
        file delete -- $dir
    } trap {POSIX EEXIST} {} {
        error "error deleting \"$dir\": directory not empty"
    }
}

proc ns_unlink {args} {
    ns_deprecated "file delete"
    lassign [_ns_file_words $args -nocomplain "ns_unlink ?-nocomplain? file" 1] isSilent file
    if {[file isdirectory $file]} {
        error "error deleting \"$file\": file is a directory"
    }
    if {!$isSilent && [catch {file lstat $file -}]} {
        error "error deleting \"$file\": no such file"
    }
    file delete -- $file
}

proc ns_link {args} {
    ns_deprecated "file link -hard ..."
    lassign [_ns_file_words $args -nocomplain "ns_link ?-nocomplain? path link" 2] isSilent path link
    if {[catch {file link -hard $link $path} message] && !$isSilent} {
        error $message
    }
    return
}

proc ns_rename {from to} {
    ns_deprecated "file rename"
    if {$from eq $to} {
        error "error renaming \"$from\": file already exists"
    }
    if {[file exists $from] && [file exists $to]
            && [file isdirectory $from] != [file isdirectory $to]} {
        error "rename (\"$from\", \"$to\"): not of the same type"
    }
    file rename -force -- $from $to
}

proc ns_chmod {file mode} {
    ns_deprecated "file attributes"
    file attributes $file -permissions $mode
    return
}

proc ns_adp_stream {{bool 1}} {
    ns_deprecated "ns_adp_ctl stream"
    ns_adp_ctl stream $bool
    ns_adp_flush
}

proc ns_adp_compress {{bool 1}} {
    ns_deprecated "ns_conn compress"
    ns_conn compress $bool
    return
}

proc ns_unregister_proc {args} {
    ns_deprecated ns_unregister_op
    ns_unregister_op {*}$args
}

proc ns_resetcachedform {{newform ""}} {
    ns_deprecated "" "The form is parsed anew when its charset changes."
    return
}

proc ns_isformcached {} {
    ns_deprecated "" "The form is always kept."
    return 1
}

# The words behind an option that may be shortened to three letters: whether it
# was there, then the words.

proc _ns_file_words {words option usage n} {
    set isGiven 0
    set first [lindex $words 0]
    if {[llength $words] > $n && [string length $first] >= 3
            && [string equal -length [string length $first] $first $option]} {
        set isGiven 1
        set words [lrange $words 1 end]
    }
    if {[llength $words] != $n} {
        error "wrong # args: should be \"$usage\"" {} {TCL WRONGARGS}
    }
    return [linsert $words 0 $isGiven]
}
