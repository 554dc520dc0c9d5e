# SPDX-License-Identifier: MPL-2.0
# sendmail.tcl --
#
#       Mail through an SMTP server.

# ns_sendmail_config ?mode? --
#
#       What the configuration says, as names and values; with the mode `log`, into
#       the log.

proc ns_sendmail_config {{mode ""}} {
    set result {}
    foreach name {
        smtphost smtpport smtptimeout smtplogmode smtpmsgid smtpmsgidhostname
        smtpencodingmode smtpencoding smtpauthmode smtpauthuser smtpauthpassword
    } {
        lappend result $name [ns_config ns/parameters $name]
    }
    if {$mode ne "log"} {
        return $result
    }
    foreach {name value} $result {
        if {$name eq "smtpauthpassword" && $value ne ""} {
            set value ********
        }
        ns_log Notice "ns_sendmail_config: $name = $value"
    }
}

# ns_sendmail to from subject body ?headers? ?bcc? ?cc? --
#
#       Send a message.  The lists of addresses are separated by commas; headers is a
#       set.

proc ns_sendmail {to from subject body {headers ""} {bcc ""} {cc ""}} {
    set to [_ns_mail_addresses $to]
    set cc [_ns_mail_addresses $cc]
    set bcc [_ns_mail_addresses $bcc]
    set fields {}
    if {$headers ne ""} {
        # In the set they would be sent.
        foreach {name list} {cc cc bcc bcc} {
            while {[set i [ns_set ifind $headers $name]] >= 0} {
                lappend $list {*}[_ns_mail_addresses [ns_set value $headers $i]]
                ns_set delete $headers $i
            }
        }
        set fields [ns_set array $headers]
    }
    set from [_ns_mail_line $from]
    set host [_ns_mail_parameter smtpmsgidhostname [ns_info hostname]]
    set message [_ns_mail_message $to $from $subject $body $fields $cc $host]
    _ns_mail_send $host $from [concat $to $cc $bcc] $message
    return
}

proc _ns_mail_parameter {name default} {
    set value [ns_config ns/parameters $name]
    return [expr {$value eq "" ? $default : $value}]
}

proc _ns_mail_is_on {name} {
    return [ns_config -bool ns/parameters $name false]
}

# One line of what may be several.

proc _ns_mail_line {text} {
    return [string map {\r "" \n "" \0 ""} $text]
}

# The addresses of a list.  A comma between quotes is part of a name.

