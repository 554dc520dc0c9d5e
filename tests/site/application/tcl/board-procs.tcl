# SPDX-License-Identifier: MPL-2.0
# board-procs.tcl --
#
#       Boards, topics and posts.

namespace eval board { variable pageSize 20 }

# --- Boards

# A list of dicts of id, name, about, n_posts.
proc board::all {} {
    ns_cache_eval commons boards { db::rows {select id, name, about, n_posts from board order by name} }
}
proc board::readable {} {
    lmap board [all] { if {![permission::has read [dict get $board id]]} continue; set board }
}

proc board::get {id} {
    foreach board [all] { if {[dict get $board id] == $id} { return $board } }
    page::notFound
}

# Who may use it: everybody reads and members write (open); members alone (members).
proc board::create {name about url {policy open}} {
    set now [ns_time]
    db::transaction {
        set id [db::value {insert into board (name, about, created) values (:name, :about, :now) returning id}]
        sitemap::mount $url board $id
        permission::grant $id members write
        if {$policy eq "open"} { permission::grant $id public read }
        db::onCommit ns_cache_flush commons boards
    }
    ns_log Notice "board: $id \"$name\" is at $url"
    return $id
}

# --- Topics

proc board::topics {boardId page} {
    variable pageSize
    ns_cache_eval commons "topics $boardId $page" {
        set offset [expr {$page * $pageSize}]
        set limit $pageSize
        db::rows {
            select t.id, t.title, t.n_posts, t.n_views, t.last_post, a.name as author
            from topic t join account a on a.id = t.account_id
            where t.board_id = :boardId order by t.last_post desc, t.id desc limit :limit offset :offset
        }
    }
}

proc board::topic {id} {
    set topic [db::row {
        select t.id, t.board_id, t.title, t.n_posts, t.n_views, b.name as board
        from topic t join board b on b.id = t.board_id where t.id = :id
    }]
    if {$topic eq ""} page::notFound
    return $topic
}

# The topics with the latest posts on boards that the visitor may read.
proc board::recent {limit} {
    set topics [ns_cache_eval -expires 1m commons recent {
        db::rows {select id, board_id, title, n_posts, last_post from topic order by last_post desc, id desc limit 50}
    }]
    set readable [lmap topic $topics { if {![permission::has read [dict get $topic board_id]]} continue; set topic }]
    return [lrange $readable 0 $limit-1]
}

# Views are counted in memory, and written down by a scheduled procedure.
proc board::countView {topicId} { nsv_incr views $topicId }
proc board::saveViews {} {
    foreach topicId [nsv_array names views] {
        set n [nsv_set -reset views $topicId]
        if {[catch {db::dml {update topic set n_views = n_views + :n where id = :topicId}} message options]} {
            nsv_incr views $topicId $n
            return -options $options $message
        }
    }
}

# --- Posts

proc board::posts {topicId} {
    ns_cache_eval commons "posts $topicId" {
        set posts [db::rows {
            select p.id, p.body, p.n_thanks, p.created, p.account_id, a.name as author
            from post p join account a on a.id = p.account_id where p.topic_id = :topicId order by p.id
        }]
        foreach row [db::rows {
            select f.id, f.post_id, f.name, f.mime_type, f.bytes
            from attachment f join post p on p.id = f.post_id where p.topic_id = :topicId order by f.id
        }] { dict lappend files [dict get $row post_id] $row }
        lmap post $posts {
            set id [dict get $post id]
            dict set post files [expr {[info exists files] && [dict exists $files $id] ? [dict get $files $id] : {}}]
        }
    }
}

# Files are those of a form's field "files".  The results are the topic's id and the post's.
proc board::addTopic {boardId accountId title body} {
    set now [ns_time]
    db::transaction {
        set id [db::value {
            insert into topic (board_id, account_id, title, last_post, created)
            values (:boardId, :accountId, :title, :now, :now) returning id
        }]
        addPost $boardId $id $accountId $body
    }
    return $id
}

proc board::addPost {boardId topicId accountId body} {
    set now [ns_time]
    db::transaction {
        # The topic's row first: others who write there wait for it, and so for nothing else.
        db::dml {update topic set n_posts = n_posts + 1, last_post = :now where id = :topicId}
        set id [db::value {
            insert into post (topic_id, account_id, body, created) values (:topicId, :accountId, :body, :now) returning id
        }]
        file::attach $id
        Notify $topicId $accountId $body
        subscribe $topicId $accountId
        db::dml {update board set n_posts = n_posts + 1 where id = :boardId}
        db::onCommit board::Changed $boardId $topicId
        db::onCommit news::publish $boardId [dict create topic $topicId post $id author [account::name $accountId] \
            title [db::value {select title from topic where id = :topicId}]]
    }
    ns_log Notice "board: post $id in topic $topicId by account $accountId"
    return $id
}

proc board::Changed {boardId topicId} {
    ns_cache_flush commons boards recent "posts $topicId"
    ns_cache_flush -glob commons "topics $boardId *"
}

proc board::Notify {topicId authorId body} {
    set topic [topic $topicId]
    set url [ns_conn location][sitemap::boardUrl [dict get $topic board_id]]/topic?id=$topicId
    foreach row [db::rows {
        select a.name, a.email, a.locale from subscription s join account a on a.id = s.account_id
        where s.topic_id = :topicId and a.id <> :authorId
    }] {
        dict with row {
            set words [list name $name author [account::name $authorId] title [dict get $topic title] url $url body $body]
            mail::queue $email [i18n::message $locale mail.post.subject {*}$words] [i18n::message $locale mail.post.body {*}$words]
        }
    }
}

proc board::subscribe {topicId accountId} {
    db::dml {insert into subscription (topic_id, account_id) values (:topicId, :accountId) on conflict do nothing}
}
proc board::unsubscribe {topicId accountId} {
    db::dml {delete from subscription where topic_id = :topicId and account_id = :accountId}
}
proc board::isSubscribed {topicId accountId} {
    expr {[db::value {select 1 from subscription where topic_id = :topicId and account_id = :accountId}] ne ""}
}

# Everybody thanks for a post once.
proc board::thank {postId accountId} {
    db::transaction {
        set row [db::row {select t.id, t.board_id from post p join topic t on t.id = p.topic_id where p.id = :postId}]
        if {$row eq ""} page::notFound
        permission::require read [dict get $row board_id]
        set isNew [llength [db::rows {
            insert into thanks (post_id, account_id) values (:postId, :accountId) on conflict do nothing returning post_id
        }]]
        if {$isNew} { db::dml {update post set n_thanks = n_thanks + 1 where id = :postId} }
        db::onCommit ns_cache_flush commons "posts [dict get $row id]"
    }
    return [dict get $row id]
}

proc board::search {words} {
    set pattern %[string map {\\ \\\\ % \\% _ \\_} [string tolower $words]]%
    set rows [db::rows {
        select p.id, p.body, p.created, t.id as topic_id, t.title, t.board_id, a.name as author
        from post p join topic t on t.id = p.topic_id join account a on a.id = p.account_id
        where lower(p.body) like :pattern escape '\' or lower(t.title) like :pattern escape '\'
        order by p.id desc limit 100
    }]
    return [lmap row $rows { if {![permission::has read [dict get $row board_id]]} continue; set row }]
}
