# SPDX-License-Identifier: MPL-2.0
# peers.tcl --
#
#       Starts nsd and the servers it is compared with, each with one worker and its
#       access log on, serving the files of one directory and a scripted page /hello.

source [file join [file dirname [file normalize [info script]]] .. .. tests lib port.tcl]

namespace eval peers {
    variable ports              ;# Of a server; "NAME tls": its port for TLS.
    variable pids {}
    variable pidOf              ;# Of a server: its process, whose children are the server's, too.
    variable rows {
        nsd      {static static10k static1m close tcl adp tclfile adpfile hello.adp page page.proc
                  tls tls1m full resumed h2 upload}
        nginx    {static static10k static1m close tls tls1m full resumed h2}
        h2o      {static static10k static1m close tls tls1m full resumed h2}
        lighttpd {static static10k static1m close}
        nginx-lua {tcl adp tclfile adpfile upload}
        h2o-mruby {tcl adp tclfile adpfile}
    }
    variable deep a/b/c/d/e     ;# The directory of pages that are files.
}

proc peers::all {} { variable rows; dict keys $rows }
proc peers::has {name row} { variable rows; expr {$row in [dict get $rows $name]} }

# The peers have no ADP pages, nor pages that are files: their scripted page stands in.
proc peers::url {name row path} {
    variable ports
    if {$row in {adp tclfile adpfile} && $name ne "nsd"} { set path /hello }
    if {$row in {tls tls1m full resumed h2}} {
        return https://127.0.0.1:$ports($name\ tls)$path
    }
    return http://127.0.0.1:$ports($name)$path
}

# Certificate and key of all servers.
proc peers::makeCertificate {work} {
    if {![file exists $work/cert.pem]} {
        exec openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
            -keyout $work/key.pem -out $work/cert.pem -subj /CN=localhost 2>/dev/null
        exec cat $work/cert.pem $work/key.pem >$work/both.pem
    }
}

proc peers::write {file text} {
    set f [open $file w]
    puts -nonewline $f $text
    close $f
}

proc peers::waitForPort {port} {
    for {set i 0} {$i < 6000} {incr i} {
        if {![catch {socket 127.0.0.1 $port} s]} { close $s; return }
        after 20
    }
    error "does not listen on $port"
}

proc peers::start {name work} {
    variable ports
    variable pids
    variable pidOf
    set ports($name) [freePort]
    set ports($name\ tls) [freePort]
    makeCertificate $work
    file mkdir $work/$name
    start-$name $work/$name $ports($name) $work/docs
    set pidOf($name) [lindex $pids end]
    waitForPort $ports($name)
}

proc peers::run {args} {
    variable pids
    lappend pids {*}[exec {*}$args >/dev/null 2>/dev/null </dev/null &]
}

# Seconds that the server's processes have run.
proc peers::processorTime {name} {
    variable pidOf
    set ticks 0
    foreach pid [list $pidOf($name) {*}[children $pidOf($name)]] {
        set f [open /proc/$pid/stat]
        regexp {\) \S (.*)} [read $f] - rest
        close $f
        incr ticks [expr {[lindex $rest 10] + [lindex $rest 11]}]
    }
    return [expr {$ticks / double([exec getconf CLK_TCK])}]
}
proc peers::children {pid} {
    set f [open /proc/$pid/task/$pid/children]
    set children [read $f]
    close $f
    return $children
}

proc peers::stopAll {} {
    variable pids
    foreach pid $pids { catch {exec kill -TERM $pid} }
    after 500
    foreach pid $pids { catch {exec kill -KILL $pid} }
}

