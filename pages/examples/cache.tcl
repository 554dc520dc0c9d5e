# SPDX-License-Identifier: MPL-2.0
# cache.tcl --
#
#       A value that takes long to compute, kept for ten seconds for all who ask.

set limit [ns_queryget limit 50000]
if {![string is integer -strict $limit] || $limit < 2 || $limit > 200000} {
    return [ns_returnbadrequest "The limit is a number from 2 to 200000."]
}

ns_cache_create -expires 10s -timeout 5s primes 100kB

if {[ns_conn method] eq "POST"} {
    ns_cache_flush primes $limit
    return [ns_returnredirect [ns_conn url]?limit=$limit]
}

# While one thread computes, others that want the same wait for it.
set isNew 0
set start [clock microseconds]
set count [ns_cache_eval -- primes $limit {
    set isNew 1
    set isPrime [lrepeat $limit 1]
    for {set n 2} {$n < $limit} {incr n} {
        if {![lindex $isPrime $n]} continue
        incr count
        for {set multiple [expr {$n * $n}]} {$multiple < $limit} {incr multiple $n} { lset isPrime $multiple 0 }
    }
    set count
}]
set ms [format %.2f [expr {([clock microseconds] - $start) / 1000.0}]]
set how [expr {$isNew ? "computed" : "found in the cache"}]

welcome::reply "A cache" "<p>There are <b>$count</b> prime numbers below $limit, <b>$how</b> in $ms ms.
Reload the page, and wait ten seconds, to see the difference.</p>
<form method=\"get\" class=\"line\">
<label for=\"limit\">Below</label>
<input id=\"limit\" name=\"limit\" type=\"number\" min=\"2\" max=\"200000\" value=\"$limit\" required>
<button>Count</button>
</form>
<form method=\"post\" class=\"line\"><input type=\"hidden\" name=\"limit\" value=\"$limit\">
<button>Forget this value</button></form>" \
    "Memory of at most 100 kB; what is used least goes first. Finding a value takes microseconds." {shared-data#caches}
