# SPDX-License-Identifier: MPL-2.0
#
# jwt.tcl --
#
#       JSON Web Tokens in their compact form (RFC 7515, 7518, 7519).
#
#       The kind of the key decides which algorithms a token may have, never the
#       token alone.  A token without a signature is never valid.
#

namespace eval ns_jwt {
    # Name, kind of key, digest; of elliptic curves the size of a number, too.
    variable algorithms {
        HS256 {oct sha256} HS384 {oct sha384} HS512 {oct sha512}
        RS256 {RSA sha256} RS384 {RSA sha384} RS512 {RSA sha512}
        ES256 {P-256 sha256 32} ES384 {P-384 sha384 48} ES512 {P-521 sha512 66}
        EdDSA {Ed25519 sha512}
    }
    # What the structure of a key begins with that says its kind.
    variable objects {
        RSA 06092a864886f70d010101 P-256 06082a8648ce3d030107
        P-384 06052b81040022 P-521 06052b81040023 Ed25519 06032b6570
    }
    # Claims that options of encode add, with their types.
    variable claims {iss string sub string aud string exp number nbf number iat number jti string}
}

proc ns_jwt {subcommand args} {
    switch -- $subcommand {
        encode - decode - verify { tailcall ns_jwt::$subcommand {*}$args }
        default { error "bad subcommand \"$subcommand\": must be decode, encode, or verify" {} [list TCL LOOKUP INDEX subcommand $subcommand] }
    }
}

proc ns_jwt::encode {args} {
    variable claims
    set usage "ns_jwt encode -alg alg ?-secret secret|-key pem? ?-kid v? ?-typ v? ?-cty v? ?-iss v? ?-sub v? ?-aud v? ?-exp v? ?-nbf v? ?-iat v? ?-jti v? ?--? ?payload?"
    set options [Options $usage {alg secret key kid typ cty iss sub aud exp nbf iat jti} {} args]
    if {[llength $args] > 1 || ![dict exists $options alg]} { Usage $usage }
    set header [list alg string [dict get $options alg] typ string JWT]
    foreach name {typ cty kid} {
        if {[dict exists $options $name]} { Put header $name string [dict get $options $name] }
    }
    set payload [lindex $args 0]
    dict for {name type} $claims {
        if {[dict exists $options $name]} { Put payload $name $type [dict get $options $name] }
    }
    set text [Base64 [ns_json value -type object $header]].[Base64 [ns_json value -type object $payload]]
    return $text.[Sign [dict get $options alg] [KeyOf $options $usage] $text]
}

# What a token says, believed or not.
proc ns_jwt::decode {args} {
    if {[llength $args] == 2 && [lindex $args 0] eq "--"} { set args [lrange $args 1 end] }
    if {[llength $args] != 1} { Usage "ns_jwt decode ?--? token" }
    lassign [Parts [lindex $args 0]] header payload signature
    return [list header [Value $header] payload [Value $payload] signature $signature]
}

proc ns_jwt::verify {args} {
    set usage "ns_jwt verify ?-alg alg? ?-secret secret|-key pem|-jwk jwk|-jwks jwks? ?-verifyclaims? ?-iss v? ?-aud v? ?-sub v? ?-clockskew seconds? ?-now time? ?--? token"
    set options [Options $usage {alg secret key jwk jwks iss aud sub clockskew now} {verifyclaims} args]
    if {[llength $args] != 1} { Usage $usage }
    lassign [Parts [lindex $args 0]] header payload signature
    set claims [Fields $payload]
    set fields [Fields $header]
    set result [list valid 1 header [Value $header] payload [Value $payload]]
    set algorithm [Text $fields alg]
    set kid [Text $fields kid]
    if {[dict exists $options alg] && [dict get $options alg] ne $algorithm} { Fail "algorithm is \"$algorithm\", not \"[dict get $options alg]\"" }
    if {[dict exists $fields crit]} { Fail "header has critical fields that are not known" }
    set key [KeyOf $options $usage $algorithm $kid]
    set text [string range [lindex $args 0] 0 [string last . [lindex $args 0]]-1]
    if {![Check $algorithm $key $text $signature]} { Fail "signature is not valid" }
    CheckClaims $claims $options
    lappend result kid $kid alg $algorithm
    return $result
}

# The values of options that stand before the other words.
proc ns_jwt::Options {usage names flags argsName} {
    upvar 1 $argsName args
    set options {}
    while {[string match -* [lindex $args 0]]} {
        set args [lassign $args word]
        if {$word eq "--"} break
        set name [string range $word 1 end]
        if {$name in $flags} {
            dict set options $name 1
        } elseif {$name in $names && [llength $args] > 0} {
            set args [lassign $args value]
            dict set options $name $value
        } else {
            Usage $usage
        }
    }
    return $options
}

