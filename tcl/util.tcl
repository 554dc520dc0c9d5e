# SPDX-License-Identifier: MPL-2.0
# util.tcl --
#
#       Small procs that scripts use.

# ns_deprecated ?alternative? ?explanation? --
#
#       Log that the proc that calls this should not be called any more.

proc ns_deprecated {{alternative ""} {explanation ""}} {
    set text "[info level -1] is deprecated."
    if {$alternative ne ""} {
        append text " Use '$alternative' instead!"
    }
    if {$explanation ne ""} {
        append text " $explanation"
    }
    ns_log Warning $text
}

proc ns_paren {val} {
    return [expr {$val eq "" ? "" : "($val)"}]
}

proc Paren {val} {
    return [ns_paren $val]
}

# ns_issmallint val --
#
#       Whether val is an integer from -65535 to 65535.

proc ns_issmallint {val} {
    expr {[string is wideinteger -strict $val] && abs($val) <= 65535}
}

proc issmallint {val} {
    return [ns_issmallint $val]
}

proc ns_set_precision {n} {
    set ::tcl_precision $n
}

# ns_fileread filename --
# ns_filewrite filename data ?mode? --
#
#       Read, or write, a whole file of bytes.

proc ns_fileread {filename} {
    set max [ns_baseunit -size [ns_config ns/parameters maxcontentmemory 0]]
    if {$max > 0 && [file exists $filename] && [file size $filename] > $max} {
        return -code error -errorcode NS_LIMIT \
            "$filename has [file size $filename] bytes, more than maxcontentmemory allows ($max)"
    }
    set channel [open $filename rb]
    try {
        return [read $channel]
    } finally {
        close $channel
    }
}

proc ns_filewrite {filename data {mode w}} {
    set channel [open $filename $mode]
    try {
        fconfigure $channel -translation binary
        puts -nonewline $channel $data
    } finally {
        close $channel
    }
}

# ns_openexcl file --
#
#       A channel to a file that did not exist; empty when it does.

proc ns_openexcl {file} {
    try {
        return [open $file {RDWR CREAT EXCL}]
    } trap {POSIX EEXIST} {} {
        return ""
    }
}

# ns_parsetime option time --
#
#       One field of what ns_localtime and ns_gmtime return.

proc ns_parsetime {option time} {
    set fields {sec min hour mday mon year wday yday isdst}
    set i [lsearch -exact $fields $option]
    if {$i < 0} {
        error "Incorrect option to ns_parsetime: \"$option\"\
            Should be one of \"$fields\""
    }
    return [lindex $time $i]
}

# ns_browsermatch glob --
#
#       Whether the client's User-Agent matches the last argument.

proc ns_browsermatch {args} {
    string match [lindex $args end] [ns_set iget [ns_conn headers] user-agent]
}

# ns_fseekchars channel string --
#
#       Go to the next occurrence of the string; its position in the file, or -1 at
#       the end of it.

proc ns_fseekchars {channel string} {
    set translation [fconfigure $channel -translation]
    set encoding [fconfigure $channel -encoding]
    set bytes $string
    if {$encoding ne "binary"} {
        set bytes [encoding convertto $encoding $string]
    }
    set length [string length $bytes]
    fconfigure $channel -translation binary
    try {
        set start [tell $channel]
        set block ""
        while {1} {
            append block [read $channel 65536]
            set i [string first $bytes $block]
            if {$i >= 0} {
                seek $channel [incr start $i]
                return $start
            }
            if {[eof $channel]} {
                return -1
            }
            # What may be the begin of it.
            set keep [expr {min($length - 1, [string length $block])}]
            incr start [expr {[string length $block] - $keep}]
            set block [string range $block end-[expr {$keep - 1}] end]
        }
    } finally {
        fconfigure $channel -translation $translation -encoding $encoding
    }
}

# ns_parsemessage message --
#
#       The parts of an HTTP message: firstline, headers (a set), and body.

proc ns_parsemessage {message} {
    set malformed "ns_parsemessage: provided HTTP message is not well-formed"
    # Up to the first empty line, and what is behind.
    if {![regexp -indices {^[^\r\n]+\r?\n(?:[^\r\n]+\r?\n)*?\r?\n} $message head]} {
        error $malformed
    }
    lassign $head - end
    set lines [split [string map {\r\n \n} [string range $message 0 $end]] \n]
    set headers [ns_set create -nocase]
    foreach line [lrange $lines 1 end-2] {
        if {![regexp {^[^\s:]+\s*:|^[ \t]+\S} $line]
                || [catch {ns_parseheader $headers $line preserve}]} {
            ns_set free $headers
            error $malformed
        }
    }
    return [dict create firstline [lindex $lines 0] headers $headers \
                body [string range $message [incr end] end]]
}
