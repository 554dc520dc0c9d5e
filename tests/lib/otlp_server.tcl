# SPDX-License-Identifier: MPL-2.0
# otlp_server.tcl --
#
#       A collector of OpenTelemetry for tests: OTLP over HTTP, logs only, in JSON.  It takes
#       no request that is not as the protocol says: method, path and header, each member of
#       each message and its type.
#
#           tclsh8.6 otlp_server.tcl DIR PORT ?CERTIFICATE KEY ?AUTHORITY??
#
#       DIR/records gets a line for each record that was accepted, a dictionary; DIR/requests a
#       line for each request: when it came, its status, how many records it has.  DIR/problems
#       gets what is against the protocol.  DIR/mode says what to answer: a dictionary with
#
#           status, header   instead of 200, and header fields of the reply
#           refuse           400 for requests with a record whose body matches the pattern
#           reject           how many records to reject, in a reply of 200
#           chunked          the reply comes in chunks
#           close            close after each reply

package require Tcl 8.6

lassign $argv dir port certificate key authority
set hexDigits(traceId) 32
set hexDigits(spanId) 16

proc note {file line} {
    set channel [open $::dir/$file a]
    fconfigure $channel -encoding utf-8
    # A line, whatever it has.
    puts $channel [string map [list \\ \\\\ \n \\n] $line]
    close $channel
}
proc mode {name default} {
    if {[catch {open $::dir/mode} channel]} { return $default }
    set mode [read $channel]
    close $channel
    expr {[dict exists $mode $name] ? [dict get $mode $name] : $default}
}

# JSON as a list of type and value: object {KEY VALUE ...}, array {VALUE ...}, string, number,
# literal.
proc parse {text atVar} {
    upvar $atVar at
    skip $text at
    switch -- [string index $text $at] {
        "\{" { parseList $text at object "\}" }
        "\[" { parseList $text at array "\]" }
        "\"" {
            if {![regexp -start $at -indices {\A"((?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*)"} $text all]} {
                error "a string that is none, at [string range $text $at $at+40]"
            }
            set raw [string range $text [lindex $all 0]+1 [lindex $all 1]-1]
            set at [expr {[lindex $all 1] + 1}]
            list string [subst -nocommands -novariables $raw]
        }
        default {
            if {[regexp -start $at -indices {\A-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?} $text all]} {
                set type number
            } elseif {[regexp -start $at -indices {\A(?:true|false|null)} $text all]} {
                set type literal
            } else {
                error "no value at [string range $text $at $at+40]"
            }
            set at [expr {[lindex $all 1] + 1}]
            list $type [string range $text {*}$all]
        }
    }
}
proc parseList {text atVar type end} {
    upvar $atVar at
    set values {}
    set comma ""
    incr at
    while {[skip $text at; string index $text $at] ne $end} {
        if {$comma ne ""} {
            if {[string index $text $at] ne ","} { error "no comma at [string range $text $at $at+40]" }
            incr at
        }
        set comma ,
        if {$type eq "object"} {
            lassign [parse $text at] keyType name
            if {$keyType ne "string" || [dict exists $values $name]} { error "key $name" }
            skip $text at
            if {[string index $text $at] ne ":"} { error "no colon at [string range $text $at $at+40]" }
            incr at
            dict set values $name [parse $text at]
        } else {
            lappend values [parse $text at]
        }
    }
    incr at
    list $type $values
}
proc skip {text atVar} {
    upvar $atVar at
    regexp -start $at -indices {\A[ \t\r\n]*} $text blanks
    set at [expr {[lindex $blanks 1] + 1}]
}

# The messages of opentelemetry/proto/logs/v1 and common/v1, as JSON writes them.
array set members {
    Request      {resourceLogs *ResourceLogs}
    ResourceLogs {resource Resource scopeLogs *ScopeLogs schemaUrl string}
    Resource     {attributes *KeyValue droppedAttributesCount uint32}
    ScopeLogs    {scope Scope logRecords *LogRecord schemaUrl string}
    Scope        {name string version string attributes *KeyValue droppedAttributesCount uint32}
    LogRecord    {timeUnixNano fixed64 observedTimeUnixNano fixed64 severityNumber severity severityText string
                  body AnyValue attributes *KeyValue droppedAttributesCount uint32 flags uint32
                  traceId hex spanId hex eventName string}
    KeyValue     {key string value AnyValue}
    AnyValue     {stringValue string boolValue bool intValue int64 doubleValue double arrayValue ArrayValue}
    ArrayValue   {values *AnyValue}
}
proc check {kind name json} {
    lassign $json type value
    switch -- $kind {
        string { set isOk [expr {$type eq "string"}] }
        bool { set isOk [expr {$type eq "literal" && $value in {true false}}] }
        uint32 { set isOk [expr {$type eq "number" && [string is digit -strict $value]}] }
        severity { set isOk [expr {$type eq "number" && [string is digit -strict $value] && $value >= 1 && $value <= 24}] }
        fixed64 { set isOk [expr {$type eq "string" && [regexp {^[1-9]\d{18}$} $value]}] }
        int64 { set isOk [expr {$type eq "string" && [regexp {^-?\d{1,19}$} $value]}] }
        double { set isOk [expr {$type eq "number"}] }
        hex { set isOk [expr {$type eq "string" && [regexp "^\[0-9a-fA-F\]{$::hexDigits($name)}$" $value]}] }
        default {
            if {[string index $kind 0] eq "*"} {
                if {$type ne "array"} { error "$name is not an array" }
                foreach one $value { check [string range $kind 1 end] $name $one }
                return
            }
            if {$type ne "object"} { error "$name is not an object" }
            dict for {key one} $value {
                if {![dict exists $::members($kind) $key]} { error "$kind has no $key" }
                check [dict get $::members($kind) $key] $key $one
            }
            if {$kind eq "AnyValue" && [dict size $value] != 1} { error "$name has [dict size $value] values" }
            if {$kind eq "KeyValue" && [lsort [dict keys $value]] ne "key value"} { error "$name lacks a key or a value" }
            set isOk 1
        }
    }
    if {!$isOk} { error "$name: $type $value" }
}

