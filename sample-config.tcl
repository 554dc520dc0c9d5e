# SPDX-License-Identifier: MPL-2.0
# sample-config.tcl --
#
#       A configuration that shows every parameter.  The first part has what most sites
#       change; the rest is good as it is.  It works where it is: in the tree where the
#       server was built, and below the prefix where it was installed.
#
# Lines that are commented out show the default.  Sizes may be written as 10MB or
#       64KiB, times as 500ms, 30s, 2m.  `nsd -T -t FILE` checks a configuration.

######################################################################
# What most sites change

# Where the server listens: only on this machine, IPv4 and IPv6.  {0.0.0.0 ::} opens it to
# the network.
set address       {127.0.0.1 ::1}
set port          8080

# The directory of the pages; empty: pages/ beside the programs.
set pages         ""

# The name of the site, for redirects to clients that do not say which one they mean.
set hostname      ""

# For https, a PEM file with the certificate, its chain and the private key.
set certificate   ""
set httpsport     8443

# The monitor and the figures at /metrics have a separate port, for clients on this
# machine; 0: none.
set monitorport   9080

# Who may look at them from other machines, on all ports.
set monitoruser     ""
set monitorpassword ""

# Requests that run at a time; the others wait.
set maxthreads    10

# The largest upload.
set maxinput      32MB

# The system's user is an option: `nsd -u www-data -t FILE`, started as root.

######################################################################
# Everything else

# PORT and ADDRESS in the environment take precedence; a server on another port is a second
# one, which does not get the monitor's port.
if {[info exists env(PORT)]} {
    if {$env(PORT) != $port} { set monitorport 0 }
    set port $env(PORT)
}
if {[info exists env(ADDRESS)]} { set address $env(ADDRESS) }
# A machine without IPv6 has no ::1.
if {[catch {open /proc/net/if_inet6} interfaces] || ![regexp { lo\n} [read $interfaces]]} {
    set address [lsearch -all -inline -not -exact $address ::1]
}

if {[info exists env(NSD_TREE)]} {
    set top $env(NSD_TREE)
} elseif {[catch {file readlink /proc/self/exe} executable]} {
    set top [file dirname [file dirname [file normalize [lindex $argv 0]]]]
} else {
    set top [file dirname [file dirname $executable]]
}
if {[file exists $top/nssock/nssock.so]} {
    # Built here, not installed.
    set home     $top/run
    if {[info exists env(NSD_HOME)]} { set home $env(NSD_HOME) }
    set initfile $top/nsd/init.tcl
    foreach module {nssock nsssl nslog nscp nsperm nscgi nsproxy nsdb nsdbsqlite nsdbpg nsredis} { set object($module) $top/$module/$module.so }
} else {
    set home     $top
    set initfile $top/bin/init.tcl
    foreach module {nssock nsssl nslog nscp nsperm nscgi nsproxy nsdb nsdbsqlite nsdbpg nsredis} { set object($module) $module.so }
}
if {$pages eq ""} { set pages $top/pages }