proc _ns_mail_addresses {list} {
    set addresses {}
    foreach {- address} [regexp -all -inline {((?:"[^"]*"|[^",]|")+),?} [_ns_mail_line $list]] {
        set address [string trim $address]
        if {$address ne ""} {
            lappend addresses $address
        }
    }
    return $addresses
}

# The part of an address that the SMTP server wants.

proc _ns_mail_mailbox {address} {
    regexp {<([^<>]*)>} $address - address
    return [string map {" " "" < "" > ""} $address]
}

# The whole message, bytes with lines that end in CR LF.

proc _ns_mail_message {to from subject body fields cc host} {
    set encoding [_ns_mail_parameter smtpencoding utf-8]
    set subject [_ns_mail_line $subject]
    set known [lmap {name value} $fields { string tolower $name }]
    set isPlain [regexp {^[\x01-\x7f]*$} $body]
    if {[_ns_mail_is_on smtpencodingmode] && !($isPlain && [regexp {^[\x01-\x7f]*$} $subject])} {
        if {![regexp {^[\x01-\x7f]*$} $subject]} {
            set subject =?[string toupper $encoding]?Q?[_ns_mail_quote_word [encoding convertto $encoding $subject]]?=
        }
        if {!$isPlain || "content-transfer-encoding" ni $known} {
            set body [_ns_mail_quote [encoding convertto $encoding [string map {\r\n \n} $body]]]
        }
        foreach {name value} [list \
            MIME-version 1.0 Content-Type "text/plain; charset=\"$encoding\"" \
            Content-Transfer-Encoding quoted-printable \
        ] {
            if {[string tolower $name] ni $known} {
                lappend fields $name $value
            }
        }
    }
    set lines {}
    foreach {name value} $fields {
        # A line that begins with a blank goes on with the field.
        lappend lines "[_ns_mail_line $name]: [regsub -all {\n(?![ \t])} [string map {\r "" \0 ""} $value] { }]"
    }
    lappend lines "To: [join $to {, }]" "From: $from" "Subject: $subject" "Date: [ns_httptime [ns_time]]"
    if {[llength $cc] > 0} {
        lappend lines "Cc: [join $cc ,]"
    }
    if {[_ns_mail_is_on smtpmsgid] && "message-id" ni $known} {
        lappend lines "Message-ID: <[_ns_mail_random].[clock format [clock seconds] -format %Y%m%d]@$host>"
    }
    lappend lines "" $body
    set text [string map {\r\n \n} [join $lines \n]]\n
    # A line that is a dot would end the message.
    regsub -all -line {^\.} $text .. text
    return [encoding convertto utf-8 [string map {\n \r\n} $text]]
}

# 15 hexadecimal digits.

proc _ns_mail_random {} {
    return [string range [ns_md5 [clock clicks]-[ns_time get]-[pid]-[ns_rand]-[ns_thread getid]] 0 14]
}

# RFC 2047, section 4.2.

proc _ns_mail_quote_word {bytes} {
    set result ""
    foreach c [split $bytes ""] {
        append result [expr {[regexp {[A-Za-z0-9]} $c] ? $c : [format =%02X [scan $c %c]]}]
    }
    return $result
}

# RFC 2045, section 6.7.

proc _ns_mail_quote {bytes} {
    set lines {}
    foreach line [split $bytes \n] {
        set quoted ""
        set last [expr {[string length $line] - 1}]
        set i 0
        foreach c [split $line ""] {
            if {![regexp {[ -<>-~\t]} $c] || ($i == $last && [regexp {[ \t]} $c])} {
                set c [format =%02X [scan $c %c]]
            }
            if {[string length $quoted] + [string length $c] > 75} {
                lappend lines $quoted=
                set quoted ""
            }
            append quoted $c
            incr i
        }
        lappend lines $quoted
    }
    return [join $lines \n]
}

# The dialogue.

proc _ns_mail_send {host from recipients message} {
    set timeout [_ns_mail_parameter smtptimeout 60]
    set smtpHost [_ns_mail_parameter smtphost [_ns_mail_parameter mailhost localhost]]
    set channels [ns_sockopen -timeout $timeout $smtpHost [_ns_mail_parameter smtpport 25]]
    lassign $channels in out
    try {
        fconfigure $in -translation binary
        fconfigure $out -translation binary
        _ns_mail_recv $in Start 220 $timeout
        _ns_mail_log_in $in $out $host $timeout
        set mailbox [_ns_mail_mailbox $from]
        _ns_mail_ask $in $out "Mail $mailbox" "MAIL FROM:<$mailbox>" 250 $timeout
        set nTaken 0
        foreach recipient $recipients {
            set mailbox [_ns_mail_mailbox $recipient]
            try {
                _ns_mail_ask $in $out "Rcpt $mailbox" "RCPT TO:<$mailbox>" 250 $timeout
                incr nTaken
            } trap {NS_MAIL REFUSED} {text} {
                ns_log Warning "ns_sendmail: $text"
            }
        }
        if {$nTaken > 0} {
            _ns_mail_ask $in $out Data DATA 354 $timeout
            _ns_mail_ask $in $out Data $message. 250 $timeout
        } else {
            ns_log Warning "ns_sendmail: the message of $from is not sent: nobody may receive it"
        }
        if {[catch {_ns_mail_ask $in $out Quit QUIT 221 $timeout} text]} {
            ns_log Notice "ns_sendmail: $text"
        }
    } finally {
        # What a peer that has gone does not take is lost.
        catch {close $out}
        catch {close $in}
    }
}

proc _ns_mail_log_in {in out host timeout} {
    set user [ns_config ns/parameters smtpauthuser]
    set password [ns_config ns/parameters smtpauthpassword]
    if {$user eq "" || $password eq ""} {
        _ns_mail_ask $in $out Helo "HELO $host" 250 $timeout
        return
    }
    _ns_mail_ask $in $out EHLO "EHLO $host" 250 $timeout
    switch -nocase -- [_ns_mail_parameter smtpauthmode PLAIN] {
        LOGIN {
            _ns_mail_ask $in $out "AUTH LOGIN" "AUTH LOGIN" 334 $timeout
            _ns_mail_ask $in $out "AUTH LOGIN" [_ns_mail_base64 $user] 334 $timeout
            _ns_mail_ask $in $out "AUTH LOGIN" [_ns_mail_base64 $password] 235 $timeout
        }
        default {
            set names [expr {[string first \0 $user] < 0 ? "$user\0$user" : $user}]
            _ns_mail_ask $in $out "AUTH PLAIN" "AUTH PLAIN [_ns_mail_base64 $names\0$password]" 235 $timeout
        }
    }
}

proc _ns_mail_base64 {text} {
    return [binary encode base64 [encoding convertto utf-8 $text]]
}

proc _ns_mail_ask {in out step text code timeout} {
    _ns_mail_put $out $step $text $timeout
    _ns_mail_recv $in $step $code $timeout
}

proc _ns_mail_put {out step text timeout} {
    if {[_ns_mail_is_on smtplogmode]} {
        ns_log Notice "S: $step $out [expr {[string match AUTH* $step] ? "********" : $text}]"
        return
    }
    try {
        _ns_http_puts $out $text\r\n $timeout
    } trap {POSIX} {} {
        error "$step: remote peer closed connection"
    } on error {} {
        error "$step: Timeout writing to SMTP host"
    }
}

# The last line of a reply tells.

proc _ns_mail_recv {in step code timeout} {
    if {[_ns_mail_is_on smtplogmode]} {
        ns_log Notice "R: $step $in $code"
        return
    }
    fconfigure $in -blocking 0
    while {1} {
        try {
            set line [_ns_http_gets $in $timeout]
        } trap {POSIX} {} {
            error "$step: remote peer closed connection"
        } on error {text} {
            error "$step: [expr {[string match *timed* $text] ? "timeout reading from SMTP host" : "remote peer closed connection"}]"
        }
        if {[string index $line 3] ne "-"} break
    }
    if {![string match $code* $line]} {
        return -code error -errorcode {NS_MAIL REFUSED} "$step: expected $code status line; got: $line"
    }
}