proc plain {json} { lindex $json 1 }
proc attributes {list} {
    set result {}
    foreach one [plain $list] {
        dict set result [plain [dict get [plain $one] key]] [plain [lindex [plain [dict get [plain $one] value]] 1]]
    }
    return $result
}
proc records {json} {
    set found {}
    foreach resourceLogs [plain [dict get [plain $json] resourceLogs]] {
        set resource [attributes [dict get [plain [dict get [plain $resourceLogs] resource]] attributes]]
        foreach scopeLogs [plain [dict get [plain $resourceLogs] scopeLogs]] {
            foreach record [plain [dict get [plain $scopeLogs] logRecords]] {
                set one [dict create resource $resource]
                dict for {key value} [plain $record] {
                    dict set one $key [switch -- $key {
                        attributes { attributes $value }
                        body { plain [lindex [plain $value] 1] }
                        default { plain $value }
                    }]
                }
                lappend found $one
            }
        }
    }
    return $found
}

# Status and body of the reply.
proc judge {line fields body} {
    if {$line ne "POST /v1/logs HTTP/1.1"} { error "request line $line" }
    foreach {name value} {content-type application/json} {
        if {![dict exists $fields $name] || [dict get $fields $name] ne $value} { error "no $name $value" }
    }
    if {![dict exists $fields host]} { error "no Host" }
    if {[dict exists $fields content-encoding]} {
        if {[dict get $fields content-encoding] ne "gzip"} { error "content-encoding" }
        set body [zlib gunzip $body]
    }
    set at 0
    set text [encoding convertfrom utf-8 $body]
    set json [parse $text at]
    skip $text at
    if {$at != [string length $text]} { error "behind the object: [string range $text $at $at+40]" }
    check Request request $json
    set records [records $json]
    set status [mode status 200]
    foreach record $records {
        if {[string match [mode refuse "\x00"] [dict get $record body]]} { set status 400 }
    }
    note requests [list [clock milliseconds] $status [llength $records]]
    if {$status != 200} { return [list $status "{\"code\":3,\"message\":\"no\"}"] }
    set nRejected [mode reject 0]
    foreach record [lrange $records $nRejected end] {
        dict set record fields $fields
        note records $record
    }
    list 200 [expr {$nRejected == 0 ? "{\"partialSuccess\":{}}"
                    : "{\"partialSuccess\":{\"rejectedLogRecords\":\"$nRejected\",\"errorMessage\":\"too many of them\"}}"}]
}

proc accepted {channel args} {
    fconfigure $channel -translation binary -blocking 0
    set ::data($channel) ""
    fileevent $channel readable [list receive $channel]
}
proc receive {channel} {
    if {[catch {append ::data($channel) [read $channel]}] || [eof $channel]} {
        catch {close $channel}
        return
    }
    while {[regexp -indices {\A(.*?)\r\n\r\n} $::data($channel) all head]} {
        set lines [split [string map {\r ""} [string range $::data($channel) {*}$head]] \n]
        set fields {}
        foreach line [lrange $lines 1 end] {
            regexp {^([^:]+):\s*(.*)$} $line - name value
            dict set fields [string tolower $name] $value
        }
        set start [expr {[lindex $all 1] + 1}]
        set end [expr {$start + [dict get $fields content-length]}]
        if {[string length $::data($channel)] < $end} return
        set body [string range $::data($channel) $start $end-1]
        set ::data($channel) [string range $::data($channel) $end end]
        if {[catch {judge [lindex $lines 0] $fields $body} answer]} {
            note problems $answer
            set answer [list 500 ""]
        }
        lassign $answer status text
        set reply "HTTP/1.1 $status Status\r\nContent-Type: application/json\r\n[mode header ""]"
        if {[mode chunked 0]} {
            append reply "Transfer-Encoding: chunked\r\n\r\n"
            foreach part [list [string range $text 0 4] [string range $text 5 end]] {
                if {$part ne ""} { append reply [format %x [string length $part]]\r\n$part\r\n }
            }
            append reply "0\r\n\r\n"
        } else {
            append reply "Content-Length: [string length $text]\r\n\r\n$text"
        }
        puts -nonewline $channel $reply
        flush $channel
        if {[mode close 0]} { close $channel; return }
    }
}
if {$certificate eq ""} {
    socket -server accepted -myaddr 127.0.0.1 $port
} else {
    package require tls
    set options [list -certfile $certificate -keyfile $key -ssl2 0 -ssl3 0 -tls1 0 -tls1.1 0]
    if {$authority ne ""} { lappend options -cafile $authority -request 1 -require 1 }
    tls::socket {*}$options -server accepted -myaddr 127.0.0.1 $port
}
note console started
vwait forever