# The process.
ns_section ns/parameters
   ns_param home                    $home      ;# Working directory; relative paths are below it.
  #ns_param tmpdir                  {}         ;# Directory for temporary files; default: that of TMPDIR, or the system's.
   # Directory of logs and of the pid file, relative to home; default: logs, if it
   # exists, else home.
  #ns_param logdir                  {}
  #ns_param bindir                  {}         ;# Directory of modules and programs; default: bin.
   # File with the process id; the first default applies if home/logs exists. Default:
   # logs/nsd.pid, or nsd.pid.
  #ns_param pidfile                 {}
  #ns_param controlsocket           {}
  #ns_param coredump                false      ;# A crash leaves a core file.
  #ns_param workingdir              {}         ;# Where it goes; empty: home.
  #ns_param shutdowntimeout         20         ;# A shutdown takes at most this long.
  #ns_param drainwait               0          ;# Time in which the server still serves, but is not ready.
   ns_param tcllibrary              $top/tcl   ;# Tcl library of all servers.
  #ns_param tclinitlock             false      ;# Make interpreters one at a time.
  #ns_param rejectalreadyclosedconn true       ;# A second reply to a request is an error.
  #ns_param stacksize               0          ;# Used when ns/threads has no stacksize.
  #ns_param listenbacklog           32         ;# Backlog of sockets on which scripts listen.
   # Scheduled procedures that one thread runs before it ends; 0 = no limit.
  #ns_param schedsperthread         0
   # Warn when a scheduled procedure without a thread of its own ran longer.
  #ns_param schedlogminduration     2
  #ns_param schedmaxelapsed         2          ;# Older name of that.
   # Jobs that one job thread runs before it ends; 0 = no limit.
  #ns_param jobsperthread           0
   # An idle job thread ends after this time; 0 = never.
  #ns_param jobtimeout              300
  #ns_param joblogminduration       1
   # Caches of scripts: full, or none, which keeps nothing.
  #ns_param cachingmode             full
   # Interpreters that load the server's new state at the same time.
  #ns_param maxconcurrentupdates    1000
   # Log when this many connections are accepted in one turn, once per second at most;
   # 0 = never.
  #ns_param sockacceptlog           4
  #ns_param concurrentinterpcreate  {}         ;# Accepted and ignored.
  #ns_param mutexlocktrace          {}         ;# Accepted and ignored.
   # Clients on this machine see why a page failed, with its source.
  #ns_param development             false
   # With development: changed libraries and pages show at once.
  #ns_param livereload              true
  #ns_param dbcloseonexit           false      ;# Close database connections at the end.
  #ns_param serverheader            nsd/RELEASE ;# Field Server of replies; empty: none.
   # Addresses and networks (ADDRESS/BITS) of proxies that are trusted to name the client.
  #ns_param trustedproxies          {}
  #ns_param reverseproxymode        false      ;# As enabled in ns/reverseproxymode.
   # Mail server of ns_sendmail, and its port.
  #ns_param smtphost                {}         ;# Default: value of mailhost.
  #ns_param mailhost                localhost  ;# Older name of smtphost.
  #ns_param smtpport                25
   # Limit for connecting to it, and for each read and write.
  #ns_param smtptimeout             60
  #ns_param smtplogmode             false      ;# Log the dialogue instead of sending.
  #ns_param smtpmsgid               false      ;# Add a Message-ID if there is none.
  #ns_param smtpmsgidhostname       {}         ;# Name in HELO and in message ids.
  #ns_param smtpencodingmode        false      ;# Encode subjects and bodies that are not ASCII.
  #ns_param smtpencoding            utf-8      ;# Encoding used then.
  #ns_param smtpauthmode            PLAIN      ;# How to log in: PLAIN or LOGIN.
  #ns_param smtpauthuser            {}         ;# Log in, with the password.
  #ns_param smtpauthpassword        {}
   # Threads for queued requests to other servers.
  #ns_param nshttptaskthreads       1
   # Requests to https URLs send the name of the host in the TLS handshake.
  #ns_param autosni                 true
   # Memory for all request bodies; beyond that, they go to disk.
  #ns_param maxbodymemory           256MB
   # Largest body or file that ns_conn content, ns_getform, ns_http and ns_fileread return
   # as a value; 0: no limit.
  #ns_param maxcontentmemory        256MB      ;# Default: maxbodymemory, if that is set.
   # Disk space for all replies that clients have not taken; beyond that, they are cut
   # off; 0 = no limit.
  #ns_param maxspool                1GB
   # The same for request bodies that are too large for memory; beyond that, they get 503.
  #ns_param maxbodyspool            0
   # What both leave free of the file system.
  #ns_param minfree                 0
   # Directory for both; the files of bodies have no name.
  #ns_param spoolpath               {}
  #ns_param poller                  epoll      ;# How drivers wait for sockets.
   # Follow the progress of uploads that are larger; 0 = none.
   ns_param progressminsize         64KB       ;# So that a page can show how far an upload is.
   # Charset that ns_encodingfortype and ns_choosecharset fall back to.
  #ns_param outputcharset           utf-8
  #ns_param urlcharset              utf-8      ;# Charset of query strings and forms.
  #ns_param preferredcharsets       {utf-8 iso-8859-1} ;# Charsets that ns_choosecharset prefers.
   # System log; relative to home/logs if that exists, else to home.
  #ns_param serverlog               nsd.log
  #ns_param systemlog               {}         ;# Newer name of serverlog.
  #ns_param lognotice               true       ;# Log entries of severity Notice.
  #ns_param logdebug                false      ;# Log entries of severity Debug.
  #ns_param logdev                  false      ;# Log entries of severity Dev.
  #ns_param logroll                 true       ;# Roll the system log on SIGHUP.
  #ns_param logrollonsignal         {}         ;# Newer name of logroll.
  #ns_param logmaxbackup            10         ;# Rolled system logs that are kept.
   # Suffix (strftime) of rolled system logs; empty: numbers.
  #ns_param logrollfmt              {}
  #ns_param logusec                 false      ;# Microseconds in the time stamps.
  #ns_param logusecdiff             false      ;# The time since the entry before.
  #ns_param logrelative             false      ;# Seconds since the start, not the date.
  #ns_param logsec                  true       ;# The time in each entry,
  #ns_param logthread               true       ;# and process and thread.
  #ns_param logdeduplicate          false      ;# Equal entries in a row are counted.
   # Each message on a line of its own, followed by a blank line.
  #ns_param logexpanded             false
   # Control characters in messages: 0 raw, 1 all on one line, 2 readable.
  #ns_param sanitizelogfiles        2
  #ns_param masklogaddr             false      ;# true: no whole addresses of clients in the system log.
   # Log threads write the logs, so that no other thread waits for a disk.
   ns_param asynclogwriter          true
   # Limit of log streams, and of log sinks; 0 = those of the configuration and 128 more.
  #ns_param maxlogs                 0
   # Memory for records that are not written yet: 64MiB, or 8MiB if no log thread writes, to 128 logs
   # at most.
  #ns_param logmemory               {}
   # Directory of that memory; it should be a memory file system.
  #ns_param logringdir              /dev/shm
   # Directory for records of log sinks that fall behind.
  #ns_param logspilldir             logs/spill
  #ns_param dnscache                true       ;# Keep the results of name lookups.
  #ns_param dnscachemaxsize         512000     ;# Size of each lookup cache; 0 = no cache.
   # Life time of a lookup result; without a unit, in minutes.
  #ns_param dnscachetimeout         1h
   # Wait at most this long for the same lookup in another thread.
  #ns_param dnswaittimeout          5

# Proxies in front of the server: whether they name the client, which ones (like
# trustedproxies), and whether clients always have a public address.
ns_section ns/reverseproxymode
  #ns_param enabled                 false
  #ns_param trustedservers          {}
  #ns_param skipnonpublic           false

# All threads.
ns_section ns/threads
  #ns_param stacksize               0          ;# Stack of new threads; 0 = the system's default.

# Static files of all servers.
ns_section ns/fastpath
   ns_param cache                   true       ;# Keep small files in memory, for all servers.
  #ns_param cachemaxsize            10240000   ;# Size of that cache.
  #ns_param cachemaxentry           8192       ;# Largest file in it.
   # Let the kernel report changes of static files and pages (inotify), instead of
   # checking a file for each request.
  #ns_param watchfiles              true
  #ns_param mmap                    false      ;# Map other files instead of reading them.
   # Send F.gz, if it is next to a file F, to clients that accept gzip.
  #ns_param gzip_static             false
  #ns_param gzip_refresh            false      ;# Remake an F.gz that is older than F.
  #ns_param gzip_cmd                {}         ;# gzip -9 -c
  #ns_param brotli_static           false      ;# The same with F.br.
  #ns_param brotli_refresh          false
  #ns_param brotli_cmd              {}         ;# brotli -c
  #ns_param minify_css_cmd          {}         ;# What .css and .js files pass before that.
  #ns_param minify_js_cmd           {}

# Content types, in addition to the built-in ones: extension and type.
ns_section ns/mimetypes
   # Of unknown extensions; */* where nothing is said, and that is not a type.
   ns_param default                 application/octet-stream
  #ns_param noextension             text/plain ;# Of names without extension.
  #ns_param .wasm                   application/wasm

# Charsets: name and Tcl encoding.
ns_section ns/charsets
  #ns_param latin1                  iso8859-1

# Charsets of files that are read as text: extension and charset.
ns_section ns/encodings
   ns_param .adp                    utf-8
   ns_param .html                   utf-8
   ns_param .htm                    utf-8
   ns_param .txt                    utf-8

