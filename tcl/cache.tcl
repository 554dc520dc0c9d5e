# SPDX-License-Identifier: MPL-2.0
# cache.tcl --
#
#       ns_cache, the form that caches had in AOLserver.
#
#       A site may have a command of that name, and an object of NX takes a name
#       only if it is free.  So this one comes into being when a library first uses
#       it, or else when all libraries have been loaded.

namespace eval _ns_cache {
    variable definition {
        proc ::ns_cache {option args} {
            set option [::tcl::prefix match -message option \
                {append create eval exists flush get incr keys lappend names set size stats} $option]
            if {$args eq {} && $option ne "names"} {
                error "wrong # args: should be \"ns_cache option cache ?arg ...?\"" {} {TCL WRONGARGS}
            }
            tailcall ::_ns_cache::[string totitle $option] {*}$args
        }
    }
}
set ::auto_index(ns_cache) $_ns_cache::definition
nstrace::addscript ns_cache {
    expr {[info commands ::ns_cache] eq "" ? $::_ns_cache::definition : ""}
}

# The timeout is the time that entries live.

proc _ns_cache::Create {cache args} {
    set size 0
    set expires {}
    foreach {option value} $args {
        switch -- $option {
            -size    { set size $value }
            -timeout { set expires [list -expires $value] }
            default  {
                error "wrong # args: should be\
                    \"ns_cache create cache ?-size size? ?-timeout timeout?\"" {} {TCL WRONGARGS}
            }
        }
    }
    ns_cache_create {*}$expires -- $cache $size
}

proc _ns_cache::Eval {cache key args} {
    tailcall ::ns_cache_eval -- $cache $key {*}$args
}

proc _ns_cache::Flush {cache args} {
    ns_cache_flush -- $cache {*}$args
}

proc _ns_cache::Get {cache key args} {
    tailcall ::ns_cache_get $cache $key {*}$args
}

# Of a cache, its keys; else of the caches.

proc _ns_cache::Names {{cache ""} args} {
    if {$cache eq ""} {
        return [ns_cache_names]
    }
    ns_cache_keys -- $cache {*}$args
}

proc _ns_cache::Keys {cache args} {
    ns_cache_keys -- $cache {*}$args
}

proc _ns_cache::Append {cache key args} {
    ns_cache_append -- $cache $key {*}$args
}

proc _ns_cache::Lappend {cache key args} {
    ns_cache_lappend -- $cache $key {*}$args
}

proc _ns_cache::Incr {cache key {n 1}} {
    ns_cache_incr -- $cache $key $n
}

proc _ns_cache::Exists {cache} {
    ns_cache_exists $cache
}

proc _ns_cache::Size {cache args} {
    ns_cache_size $cache {*}$args
}

proc _ns_cache::Stats {cache args} {
    ns_cache_stats {*}$args -- $cache
}

proc _ns_cache::Set {cache key value} {
    ns_cache_eval -force -- $cache $key return -level 0 $value
}
