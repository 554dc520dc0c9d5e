# SPDX-License-Identifier: MPL-2.0
# Every section and parameter of this generation, most of them with their defaults.

set home   /usr/local/ns
set server full

ns_section "ns/parameters"
ns_param   home               $home
ns_param   pidfile            $home/logs/nsd.pid
ns_param   serverlog          nsd.log
ns_param   lognotice          true
ns_param   logdebug           false
ns_param   logdev             false
ns_param   logroll            true
ns_param   logmaxbackup       10
ns_param   logusec            false
ns_param   logexpanded        false
ns_param   asynclogwriter     false
ns_param   shutdowntimeout    20
ns_param   schedsperthread    0
ns_param   schedmaxelapsed    2
ns_param   listenbacklog      32
ns_param   jobsperthread      0
ns_param   jobtimeout         300
ns_param   tcllibrary         tcl
ns_param   tclinitlock        false
ns_param   stacksize          0
ns_param   dnscache           true
ns_param   dnscachemaxsize    512000
ns_param   dnswaittimeout     5
ns_param   dnscachetimeout    60
ns_param   progressminsize    0
ns_param   OutputCharset      iso-8859-1
ns_param   PreferredCharsets  {utf-8 iso-8859-1}
ns_param   dbcloseonexit      off
ns_param   smtphost           localhost
ns_param   mailhost           localhost
ns_param   smtpport           25
ns_param   smtptimeout        60
ns_param   smtplogmode        false
ns_param   smtpmsgid          false
ns_param   smtpmsgidhostname  localhost
ns_param   smtpencodingmode   false
ns_param   smtpencoding       utf-8
ns_param   smtpauthmode       PLAIN
ns_param   smtpauthuser       ""
ns_param   smtpauthpassword   ""

ns_section "ns/threads"
ns_param   stacksize          0

ns_section "ns/charsets"
ns_param   x-site             utf-8

ns_section "ns/encodings"
ns_param   .adp               utf-8
ns_param   .txt               ascii