# Limits that scripts ask for, and the server does not enforce: name and description;
# then each one's values.
ns_section ns/limits
  #ns_param upload                  "Uploads of pictures"
#ns_section ns/limit/upload
  #ns_param maxrun                  100        ;# Requests that run at a time; 0: any number.
  #ns_param maxwait                 100        ;# Further ones that wait for these; others get 503.
  #ns_param maxupload               10240000   ;# Bytes of a request body; larger ones get 413.
  #ns_param timeout                 60         ;# Then a request is cancelled and gets 503.
  #ns_param enforce                 false      ;# true: the above has an effect.

# Formats of log records, by name: text with variables.
ns_section ns/logformats
  #ns_param short                   {[$localtime] $peer "$method $path" $status $duration}

# Further places where log records go: name and description; then each one's
# settings.
ns_section ns/logsinks
   ns_param slow                    "Requests that took long"
ns_section ns/logsink/slow
   # Where the records go: file, stdout, stderr, syslog, or TYPE of a module
   # nslogTYPE.so, such as sqlite, postgresql and kafka.
  #ns_param type                    file
   # Streams that the sink takes: system, access, audit, operation, or a
   # module's.
   ns_param streams                 operation  ;# One record per request, with all its times.
   ns_param file                    slow.log   ;# File of types file and sqlite.
   # Of type syslog: unix:PATH, udp:HOST:PORT, tcp:HOST:PORT, tls:HOST:PORT, or a
   # list that is tried in turn; with TLS the name in the certificate, if it is not
   # HOST.
  #ns_param address                 {}
  #ns_param peername                {}
   # Of type journald: where it listens; the name for journalctl -t.
  #ns_param socket                  /run/systemd/journal/socket
  #ns_param identifier              nsd
   # Of type otlp: URLs of collectors, header fields such as a token, attributes
   # of this server.
  #ns_param endpoint                http://localhost:4318/v1/logs
  #ns_param headers                 {}
  #ns_param resource                {service.name nsd}
  #ns_param compression             gzip
  #ns_param connection              {}         ;# Of type postgresql: a connection string.
  #ns_param table                   {}         ;# Of the databases.
   # Of type kafka: HOST:PORT,...; what messages of one key have in common: none,
   # server, sink, stream or severity; further settings of librdkafka, such as
   # {compression.codec lz4}.
  #ns_param brokers                 {}
  #ns_param topic                   nsd-log
  #ns_param key                     none
  #ns_param headers                 false      ;# Server, sink, stream and severity with each message.
  #ns_param transactions            true       ;# Each record exactly once; false: at least once.
  #ns_param positions               nsd-log-positions ;# The topic for how far a sink has got.
  #ns_param settings                {}
  #ns_param timeout                 4s         ;# How long one attempt to write may take.
   # Form of a record: native, json, common, combined, a name of ns/logformats,
   # or a template.
  #ns_param format                  {}
  #ns_param fields                  {}         ;# Names and values added to records in JSON.
   # What is hidden from the sink: {ipv4 24 ipv6 48 query remove parameters {token}
   # headers {Cookie}}.
  #ns_param mask                    {}
  #ns_param if                      {}         ;# Conditions: {{status >= 400} {url !~ /health*}}.
  #ns_param minseverity             {}         ;# Lowest severity of system records. Default: all.
   # Kinds of events that are left out: of audit records, severities of
   # system records, and what happened during requests.
  #ns_param ignore                  {}
   # Of stream operation: only requests that took at least this long.
   ns_param slowthreshold           1s
   # One record in this many; of errors and audit records, all.
  #ns_param sample                  1
   # Records per second, or N/TIME; a line says how many were left out.
  #ns_param maxrate                 {}
  #ns_param onlyerrors              false      ;# Of stream operation: only requests with an error.
   # How far the sink may fall behind in bytes of logmemory; 0 = half of that. Its oldest
   # records go to disk then. Here they are few.
   ns_param maxmemory               1MB
   # Maximum size of the sink's records in logspilldir; 0 = nothing goes there.
  #ns_param maxspill                1GiB
   # Bytes collected before a write; 0 = each record separately.
  #ns_param buffersize              64KiB
   # The oldest record waits no longer than this. Default: 0.1s, databases 5s,
   # kafka 1s.
  #ns_param buffertime              {}
   # Rows per database insert, or per Kafka transaction. Default: 50,
   # kafka 10000.
  #ns_param batchsize               {}
   ns_param rotatesize              10MB       ;# Roll when the file is larger; 0 = never. Nobody looks after this one.
   # Roll whenever this time of the calendar begins, such as 1h, 1d or 1w.
  #ns_param rollevery               {}
   # Roll every day at this hour; with rollevery 1w, on Mondays.
  #ns_param rollhour                {}
  #ns_param rollonsignal            false      ;# Roll on SIGHUP.
  #ns_param rollfmt                 {}         ;# Suffix (strftime) of rolled files; empty: numbers.
  #ns_param maxbackup               10         ;# Rolled files that are kept.
   # Rolled files whose last line is older are deleted; 0 = never.
  #ns_param maxage                  0
   # Limit for the total size of rolled files; 0 = none.
  #ns_param maxtotal                0
   # The oldest rolled files are deleted when less of the file system is free: a size, or N%.
  #ns_param minfree                 0
  #ns_param mode                    0644       ;# Permissions of the sink's files.
  #ns_param owner                   {}         ;# Of the sink's files: USER, USER:GROUP, or :GROUP.
  #ns_param compress                none       ;# How rolled files are compressed.
   # When the file is synced to disk: none, batch, or an interval.
  #ns_param sync                    none
  #ns_param overflow                dropnewest ;# What happens to a record when the memory is full.
   # Without the sink the server does not start; else records wait until its
   # target can be opened.
  #ns_param required                false

# For example audit records in PostgreSQL (the password is better kept in ~/.pgpass):
#ns_section ns/logsinks
  #ns_param audit                   "Who did what"
#ns_section ns/logsink/audit
  #ns_param type                    postgresql
  #ns_param connection              "host=db.example.com dbname=logs user=nsd"
  #ns_param streams                 audit
  #ns_param table                   audit

# Databases: drivers, pools of connections, and what each pool connects to.  A
# server has them with module nsdb.
ns_section ns/db/drivers
   ns_param sqlite                  $object(nsdbsqlite)
  #ns_param postgres                $object(nsdbpg)
