# SPDX-License-Identifier: MPL-2.0
# A site with two servers behind the same drivers, as a configuration of today has
# it: settings in a dict, addresses in lists, sections from others.

set defaultConfig {
    home        /usr/local/ns
    hostname    localhost
    ipaddress   127.0.0.1
    httpport    8080
    httpsport   {}
    setupfile   {}
    serverdir   {$home/sites}
    logroot     {$home/logs}
    cachingmode full
    CookieNamespace site_
}
ns_configure_variables "nsd_" $defaultConfig

ns_logctl severity Debug(sql) off

set servers {first "First server" second "Second server"}
set max_file_upload_mb 20

ns_section ns/parameters {
    ns_param home                $home
    ns_param logdir              $logroot
    ns_param bindir              $home/bin
    ns_param tcllibrary          $home/tcl
    ns_param tmpdir              $home/tmp
    ns_param pidfile             $logroot/nsd.pid
    ns_param systemlog           nsd.log
    ns_param logrollonsignal     true
    ns_param logmaxbackup        100
    ns_param logrollfmt          %Y-%m-%d
    ns_param logdebug            false
    ns_param logusec             true
    ns_param sanitizelogfiles    2
    ns_param asynclogwriter      true
    ns_param shutdowntimeout     15s
    ns_param schedlogminduration 2s
    ns_param joblogminduration   1s
    ns_param jobsperthread       1000
    ns_param jobtimeout          0s
    ns_param dnscachetimeout     1h
    ns_param progressminsize     1MB
    ns_param cachingmode         $cachingmode
    ns_param formfallbackcharset iso-8859-1
    ns_param nshttptaskthreads   2
    ns_param listenbacklog       256
    ns_param sockacceptlog       3
    ns_param smtphost            localhost
    ns_param smtpport            25
}

ns_section ns/threads {
    ns_param stacksize 1MB
}

ns_section ns/mimetypes {
    ns_param default     text/plain
    ns_param noextension text/plain
    ns_param .webmanifest application/manifest+json
}

ns_section ns/fastpath {
    ns_param cache         true
    ns_param cachemaxsize  10MB
    ns_param cachemaxentry 100kB
    ns_param mmap          false
}

ns_section ns/servers {
    foreach {server description} $servers {
        ns_param $server $description
    }
}

ns_section ns/modules {
    if {$httpport ne ""}  { ns_param nssock nssock }
    if {$httpsport ne ""} { ns_param nsssl  nsssl }
}

ns_section ns/module/nssock {
    ns_param defaultserver   first
    ns_param address         $ipaddress
    ns_param hostname        $hostname
    ns_param port            $httpport
    ns_param maxinput        ${max_file_upload_mb}MB
    ns_param recvwait        1m
    ns_param sendwait        1m
    ns_param keepwait        5s
    ns_param closewait       100ms
    ns_param backlog         1024
    ns_param acceptsize      128
    ns_param deferaccept     false
    ns_param bufsize         16kB
    ns_param readahead       16kB
    ns_param driverthreads   1
    ns_param spoolerthreads  1
    ns_param writerthreads   1
    ns_param writersize      1kB
    ns_param writerbufsize   16kB
    ns_param writerstreaming true
    ns_param nodelay         true
    ns_param extraheaders    {X-Content-Type-Options nosniff}
}

ns_section ns/module/nssock/servers {
    ns_param first  $hostname
    ns_param first  $ipaddress
    ns_param second second.example.org
    ns_param second second.example.org:$httpport
}

# What all servers have.
ns_section site/common {
    ns_param maxconnections     100
    ns_param minthreads         2
    ns_param maxthreads         4
    ns_param threadtimeout      2m
    ns_param connsperthread     1000
    ns_param highwatermark      100
    ns_param lowwatermark       10
    ns_param rejectoverrun      false
    ns_param compressenable     true
    ns_param compresslevel      4
    ns_param compressminsize    512
    ns_param compresspreinit    true
    ns_param checkmodifiedsince true
    ns_param enabletclpages     false
    ns_param stealthmode        false
    ns_param noticedetail       false
    ns_param extraheaders       {Referrer-Policy strict-origin}
}

foreach {server description} $servers {
    ns_section -update -from site/common ns/server/$server {
        ns_param serverdir $serverdir/$server
        ns_param logdir    logs
        ns_param realm     $description
        if {$server eq "second"} { ns_param maxthreads 10 }
    }
    ns_section ns/server/$server/modules {
        ns_param nslog  nslog
        ns_param nsperm nsperm
        #ns_param revproxy  tcl
        #ns_param websocket tcl
    }
    ns_section ns/server/$server/fastpath {
        ns_param pagedir          www
        ns_param directoryfile    "index.tcl index.adp index.html"
        ns_param directorylisting none
    }
    ns_section ns/server/$server/adp {
        ns_param map     /*.adp
        ns_param enabledebug false
        ns_param cache   true
    }
    ns_section ns/server/$server/tcl {
        ns_param nsvbuckets      16
        ns_param nsvrwlocks      true
        ns_param library         $serverdir/$server/tcl
        ns_param errorlogheaders {User-Agent Referer}
    }
    ns_section ns/server/$server/httpclient {
        ns_param keepalive      5s
        ns_param defaulttimeout 5s
    }
    ns_section ns/server/$server/pools {
        ns_param monitor "Monitoring actions"
        ns_param fast    "Requests that are quick"
        ns_param bots    "Crawlers"
    }
    ns_section ns/server/$server/pool/monitor {
        ns_param minthreads     1
        ns_param maxthreads     2
        ns_param map            "GET /admin/nsstats.tcl"
        ns_param map            "GET /SYSTEM"
    }
    ns_section ns/server/$server/pool/fast {
        ns_param minthreads     1
        ns_param maxthreads     2
        ns_param maxconnections 10
        ns_param map-noinherit  "GET /"
        ns_param map            "GET /*.png"
        ns_param map            "GET /*.js"
    }
    ns_section ns/server/$server/pool/bots {
        ns_param map            "GET / {user-agent *bot*}"
        ns_param map            "GET / {x-ns-ip 192.0.2.0/24}"
        ns_param minthreads     1
        ns_param maxthreads     1
        ns_param rejectoverrun  true
        ns_param retryafter     5s
        ns_param poolratelimit  100
        ns_param connectionratelimit 10
    }
    ns_section ns/server/$server/module/nslog {
        ns_param file            access.log
        ns_param maskipv4        255.255.255.0
        ns_param maskipv6        ff:ff:ff:ff::
        ns_param masklogaddr     true
        ns_param logreqtime      true
        ns_param logpartialtimes true
        ns_param extendedheaders {Referer X-Forwarded-For}
        ns_param rollfmt         %Y-%m-%d
        ns_param rollhour        0
        ns_param maxbackup       30
        ns_param rollonsignal    true
    }
    ns_section ns/server/$server/module/revproxy {
        ns_param verbose 1
    }
    ns_section ns/server/$server/module/websocket {
    }
}
