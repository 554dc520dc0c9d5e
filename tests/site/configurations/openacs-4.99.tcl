# SPDX-License-Identifier: MPL-2.0
# A community site of the older generation: one server with a database, Tcl
# library of its own, parameters that its scripts read.

set httpport     8080
set httpsport    8443
set hostname     localhost
set address      127.0.0.1
set server       "acs"
set servername   "Community"
set homedir      /usr/local/ns
set logroot      ${homedir}/logs
set serverroot   ${homedir}/${server}
set pageroot     ${serverroot}/www
set directoryfile index.tcl,index.adp,index.html,index.htm
set database     postgres
set db_name      $server
set db_host      localhost
set db_port      ""
set db_user      $server
set debug        false
set max_file_upload_mb  20
set max_file_upload_min 5

if {[info exists env(LANG)]} { set env(LANG) C.UTF-8 }
set env(PATH) "/usr/bin:/bin"

ns_section ns/parameters
    ns_param serverlog       ${logroot}/error.log
    ns_param pidfile         ${logroot}/nsd.pid
    ns_param home            $homedir
    ns_param debug           $debug
    ns_param logroll         on
    ns_param logmaxbackup    100
    ns_param logdebug        $debug
    ns_param logdev          false
    ns_param mailhost        localhost
    ns_param tcllibrary      ${homedir}/tcl
    ns_param HackContentType 1
    ns_param OutputCharset   utf-8
    ns_param HttpOpenCharset utf-8
    ns_param DefaultCharset  utf-8
    ns_param smtpport        25

ns_section ns/threads
    ns_param mutexmeter      true
    ns_param stacksize       [expr {512 * 1024}]

ns_section ns/mimetypes
    ns_param Default         text/plain
    ns_param NoExtension     text/plain
    ns_param .odt            application/vnd.oasis.opendocument.text
    ns_param .tcl            text/plain

ns_section ns/fastpath
    ns_param cache           false
    ns_param cachemaxsize    10240000
    ns_param cachemaxentry   100000
    ns_param mmap            false
    ns_param gzip_static     true

ns_section ns/servers
    ns_param $server         $servername

ns_section ns/server/${server}
    ns_param directoryfile   $directoryfile
    ns_param pageroot        $pageroot
    ns_param maxconnections  100
    ns_param maxdropped      0
    ns_param maxthreads      10
    ns_param minthreads      5
    ns_param threadtimeout   120
    ns_param globalstats     true
    ns_param urlstats        true
    ns_param maxurlstats     1000
    ns_param connsperthread  1000
    ns_param compressenable  on
    ns_param compresslevel   4

ns_section ns/server/${server}/adp
    ns_param map             /*.adp
    ns_param enabledebug     $debug
    ns_param defaultparser   fancy

ns_section ns/server/${server}/adp/parsers
    ns_param fancy           ".adp"

ns_section ns/server/${server}/redirects
    ns_param 404             /global/file-not-found.html
    ns_param 403             /global/forbidden.html

ns_section ns/server/${server}/fastpath
    ns_param serverdir       ${serverroot}
    ns_param pagedir         ${pageroot}

ns_section ns/server/${server}/vhost
    ns_param enabled         false

ns_section ns/server/${server}/tcl
    ns_param library         ${serverroot}/tcl
    ns_param autoclose       on
    ns_param debug           $debug
    ns_param nsvbuckets      8

ns_section ns/server/${server}/module/nssock
    ns_param timeout         120
    ns_param address         $address
    ns_param hostname        $hostname
    ns_param port            $httpport
    ns_param maxinput        [expr {$max_file_upload_mb * 1024 * 1024}]
    ns_param recvwait        [expr {$max_file_upload_min * 60}]
    ns_param maxline         8192
    ns_param maxheaders      128
    ns_param uploadpath      /tmp
    ns_param backlog         256
    ns_param maxqueuesize    256
    ns_param acceptsize      10
    ns_param bufsize         16384
    ns_param readahead       16384
    ns_param sendwait        30
    ns_param closewait       2
    ns_param keepwait        2
    ns_param keepalivemaxuploadsize   500000
    ns_param keepalivemaxdownloadsize 1000000
    ns_param spoolerthreads  1
    ns_param maxupload       100000
    ns_param writerthreads   2
    ns_param writersize      1048576
    ns_param writerbufsize   8192

ns_section "ns/server/${server}/module/nsssl"
    ns_param address         $address
    ns_param port            $httpsport
    ns_param certificate     $homedir/etc/certfile.pem
    ns_param ciphers         "HIGH:!aNULL"

ns_section ns/server/${server}/module/nslog
    ns_param debug           false
    ns_param dev             false
    ns_param enablehostnamelookup false
    ns_param file            ${logroot}/${server}.log
    ns_param logcombined     true
    ns_param extendedheaders COOKIE
    ns_param maxbuffer       100
    ns_param maxbackup       100
    ns_param rollday         *
    ns_param rollfmt         %Y-%m-%d-%H:%M
    ns_param rollhour        0
    ns_param rollonsignal    true
    ns_param rolllog         true

ns_section ns/db/drivers
    ns_param $database       ${homedir}/bin/nsdbpg.so

ns_section ns/db/driver/$database
    ns_param pgbin           /usr/bin

ns_section ns/db/pools
    ns_param pool1           "Pool 1"
    ns_param pool2           "Pool 2"
    ns_param pool3           "Pool 3"

foreach {pool connections} {pool1 15 pool2 5 pool3 5} {
    ns_section ns/db/pool/$pool
        ns_param maxidle         0
        ns_param maxopen         0
        ns_param connections     $connections
        ns_param verbose         $debug
        ns_param extendedtableinfo true
        ns_param logsqlerrors    $debug
        ns_param driver          $database
        ns_param datasource      ${db_host}:${db_port}:${db_name}
        ns_param user            $db_user
        ns_param password        ""
}

ns_section ns/server/${server}/db
    ns_param pools           pool1,pool2,pool3
    ns_param defaultpool     pool1

ns_section ns/server/${server}/modules
    ns_param nssock          ${homedir}/bin/nssock.so
    ns_param nslog           ${homedir}/bin/nslog.so
    ns_param nsdb            ${homedir}/bin/nsdb.so
    ns_param nsproxy         ${homedir}/bin/nsproxy.so
    ns_param acs-lib         tcl
    #ns_param nsssl          ${homedir}/bin/nsssl.so
    #ns_param libthread      [lindex [lsort [glob -nocomplain $homedir/lib/thread*/libthread*.so]] end]

ns_section ns/server/${server}/acs
    ns_param NsShutdownWithNonZeroExitCode 1
    ns_param WithDeprecatedCode 1

ns_section ns/server/${server}/acs/acs-api-browser
    ns_param IncludeCallingInfo true
