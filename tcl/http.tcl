# SPDX-License-Identifier: MPL-2.0
# http.tcl --
#
#       The HTTP client commands of earlier releases, over plain sockets, and the
#       HTTP proxy.  New scripts use ns_http.

# ns_httpopen method url ?rqset? ?timeout? ?pdata? --
#
#       Send a request and read the header of the reply.  Two channels, at the begin
#       of the body, and a set with the fields, named as the status line.

proc ns_httpopen {method url {rqset ""} {timeout 30} {pdata ""}} {
    ns_deprecated ns_http
    return [_ns_http_open $method $url $rqset $timeout $pdata]
}

# ns_httpget url ?timeout? ?depth? ?rqset? --
#
#       The body.  A 302 is followed; depth says how many were already.

proc ns_httpget {url {timeout 30} {depth 0} {rqset ""}} {
    ns_deprecated ns_http
    return [_ns_http_get $url $timeout $depth $rqset]
}

# ns_httppost url ?rqset? ?qsset? ?type? ?timeout? --
#
#       Post the fields of a set as a form.  The body of the reply.

proc ns_httppost {url {rqset ""} {qsset ""} {type ""} {timeout 30}} {
    ns_deprecated ns_http
    set fields {}
    if {$qsset ne ""} {
        foreach {name value} [ns_set array $qsset] {
            lappend fields $name=[ns_urlencode $value]
        }
    }
    set body [join $fields &]
    if {$rqset eq ""} {
        set rqset [_ns_http_request_set]
    }
    ns_set put $rqset Content-type [expr {$type eq "" ? "application/x-www-form-urlencoded" : $type}]
    ns_set put $rqset Content-length [string length $body]
    lassign [_ns_http_open POST $url $rqset $timeout $body] in out headers
    try {
        return [_ns_http_body $in $headers $timeout]
    } finally {
        close $in
        close $out
    }
}

# ns_geturl url ?headersSetIdVar? --
#
#       The body behind a URL, or the content of a page file.

proc ns_geturl {url {headersVar ""}} {
    if {[string index $url 0] eq "/"} {
        set file [ns_url2file $url]
        if {[catch {ns_fileread $file} body]} {
            error "could not fetch: $url"
        }
        return $body
    }
    set rqset [ns_set create request Accept */*]
    if {[catch {_ns_http_open GET $url $rqset "" "" preserve} opened]} {
        error "could not fetch: $url"
    }
    lassign $opened in out headers
    try {
        set body [_ns_http_body $in $headers ""]
    } on error {} {
        error "could not fetch: $url"
    } finally {
        close $in
        close $out
    }
    if {$headersVar ne ""} {
        uplevel 1 [list set $headersVar $headers]
    }
    return $body
}

proc _ns_http_get {url timeout depth rqset} {
    if {[incr depth] > 10} {
        error "ns_httpget: recursive redirection: $url"
    }
    lassign [_ns_http_open GET $url $rqset $timeout ""] in out headers
    try {
        set location [ns_set iget $headers location]
        if {[lindex [ns_set name $headers] 1] eq "302" && $location ne ""} {
            set body ""
        } else {
            set location ""
            set body [_ns_http_body $in $headers $timeout]
        }
    } finally {
        close $in
        close $out
    }
    if {$location eq ""} {
        return $body
    }
    if {[string index $location 0] eq "/" && [string index $url 0] ne "/"} {
        regexp {^http://[^/?#]*} $url host
        set location $host$location
    }
    return [_ns_http_get $location $timeout $depth $rqset]
}

# The fields that are sent without a set of the caller.

proc _ns_http_request_set {} {
    return [ns_set create request Accept */* User-Agent [ns_info name]-Tcl/[ns_info version]]
}

# A timeout of "" is none.