proc peers::start-nsd {dir port docs {extra ""}} {
    variable ::root
    variable ports
    variable deep
    set root $::root
    file mkdir $dir/logs $dir/modules/tcl
    file copy $docs $dir/pages
    write $dir/pages/page.adp "<html><body>Hello <%= \[ns_conn method\] %>, 3 times: <% foreach i {1 2 3} { ns_adp_append \$i } %></body></html>\n"
    write $dir/pages/hello.adp "hello world\n"
    file mkdir $dir/pages/$deep
    write $dir/pages/$deep/page.tcl {ns_return 200 text/plain "hello world\n"}
    write $dir/pages/$deep/part.adp "hello "
    write $dir/pages/$deep/page.adp "<% ns_adp_include part.adp %>world\n"
    write $dir/modules/tcl/hello.tcl {
        ns_register_proc GET /hello { ns_return 200 text/plain "hello world\n" }
        set page {
            set html "<html><body>Hello "
            append html [ns_conn method] ", 3 times: "
            foreach i {1 2 3} { append html $i }
            append html " </body></html>\n"
            ns_return 200 text/html $html
        }
        ns_register_proc GET /page $page
        proc page {} $page
        ns_register_proc GET /page.proc page
        ns_register_proc POST /upload { ns_return 200 text/plain [file size [ns_conn contentfile]]\n }
    }
    set tlsPort [expr {[info exists ports(nsd\ tls)] ? $ports(nsd\ tls) : [freePort]}]
    makeCertificate [file dirname $dir]
    set certificate [file dirname $dir]/both.pem
    write $dir/nsd.tcl [subst -nocommands {
ns_section ns/parameters
ns_param home $dir
ns_param tcllibrary $root/tcl
ns_param asynclogwriter true
ns_section ns/servers
ns_param bench Benchmark
ns_section ns/fastpath
ns_param cache true
ns_param cachemaxsize 50000000
ns_param cachemaxentry 2000000
ns_section ns/server/bench
ns_param minthreads 2
ns_param maxthreads 4
ns_param maxconnections 1000
ns_param connsperthread 0
ns_param enabletclpages true
ns_section ns/server/bench/tcl
ns_param library $dir/modules/tcl
ns_param initfile $root/nsd/init.tcl
ns_section ns/server/bench/adp
ns_param map /*.adp
ns_section ns/server/bench/modules
ns_param nssock $root/nssock/nssock.so
ns_param nslog $root/nslog/nslog.so
ns_param nsssl $root/nsssl/nsssl.so
ns_section ns/server/bench/module/nssock
ns_param address 127.0.0.1
ns_param hostname 127.0.0.1
ns_param port $port
ns_param maxinput 200MB
ns_param maxupload 1MB
ns_section ns/server/bench/module/nsssl
ns_param address 127.0.0.1
ns_param hostname 127.0.0.1
ns_param port $tlsPort
ns_param certificate $certificate
ns_section ns/server/bench/module/nslog
ns_param file access.log
$extra
}]
    set user {}
    if {[exec id -u] == 0} { set user {-u root} }
    run $root/nsd/nsd -i {*}$user -t $dir/nsd.tcl
}

proc peers::nginxConf {dir port docs lua} {
    variable ports
    set modules ""
    set location ""
    if {$lua} {
        set modules "load_module /usr/lib/nginx/modules/ndk_http_module.so;
load_module /usr/lib/nginx/modules/ngx_http_lua_module.so;"
        set location {
            location /hello { default_type text/plain; content_by_lua_block { ngx.print("hello world\n") } }
            location /upload {
                default_type text/plain; client_max_body_size 0; client_body_in_file_only clean;
                content_by_lua_block {
                    ngx.req.read_body()
                    local file = io.open(ngx.req.get_body_file())
                    ngx.say(file:seek("end"))
                    file:close()
                }
            }
        }
        set tls ""
    } else {
        set tls "listen 127.0.0.1:$ports(nginx\ tls) ssl http2; ssl_certificate $dir/../cert.pem;
            ssl_certificate_key $dir/../key.pem; ssl_protocols TLSv1.2 TLSv1.3;
            ssl_session_cache shared:all:10m;"
    }
    write $dir/nginx.conf "
daemon off;
$modules
worker_processes 1;
pid $dir/nginx.pid;
error_log $dir/error.log;
events { worker_connections 20000; multi_accept on; }
http {
    include /etc/nginx/mime.types;
    access_log $dir/access.log combined buffer=64k flush=1s;
    client_body_temp_path $dir/t1; proxy_temp_path $dir/t2; fastcgi_temp_path $dir/t3;
    uwsgi_temp_path $dir/t4; scgi_temp_path $dir/t5;
    sendfile on; tcp_nopush on; tcp_nodelay on;
    keepalive_timeout 65; keepalive_requests 1000000000;
    open_file_cache max=1000 inactive=60s; open_file_cache_valid 30s;
    server { listen 127.0.0.1:$port; $tls root $docs; $location }
}
"
    run /usr/sbin/nginx -c $dir/nginx.conf
}
proc peers::start-nginx {dir port docs} { nginxConf $dir $port $docs 0 }
proc peers::start-nginx-lua {dir port docs} { nginxConf $dir $port $docs 1 }

proc peers::h2oConf {dir port docs paths {tlsPort ""}} {
    set user ""
    set tls ""
    if {$tlsPort ne ""} {
        set tls "listen:
  host: 127.0.0.1
  port: $tlsPort
  ssl: { certificate-file: $dir/../cert.pem, key-file: $dir/../key.pem }"
    }
    if {[exec id -u] == 0} { set user "user: root" }
    write $dir/h2o.conf "
num-threads: 1
$user
listen: { host: 127.0.0.1, port: $port }
$tls
access-log: $dir/access.log
error-log: $dir/error.log
file.etag: OFF
hosts:
  default:
    paths:
$paths
"
    run h2o -m worker -c $dir/h2o.conf
}
proc peers::start-h2o {dir port docs} {
    variable ports
    h2oConf $dir $port $docs "      /: { file.dir: $docs }" $ports(h2o\ tls)
}
proc peers::start-h2o-mruby {dir port docs} {
    h2oConf $dir $port $docs "      /hello:
        mruby.handler: |
          Proc.new do |env|
            \[200, {'content-type' => 'text/plain'}, \[\"hello world\\n\"\]\]
          end"
}

proc peers::start-lighttpd {dir port docs} {
    write $dir/lighttpd.conf "
server.modules = (\"mod_accesslog\")
server.document-root = \"$docs\"
server.bind = \"127.0.0.1\"
server.port = $port
server.errorlog = \"$dir/error.log\"
accesslog.filename = \"$dir/access.log\"
server.max-keep-alive-requests = 65535
server.max-connections = 20000
server.max-fds = 40000
server.stat-cache-engine = \"simple\"
mimetype.assign = (\".html\" => \"text/html\", \"\" => \"application/octet-stream\")
"
    run lighttpd -D -f $dir/lighttpd.conf
}
