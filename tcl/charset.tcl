# SPDX-License-Identifier: MPL-2.0
# charset.tcl --
#
#       Which charset the fields of a form are in, and which one a client likes.

# ns_urlcharset charset --
# ns_setformencoding charset --
#
#       Decode queries and forms of the connection in a charset from now on.

proc ns_urlcharset {charset} {
    return [ns_conn urlencoding $charset]
}

proc ns_setformencoding {charset} {
    return [ns_urlcharset $charset]
}

# ns_formfieldcharset name --
#
#       Take the charset from a field of the form, which must be read before the
#       form can be: it is plain text.

proc ns_formfieldcharset {name} {
    set type [ns_set iget [ns_conn headers] content-type]
    if {[ns_conn method] eq "POST" && [string match -nocase *multipart/form-data* $type]} {
        set charset [ns_set get [ns_conn form] $name]
    } else {
        set charset ""
        set data [expr {[ns_conn method] eq "POST" ? [ns_conn content] : [ns_conn query]}]
        foreach field [split $data &] {
            set i [string first = $field]
            if {$i >= 0 && [ns_urldecode [string range $field 0 $i-1]] eq $name} {
                set charset [ns_urldecode [string range $field $i+1 end]]
                break
            }
        }
    }
    if {$charset ne ""} {
        ns_urlcharset $charset
    }
}

# ns_cookiecharset name --
#
#       Take the charset from a cookie.

proc ns_cookiecharset {name} {
    set charset [ns_getcookie $name ""]
    if {$charset ne ""} {
        ns_urlcharset $charset
    }
}

# ns_choosecharset ?-preference charset-list? --
#
#       The first preferred charset that the client accepts, or else any that it
#       accepts and the server knows.

proc ns_choosecharset {args} {
    set preference [ns_config ns/parameters PreferredCharsets {utf-8 iso-8859-1}]
    while {[llength $args] > 0} {
        set args [lassign $args option]
        if {![string match -pref* $option]
                || ![string match $option* -preference]} {
            error "Usage: ns_choosecharset ?-preference charset-list?"
        }
        if {[llength $args] == 0} {
            error "Missing argument for $option"
        }
        set args [lassign $args preference]
    }
    set default [ns_config ns/parameters OutputCharset utf-8]
    set header [ns_set iget [ns_conn headers] accept-charset]
    if {[string trim $header] eq ""} {
        return $default
    }
    set accepted [_ns_accepted_charsets $header]
    foreach charset $preference {
        if {[string tolower $charset] in $accepted} {
            return $charset
        }
    }
    set known [ns_charsets]
    foreach charset $accepted {
        if {$charset in $known} {
            return $charset
        }
    }
    return $default
}

# In the order of the header, or by falling q if there is one.

proc _ns_accepted_charsets {header} {
    set weighted {}
    foreach item [split [string tolower $header] ,] {
        set parts [split $item ";"]
        set charset [string trim [lindex $parts 0]]
        set q 1.0
        if {[llength $parts] > 1} {
            if {![regexp {^\s*q\s*=\s*([0-9.]+)\s*$} [lindex $parts 1] - q]
                    || ![string is double -strict $q] || $q <= 0} {
                continue
            }
        }
        if {$charset ne ""} {
            lappend weighted [list $charset [expr {min($q, 1.0)}]]
        }
    }
    set result {}
    foreach pair [lsort -real -decreasing -index 1 $weighted] {
        lappend result [lindex $pair 0]
    }
    return $result
}
