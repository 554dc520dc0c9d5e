# SPDX-License-Identifier: MPL-2.0
# portlet-procs.tcl --
#
#       The boxes of the home page, as objects: with TclOO, or with NX where the package
#       nsf is installed.  They are made once, at the start, and every thread has them.
#
#       [::portlet::NAME html] is a box.  All there are is in portlet::all.

namespace eval portlet { variable all {} }

proc portlet::all {} {
    variable all
    return $all
}

proc portlet::Add {name class title} {
    variable all
    lappend all ::portlet::$name
    switch [site::parameter objects] {
        tcloo { ::portlet::$class create ::portlet::$name $title }
        nx    { ::portlet::$class create ::portlet::$name -title $title }
    }
}

# What both kinds of objects show.
proc portlet::Recent {} {
    set rows ""
    foreach topic [board::recent 8] {
        append rows "<li><a href=\"[sitemap::boardUrl [dict get $topic board_id]]/topic?id=[dict get $topic id]\">[h [dict get $topic title]]</a> <span class=\"faint\">[site::time [dict get $topic last_post]]</span></li>\n"
    }
    return [expr {$rows eq "" ? "<p class=\"faint\">[_ portlet.nothing]</p>" : "<ul class=\"plain\">\n$rows</ul>"}]
}
proc portlet::Online {} {
    set names [account::online]
    if {$names eq ""} { return "<p class=\"faint\">[_ portlet.nobody]</p>" }
    return [site::people $names]
}
proc portlet::Numbers {} {
    set numbers [ns_cache_eval -expires 10s commons numbers {
        db::row {select (select count(*) from account) as members, (select count(*) from topic) as topics, (select count(*) from post) as posts}
    }]
    set items ""
    dict for {name n} $numbers { append items "<div><dt>[_ portlet.$name]</dt><dd>$n</dd></div>" }
    return "<dl class=\"numbers\">$items</dl>"
}

# Classes and objects, of which every thread then has a copy.
proc portlet::init {} {
    switch [site::parameter objects] {
        tcloo {
            oo::class create ::portlet::Box {
                variable title
                constructor {key} { set title $key }
                method body {} { return "" }
                method html {} {
                    return "<section class=\"box\"><h2>[h [_ $title]]</h2>\n[my body]\n</section>\n"
                }
            }
            foreach name {Recent Online Numbers} {
                oo::class create ::portlet::${name}Box [subst -nocommands {
                    superclass ::portlet::Box
                    method body {} { ::portlet::$name }
                }]
            }
        }
        nx {
            package require nx
            nx::Class create ::portlet::Box {
                :property title:required
                :public method body {} { return "" }
                :public method html {} {
                    return "<section class=\"box\"><h2>[h [_ ${:title}]]</h2>\n[:body]\n</section>\n"
                }
            }
            foreach name {Recent Online Numbers} {
                nx::Class create ::portlet::${name}Box -superclasses ::portlet::Box [subst -nocommands {
                    :public method body {} { ::portlet::$name }
                }]
            }
        }
    }
    Add recent  RecentBox  portlet.recent
    Add online  OnlineBox  portlet.online
    Add numbers NumbersBox portlet.numbers
}