ns_section "ns/mimetypes"
ns_param   default            */*
ns_param   noextension        text/plain
ns_param   .site              application/x-site

ns_section "ns/fastpath"
ns_param   cache              false
ns_param   cachemaxsize       10240000
ns_param   cachemaxentry      8192
ns_param   mmap               false

ns_section "ns/limits"
ns_param   uploads            "Files that clients send"
ns_section "ns/limit/uploads"
ns_param   maxrun             100
ns_param   maxwait            100
ns_param   maxupload          10240000
ns_param   timeout            60

ns_section "ns/servers"
ns_param   $server            "All of it"

ns_section "ns/modules"
ns_param   shared             nssock.so

ns_section "ns/module/shared"
ns_param   address            127.0.0.1
ns_param   hostname           localhost
ns_param   location           http://localhost:8080
ns_param   port               8080
ns_param   defaultserver      $server
ns_param   maxinput           1048576
ns_param   maxupload          0
ns_param   uploadpath         /tmp
ns_param   readahead          16384
ns_param   bufsize            16384
ns_param   maxline            8192
ns_param   maxheaders         128
ns_param   maxqueuesize       1024
ns_param   acceptsize         256
ns_param   backlog            256
ns_param   recvwait           30
ns_param   sendwait           30
ns_param   keepwait           5
ns_param   closewait          2
ns_param   keepalivemaxuploadsize   0
ns_param   keepalivemaxdownloadsize 0
ns_param   spoolerthreads     0
ns_param   writerthreads      0
ns_param   writersize         1048576
ns_param   writerbufsize      8192
ns_param   writerstreaming    false
ns_param   deferaccept        false
ns_param   nodelay            false
ns_param   uploadsize         2048

ns_section "ns/module/shared/servers"
ns_param   $server            localhost:8080

ns_section "ns/server/${server}"
ns_param   realm              $server
ns_param   checkmodifiedsince true
ns_param   headercase         preserve
ns_param   noticedetail       true
ns_param   errorminsize       514
ns_param   compressenable     false
ns_param   compresslevel      4
ns_param   compressminsize    512
ns_param   urlcharset         utf-8
ns_param   outputcharset      utf-8
ns_param   hackcontenttype    true
ns_param   enabletclpages     false
ns_param   enablehttpproxy    false
ns_param   allowhttpproxy     ""
ns_param   maxconnections     100
ns_param   maxthreads         10
ns_param   minthreads         1
ns_param   connsperthread     10000
ns_param   threadtimeout      120
ns_param   lowwatermark       10
ns_param   highwatermark      80
ns_param   spread             20

ns_section "ns/server/${server}/pools"
ns_param   slow               "What takes its time"
ns_section "ns/server/${server}/pool/slow"
ns_param   maxconnections     100
ns_param   maxthreads         2
ns_param   minthreads         1
ns_param   threadtimeout      120
ns_param   lowwatermark       10
ns_param   highwatermark      80
ns_param   spread             20
ns_param   map                "GET /slow"
ns_param   map                "POST /slow"

ns_section "ns/server/${server}/limits"
ns_param   uploads            "POST /upload"

ns_section "ns/server/${server}/redirects"
ns_param   404                /missing.adp

ns_section "ns/server/${server}/fastpath"
ns_param   serverdir          $home
ns_param   pagedir            pages
ns_param   directoryfile      "index.adp index.tcl index.html index.htm"
ns_param   directorylisting   simple
ns_param   directoryproc      _ns_dirlist
ns_param   hidedotfiles       true

ns_section "ns/server/${server}/vhost"
ns_param   enabled            false
ns_param   hostprefix         ""
ns_param   hosthashlevel      0
ns_param   stripwww           true
ns_param   stripport          true

ns_section "ns/server/${server}/adp"
ns_param   map                /*.adp
ns_param   disabled           false
ns_param   enabletclpages     false
ns_param   cache              false
ns_param   cachesize          5120000
ns_param   bufsize            1024000
ns_param   tracesize          40
ns_param   stream             false
ns_param   enableexpire       false
ns_param   enabledebug        false
ns_param   safeeval           false
ns_param   singlescript       false
ns_param   trace              false
ns_param   detailerror        true
ns_param   stricterror        false
ns_param   displayerror       false
ns_param   trimspace          false
ns_param   autoabort          true
ns_param   startpage          ""
ns_param   errorpage          ""
ns_param   debuginit          ns_adp_debuginit

ns_section "ns/server/${server}/tcl"
ns_param   library            modules/tcl
ns_param   initfile           bin/init.tcl
ns_param   nsvbuckets         8
ns_param   memoizecache       10485760
ns_param   errorlogheaders    ""
ns_param   errorpage          ""
ns_param   lazyloader         false

ns_section "ns/server/${server}/modules"
ns_param   nsssl              nsssl.so
ns_param   nslog              nslog.so
ns_param   nscgi              nscgi.so
ns_param   nsperm             nsperm.so
ns_param   nsproxy            nsproxy.so
ns_param   nscp               nscp.so
ns_param   nsdb               nsdb.so

ns_section "ns/server/${server}/module/nsssl"
ns_param   address            127.0.0.1
ns_param   hostname           localhost
ns_param   port               8443
ns_param   certificate        $home/etc/server.pem
ns_param   protocols          "!SSLv2,!SSLv3"
ns_param   ciphers            HIGH
ns_param   verify             0

ns_section "ns/server/${server}/module/nslog"
ns_param   file               access.log
ns_param   formattedtime      true
ns_param   logcombined        true
ns_param   logreqtime         false
ns_param   logpartialtimes    false
ns_param   suppressquery      false
ns_param   checkforproxy      false
ns_param   extendedheaders    ""
ns_param   maxbuffer          0
ns_param   maxbackup          100
ns_param   rolllog            true
ns_param   rollhour           0
ns_param   rollonsignal       false
ns_param   rollfmt            ""

ns_section "ns/server/${server}/module/nscgi"
ns_param   map                "GET /cgi-bin $home/cgi-bin"
ns_param   interps            programs
ns_param   environment        variables
ns_param   limit              0
ns_param   maxwait            30
ns_param   maxinput           1024000
ns_param   gethostbyaddr      false
ns_param   systemenvironment  false
ns_section "ns/interps/programs"
ns_param   .sh                /bin/sh
ns_section "ns/environment/variables"
ns_param   SITE               full

ns_section "ns/server/${server}/module/nsproxy"
ns_param   exec               bin/nsproxy-helper
ns_param   evaltimeout        0
ns_param   gettimeout         0
ns_param   sendtimeout        5000
ns_param   recvtimeout        5000
ns_param   waittimeout        1000
ns_param   idletimeout        300000
ns_param   maxslaves          8

ns_section "ns/server/${server}/module/nsperm"
ns_param   htaccess           false
ns_param   passwdfile         modules/nsperm/passwd

ns_section "ns/server/${server}/module/nscp"
ns_param   address            127.0.0.1
ns_param   port               8444
ns_param   echopasswd         false
ns_param   cpcmdlogging       false
ns_section "ns/server/${server}/module/nscp/users"
ns_param   user               "admin:abYdh1L5RpVvY:"

ns_section "ns/db/drivers"
ns_param   sqlite             nsdbsqlite.so
ns_section "ns/db/pools"
ns_param   main               "The only pool"
ns_section "ns/db/pool/main"
ns_param   driver             sqlite
ns_param   datasource         $home/main.db
ns_param   user               ""
ns_param   password           ""
ns_param   connections        2
ns_param   maxidle            600
ns_param   maxopen            3600
ns_param   checkinterval      600
ns_param   logsqlerrors       false
ns_param   verbose            false
ns_section "ns/server/${server}/db"
ns_param   pools              *
ns_param   defaultpool        main
