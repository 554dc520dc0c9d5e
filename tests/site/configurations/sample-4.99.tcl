# SPDX-License-Identifier: MPL-2.0
# What an administrator of a small site writes: variables at the top, a section
# for each part of the server, and modules that are switched off by a comment.

set hostname    localhost
set address     127.0.0.1
set httpport    8080
set httpsport   8443

set homedir     /usr/local/ns
set serverroot  $homedir
set server      "s1"
set servername  "Server One"
set pagedir     pages

ns_section "ns/parameters"
ns_param   Home            $homedir
ns_param   ServerLog       ${homedir}/logs/error.log
ns_param   PidFile         ${homedir}/logs/nsd.pid
ns_param   LogRoll         on
ns_param   LogMaxBackup    10
ns_param   LogUsec         true
ns_param   LogDebug        off
ns_param   TclLibrary      ${homedir}/tcl
ns_param   OutputCharset   utf-8
ns_param   HackContentType 1
ns_param   DNSCache        true
ns_param   DNSCacheTimeout 60
ns_param   JobsPerThread   1000
ns_param   SchedsPerThread 10
ns_param   SmtpHost        localhost

ns_section "ns/threads"
ns_param   StackSize       [expr {1024 * 1024}]

ns_section "ns/mimetypes"
ns_param   Default         "*/*"
ns_param   NoExtension     "text/plain"
ns_param   .pcd            image/x-photo-cd
ns_param   .prc            application/x-pilot

ns_section "ns/encodings"
ns_param   .adp            utf-8
ns_param   .tcl            utf-8

ns_section "ns/fastpath"
ns_param   cache           true
ns_param   cachemaxsize    [expr {5000 * 1024}]
ns_param   cachemaxentry   [expr {100 * 1024}]
ns_param   mmap            false

ns_section "ns/servers"
ns_param   $server         $servername

ns_section "ns/server/${server}"
ns_param   MaxConnections  100
ns_param   MaxThreads      10
ns_param   MinThreads      2
ns_param   ThreadTimeout   120
ns_param   ConnsPerThread  1000
ns_param   CheckModifiedSince true
ns_param   NoticeDetail    true
ns_param   HeaderCase      preserve
ns_param   EnableTclPages  true

ns_section "ns/server/${server}/adp"
ns_param   map             "/*.adp"
ns_param   map             "/*.html"
ns_param   EnableExpire    false
ns_param   EnableDebug     false
ns_param   Cache           true
ns_param   CacheSize       [expr {5000 * 1024}]

ns_section "ns/server/${server}/fastpath"
ns_param   ServerDir       $serverroot
ns_param   PageDir         $pagedir
ns_param   DirectoryFile   "index.adp index.tcl index.html index.htm"
ns_param   DirectoryListing fancy
ns_param   DirectoryProc   _ns_dirlist

ns_section "ns/server/${server}/tcl"
ns_param   nsvbuckets      16
ns_param   Library         ${homedir}/modules/tcl

ns_section "ns/server/${server}/vhost"
ns_param   Enabled         false

ns_section "ns/server/${server}/modules"
ns_param   nssock          ${homedir}/bin/nssock.so
ns_param   nslog           ${homedir}/bin/nslog.so
ns_param   nscgi           ${homedir}/bin/nscgi.so
ns_param   nsperm          ${homedir}/bin/nsperm.so
ns_param   nsproxy         ${homedir}/bin/nsproxy.so
#ns_param  nscp            ${homedir}/bin/nscp.so
#ns_param  nsssl           ${homedir}/bin/nsssl.so
#ns_param  nssmtpd         ${homedir}/bin/nssmtpd.so

ns_section "ns/server/${server}/module/nssock"
ns_param   port            $httpport
ns_param   hostname        $hostname
ns_param   address         $address
ns_param   maxinput        [expr {1024 * 1024 * 10}]
ns_param   recvwait        30
ns_param   sendwait        30
ns_param   keepwait        30
ns_param   backlog         256

ns_section "ns/server/${server}/module/nsssl"
ns_param   port            $httpsport
ns_param   hostname        $hostname
ns_param   address         $address
ns_param   certificate     ${homedir}/etc/server.pem
ns_param   protocols       "!SSLv2,!SSLv3"

ns_section "ns/server/${server}/module/nslog"
ns_param   File            ${homedir}/logs/access.log
ns_param   RollFmt         %Y-%m-%d
ns_param   LogReqTime      true
ns_param   LogCombined     true
ns_param   ExtendedHeaders "Referer X-Forwarded-For"
ns_param   RollHour        4
ns_param   MaxBackup       10
ns_param   CheckForProxy   false

ns_section "ns/server/${server}/module/nscgi"
ns_param   map             "GET  /cgi-bin ${homedir}/cgi-bin"
ns_param   map             "POST /cgi-bin ${homedir}/cgi-bin"
ns_param   Interps         CGIinterps
ns_param   Environment     CGIvariables

ns_section "ns/interps/CGIinterps"
ns_param   .sh             /bin/sh

ns_section "ns/environment/CGIvariables"
ns_param   SITE            $servername

ns_section "ns/server/${server}/module/nsproxy"
ns_param   maxworkers      2
ns_param   idletimeout     60000

ns_section "ns/server/${server}/module/nscp"
ns_param   address         127.0.0.1
ns_param   port            2080

ns_section "ns/server/${server}/module/nscp/users"
ns_param   user            "admin:abYdh1L5RpVvY:"

ns_section "ns/server/${server}/module/nssmtpd"
ns_param   port            2525
