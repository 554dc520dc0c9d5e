# SPDX-License-Identifier: MPL-2.0
# dirlist.tcl --
#
#       The listing of a directory without index file, where the server's
#       configuration allows it (directorylisting simple or fancy).

# _ns_dirlist --
#
#       Answer the current request with the entries of its directory.

proc _ns_dirlist {} {
    set url [ns_conn url]
    if {[string index $url end] ne "/"} {
        ns_returnredirect [_ns_dirurl $url]/
        return
    }
    set directory [ns_url2file $url]
    set section ns/server/[ns_info server]/fastpath
    set hide [ns_config -bool $section hidedotfiles true]
    set denied [ns_config $section denyfiles]
    set fancy [string equal [ns_config $section directorylisting none] fancy]

    set rows [_ns_dirrow $fancy .. [_ns_dirurl $url]../ "" ""]
    foreach name [lsort [_ns_dirnames $directory $hide]] {
        if {[_ns_dirmatch $name $denied]} {
            continue
        }
        if {[catch {file stat $directory/$name status}]} {
            continue
        }
        set target [_ns_dirurl $url][ns_urlencode -part path $name]
        if {$status(type) eq "directory"} {
            append name /
            append target /
        }
        append rows [_ns_dirrow $fancy $name $target \
            [expr {$status(size) / 1000 + 1}]K \
            [clock format $status(mtime) -format "%d-%b-%Y %H:%M"]]
    }
    if {$fancy} {
        set rows "<table>\n<tr align=\"left\"><th>File</th><th>Size</th><th>Date</th></tr>\n$rows</table>"
    } else {
        set rows "<pre>\n$rows</pre>"
    }
    set title [ns_quotehtml $url]
    ns_return 200 text/html "<!DOCTYPE html>
<html>
<head><title>$title</title></head>
<body>
<h1>$title</h1>
$rows
</body>
</html>
"
}

# _ns_dirnames --
#
#       The names in a directory, without . and .., and if asked to, without those
#       that begin with a dot.

proc _ns_dirnames {directory hide} {
    set names [glob -nocomplain -tails -directory $directory *]
    if {!$hide} {
        foreach name [glob -nocomplain -tails -directory $directory -types hidden *] {
            if {$name ni {. ..}} {
                lappend names $name
            }
        }
    }
    return $names
}

# _ns_dirmatch --
#
#       Whether a name matches one of the patterns.

proc _ns_dirmatch {name patterns} {
    foreach pattern $patterns {
        if {[string match $pattern $name]} {
            return 1
        }
    }
    return 0
}

# _ns_dirrow --
#
#       One line of a listing.

proc _ns_dirrow {fancy name target size date} {
    set link "<a href=\"[ns_quotehtml $target]\">[ns_quotehtml $name]</a>"
    if {$fancy} {
        return "<tr><td>$link</td><td align=\"right\">$size</td><td>$date</td></tr>\n"
    }
    return $link\n
}

# _ns_dirurl --
#
#       A decoded path as it stands in a link.

proc _ns_dirurl {path} {
    join [lmap segment [split $path /] {ns_urlencode -part path $segment}] /
}
