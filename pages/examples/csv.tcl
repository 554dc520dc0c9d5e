# SPDX-License-Identifier: MPL-2.0
# csv.tcl --
#
#       A long table, sent while it is made: the first line leaves at once, and memory
#       never holds more than a piece of it.

set rows [ns_queryget rows]
if {$rows eq ""} {
    return [welcome::reply "A streamed table" {<form method="get" class="line">
<label for="rows">Lines</label>
<input id="rows" name="rows" type="number" min="1" max="1000000" value="100000" required>
<button>Download</button>
</form>} "A connection thread while it is made; what a slow client has not taken waits on disk, in maxspool." \
        {replies#piece-by-piece drivers}]
}
if {![string is integer -strict $rows] || $rows < 1 || $rows > 1000000} {
    return [ns_returnbadrequest "The number of lines is from 1 to 1000000."]
}

# A field may hold commas, quotes and line breaks: it stands in quotes, and its quotes are
# doubled.
set line {{fields} {
    return [join [lmap field $fields { string cat \" [string map {\" \"\"} $field] \" }] ,]\r\n
}}

ns_set update [ns_conn outputheaders] Content-Disposition "attachment; filename=\"squares.csv\""
ns_headers 200 "text/csv; charset=utf-8; header=present"
set piece [apply $line {number square says}]
for {set n 1} {$n <= $rows} {incr n} {
    append piece [apply $line [list $n [expr {$n * $n}] "\"$n\", squared"]]
    if {[string length $piece] > 50000} {
        # 0: the client has gone.
        if {![ns_write $piece]} return
        set piece ""
    }
}
ns_write $piece
