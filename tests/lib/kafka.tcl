# SPDX-License-Identifier: MPL-2.0
# kafka.tcl --
#
#       A Kafka broker of a test's own: one process that is its own controller.
#
#       kafka::reason                   why there can be none here; "" if there can
#       kafka::create ?LINES?           a directory and ports, more lines for its properties;
#                                       does not start it
#       kafka::start, kafka::stop       both return when it is done; kafka::kill: SIGKILL
#       kafka::pause, kafka::resume     SIGSTOP and SIGCONT
#       kafka::brokers                  HOST:PORT
#       kafka::read TOPIC ?FORMAT?      the committed messages, as lines
#       kafka::makeTopic TOPIC ?N?      with N partitions
#       kafka::producerEpoch ID         how often a producer has taken the transactional id
#       kafka::finish                   stops it and removes everything

package require Tcl 8.6

namespace eval kafka {
    variable jars [exec [file join [file dirname [info script]] .. .. tools kafka] -where]/lib
    variable dir ""
    variable port ""
    variable channel ""
}

proc kafka::reason {} {
    variable jars
    if {[auto_execok java] eq ""} { return "there is no java" }
    if {[auto_execok kcat] eq ""} { return "there is no kcat" }
    if {[glob -nocomplain $jars/kafka_2.13-*.jar] eq ""} { return "tools/kafka has not been run" }
    return ""
}

# A small heap, quick to start.
proc kafka::java {args} {
    variable jars
    list java -Xmx384m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp $jars/* {*}$args
}

proc kafka::create {{lines ""}} {
    variable dir
    variable port
    set dir [string trim [exec mktemp -d --tmpdir nsd-kafka-XXXXXX]]
    set port [freePort]
    set control [freePort]
    writeFile $dir/properties "process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$control
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$control
advertised.listeners=PLAINTEXT://127.0.0.1:$port
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs=$dir/data
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
$lines
"
    exec {*}[java kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAA -c $dir/properties] 2>@1
}

proc kafka::start {} {
    variable dir
    variable channel
    set channel [open "|[java kafka.Kafka $dir/properties] >> $dir/log 2>@1" w]
    set end [expr {[clock milliseconds] + 300000}]
    while {[catch {exec timeout 10 kcat -b [brokers] -L 2>@1} message]} {
        if {[clock milliseconds] > $end || ![file exists /proc/[pid $channel]/exe]} {
            error "Kafka does not start: $message\n[exec tail -n 20 $dir/log]"
        }
        after 100
    }
}

proc kafka::End {signal} {
    variable channel
    exec kill -$signal [pid $channel]
    catch {close $channel}
    set channel ""
}
proc kafka::stop {} { End TERM }
proc kafka::kill {} { End KILL }
proc kafka::pause {} { variable channel; exec kill -STOP [pid $channel] }
proc kafka::resume {} { variable channel; if {$channel ne ""} { exec kill -CONT [pid $channel] } }
proc kafka::brokers {} { variable port; return 127.0.0.1:$port }

proc kafka::read {topic {format {%s\n}}} {
    exec timeout 300 kcat -b [brokers] -C -e -q -o beginning -X isolation.level=read_committed -t $topic -f $format
}

# A topic is made by whoever first asks for it; this one has more partitions.
proc kafka::makeTopic {topic {n 1}} {
    exec {*}[java org.apache.kafka.tools.TopicCommand --bootstrap-server [brokers] --create --topic $topic \
        --partitions $n] 2>@1
}

# From the coordinator's own log.
proc kafka::producerEpoch {id} {
    variable dir
    set epoch -1
    foreach file [lsort [glob $dir/data/__transaction_state-0/*.log]] {
        set text [exec {*}[java kafka.tools.DumpLogSegments --transaction-log-decoder --files $file] 2>@1]
        set all [regexp -all -inline -line "transactionalId=[string map {. \\.} $id] payload: .*producerEpoch:(\\d+)" $text]
        if {$all ne ""} { set epoch [lindex $all end] }
    }
    if {$epoch < 0} { error "no transactional id $id" }
    return $epoch
}

proc kafka::finish {} {
    variable dir
    variable channel
    if {$channel ne ""} {
        catch {resume}
        catch {kill}
    }
    if {$dir ne ""} { file delete -force $dir }
    set dir ""
}
