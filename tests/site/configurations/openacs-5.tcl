# SPDX-License-Identifier: MPL-2.0
# A community site of today.

set defaultConfig {
    hostname           localhost
    ipaddress          127.0.0.1
    httpport           8080
    httpsport          8443
    nscpport           {}
    server             openacs
    db_name            $server
    db_user            $server
    db_password        {}
    db_host            localhost
    db_port            {}
    serverroot         /usr/local/ns/$server
    logdir             $serverroot/log
    homedir            /usr/local/ns
    bindir             $homedir/bin
    certificate        $homedir/etc/server.pem
    vhostcertificates  {}
    CookieNamespace    ad_
    server_set         {}
    cachingmode        full
    clusterSecret      {}
    parameterSecret    {}
    max_file_upload_size     20MB
    max_file_upload_duration 5m
    proxy_mode         false
    trusted_servers    {}
    verboseSQL         false
    debug              false
    dev                false
    setupfile          {}
    extramodules       {}
    pageroot           {$serverroot/www}
    database           {postgres}
}
ns_configure_variables "oacs_" $defaultConfig

set nsssl_ciphers      "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256"
set http_extraheaders  {X-Frame-Options SAMEORIGIN X-Content-Type-Options nosniff}
set https_extraheaders [dict merge $http_extraheaders {Strict-Transport-Security "max-age=63072000"}]

set env(PATH) /usr/bin:/bin
encoding system utf-8

ns_section ns/parameters {
    ns_param home                    $homedir
    ns_param logdir                  $logdir
    ns_param bindir                  $bindir
    ns_param tmpdir                  $homedir/tmp
    ns_param pidfile                 nsd.pid
    ns_param tcllibrary              $homedir/tcl
    ns_param systemlog               error.log
    ns_param logrollonsignal         on
    ns_param logmaxbackup            100
    ns_param logrollfmt              %Y-%m-%d
    ns_param logdebug                $debug
    ns_param logdev                  $dev
    ns_param lognotice               true
    ns_param logsec                  true
    ns_param logusec                 true
    ns_param logusecdiff             false
    ns_param logthread               true
    ns_param logrelative             false
    ns_param logcolorize             false
    ns_param logprefixcolor          green
    ns_param logprefixintensity      normal
    ns_param sanitizelogfiles        2
    ns_param shutdowntimeout         10s
    ns_param mailhost                localhost
    ns_param maxconcurrentupdates    1000
    ns_param concurrentinterpcreate  true
    ns_param mutexlocktrace          false
    ns_param rejectalreadyclosedconn true
    ns_param reverseproxymode        $proxy_mode
    ns_param outputcharset           utf-8
    ns_param urlcharset              utf-8
    ns_param formfallbackcharset     iso8859-1
    ns_param autosni                 true
    ns_param dnscache                true
    ns_param dnswaittimeout          5s
    ns_param dnscachetimeout         1h
    ns_param dnscachemaxsize         500kB
    ns_param nshttptaskthreads       2
    ns_param cachingmode             $cachingmode
    ns_param schedsperthread         10
    ns_param schedlogminduration     2s
    ns_param jobsperthread           0
    ns_param jobtimeout              0s
    ns_param joblogminduration       100s
    ns_param smtphost                localhost
    ns_param smtpport                25
    ns_param smtptimeout             60
    ns_param smtpmsgid               true
    ns_param smtpmsgidhostname       $hostname
    ns_param smtpencodingmode        false
    ns_param smtpencoding            utf-8
}

ns_section ns/threads {
    ns_param stacksize 1MB
}

ns_section ns/mimetypes {
    ns_param default     text/plain
    ns_param noextension text/plain
    ns_param .ics        text/calendar
}

ns_section ns/fastpath {
    ns_param cache           false
    ns_param cachemaxsize    10MB
    ns_param cachemaxentry   100kB
    ns_param mmap            false
    ns_param gzip_static     true
    ns_param gzip_refresh    false
    ns_param gzip_cmd        "/bin/gzip -9"
    ns_param brotli_static   true
    ns_param brotli_refresh  false
    ns_param brotli_cmd      "/usr/bin/brotli -f -q 11"
    ns_param minify_css_cmd  "cat"
    ns_param minify_js_cmd   "cat"
}

ns_section ns/servers {
    ns_param $server "Community"
}

ns_section ns/modules {
    if {[info exists httpsport] && $httpsport ne ""} { ns_param nsssl  nsssl }
    if {[info exists httpport]  && $httpport  ne ""} { ns_param nssock nssock }
}

