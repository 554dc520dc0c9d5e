# SPDX-License-Identifier: MPL-2.0
# file-procs.tcl --
#
#       Files that visitors attach to posts.  They are below home/files, under names of
#       ours; what the visitor called them is data.

namespace eval file {}

# Keep the files of the form's field "files", for a post of the current transaction.
proc file::attach {postId} {
    foreach temporary [ns_getformfile files] name [ns_querygetall files] type [ns_querygetall files.content-type] {
        # A field in which no file was chosen.
        if {$temporary eq "" || $name eq ""} continue
        set name [::file tail [string map {\\ /} $name]]
        set bytes [::file size $temporary]
        set sha256 [ns_md file $temporary]
        set path [string range $sha256 0 1]/[ns_crypto::uuid]
        ::file mkdir [::file dirname [Full $path]]
        ::file rename $temporary [Full $path]
        db::dml {
            insert into attachment (post_id, name, mime_type, bytes, sha256, path)
            values (:postId, :name, :type, :bytes, :sha256, :path)
        }
        ns_log Notice "file: $bytes bytes for post $postId"
    }
}

proc file::Full {path} { return [ns_info home]/files/$path }

proc file::get {id} {
    set row [db::row {
        select f.name, f.mime_type, f.path, t.board_id from attachment f
        join post p on p.id = f.post_id join topic t on t.id = p.topic_id where f.id = :id
    }]
    if {$row eq ""} page::notFound
    return $row
}

# Pictures are shown; what might be a page is saved, so that no script in it is ours.
proc file::send {file} {
    dict with file {
        set headers [ns_conn outputheaders]
        set isPicture [regexp {^image/(png|jpeg|gif|webp)$} $mime_type]
        ns_set iupdate $headers Content-Disposition "[expr {$isPicture ? "inline" : "attachment"}]; filename*=UTF-8''[ns_urlencode -part oauth1 $name]"
        ns_set iupdate $headers Content-Type [expr {$isPicture ? $mime_type : "application/octet-stream"}]
        ns_set iupdate $headers Cache-Control "private, max-age=31536000, immutable"
        # A writer thread sends it, however slow the visitor is.
        ns_writer submitfile [Full $path]
    }
    page::stop
}

# Files of posts that failed, or are gone.
proc file::sweep {} {
    set yesterday [expr {[ns_time] - 86400}]
    foreach file [glob -nocomplain [Full *]/*] {
        set path [join [lrange [::file split $file] end-1 end] /]
        if {[::file mtime $file] < $yesterday && [db::value {select 1 from attachment where path = :path}] eq ""} {
            ::file delete $file
        }
    }
}
