# upload.tcl --
#
#       A form with files, and what arrived of it.

# The first bytes of a file as text; what cannot be shown becomes a dot.
set excerpt {{file} {
    set channel [open $file rb]
    set bytes [read $channel 400]
    close $channel
    return [regsub -all {[^\n\t\u0020-\u007e\u00a0-\uffff]} \
                [encoding convertfrom utf-8 $bytes] .]
}}

set html [welcome::top "A form with a file"]
append html {<h1>A form with a file</h1>
<form method="post" enctype="multipart/form-data" class="stack">
<label for="note">A note</label>
<input id="note" name="note" maxlength="200">
<label for="file">A file</label>
<input id="file" name="file" type="file">
<button>Send</button>
</form>
}

# What is larger than maxinput of the driver is refused with 413.
set driver ns/server/[ns_info server]/module/[ns_conn driver]
set limit [ns_config -int $driver maxinput 1048576]
append html "<p class=\"note\">Note and file together may have [format %.0f [expr {$limit / 1048576.0}]] MB: <code>maxinput</code> of the driver.</p>\n"

if {[ns_conn method] eq "POST"} {
    set form [ns_getform]
    set files [ns_conn files]
    append html "<h2>What arrived</h2>\n"
    set fields [list "Size of the request" "[ns_conn contentlength] bytes"]
    foreach {name value} [ns_set array $form] {
        if {$name in $files || [regexp {\.(tmpfile|content-type)$} $name]} continue
        lappend fields $name $value
    }
    append html [welcome::table $fields]

    foreach name $files {
        append html "<h3>[ns_quotehtml $name]</h3>\n" [welcome::table [list \
            "File name"    [ns_set get $form $name] \
            "Content type" [ns_set get $form $name.content-type] \
            "Size"         "[ns_conn filelength $name] bytes"]] \
            "<pre tabindex=\"0\">[ns_quotehtml [apply $excerpt [ns_getformfile $name]]]</pre>\n"
    }
}

append html [welcome::source [ns_url2file [ns_conn url]]] [welcome::bottom]
ns_return 200 text/html $html