proc ns_jwt::Usage {usage} {
    return -level 2 -code error -errorcode {TCL WRONGARGS} "wrong # args: should be \"$usage\""
}

proc ns_jwt::Fail {reason} { throw NS_JWT "ns_jwt: $reason" }

# Replace or add a triple.
proc ns_jwt::Put {triplesName name type value} {
    upvar 1 $triplesName triples
    set kept {}
    foreach {oldName oldType oldValue} $triples {
        if {$oldName ne $name} { lappend kept $oldName $oldType $oldValue }
    }
    set triples [lappend kept $name $type $value]
}

# Header, payload, and signature in bytes.
proc ns_jwt::Parts {token} {
    set parts [split $token .]
    if {[llength $parts] != 3} { Fail "token does not have three parts" }
    lmap part $parts {
        if {![regexp {^[A-Za-z0-9_-]*$} $part] || [string length $part] % 4 == 1} { Fail "part of the token is not base64url" }
        ns_base64urldecode -binary -- $part
    }
}

proc ns_jwt::Value {json} { Json $json -output tclvalue }

# Name, list of type and value.
proc ns_jwt::Fields {json} {
    lassign [Json $json -output triples] - type triples
    if {$type ne "object"} { Fail "part of the token is not an object" }
    set fields {}
    foreach {name type value} $triples { dict set fields $name [list $type $value] }
    return $fields
}

proc ns_jwt::Json {json args} {
    try {
        return [ns_json parse {*}$args -- $json]
    } on error {message} {
        Fail "part of the token is not JSON: $message"
    }
}

proc ns_jwt::Text {fields name} {
    if {![dict exists $fields $name]} { return "" }
    lassign [dict get $fields $name] type value
    if {$type ne "string"} { Fail "\"$name\" is not a string" }
    return $value
}

proc ns_jwt::Base64 {text} { ns_base64urlencode $text }

# The only key among the options: kind, and PEM text or secret.
proc ns_jwt::KeyOf {options usage {algorithm ""} {kid ""}} {
    set names [lmap name {secret key jwk jwks} { if {![dict exists $options $name]} continue; set name }]
    if {[llength $names] != 1} { uplevel 1 [list ns_jwt::Usage $usage] }
    set value [dict get $options $names]
    switch $names {
        secret {
            # Whoever has the public key could sign with it otherwise.
            if {[regexp -- {-----BEGIN } $value]} { Fail "a PEM text is not a secret" }
            return [list oct $value]
        }
        key { return [KeyOfPem $value] }
        jwk { return [KeyOfJwk [Value $value] $algorithm] }
        jwks {
            foreach jwk [Member [Value $value] keys] {
                if {$kid ne "" && [Member $jwk kid] ne $kid} continue
                if {![catch {KeyOfJwk $jwk $algorithm} key] && [Fits $algorithm $key]} { return $key }
            }
            Fail "no key fits the token"
        }
    }
}

proc ns_jwt::Member {dict name} { expr {[dict exists $dict $name] ? [dict get $dict $name] : ""} }

# A file, or its text.
proc ns_jwt::KeyOfPem {pem} {
    variable objects
    if {![regexp -- {-----BEGIN } $pem]} {
        set channel [open $pem]
        try { set pem [read $channel] } finally { close $channel }
    }
    if {![regexp -- {-----BEGIN ((?:RSA |EC )?(?:PUBLIC|PRIVATE) KEY)-----\s+([A-Za-z0-9+/=\s]+)-----END } $pem - label body]} { Fail "the PEM text has no key" }
    if {[string match "RSA *" $label]} { return [list RSA $pem] }
    binary scan [ns_base64decode -binary -- $body] H* der
    dict for {kind object} $objects {
        # Of EC keys alone, the curve stands behind the numbers.
        set at [string first $object $der]
        if {$at >= 0 && ($at < 80 || [string match "EC *" $label])} { return [list $kind $pem] }
    }
    Fail "the key is of no kind that is known"
}