foreach {module port extraheaders} [list \
        nssock $httpport $http_extraheaders nsssl $httpsport $https_extraheaders] {
    if {$port eq ""} continue
    ns_section ns/module/$module {
        ns_param defaultserver            $server
        ns_param address                  $ipaddress
        ns_param hostname                 $hostname
        ns_param port                     $port
        ns_param maxinput                 $max_file_upload_size
        ns_param recvwait                 $max_file_upload_duration
        ns_param maxline                  8192
        ns_param maxheaders               128
        ns_param uploadpath               /tmp
        ns_param backlog                  256
        ns_param maxqueuesize             256
        ns_param acceptsize               10
        ns_param sockacceptlog            4
        ns_param deferaccept              on
        ns_param bufsize                  16kB
        ns_param readahead                16kB
        ns_param sendwait                 30s
        ns_param closewait                2s
        ns_param keepwait                 2s
        ns_param nodelay                  true
        ns_param keepalivemaxuploadsize   500kB
        ns_param keepalivemaxdownloadsize 1MB
        ns_param spoolerthreads           1
        ns_param maxupload                1MB
        ns_param writerthreads            1
        ns_param writersize               1kB
        ns_param writerbufsize            16kB
        ns_param writerstreaming          true
        ns_param driverthreads            1
        ns_param extraheaders             $extraheaders
    }
    ns_section ns/module/$module/servers {
        foreach domainname [concat $hostname $ipaddress] {
            ns_param $server $domainname
            ns_param $server $domainname:$port
        }
    }
}
if {$httpsport ne ""} {
    ns_section ns/module/nsssl {
        ns_param ciphers              $nsssl_ciphers
        ns_param ciphersuites         "TLS_AES_128_GCM_SHA256"
        ns_param protocols            "!SSLv2:!SSLv3:!TLSv1.0:!TLSv1.1"
        ns_param certificate          $certificate
        ns_param vhostcertificates    $vhostcertificates
        ns_param verify               0
        ns_param OCSPstapling         off
        ns_param OCSPstaplingVerbose  off
        ns_param OCSPcheckInterval    15m
    }
}

ns_section ns/reverseproxymode {
    ns_param enabled        $proxy_mode
    ns_param trustedservers $trusted_servers
    ns_param skipnonpublic  false
}

ns_section ns/server/$server {
    ns_param serverdir          $serverroot
    ns_param logdir             $logdir
    ns_param maxconnections     100
    ns_param maxthreads         10
    ns_param minthreads         2
    ns_param connsperthread     1000
    ns_param threadtimeout      2m
    ns_param lowwatermark       10
    ns_param highwatermark      100
    ns_param connectionratelimit 0
    ns_param poolratelimit      0
    ns_param rejectoverrun      false
    ns_param retryafter         5s
    ns_param compressenable     on
    ns_param compresslevel      4
    ns_param compressminsize    512
    ns_param compresspreinit    true
    ns_param filterrwlocks      true
    ns_param checkmodifiedsince false
    ns_param enabletclpages     false
    ns_param realm              $server
    ns_param headercase         preserve
    ns_param noticedetail       false
    ns_param noticeadp          returnnotice.adp
    ns_param stealthmode        false
    ns_param errorminsize       0
    ns_param extraheaders       {Referrer-Policy "strict-origin"}
}

ns_section ns/server/$server/pools {
    ns_param monitor "Monitoring actions to check healthiness of the system"
    ns_param fast    "Fast requests, such as favicon and css"
    ns_param slow    "Slow requests"
}
ns_section ns/server/$server/pool/monitor {
    ns_param minthreads 2
    ns_param maxthreads 2
    ns_param map "GET /SYSTEM"
    ns_param map "GET /acs-admin"
    ns_param map "POST /acs-admin"
}
ns_section ns/server/$server/pool/fast {
    ns_param minthreads 2
    ns_param maxthreads 2
    ns_param rejectoverrun true
    ns_param map "GET /*.png"
    ns_param map "GET /resources"
}
ns_section ns/server/$server/pool/slow {
    ns_param minthreads 2
    ns_param maxthreads 2
    ns_param maxconnections 200
    ns_param map "POST /*/upload"
    ns_param map "GET / {user-agent *bot*}"
}

ns_section ns/server/$server/redirects {
    ns_param 404 /shared/404
    ns_param 403 /shared/403
    ns_param 503 /shared/503
    ns_param 500 /shared/500
}

