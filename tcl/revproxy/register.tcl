# SPDX-License-Identifier: MPL-2.0
# register.tcl --
#
#       revproxy: what the configuration passes on.

# Each section ns/server/S/module/revproxy/NAME is a server to which requests go.
proc revproxy::Register {} {
    set path ns/server/[ns_info server]/module/revproxy
    foreach section [ns_configsections] {
        if {![string match $path/* [ns_set name $section]]} continue
        set call [list ::revproxy::upstream]
        set maps {}
        set constraints {}
        for {set i 0} {$i < [ns_set size $section]} {incr i} {
            set value [ns_set value $section $i]
            switch [string tolower [ns_set key $section $i]] {
                map { lappend maps $value }
                constraints { set constraints $value }
                insecure { if {$value} { lappend call -insecure } }
                default { lappend call -[string tolower [ns_set key $section $i]] $value }
            }
        }
        # Errors of the configuration show at the start.
        Options [lrange $call 1 end]
        foreach map $maps {
            lassign $map methods url options
            if {$methods eq "*"} { set methods {GET HEAD POST PUT PATCH DELETE OPTIONS} }
            if {$constraints ne ""} { lappend options -constraints $constraints }
            foreach method $methods { ns_register_proc {*}$options $method $url $call }
        }
    }
    namespace eval :: [ns_config $path register]
}
revproxy::Register