# A public key as JSON (RFC 7517) becomes PEM.
proc ns_jwt::KeyOfJwk {jwk algorithm} {
    variable objects
    if {[Member $jwk use] ni {"" sig} || [Member $jwk alg] ni [list "" $algorithm]} { Fail "the key is not for this use" }
    set bytes {}
    foreach name {k n e x y} {
        binary scan [ns_base64urldecode -binary -- [Member $jwk $name]] H* hex
        dict set bytes $name $hex
    }
    dict with bytes {}
    switch [Member $jwk kty] {
        oct { return [list oct [binary format H* $k]] }
        RSA {
            set kind RSA
            set type [dict get $objects RSA]0500
            set public [Der 30 [Number $n][Number $e]]
        }
        EC {
            set kind [Member $jwk crv]
            if {$kind ni {P-256 P-384 P-521}} { Fail "curve \"$kind\" is not known" }
            set type 06072a8648ce3d0201[dict get $objects $kind]
            set size [expr {2 * [lindex [dict get $ns_jwt::algorithms [dict get {P-256 ES256 P-384 ES384 P-521 ES512} $kind]] 2]}]
            set public 04[string repeat 0 [expr {max(0, $size - [string length $x])}]]$x[string repeat 0 [expr {max(0, $size - [string length $y])}]]$y
        }
        OKP {
            set kind [Member $jwk crv]
            if {$kind ne "Ed25519"} { Fail "curve \"$kind\" is not known" }
            set type [dict get $objects Ed25519]
            set public $x
        }
        default { Fail "the key is of no kind that is known" }
    }
    set der [Der 30 [Der 30 $type][Der 03 00$public]]
    set body [join [regexp -all -inline {.{1,64}} [ns_base64encode -binary -- [binary format H* $der]]] \n]
    return [list $kind "-----BEGIN PUBLIC KEY-----\n$body\n-----END PUBLIC KEY-----\n"]
}

# In hexadecimal: a value of ASN.1 with its length, and a positive number.
proc ns_jwt::Der {tag hex} {
    set n [expr {[string length $hex] / 2}]
    set length [expr {$n < 128 ? [format %02x $n] : $n < 256 ? [format 81%02x $n] : [format 82%04x $n]}]
    return $tag$length$hex
}

proc ns_jwt::Number {hex} {
    regsub {^(00)+(?=..)} $hex {} hex
    return [Der 02 [expr {[scan $hex %2x] >= 128 ? "00$hex" : $hex}]]
}

proc ns_jwt::Fits {algorithm key} {
    variable algorithms
    expr {[dict exists $algorithms $algorithm] && [lindex [dict get $algorithms $algorithm] 0] eq [lindex $key 0]}
}

proc ns_jwt::Judge {algorithm key} {
    variable algorithms
    if {![dict exists $algorithms $algorithm]} { Fail "algorithm \"$algorithm\" is not supported" }
    if {![Fits $algorithm $key]} { Fail "algorithm \"$algorithm\" is not for a key of kind [lindex $key 0]" }
    return [dict get $algorithms $algorithm]
}

proc ns_jwt::Sign {algorithm key text} {
    lassign [Judge $algorithm $key] kind digest size
    if {$kind eq "oct"} { return [ns_crypto::hmac string -digest $digest -encoding base64url -- [lindex $key 1] $text] }
    if {$size ne ""} { return [ns_crypto::md vapidsign -digest $digest -encoding base64url -pem [lindex $key 1] -- $text] }
    return [ns_crypto::md string -digest $digest -encoding base64url -sign [lindex $key 1] -- $text]
}

proc ns_jwt::Check {algorithm key text signature} {
    lassign [Judge $algorithm $key] kind digest size
    if {$kind eq "oct"} {
        # Of digests of both, so that the time tells nothing of the secret.
        set salt [ns_crypto::randombytes 32]
        set right [ns_crypto::hmac string -digest $digest -encoding binary -- [lindex $key 1] $text]
        return [string equal [ns_crypto::hmac string -binary -- $salt $right] [ns_crypto::hmac string -binary -- $salt $signature]]
    }
    if {$size ne ""} {
        if {[string length $signature] != 2 * $size} { return 0 }
        binary scan $signature H* hex
        set signature [binary format H* [Der 30 [Number [string range $hex 0 [expr {2 * $size - 1}]]][Number [string range $hex [expr {2 * $size}] end]]]]
    }
    return [ns_crypto::md string -digest $digest -verify [lindex $key 1] -signature $signature -- $text]
}

# exp and nbf always count, the others when they are asked for.
proc ns_jwt::CheckClaims {claims options} {
    set now [expr {[dict exists $options now] ? [dict get $options now] : [clock seconds]}]
    set skew [expr {[dict exists $options clockskew] ? [dict get $options clockskew] : 0}]
    foreach {name isGood message} {
        exp {$now < $value + $skew} "token has expired"
        nbf {$now >= $value - $skew} "token is not valid yet"
    } {
        if {![dict exists $claims $name]} continue
        lassign [dict get $claims $name] type value
        if {$type ne "number"} { Fail "\"$name\" is not a number" }
        if {![expr $isGood]} { Fail $message }
    }
    foreach name {iss sub aud} {
        if {![dict exists $options $name]} continue
        set values {}
        if {[dict exists $claims $name]} {
            lassign [dict get $claims $name] type value
            if {$type eq "string"} {
                lappend values $value
            } elseif {$name eq "aud" && $type eq "array"} {
                foreach {- type value} $value { if {$type eq "string"} { lappend values $value } }
            }
        }
        if {[dict get $options $name] ni $values} { Fail "\"$name\" is not \"[dict get $options $name]\"" }
    }
}