ns_section ns/server/$server/adp {
    ns_param enabledebug   $debug
    ns_param map           /*.adp
    ns_param trace         false
    ns_param tracesize     40
    ns_param bufsize       1MB
    ns_param cachesize     5MB
    ns_param defaultextension .adp
}

ns_section ns/server/$server/tcl {
    ns_param library         $serverroot/tcl
    ns_param nsvbuckets      16
    ns_param nsvrwlocks      false
    ns_param memoizecache    10MB
    ns_param errorlogheaders {X-Forwarded-For}
    ns_param initcmds        {nsv_set acs started 1}
}

ns_section ns/server/$server/fastpath {
    ns_param pagedir          $pageroot
    ns_param directoryfile    "index.tcl index.adp index.html index.htm"
    ns_param directorylisting none
}

ns_section ns/server/$server/httpclient {
    ns_param logging               on
    ns_param logfile               httpclient.log
    ns_param logrollfmt            %Y-%m-%d
    ns_param logmaxbackup          100
    ns_param logroll               true
    ns_param logrollonsignal       on
    ns_param logrollhour           0
    ns_param keepalive             5s
    ns_param defaulttimeout        5s
    ns_param validatecertificates  true
    ns_param validationdepth       9
    ns_param validationexception   {ip 127.0.0.1}
    ns_param invalidcertificates   $serverroot/invalid-certificates
    ns_param capath                certificates
}

ns_section ns/server/$server/modules {
    ns_param nslog   nslog
    ns_param nsdb    nsdb
    ns_param nsproxy nsproxy
    ns_param acs-lib tcl
    if {$nscpport ne ""} { ns_param nscp nscp }
    foreach module $extramodules { ns_param $module tcl }
}

ns_section ns/server/$server/module/nslog {
    ns_param file                 $logdir/access.log
    ns_param maskipv4             255.255.255.0
    ns_param maskipv6             ff:ff:ff:ff::
    ns_param masklogaddr          false
    ns_param logcombined          true
    ns_param logreqtime           true
    ns_param logpartialtimes      true
    ns_param checkforproxy        $proxy_mode
    ns_param extendedheaders      {X-User-Id req:Referer response:Content-Type}
    ns_param suppressquery        false
    ns_param formattedtime        true
    ns_param maxbuffer            100
    ns_param maxbackup            100
    ns_param rollhour             0
    ns_param rolllog              true
    ns_param rollfmt              %Y-%m-%d
    ns_param rollonsignal         true
}

ns_section ns/server/$server/module/nsproxy {
    ns_param maxworker   8
    ns_param sendtimeout 5s
    ns_param recvtimeout 5s
    ns_param waittimeout 100ms
    ns_param idletimeout 5m
    ns_param logminduration 1s
}

ns_section ns/server/$server/module/nscp {
    ns_param port    $nscpport
    ns_param address 127.0.0.1
}
ns_section ns/server/$server/module/nscp/users {
    ns_param user "::"
}

ns_section ns/server/$server/module/websocket {
}
ns_section ns/server/$server/module/websocket/chat {
    ns_param urls     /websocket/chat
}
ns_section ns/server/$server/module/letsencrypt {
    ns_param domains {}
}

ns_section ns/db/drivers {
    ns_param $database nsdbpg
}
ns_section ns/db/driver/$database {
    ns_param pgbin /usr/bin
}
ns_section ns/db/pools {
    ns_param pool1 "Pool 1"
    ns_param pool2 "Pool 2"
    ns_param pool3 "Pool 3"
}
ns_section site/pool {
    ns_param maxidle        0
    ns_param maxopen        0
    ns_param checkinterval  5m
    ns_param driver         $database
    ns_param datasource     ${db_host}:${db_port}:dbname=${db_name}
    ns_param user           $db_user
    ns_param password       $db_password
    ns_param logminduration 10ms
    ns_param logsqlerrors   true
}
ns_section -from site/pool ns/db/pool/pool1 { ns_param connections 15 }
ns_section -from site/pool ns/db/pool/pool2 { ns_param connections 5 }
ns_section -from site/pool ns/db/pool/pool3 { ns_param connections 5 }
ns_section ns/server/$server/db {
    ns_param pools       pool1,pool2,pool3
    ns_param defaultpool pool1
}

ns_section ns/server/$server/acs {
    ns_param NsShutdownWithNonZeroExitCode 1
    ns_param WithDeprecatedCode 0
    ns_param StaticCSP          0
    ns_param CookieNamespace    $CookieNamespace
    ns_param parameterSecret    $parameterSecret
}
ns_section ns/server/$server/acs/acs-mail-lite {
    ns_param EmailDeliveryMode default
}

set section [ns_config ns/parameters home]
if {$section ne $homedir} { error "a file cannot read what it has set" }
