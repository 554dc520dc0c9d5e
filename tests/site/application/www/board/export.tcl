# SPDX-License-Identifier: MPL-2.0
# All posts of a board as CSV: sent while they are read, so that a large board needs no
# more memory than a small one.

set boardId [dict get [conn node] board_id]
ns_set iupdate [ns_conn outputheaders] Content-Disposition "attachment; filename=posts-$boardId.csv"
ns_headers 200 "text/csv; charset=utf-8"
ns_write "post,topic,author,created,body\r\n"
db::foreach {
    select p.id, t.title, a.name, p.created, p.body
    from post p join topic t on t.id = p.topic_id join account a on a.id = p.account_id
    where t.board_id = :boardId order by p.id
} {
    ns_write "[join [lmap value [list $id $title $name $created $body] { string cat \" [string map {\" \"\"} $value] \" }] ,]\r\n"
}
page::stop
