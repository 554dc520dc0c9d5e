# A site: pages in pages/, log files in logs/, both beside the directory conf of
# this file.
ns_section ns/parameters
    ns_param asynclogwriter  true
ns_section ns/encodings
    ns_param .adp            utf-8
ns_section ns/servers
    ns_param main            "My site"
ns_section ns/server/main/adp
    ns_param map             /*.adp
ns_section ns/server/main/modules
    ns_param nssock          nssock.so
    ns_param nslog           nslog.so
    # The monitor, http://localhost:9080/nsstats.tcl: this line, and the last three.
   #ns_param nsstats         tcl
ns_section ns/server/main/module/nssock
    ns_param address         127.0.0.1
    ns_param port            8080
#ns_section ns/module/nsstats
   #ns_param enabled         true
   #ns_param port            9080
