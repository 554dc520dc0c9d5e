# SPDX-License-Identifier: MPL-2.0
# Every section and parameter of this generation, most of them with their defaults.

ns_configure_variables "full_" {
    home   /usr/local/ns
    server full
}

ns_section ns/parameters {
    ns_param home                     $home
    ns_param pidfile                  $home/logs/nsd.pid
    ns_param lognotice                true
    ns_param logdebug                 false
    ns_param logdev                   false
    ns_param logrollonsignal          true
    ns_param logmaxbackup             10
    ns_param logusec                  false
    ns_param logexpanded              false
    ns_param asynclogwriter           false
    ns_param shutdowntimeout          20s
    ns_param schedsperthread          0
    ns_param schedlogminduration      2s
    ns_param listenbacklog            32
    ns_param jobsperthread            0
    ns_param jobtimeout               5m
    ns_param tcllibrary               tcl
    ns_param tclinitlock              false
    ns_param stacksize                0
    ns_param dnscache                 true
    ns_param dnscachemaxsize          500kB
    ns_param dnswaittimeout           5s
    ns_param dnscachetimeout          1h
    ns_param progressminsize          0
    ns_param OutputCharset            iso-8859-1
    ns_param PreferredCharsets        {utf-8 iso-8859-1}
    ns_param dbcloseonexit            off
    ns_param smtphost                 localhost
    ns_param mailhost                 localhost
    ns_param smtpport                 25
    ns_param smtptimeout              60s
    ns_param smtplogmode              false
    ns_param smtpmsgid                false
    ns_param smtpmsgidhostname        localhost
    ns_param smtpencodingmode         false
    ns_param smtpencoding             utf-8
    ns_param smtpauthmode             PLAIN
    ns_param smtpauthuser             ""
    ns_param smtpauthpassword         ""
    ns_param tmpdir                   $home/tmp
    ns_param logdir                   $home/logs
    ns_param bindir                   $home/bin
    ns_param systemlog                nsd.log
    ns_param logsec                   true
    ns_param logthread                true
    ns_param logusecdiff              false
    ns_param logrelative              false
    ns_param logdeduplicate           false
    ns_param logcolorize              false
    ns_param logprefixcolor           green
    ns_param logprefixintensity       normal
    ns_param logrollfmt               %Y-%m-%d
    ns_param sanitizelogfiles         2
    ns_param joblogminduration        1s
    ns_param cachingmode              full
    ns_param concurrentinterpcreate   true
    ns_param maxconcurrentupdates     1000
    ns_param mutexlocktrace           false
    ns_param rejectalreadyclosedconn  true
    ns_param sockacceptlog            4
    ns_param nshttptaskthreads        1
    ns_param formfallbackcharset      iso-8859-1
    ns_param urlcharset               utf-8
    ns_param autosni                  true
    ns_param reverseproxymode         false
}

ns_section ns/threads {
    ns_param stacksize                0
}

ns_section ns/charsets {
    ns_param x-site                   utf-8
}

ns_section ns/encodings {
    ns_param .adp                     utf-8
    ns_param .txt                     ascii
}

