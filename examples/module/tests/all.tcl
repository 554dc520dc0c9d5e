# SPDX-License-Identifier: MPL-2.0
# Run in a server by `make test`; the status is that of the tests.
package require tcltest
namespace import tcltest::test
tcltest::configure {*}$argv

set location [dict get [lindex [ns_driver info] 0] location]

test hello-1 {the page says hello} -body {
    set reply [ns_http run $location/hello]
    list [dict get $reply status] [dict get $reply body]
} -result "200 {hello\n}"

test hello-2 {the command greets by name} -body {
    hello Ann
} -result {hello, Ann}

test hello-3 {without a name the command says how to call it} -body {
    hello
} -returnCodes error -result {wrong # args: should be "hello name"}

set nFailed $tcltest::numTests(Failed)
tcltest::cleanupTests
ns_atexit exec rm -rf $env(HELLO_DIRECTORY)
exit [expr {$nFailed > 0}]
