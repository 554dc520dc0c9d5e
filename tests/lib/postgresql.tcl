# SPDX-License-Identifier: MPL-2.0
# postgresql.tcl --
#
#       A PostgreSQL server of a test's own.
#
#       pg::reason                 why there can be none here; "" if there can
#       pg::create ?parameters?    makes the cluster, does not start it; lines for
#                                  postgresql.conf
#       pg::start, pg::stop        fast; both return when it is done
#       pg::pause, pg::resume      SIGSTOP and SIGCONT to all of its processes
#       pg::connection ?options?   a connection string for the log sink
#       pg::sql TEXT               rows as lines, columns separated by |
#       pg::finish                 stops it and removes everything
#
#       It listens at a socket in its directory and at $pg::port.  The name of the user
#       and of the database is "test".

package require Tcl 8.6

namespace eval pg {
    variable bin ""
    variable dir ""
    variable port ""
    foreach directory [concat [lsort -decreasing -dictionary \
            [glob -nocomplain /usr/lib/postgresql/*/bin]] [split $env(PATH) :]] {
        if {$bin eq "" && [file executable $directory/initdb]} { set bin $directory }
    }
}

proc pg::reason {} {
    variable bin
    if {$bin eq ""} { return "no PostgreSQL server is installed" }
    if {[exec id -u] == 0 && [catch {exec id -u postgres}]} {
        return "there is no user postgres to run it"
    }
    return ""
}

# The server refuses to run as root.
proc pg::As {args} {
    if {[exec id -u] == 0} {
        return [list setpriv --reuid=postgres --regid=postgres --clear-groups {*}$args]
    }
    return $args
}

proc pg::create {{parameters "fsync = off"}} {
    variable bin
    variable dir
    variable port
    set dir [string trim [exec mktemp -d --tmpdir nsd-pg-XXXXXX]]
    if {[exec id -u] == 0} { exec chown postgres $dir }
    set port [freePort]
    exec {*}[As $bin/initdb -D $dir/data -U test -A trust -N -E UTF8 --locale=C] 2>@1
    set conf [open $dir/data/postgresql.conf a]
    puts $conf "listen_addresses = '127.0.0.1'
port = $port
unix_socket_directories = '$dir'
max_connections = 20
shared_buffers = 8MB
$parameters"
    close $conf
}

proc pg::start {} {
    variable bin
    variable dir
    variable port
    if {[catch {exec {*}[As $bin/pg_ctl -D $dir/data -l $dir/log -w -t 300 start] 2>@1} message]} {
        set log ""
        catch { set log [exec tail -n 30 $dir/log] }
        error "PostgreSQL does not start: $message\n$log"
    }
    if {[sqlIn postgres "SELECT 1 FROM pg_database WHERE datname = 'test'"] eq ""} {
        sqlIn postgres "CREATE DATABASE test"
    }
}

proc pg::stop {} {
    variable bin
    variable dir
    exec {*}[As $bin/pg_ctl -D $dir/data -w -t 300 -m fast stop] >/dev/null 2>@1
}

proc pg::Processes {} {
    variable dir
    set f [open $dir/data/postmaster.pid]
    gets $f pid
    close $f
    set f [open /proc/$pid/task/$pid/children]
    set pids [concat $pid [read $f]]
    close $f
    return $pids
}
# Some of them may end meanwhile.
proc pg::pause {}  { foreach pid [Processes] { catch {exec kill -STOP $pid} } }
proc pg::resume {} { foreach pid [Processes] { catch {exec kill -CONT $pid} } }

proc pg::connection {{options ""}} {
    variable port
    return "host=127.0.0.1 port=$port dbname=test user=test $options"
}

proc pg::sqlIn {database text} {
    variable bin
    variable dir
    variable port
    exec timeout 300 $bin/psql -X -q -A -t -v ON_ERROR_STOP=1 -h $dir -p $port -U test -d $database -c $text
}
proc pg::sql {text} { sqlIn test $text }

proc pg::finish {} {
    variable dir
    if {$dir ne ""} {
        if {[file exists $dir/data/postmaster.pid]} {
            catch {resume}
            catch {stop}
        }
        file delete -force $dir
        set dir ""
    }
}