ns_section ns/mimetypes {
    ns_param default                  */*
    ns_param noextension              text/plain
    ns_param .site                    application/x-site
}

ns_section ns/fastpath {
    ns_param cache                    false
    ns_param cachemaxsize             10MB
    ns_param cachemaxentry            8kB
    ns_param mmap                     false
    ns_param gzip_static              false
    ns_param gzip_refresh             false
    ns_param gzip_cmd                 {/bin/gzip -9}
    ns_param brotli_static            false
    ns_param brotli_refresh           false
    ns_param brotli_cmd               brotli
    ns_param minify_css_cmd           cat
    ns_param minify_js_cmd            cat
}

ns_section ns/limits {
    ns_param uploads                  "Files that clients send"
}

ns_section ns/limit/uploads {
    ns_param maxrun                   100
    ns_param maxwait                  100
    ns_param maxupload                10240000
    ns_param timeout                  1m
}

ns_section ns/servers {
    ns_param $server                  "All of it"
}

ns_section ns/modules {
    ns_param shared                   nssock
}

ns_section ns/module/shared {
    ns_param address                  127.0.0.1
    ns_param hostname                 localhost
    ns_param location                 http://localhost:8080
    ns_param port                     8080
    ns_param defaultserver            $server
    ns_param maxinput                 1MB
    ns_param maxupload                0
    ns_param uploadpath               /tmp
    ns_param readahead                16kB
    ns_param bufsize                  16kB
    ns_param maxline                  8192
    ns_param maxheaders               128
    ns_param maxqueuesize             1024
    ns_param acceptsize               256
    ns_param backlog                  256
    ns_param recvwait                 30s
    ns_param sendwait                 30s
    ns_param keepwait                 5s
    ns_param closewait                2s
    ns_param keepalivemaxuploadsize   0
    ns_param keepalivemaxdownloadsize 0
    ns_param spoolerthreads           0
    ns_param writerthreads            0
    ns_param writersize               1MB
    ns_param writerbufsize            8kB
    ns_param writerstreaming          false
    ns_param deferaccept              false
    ns_param nodelay                  false
    ns_param driverthreads            1
    ns_param reuseport                false
    ns_param sockacceptlog            3
    ns_param writerratelimit          0
    ns_param extraheaders             {X-Driver shared}
}

ns_section ns/module/shared/servers {
    ns_param $server                  localhost:8080
}

ns_section ns/server/$server {
    ns_param realm                    $server
    ns_param checkmodifiedsince       true
    ns_param headercase               preserve
    ns_param noticedetail             true
    ns_param errorminsize             514
    ns_param compressenable           false
    ns_param compresslevel            4
    ns_param compressminsize          512
    ns_param urlcharset               utf-8
    ns_param outputcharset            utf-8
    ns_param hackcontenttype          true
    ns_param enabletclpages           false
    ns_param enablehttpproxy          false
    ns_param allowhttpproxy           ""
    ns_param maxconnections           100
    ns_param maxthreads               10
    ns_param minthreads               1
    ns_param connsperthread           10000
    ns_param threadtimeout            2m
    ns_param lowwatermark             10
    ns_param highwatermark            80
    ns_param spread                   20
    ns_param serverdir                $home
    ns_param logdir                   logs
    ns_param extraheaders             {X-Site full}
    ns_param stealthmode              false
    ns_param noticeadp                returnnotice.adp
    ns_param filterrwlocks            true
    ns_param compresspreinit          false
    ns_param connectionratelimit      0
    ns_param poolratelimit            0
    ns_param rejectoverrun            false
    ns_param retryafter               5s
    ns_param formfallbackcharset      iso-8859-1
}

ns_section ns/server/$server/pools {
    ns_param slow                     "What takes its time"
}

ns_section ns/server/$server/pool/slow {
    ns_param maxconnections           100
    ns_param maxthreads               2
    ns_param minthreads               1
    ns_param threadtimeout            2m
    ns_param lowwatermark             10
    ns_param highwatermark            80
    ns_param spread                   20
    ns_param map                      "GET /slow"
    ns_param map                      "POST /slow"
    ns_param connsperthread           100
    ns_param rejectoverrun            true
    ns_param retryafter               5s
    ns_param poolratelimit            100
    ns_param connectionratelimit      10
    ns_param map-noinherit            "GET /exactly"
    ns_param map                      "GET / {x-ns-ip 192.0.2.0/24}"
    ns_param map                      "GET / {user-agent *bot*}"
}

ns_section ns/server/$server/limits {
    ns_param uploads                  "POST /upload"
}

ns_section ns/server/$server/redirects {
    ns_param 404                      /missing.adp
}

ns_section ns/server/$server/fastpath {
    ns_param pagedir                  pages
    ns_param directoryfile            "index.adp index.tcl index.html index.htm"
    ns_param directorylisting         simple
    ns_param directoryproc            _ns_dirlist
    ns_param hidedotfiles             true
}

ns_section ns/server/$server/vhost {
    ns_param enabled                  false
    ns_param hostprefix               ""
    ns_param hosthashlevel            0
    ns_param stripwww                 true
    ns_param stripport                true
}

ns_section ns/server/$server/adp {
    ns_param map                      /*.adp
    ns_param disabled                 false
    ns_param enabletclpages           false
    ns_param cache                    false
    ns_param cachesize                5MB
    ns_param bufsize                  16kB
    ns_param tracesize                40
    ns_param stream                   false
    ns_param enableexpire             false
    ns_param enabledebug              false
    ns_param safeeval                 false
    ns_param singlescript             false
    ns_param trace                    false
    ns_param detailerror              true
    ns_param stricterror              false
    ns_param displayerror             false
    ns_param trimspace                false
    ns_param autoabort                true
    ns_param startpage                ""
    ns_param errorpage                ""
    ns_param debuginit                ns_adp_debuginit
    ns_param defaultextension         .adp
}

ns_section ns/server/$server/tcl {
    ns_param library                  modules/tcl
    ns_param initfile                 bin/init.tcl
    ns_param nsvbuckets               8
    ns_param memoizecache             10MB
    ns_param errorlogheaders          ""
    ns_param errorpage                ""
    ns_param lazyloader               false
    ns_param nsvrwlocks               true
    ns_param initcmds                 {nsv_set full started 1}
}

ns_section ns/server/$server/modules {
    ns_param nsssl                    nsssl
    ns_param nslog                    nslog
    ns_param nscgi                    nscgi
    ns_param nsperm                   nsperm
    ns_param nsproxy                  nsproxy
    ns_param nscp                     nscp
    ns_param nsdb                     nsdb
}

ns_section ns/server/$server/module/nsssl {
    ns_param address                  127.0.0.1
    ns_param hostname                 localhost
    ns_param port                     8443
    ns_param certificate              $home/etc/server.pem
    ns_param protocols                "!SSLv2,!SSLv3"
    ns_param ciphers                  HIGH
    ns_param ciphersuites             TLS_AES_128_GCM_SHA256
    ns_param key                      $home/etc/server.pem
    ns_param clientcertmode           none
    ns_param vhostcertificates        ""
    ns_param OCSPstapling             off
    ns_param OCSPstaplingVerbose      off
    ns_param OCSPcheckInterval        5m
    ns_param tlskeyscript             ""
    ns_param extraheaders             {Strict-Transport-Security max-age=31536000}
}

ns_section ns/server/$server/module/nslog {
    ns_param file                     access.log
    ns_param formattedtime            true
    ns_param logcombined              true
    ns_param logreqtime               false
    ns_param logpartialtimes          false
    ns_param suppressquery            false
    ns_param checkforproxy            false
    ns_param extendedheaders          ""
    ns_param maxbuffer                0
    ns_param maxbackup                100
    ns_param rolllog                  true
    ns_param rollhour                 0
    ns_param rollonsignal             false
    ns_param rollfmt                  ""
    ns_param masklogaddr              true
    ns_param maskipv4                 255.255.255.0
    ns_param maskipv6                 ff:ff:ff:ff::
}

ns_section ns/server/$server/module/nscgi {
    ns_param map                      "GET /cgi-bin $home/cgi-bin"
    ns_param interps                  programs
    ns_param environment              variables
    ns_param limit                    0
    ns_param maxwait                  30s
    ns_param maxinput                 1MB
    ns_param gethostbyaddr            false
    ns_param systemenvironment        false
    ns_param allowstaticresources     false
}

ns_section ns/interps/programs {
    ns_param .sh                      /bin/sh
}

ns_section ns/environment/variables {
    ns_param SITE                     full
}

ns_section ns/server/$server/module/nsproxy {
    ns_param exec                     bin/nsproxy-helper
    ns_param evaltimeout              0s
    ns_param gettimeout               0s
    ns_param sendtimeout              5s
    ns_param recvtimeout              5s
    ns_param waittimeout              1s
    ns_param idletimeout              5m
    ns_param maxworkers               8
    ns_param logminduration           1s
}

ns_section ns/server/$server/module/nsperm {
    ns_param htaccess                 false
    ns_param passwdfile               modules/nsperm/passwd
}

ns_section ns/server/$server/module/nscp {
    ns_param address                  127.0.0.1
    ns_param port                     8444
    ns_param echopasswd               false
    ns_param cpcmdlogging             false
    ns_param allowLoopbackEmptyUser   false
}

ns_section ns/server/$server/module/nscp/users {
    ns_param user                     "admin:abYdh1L5RpVvY:"
}

ns_section ns/db/drivers {
    ns_param sqlite                   nsdbsqlite
}

ns_section ns/db/pools {
    ns_param main                     "The only pool"
}

ns_section ns/db/pool/main {
    ns_param driver                   sqlite
    ns_param datasource               $home/main.db
    ns_param user                     ""
    ns_param password                 ""
    ns_param connections              2
    ns_param maxidle                  10m
    ns_param maxopen                  1h
    ns_param checkinterval            10m
    ns_param logsqlerrors             false
    ns_param logminduration           10ms
}

ns_section ns/server/$server/db {
    ns_param pools                    *
    ns_param defaultpool              main
}

ns_section ns/reverseproxymode {
    ns_param enabled                  false
    ns_param trustedservers           {192.0.2.1 10.0.0.0/8}
    ns_param skipnonpublic            false
}

ns_section ns/server/$server/httpclient {
    ns_param cafile                   ca-bundle.crt
    ns_param capath                   certificates
    ns_param validatecertificates     true
    ns_param validationdepth          9
    ns_param validationexception      {ip 127.0.0.1}
    ns_param invalidcertificates      $home/invalid
    ns_param keepalive                0s
    ns_param defaulttimeout           5s
    ns_param logging                  false
    ns_param logfile                  httpclient.log
    ns_param logroll                  true
    ns_param logrollfmt               %Y-%m-%d
    ns_param logrollhour              0
    ns_param logrollonsignal          false
    ns_param logmaxbackup             100
}