#ns_section ns/db/driver/sqlite
  #ns_param busytimeout             5s         ;# How long to wait for another's lock.
  #ns_param journalmode             wal        ;# Empty: as the database has it.
  #ns_param foreignkeys             true       ;# Enforce them.
  #ns_param cachedstatements        32         ;# Prepared statements that a connection keeps.
#ns_section ns/db/driver/postgres
  #ns_param connecttimeout          10s        ;# How long to wait for a connection.
  #ns_param datestyle               {}         ;# As in `set datestyle to`.
ns_section ns/db/pools
   ns_param main                    "Data of the site"
ns_section ns/db/pool/main
   ns_param driver                  sqlite     ;# Its name in ns/db/drivers.
   # The database, as the driver names it: a file, HOST:PORT:DBNAME.
   ns_param datasource              site.db
  #ns_param user                    {}
  #ns_param password                {}
  #ns_param connections             2          ;# Maximum number of handles, and so of connections.
  #ns_param maxidle                 5m         ;# An unused connection is closed then; 0 = never.
  #ns_param maxopen                 60m        ;# Any connection is closed then; 0 = never.
  #ns_param checkinterval           5m         ;# How often idle handles are checked for that.
   # With Debug(sql), faster statements are not logged.
  #ns_param logminduration          0ms
  #ns_param logsqlerrors            false      ;# Log statements that fail.
  #ns_param verbose                 false      ;# Turn Debug(sql) on at the start.

# Modules that all servers share: name and file.
ns_section ns/modules
  #ns_param nssock                  $object(nssock)

######################################################################
# The servers: name and description.  The last one is the default server.

ns_section ns/servers
   ns_param default                 "Default server"

# A virtual server, with its default pool.
ns_section ns/server/default
   # Realm of the default authorization. Default: server name.
  #ns_param realm                   {}
   # Links to this server have the host that the client asked for; else, the driver's
   # location.
  #ns_param redirectwithhost        true
   # A redirect to a path of this server is sent as a path, not as a whole URL.
  #ns_param relativeredirects       false
   # Field with the id of the request, which replies and logs get; empty: none.
   ns_param requestid               X-Request-Id ;# Default: empty.
   # Query parameters, by part of their names, whose values the system log and the lists of
   # requests hide.
  #ns_param maskparameters          {password passwd secret token key code}
   # Handlers and pages with figures of their own in ns_server routes.
  #ns_param maxroutes               500
   # Error pages end with the server's name and location.
   # ADP template, below conf of home, for error pages and notices: with variables title,
   # notice and noticedetail; without it, the built-in ones are used.
  #ns_param noticeadp               returnnotice.adp
  #ns_param noticedetail            true
   # Neither the field Server nor error pages name the server.
  #ns_param stealthmode             false
   # Server root, relative to home; directory of its logs, relative to serverdir.
  #ns_param serverdir               {}         ;# Default: home.
  #ns_param logdir                  {}         ;# Default: that of ns/parameters.
   # Procedure that answers as for ns_serverrootproc.
  #ns_param serverrootproc          {}
  #ns_param filterrwlocks           {}         ;# Accepted and ignored.
  #ns_param compresspreinit         {}         ;# Accepted and ignored.
  #ns_param errorminsize            514        ;# Error pages are at least this long.
   # Letter case of request header names, as scripts see them.
  #ns_param headercase              preserve
  #ns_param checkmodifiedsince      true       ;# Honour If-Modified-Since.
  #ns_param compressenable          false      ;# Compress pages.
  #ns_param compresslevel           4          ;# Compression level; a higher one takes longer.
  #ns_param compressminsize         512        ;# Smaller pages are not compressed.
  #ns_param urlcharset              {}         ;# Default: that of ns/parameters.
  #ns_param formfallbackcharset     {}         ;# Charset of those that are not valid UTF-8.
  #ns_param outputcharset           {}         ;# Default: that of ns/parameters.
  #ns_param hackcontenttype         {}         ;# Accepted and ignored.
  #ns_param enablehttpproxy         false      ;# Be an HTTP proxy for GET and POST requests.
  #ns_param allowhttpproxy          {}         ;# Patterns of client addresses that may use it.
  #ns_param enabletclpages          false      ;# Run /*.tcl below the page root.
  #ns_param livepath                {}         ;# Answered by the driver itself with 200.
  #ns_param readypath               {}         ;# Likewise, but with 503 while the server drains or stops.
  #ns_param readyoverrun            0          ;# The default pool was full for so long: 503; 0: never.
  #ns_param healthlog               false      ;# Requests for these are in the access log.
  #ns_param extraheaders            {}         ;# Header fields of every reply that lacks them.
   # Driver threads answer requests for cached files themselves.
  #ns_param driverfastpath          true
  #ns_param maxconnections          100        ;# Requests that the pool holds, running and waiting.
   ns_param maxthreads              $maxthreads ;# Connection threads at most.
  #ns_param minthreads              1          ;# Connection threads at least.
   ns_param connsperthread          0          ;# Requests after which a thread ends; 0 = never: a new one costs time.
   # A thread beyond minthreads ends when it has been idle for this long.
  #ns_param threadtimeout           120
   # No thread is created while the queue is below this percentage.
  #ns_param lowwatermark            10
   # Above this percentage several are created at the same time.
  #ns_param highwatermark           80
   # A request that has waited this long gets a new thread; 0 = off.
  #ns_param queuepatience           0.1s
   # A request that has waited this long for a thread gets 503; 0 = off. Nobody waits for a
   # page any longer.
   ns_param queuetimeout            30s
   # A request that has waited longer for a thread is not run if its client has left; 0 = off.
  #ns_param skipabandoned           2s
   # Cancel a running request when its client has left.
  #ns_param cancelabandoned         false
   # A request that has run this long is cancelled and gets 503; 0 = off.
  #ns_param maxruntime              0
  #ns_param maxstuck                4          ;# Other threads for requests that hang 5 s longer.
   # A full pool answers 503 instead of letting requests wait.
  #ns_param rejectoverrun           false
  #ns_param retryafter              5s         ;# Retry-After of that answer.
  #ns_param maxrunperpeer           0          ;# Requests of one client that the pool has at a time; 0 = no limit.
  #ns_param maxwaitperpeer          0          ;# Requests of one client that wait for a thread; 0 = no limit.
   # Limit in kB/s for all replies of the pool that writers send; 0 = none.
  #ns_param poolratelimit           0
  #ns_param connectionratelimit     0          ;# Limit in kB/s for each of these replies; 0 = none.

