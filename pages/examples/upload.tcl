# SPDX-License-Identifier: MPL-2.0
# upload.tcl --
#
#       A form with files, how far they are while they arrive, and what came.

# The first bytes of a file as text; what cannot be shown becomes a dot.
set excerpt {{file} {
    set channel [open $file rb]
    set bytes [read $channel 400]
    close $channel
    return [regsub -all {[^\n\t\u0020-\u007e\u00a0-\uffff]} [encoding convertfrom utf-8 $bytes] .]
}}

# The script asks for this while the upload runs.
if {[ns_queryexists progress]} {
    return [ns_return 200 application/json "\[[join [ns_upload_stats [ns_queryget progress]] {, }]\]"]
}

set limit [ns_config -int ns/server/[ns_info server]/module/[ns_conn driver] maxinput 1048576]
set html "<form method=\"post\" enctype=\"multipart/form-data\" class=\"stack\">
<label for=\"note\">A note</label><input id=\"note\" name=\"note\" maxlength=\"200\">
<label for=\"file\">A file</label><input id=\"file\" name=\"file\" type=\"file\">
<button>Send</button>
<progress hidden aria-label=\"Upload\"></progress>
</form>
<p class=\"note\">At most [format %.0f [expr {$limit / 1048576.0}]] MB, the driver's <code>maxinput</code>; more gets 413.</p>\n"

if {[ns_conn method] eq "POST"} {
    set form [ns_getform]
    set fields [list "Size of the request" "[ns_conn contentlength] bytes"]
    set shown ""
    foreach {name value} [ns_set array $form] {
        if {[regexp {\.(tmpfile|content-type)$} $name]} continue
        if {$name ni [ns_conn files]} { lappend fields $name $value; continue }
        append shown "<h3>[ns_quotehtml $name]</h3>\n" [welcome::table [list "File name" $value \
            "Content type" [ns_set get $form $name.content-type] "Size" "[ns_conn filelength $name] bytes"]] \
            "<pre tabindex=\"0\">[ns_quotehtml [apply $excerpt [ns_getformfile $name]]]</pre>\n"
    }
    append html "<h2>What arrived</h2>\n[welcome::table $fields]$shown"
}
welcome::reply "A form with a file" $html "No thread while it arrives; a connection thread when it is complete.\
    What is larger than readahead is on disk." {forms#large-uploads drivers parameters} \
    {<script type="module" src="upload.js"></script>} upload.js
