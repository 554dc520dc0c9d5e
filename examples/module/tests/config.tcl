# SPDX-License-Identifier: MPL-2.0
# The server of the tests: a free port, the module from where it was built, and no file
# outside of a directory that goes with the tests.
set directory [exec mktemp -d]
set env(HELLO_DIRECTORY) $directory
set listener [socket -server {} -myaddr 127.0.0.1 0]
set port [lindex [fconfigure $listener -sockname] 2]
close $listener

ns_section ns/parameters
    ns_param home            $directory
    ns_param bindir          $env(NAVISERVER)/bin
    ns_param tcllibrary      $env(NAVISERVER)/tcl
ns_section ns/servers
    ns_param tests           "Tests of hello"
ns_section ns/server/tests/tcl
    ns_param initfile        $env(NAVISERVER)/bin/init.tcl
ns_section ns/server/tests/modules
    ns_param nssock          nssock.so
    ns_param hello           $env(NS_MODULE_DIR)/hello.so
ns_section ns/server/tests/module/nssock
    ns_param address         127.0.0.1
    ns_param port            $port