# Modules of this server: name and file, or `tcl` for one that is a directory of
# scripts.
ns_section ns/server/default/modules
   ns_param nssock                  $object(nssock)
   ns_param nslog                   $object(nslog)
   if {$certificate ne ""} { ns_param nsssl $object(nsssl) }
  #ns_param nscp                    $object(nscp)
  #ns_param nsperm                  $object(nsperm)
   ns_param nsdb                    $object(nsdb)
  #ns_param nscgi                   $object(nscgi)
  #ns_param nsproxy                 $object(nsproxy)
  #ns_param nsredis                 $object(nsredis)
   # The pages that a new server shows need these scripts; leave them out with
   # pages of your own.
   ns_param welcome                 tcl
   # So does the monitor.
   ns_param nsstats                 tcl
   #ns_param revproxy               tcl          ;# Pass requests on to other servers.
   #ns_param aolserver-openacs      tcl          ;# Commands of AOLserver.

# Its database pools.
ns_section ns/server/default/db
   ns_param pools                   *          ;# Names, separated by commas; * = all.
   ns_param defaultpool             main       ;# For ns_db gethandle without a name.

# Further pools of threads: name and description; then each one's values.
ns_section ns/server/default/pools
  #ns_param slow                    "Requests that take long"
#ns_section ns/server/default/pool/slow
   # METHOD URLPATTERN ?{KEY VALUE ...}? of requests that this pool serves; may
   # be repeated.
  #ns_param map                     {}
  #ns_param map-noinherit           {}         ;# The same, for exactly this URL.
  #ns_param maxconnections          100        ;# Requests that the pool holds, running and waiting.
  #ns_param maxthreads              10         ;# Connection threads at most.
  #ns_param minthreads              1          ;# Connection threads at least.
   # Requests after which a thread ends; 0 = never. Default: that of the server.
  #ns_param connsperthread          {}
   # A thread beyond minthreads ends when it has been idle for this long.
  #ns_param threadtimeout           120
   # No thread is created while the queue is below this percentage.
  #ns_param lowwatermark            10
   # Above this percentage several are created at the same time.
  #ns_param highwatermark           80
   # A request that has waited this long gets a new thread; 0 = off.
  #ns_param queuepatience           0.1s
   # A request that has waited this long for a thread gets 503; 0 = off.
  #ns_param queuetimeout            0
   # A request that has waited longer for a thread is not run if its client has left; 0 = off.
  #ns_param skipabandoned           2s
   # Cancel a running request when its client has left.
  #ns_param cancelabandoned         false
   # A request that has run this long is cancelled and gets 503; 0 = off.
  #ns_param maxruntime              0
  #ns_param maxstuck                4          ;# Other threads for requests that hang 5 s longer.
   # A full pool answers 503 instead of letting requests wait.
  #ns_param rejectoverrun           false
  #ns_param retryafter              5s         ;# Retry-After of that answer.
  #ns_param maxrunperpeer           0          ;# Requests of one client that the pool has at a time; 0 = no limit.
  #ns_param maxwaitperpeer          0          ;# Requests of one client that wait for a thread; 0 = no limit.
   # Limit in kB/s for all replies of the pool that writers send; 0 = none.
  #ns_param poolratelimit           0
  #ns_param connectionratelimit     0          ;# Limit in kB/s for each of these replies; 0 = none.
  #ns_param spread                  {}         ;# Obsolete, ignored.

