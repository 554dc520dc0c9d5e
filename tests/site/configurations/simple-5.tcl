# SPDX-License-Identifier: MPL-2.0
# The same in blocks, with settings that the environment can change.

ns_configure_variables "site_" {
    home       /usr/local/ns
    server     default
    hostname   localhost
    ipaddress  127.0.0.1
    httpport   8080
    serverdir  $home
}

ns_section ns/parameters {
    ns_param home      $home
    ns_param tmpdir    $home/tmp
    ns_param logdir    $home/logs
    ns_param systemlog nsd.log
}

ns_section ns/servers {
    ns_param $server "The only one"
}

ns_section ns/modules {
    ns_param http nssock
}

ns_section ns/module/http {
    ns_param address       $ipaddress
    ns_param port          $httpport
    ns_param defaultserver $server
}

ns_section ns/module/http/servers {
    ns_param $server $hostname
    ns_param $server $ipaddress
}

ns_section ns/server/$server {
    ns_param serverdir      $serverdir
    ns_param enabletclpages true
}

ns_section ns/server/$server/modules {
    ns_param nslog nslog
}

ns_section ns/server/$server/adp {
    ns_param map /*.adp
}

ns_section ns/server/$server/fastpath {
    ns_param pagedir pages
}