proc _ns_http_open {method url rqset timeout pdata {names tolower}} {
    if {[string index $url 0] eq "/"} {
        set section [ns_driversection -driver nssock]
        set host [ns_config $section hostname [ns_config $section address localhost]]
        set url http://$host:[lindex [ns_config $section port 80] 0]$url
    }
    if {![regexp {^http://(?:[^/?#@]*@)?(\[[^\]]+\]|[^/?#:@]+)(?::(\d+))?([/?][^#]*)?(?:#.*)?$} $url - host port path]
            || [regexp {[\s\0]} $url$method]} {
        error "Invalid url \"$url\": "
    }
    if {$port eq ""} {
        set port 80
    }
    if {[string index $path 0] ne "/"} {
        set path /$path
    }
    set request "[string toupper $method] $path HTTP/1.0\r\n"
    if {$rqset eq ""} {
        set rqset [_ns_http_request_set]
    }
    foreach {name value} [ns_set array $rqset] {
        if {[regexp {[\r\n\0]} $name$value]} {
            error "invalid header field \"$name\""
        }
        append request "$name: $value\r\n"
    }
    if {$pdata ne "" && [ns_set ifind $rqset Content-Length] < 0} {
        append request "Content-Length: [string length $pdata]\r\n"
    }
    if {[ns_set ifind $rqset Host] < 0} {
        append request "Host: $host[expr {$port == 80 ? "" : ":$port"}]\r\n"
    }
    set limit [expr {$timeout eq "" ? {} : [list -timeout $timeout]}]
    # The reason alone, without the host.
    if {[catch {ns_sockopen {*}$limit [string trim $host {[]}] $port} channels]} {
        error [regsub {^can't connect to "[^"]*"; } $channels ""]
    }
    lassign $channels in out
    try {
        foreach channel $channels {
            fconfigure $channel -translation binary
        }
        _ns_http_puts $out $request\r\n$pdata $timeout
        fconfigure $in -blocking 0
        set headers [ns_set create [string trimright [_ns_http_gets $in $timeout]]]
        while {[set line [_ns_http_gets $in $timeout]] ne ""} {
            ns_parseheader $headers $line $names
        }
        fconfigure $in -blocking 1
    } on error {message options} {
        close $in
        close $out
        return -options $options $message
    }
    return [list $in $out $headers]
}

# The rest of a reply: as long as it says, all chunks, or until the end.

proc _ns_http_body {in headers timeout} {
    fconfigure $in -blocking 0
    if {[string equal -nocase [ns_set iget $headers transfer-encoding] chunked]} {
        set body ""
        while {[scan [_ns_http_gets $in $timeout] %x n] == 1 && $n > 0} {
            append body [_ns_http_read $in $n $timeout]
            _ns_http_gets $in $timeout
        }
        return $body
    }
    set length [ns_set iget $headers content-length]
    if {[string is wideinteger -strict $length]} {
        return [_ns_http_read $in $length $timeout]
    }
    return [_ns_http_read $in -1 $timeout]
}

# So many bytes, or (-1) all.

proc _ns_http_read {in n timeout} {
    set data ""
    while {$n < 0 || [string length $data] < $n} {
        set part [read $in [expr {$n < 0 ? 65536 : min(65536, $n - [string length $data])}]]
        append data $part
        if {$part eq ""} {
            if {[eof $in]} {
                if {$n < 0} break
                error "_ns_http_gets: premature end of data"
            }
            _ns_http_readable $in $timeout
        }
    }
    return $data
}

# A line.  Byte by byte, because what is read ahead would make the channel readable
# though the line is not there.

proc _ns_http_gets {in timeout} {
    set line ""
    while {1} {
        set c [read $in 1]
        if {$c eq "\n"} {
            return [string trimright $line \r]
        }
        if {$c eq ""} {
            if {[eof $in]} {
                error "_ns_http_gets: premature end of data"
            }
            _ns_http_readable $in $timeout
        }
        append line $c
    }
}

proc _ns_http_readable {in timeout} {
    set limit [expr {$timeout eq "" ? {} : [list -timeout $timeout]}]
    if {[lindex [ns_sockselect {*}$limit $in {} {}] 0] eq ""} {
        error "_ns_http_readable: read timed out"
    }
}

# What a socket that can be written to takes without waiting for long.

proc _ns_http_puts {out data timeout} {
    set limit [expr {$timeout eq "" ? {} : [list -timeout $timeout]}]
    fconfigure $out -blocking 1
    for {set i 0} {$i < [string length $data]} {incr i 4096} {
        if {[lindex [ns_sockselect {*}$limit {} $out {}] 1] eq ""} {
            error "_ns_http_puts: write timed out"
        }
        puts -nonewline $out [string range $data $i $i+4095]
        flush $out
    }
}

# ns_proxy_handler_http --
#
#       Answer a request with an absolute URL as its server does.  Fields that are
#       for one connection only stay behind (RFC 9110, section 7.6.1).

proc ns_proxy_handler_http {args} {
    set url [lindex [split [ns_conn request]] 1]
    set peer [ns_conn peeraddr]
    set isAllowed 0
    foreach pattern [ns_config ns/server/[ns_info server] allowhttpproxy] {
        if {[string match $pattern $peer]} {
            set isAllowed 1
        }
    }
    if {!$isAllowed} {
        ns_log Error "proxy: $peer must not use the HTTP proxy for $url: it is not in allowhttpproxy"
        return [ns_returnnotfound]
    }
    set headers [ns_set create request]
    foreach {name value} [_ns_http_end_to_end [ns_conn headers]] {
        ns_set put $headers $name $value
    }
    set body [ns_conn content -binary]
    set options [expr {$body eq "" ? {} : [list -body $body]}]
    try {
        ns_http run -binary -raw -timeout 30 -method [ns_conn method] -headers $headers {*}$options -- $url
    } on error {message} {
        ns_log Error "proxy: no reply of $url: $message"
        return [ns_returnerror 502 "The server could not be reached."]
    } on ok {reply} {}
    set type application/octet-stream
    foreach {name value} [_ns_http_end_to_end [dict get $reply headers]] {
        if {$name eq "content-type"} {
            set type $value
        } elseif {$name ne "content-length"} {
            ns_set put [ns_conn outputheaders] $name $value
        }
    }
    ns_return -binary [dict get $reply status] $type [dict get $reply body]
}

proc _ns_http_end_to_end {headers} {
    set own {connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade}
    foreach {name value} [ns_set array $headers] {
        if {[string tolower $name] eq "connection"} {
            foreach word [split $value ,] {
                lappend own [string tolower [string trim $word]]
            }
        }
    }
    set result {}
    foreach {name value} [ns_set array $headers] {
        if {[string tolower $name] ni $own} {
            lappend result $name $value
        }
    }
    return $result
}

if {[ns_config -bool ns/server/[ns_info server] enablehttpproxy false]} {
    ns_register_proxy GET http ns_proxy_handler_http
    ns_register_proxy POST http ns_proxy_handler_http
}