# Its static files.
ns_section ns/server/default/fastpath
  #ns_param serverdir               {}         ;# Has moved to ns/server/S.
   ns_param pagedir                 $pages     ;# Page root; relative to the server root.
   # Index files, in this order.
  #ns_param directoryfile           {index.adp index.tcl index.html index.htm}
  #ns_param directorylisting        none       ;# How a directory without index file is shown.
  #ns_param directoryproc           _ns_dirlist ;# Tcl procedure that shows it.
  #ns_param directoryadp            {}         ;# ADP page that shows it instead.
  #ns_param hidedotfiles            true       ;# Listings leave out names that begin with a dot.
   # Symbolic links below the page root: yes, no, or owner: only if link and target have the
   # same owner.
  #ns_param followsymlinks          yes
  #ns_param servedotfiles           false      ;# Serve files whose path has such a name, also beyond /.well-known/.
   # Files that are neither served nor run as pages: copies that editors leave next to scripts
   # would show their source.
   ns_param denyfiles               {*~ *.bak *.orig *.rej *.save *.swp #*#}

# Mass virtual hosting.
ns_section ns/server/default/vhost
  #ns_param enabled                 false      ;# Derive the server root from the Host field.
  #ns_param hostprefix              {}         ;# Directory between serverdir and the hosts.
  #ns_param hosthashlevel           0          ;# Levels of hash directories.
  #ns_param stripwww                true       ;# Remove a leading www.
  #ns_param stripport               true       ;# Remove the port.

# Its interpreters.
ns_section ns/server/default/tcl
  #ns_param library                 modules/tcl ;# Tcl library of the server.
   ns_param initfile                $initfile  ;# Script that boots the server.
  #ns_param initcmds                {}         ;# Commands at the end of the server's start.
  #ns_param nsvbuckets              8          ;# Locks for shared arrays.
  #ns_param nsvrwlocks              {}         ;# Accepted and ignored.
  #ns_param memoizecache            10485760   ;# Size of the cache ns:memoize.
   # Request header fields in the log entry of a script error.
  #ns_param errorlogheaders         {}
  #ns_param errorpage               {}         ;# Script that answers when a Tcl page fails.
  #ns_param lazyloader              {}         ;# Accepted and ignored.

# Its templates.
ns_section ns/server/default/adp
   ns_param map                     /*.adp     ;# URL pattern of templates; may be repeated.
  #ns_param disabled                false      ;# Ignore all map parameters.
   # Run /*.tcl below the page root with the template engine.
   ns_param enabletclpages          true
  #ns_param cache                   false      ;# Honour -cache of included templates.
  #ns_param cachesize               5120000    ;# Parsed pages of one interpreter.
  #ns_param bufsize                 1024000    ;# Flush output beyond this.
  #ns_param tracesize               40         ;# Excerpt that trace logs.
  #ns_param stream                  false      ;# Send output as soon as it is produced.
  #ns_param enableexpire            false      ;# Replies expire at once.
  #ns_param enabledebug             false      ;# Allow ?debug=.
  #ns_param safeeval                false      ;# Leave out scripts in pages made by scripts.
  #ns_param singlescript            false      ;# Make one script of a page.
  #ns_param trace                   false      ;# Log each block.
  #ns_param detailerror             true       ;# Log errors with the request.
   ns_param errorstatus             500        ;# Status of a page that fails; 200: as if it had not.
  #ns_param stricterror             false      ;# An error ends the page.
  #ns_param displayerror            false      ;# Show errors in the page.
  #ns_param trimspace               false      ;# Trim white space around the page.
  #ns_param autoabort               true       ;# A reply of a script ends the page.
  #ns_param startpage               {}         ;# Page that is run instead of every requested page.
  #ns_param errorpage               {}         ;# Page run after an error.
  #ns_param debuginit               ns_adp_debuginit ;# Command that attaches a debugger.

# Values that belong to a browser (ns_session).
#ns_section ns/server/default/sessions
  #ns_param store                   memory     ;# Where ns_session keeps values.
   # Pool of databases or of Redis; empty: the default one.
  #ns_param pool                    {}
  #ns_param cookie                  session    ;# Name of the cookie.
  #ns_param path                    /          ;# Its path.
  #ns_param domain                  {}         ;# Its domain; empty: only the host itself.
  #ns_param samesite                lax        ;# Value of its SameSite attribute.
   # Whether it is sent only over https; auto: if it was set there.
  #ns_param secure                  auto
   # How long the browser keeps it; 0 = until it is closed.
  #ns_param cookieexpires           0
   # A session ends when it has not been used for this long.
  #ns_param timeout                 2h
   # A session ends this long after its start, used or not; 0 = never.
  #ns_param lifetime                0

# Its requests to other servers.
ns_section ns/server/default/httpclient
   # PEM file with CA certificates of https servers; without it, the system's are used.
   # The same as a directory.
  #ns_param cafile                  ca-bundle.crt
  #ns_param capath                  certificates
  #ns_param validatecertificates    true       ;# Refuse servers whose certificate is not valid.
  #ns_param validationdepth         9          ;# Longest chain of certificates.
   # What may be wrong with the certificates of which servers; can be repeated:
   # {ip 127.0.0.1 accept self-signed-certificate}
  #ns_param validationexception     {}
   # Directory, below home, where certificates that are refused are kept; empty = nowhere.
  #ns_param invalidcertificates     {}
   # How long connections are kept open for the next request; 0 = not at all.
  #ns_param keepalive               0
  #ns_param defaulttimeout          5          ;# Longest silence of a server.
  #ns_param logging                 false      ;# Log these requests.
   # File of that log; when it is rolled, and how many are kept.
  #ns_param logfile                 httpclient.log
  #ns_param logroll                 true       ;# Roll it once a day.
  #ns_param logrollhour             0          ;# At this hour.
  #ns_param logrollfmt              {}         ;# Suffix (strftime) of rolled logs; empty: numbers.
  #ns_param logrollonsignal         false      ;# Roll it on SIGHUP, too.
  #ns_param logmaxbackup            100        ;# Rolled logs that are kept.

# Pages instead of the built-in ones: status, 4xx, 5xx or default, and local URL.
ns_section ns/server/default/redirects
  #ns_param 404                     /404.adp

# Which requests are under limits: name and "METHOD URL".
ns_section ns/server/default/limits
  #ns_param upload                  "POST /upload"

# The HTTP driver.
ns_section ns/server/default/module/nssock
   ns_param port                    $port      ;# Ports to listen on.
   ns_param address                 $address   ;# Addresses to listen on.
   ns_param hostname                $hostname  ;# Name in the location.
   # Location of the server. Default: protocol://hostname:port.
  #ns_param location                {}
   # Server of requests without a known host, for a driver of all servers.
  #ns_param defaultserver           {}
   # Directory of challenges of an ACME client, served below
   # /.well-known/acme-challenge/.
  #ns_param acmedir                 {}
  #ns_param onlypaths               {}         ;# Paths that this driver answers, others get 404; empty: all.
   ns_param maxinput                $maxinput  ;# Largest request body.
  #ns_param maxupload               0          ;# Larger bodies go to a named file; 0 = none.
   # Directory of those files. Default: system's directory for temporary files.
  #ns_param uploadpath              {}
   # Larger bodies go to disk. Default: value of bufsize.
  #ns_param readahead               {}
  #ns_param bufsize                 16384      ;# First read on a connection.
  #ns_param maxline                 8192       ;# Longest request or header line.
  #ns_param maxhead                 64KB       ;# Longest request line and header together.
  #ns_param maxheaders              128        ;# Header fields of a request.
   # Refuse lines of a head that end with LF instead of CR LF.
  #ns_param strictlf                false
   # Serve GET requests without a version, as in HTTP/0.9.
  #ns_param allowhttp09             false
   # Sockets of a driver; beyond that, idle ones are closed for new clients, then those
   # with the oldest unfinished requests.
  #ns_param maxqueuesize            16384
   # Connections accepted at a time. Default: value of backlog.
  #ns_param acceptsize              {}
  #ns_param sockacceptlog           {}         ;# Default: that of ns/parameters.
  #ns_param backlog                 256        ;# Backlog of listen().
  #ns_param recvwait                30         ;# Longest silence within a request.
   # Whether each connection begins with a header of the PROXY protocol, which
   # names the client: off or required.
  #ns_param proxyprotocol           off
   # From the first byte of a request, or of a TLS handshake before it, to the
   # end of its head.
  #ns_param headtimeout             60
  #ns_param sendwait                30         ;# Longest time that a client may accept no data.
   # How long an idle connection is kept open; 0 = not at all.
  #ns_param keepwait                5
  #ns_param closewait               2          ;# Time for a graceful close.
  #ns_param keepalivemaxuploadsize  0          ;# Close after larger request bodies; 0 = never.
  #ns_param keepalivemaxdownloadsize 0          ;# Close after larger replies; 0 = never.
  #ns_param spoolerthreads          0          ;# Threads that receive bodies larger than readahead.
   # Threads that send what clients do not take at once.
  #ns_param writerthreads           1
  #ns_param writersize              1048576    ;# From this size on, writers send what is encrypted, has a rate limit or is longer than 2 MB.
  #ns_param writerbufsize           8192       ;# Size of the pieces in which it sends a file.
  #ns_param writerstreaming         false      ;# It also sends streamed output.
   # Limit in kB/s for all that writers send; 0 = none.
  #ns_param writerratelimit         0
   # Output of one reply that waits in memory; the rest waits on disk.
  #ns_param writermemory            256KB
   # Let the kernel wait for data before it reports a connection.
  #ns_param deferaccept             false
  #ns_param driverthreads           1          ;# Driver threads that share the port.
  #ns_param reuseport               false      ;# Other processes may share the port.
  #ns_param livepath                {}         ;# Answered by the driver itself with 200.
  #ns_param readypath               {}         ;# Likewise, but with 503 while the server drains or stops.
  #ns_param readyoverrun            0          ;# The default pool was full for so long: 503; 0: never.
  #ns_param healthlog               false      ;# Requests for these are in the access log.
  #ns_param extraheaders            {}         ;# Header fields of every reply that lacks them.
   # Minimum rate at which a client must send, in bytes per second; 0 = no minimum.
  #ns_param minrecvrate             100
   # Minimum rate at which a client must read, in bytes per second; 0 = no minimum.
  #ns_param minsendrate             100
   # Half-received requests and TLS handshakes of one address, or one IPv6 network (/64);
   # 0 = no limit. Default: 256, at most half of maxqueuesize.
  #ns_param maxpartialperpeer       {}
  #ns_param nodelay                 true       ;# Set TCP_NODELAY on connections.
   # Speak HTTP/2 with clients that begin with it, such as a proxy in front.
  #ns_param http2clear              false

# Host names, if nssock is loaded in ns/modules: server and Host value.
#ns_section ns/module/nssock/servers
  #ns_param default                 www.example.com

# The HTTPS driver: everything that nssock has, and
if {$certificate ne ""} {
ns_section ns/server/default/module/nsssl
  #ns_param http2                   true       ;# Offer HTTP/2 to clients (ALPN).
   ns_param port                    $httpsport ;# Ports to listen on; 0 = none.
   ns_param address                 $address
   ns_param hostname                $hostname
   ns_param maxinput                $maxinput
  #ns_param nodelay                 true       ;# Set TCP_NODELAY on connections.
   # Tell browsers to use only https: for how long (1y), and includesubdomains and preload
   # if wanted.
  #ns_param hsts                    {}
   # PEM file with the certificate, its chain, and the private key.
   ns_param certificate             $certificate
   # Protocols that are disabled; empty: as configured in the library.
  #ns_param protocols               {!TLSv1.0 !TLSv1.1}
  #ns_param ciphers                 {}         ;# Cipher suites up to TLS 1.2. Default: forward-secret AEAD suites.
   # Cipher suites of TLS 1.3, in the server's order.
  #ns_param ciphersuites            TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256
  #ns_param groups                  X25519:prime256v1:secp384r1 ;# Groups of the key exchange.
   # Directory of PEM files, each with certificate and key, for the names in them and
   # those of the files.
  #ns_param vhostcertificates       {}
   # How often to check whether certificates have changed; 0 = never.
  #ns_param watchcertificates       10s
   # Secret from which the keys of session tickets are derived, in every process that has
   # it.
  #ns_param ticketkeyfile           {}
  #ns_param ticketkeyrotation       12h        ;# How often these keys change.
   # Send clients the authority's statement about the certificate.
  #ns_param ocspstapling            false
   # How often to check whether that has to be renewed.
  #ns_param ocspcheckinterval       5m
  #ns_param key                     {value of certificate} ;# PEM file with the private key.
  #ns_param verify                  false      ;# Insist on a client certificate.
   # The same, under its newer name; request: ask for one, and leave the decision to
   # scripts.
  #ns_param clientcertmode          none
   # PEM file with CA certificates for clients.
  #ns_param clientcafile            {}
  #ns_param clientcapath            {}         ;# Directory with such certificates.
  #ns_param cafile                  {}         ;# Older name of clientcafile.
  #ns_param capath                  {}         ;# Older name of clientcapath.
}

# The manual, which the welcome pages show.
ns_section ns/server/default/module/welcome
   ns_param doc                     $top/doc

# The access log.
ns_section ns/server/default/module/nslog
  #ns_param file                    access.log ;# Access log; relative to home/logs if that exists.
  #ns_param formattedtime           true       ;# Time in common log format.
  #ns_param logcombined             true       ;# Add referer and user agent.
  #ns_param logreqtime              false      ;# Add the elapsed time.
  #ns_param logpartialtimes         false      ;# Add the start time and its parts.
  #ns_param suppressquery           false      ;# Log the path only.
   # Log the client that proxies report; see trustedproxies.
  #ns_param checkforproxy           false
  #ns_param logthreadname           false
  #ns_param driver                  {}             ;# Pattern; empty: requests of all drivers.
  #ns_param extendedheaders         {}         ;# Request header fields to add.
   # Log only a part of the client's address, and which one.
  #ns_param masklogaddr             false
  #ns_param maskipv4                255.255.255.0
  #ns_param maskipv6                ff:ff:ff:ff::
  #ns_param maxbuffer               0          ;# Lines collected before a write.
  #ns_param maxbackup               100        ;# Rolled logs that are kept; by number at most 999.
  #ns_param rolllog                 true       ;# Roll once a day.
  #ns_param rollhour                0          ;# At this hour.
  #ns_param rollonsignal            false      ;# Roll on SIGHUP, too.
  #ns_param rollfmt                 {}         ;# Suffix (strftime) of rolled logs; empty: numbers.

   # As for other places where log records go.
  #ns_param format                  {}
  #ns_param fields                  {}
  #ns_param mask                    {}
  #ns_param if                      {}
  #ns_param sample                  1
  #ns_param maxrate                 {}
  #ns_param maxmemory               0
  #ns_param maxspill                1GiB
  #ns_param rotatesize              0
  #ns_param rollevery               {}
  #ns_param maxage                  0
  #ns_param maxtotal                0
  #ns_param minfree                 0
  #ns_param mode                    0644
  #ns_param owner                   {}
  #ns_param compress                none
  #ns_param sync                    none
  #ns_param overflow                {}

# Redis, and its default pool.
#ns_section ns/server/default/module/nsredis
   # Names of further pools, each with a section.
  #ns_param pools                   {}
   # Prefix of the names of the channels that announce flushes.
  #ns_param prefix                  nsd:
  #ns_param host                    127.0.0.1  ;# Where Redis is.
  #ns_param port                    6379       ;# Its port.
  #ns_param socket                  {}         ;# Its Unix-domain socket, instead of these two.
  #ns_param user                    {}         ;# Log in as this user; empty: as the default one.
  #ns_param password                {}         ;# With this password; empty: do not log in.
  #ns_param passwordfile            {}         ;# A file whose first line is the password.
  #ns_param database                0          ;# Number of the database.
  #ns_param tls                     false      ;# Use TLS.
  #ns_param tlsverify               true       ;# Check the certificate and the name in it.
  #ns_param tlscafile               {}         ;# Authorities for that; empty: the system's.
  #ns_param tlscertificate          {}         ;# Certificate and key to present, in one file.
  #ns_param connections             10         ;# Maximum number of connections of the pool.
   # A command takes at most this long, including the wait for a connection.
  #ns_param timeout                 2s
   # A connection that has not been used for this long is closed; 0 = never.
  #ns_param idletimeout             5m
   # When Redis cannot be reached, commands fail at once for this long.
  #ns_param retrytime               1s
  #ns_param maxreply                64MB       ;# Longest reply to a command.

# A further pool.
#ns_section ns/server/default/module/nsredis/pool/jobs
  #ns_param host                    127.0.0.1  ;# Where Redis is.
  #ns_param port                    6379       ;# Its port.
  #ns_param socket                  {}         ;# Its Unix-domain socket, instead of these two.
  #ns_param user                    {}         ;# Log in as this user; empty: as the default one.
  #ns_param password                {}         ;# With this password; empty: do not log in.
  #ns_param passwordfile            {}         ;# A file whose first line is the password.
  #ns_param database                0          ;# Number of the database.
  #ns_param tls                     false      ;# Use TLS.
  #ns_param tlsverify               true       ;# Check the certificate and the name in it.
  #ns_param tlscafile               {}         ;# Authorities for that; empty: the system's.
  #ns_param tlscertificate          {}         ;# Certificate and key to present, in one file.
  #ns_param connections             10         ;# Maximum number of connections of the pool.
   # A command takes at most this long, including the wait for a connection.
  #ns_param timeout                 2s
   # A connection that has not been used for this long is closed; 0 = never.
  #ns_param idletimeout             5m
   # When Redis cannot be reached, commands fail at once for this long.
  #ns_param retrytime               1s
  #ns_param maxreply                64MB       ;# Longest reply to a command.

# The control port: a Tcl shell in the server, for telnet or nc.
#ns_section ns/server/default/module/nscp
  #ns_param address                 127.0.0.1  ;# Address to listen on.
  #ns_param port                    2080       ;# Port to listen on.
  #ns_param echopasswd              false      ;# Show passwords while they are typed.
  #ns_param cpcmdlogging            false      ;# Log each command.
   # From this machine, the empty name needs no password.
  #ns_param allowloopbackemptyuser  false
   # Also admit users known to the server's authorization.
  #ns_param authorizeusers          false
  #ns_param logintimeout            30s        ;# A login takes at most this long.

# Who may log in there.
#ns_section ns/server/default/module/nscp/users
   # NAME:HASH, with a hash of ns_crypt; may be repeated.
  #ns_param user                    {}

# Users, groups and permissions.
#ns_section ns/server/default/module/nsperm
  #ns_param htaccess                false      ;# Read .htaccess in directories of pages.
   # Passwords for these files; relative to home.
  #ns_param passwdfile              modules/nsperm/passwd

# CGI programs.
#ns_section ns/server/default/module/nscgi
   # METHOD URL ?PATH?: which requests run programs; may be repeated.
  #ns_param map                     {}
   # Programs by extension: the name NAME of a section ns/interps/NAME.
  #ns_param interps                 {}
   # Variables of all scripts: the name NAME of a section ns/environment/NAME.
  #ns_param environment             {}
  #ns_param systemenvironment       false      ;# Scripts have the server's environment, too.
  #ns_param gethostbyaddr           false      ;# Look up names for REMOTE_HOST.
  #ns_param allowstaticresources    false      ;# Send files that cannot be executed.
  #ns_param limit                   0          ;# Scripts at a time; 0 = no limit.
  #ns_param maxwait                 30s        ;# Longest wait for one of them to end.
  #ns_param maxinput                1MB        ;# Largest request body; 0 = no limit.
  #ns_param timeout                 5m         ;# Longest silence of a script; 0 = no limit.

# Scripts in worker processes.
#ns_section ns/server/default/module/nsproxy
  #ns_param exec                    bin/nsproxy-helper ;# Worker program; relative to home.
  #ns_param maxworkers              8          ;# Maximum number of workers of a pool; 0 = none.
  #ns_param maxworker               8          ;# Other name of that.
  #ns_param maxslaves               8          ;# Older name of that.
  #ns_param gettimeout              0          ;# Longest wait for a handle; 0 = no limit.
  #ns_param evaltimeout             0          ;# Longest run time of a script; 0 = no limit.
  #ns_param sendtimeout             5s         ;# Longest time to send a script.
  #ns_param recvtimeout             5s         ;# Longest time to receive a result.
   # How long to wait before each signal to a worker that is to end.
  #ns_param waittimeout             1s
  #ns_param idletimeout             5m         ;# A worker that has been idle for this long ends.
  #ns_param logminduration          1s         ;# Log scripts that take longer.

######################################################################
# Monitoring: the page nsstats.tcl, and figures for a monitoring system.  Without a
# user and password only clients on this machine may look, on a separate port.

ns_section ns/module/nsstats
   ns_param enabled                 true       ;# Serve the monitoring page.
   # Its URL, unless there is a file at that place; empty: only such a file.
  #ns_param url                     /nsstats.tcl
   ns_param user                    $monitoruser ;# Ask for this user,
   ns_param password                $monitorpassword ;# with this password.
   ns_param port                    $monitorport ;# Its own port, where this machine needs none; 0 = none.
  #ns_param address                 127.0.0.1  ;# Addresses of that port.
   # Figures for each route there; these are many series.
  #ns_param routes                  false
   ns_param metrics                 true       ;# Serve /metrics, to those who may see the page.
  #ns_param actions                 false      ;# With the password: cancel requests, release memory.
