# SPDX-License-Identifier: MPL-2.0
# mail-procs.tcl --
#
#       Mail.  A message is queued in the transaction that gives reason for it, so it is
#       there if and only if that has succeeded, and it stays until the mail server has
#       taken it.

namespace eval mail { variable maxAttempts 10 }

proc mail::queue {recipient subject body} {
    set now [ns_time]
    db::dml {
        insert into mail (recipient, subject, body, next_try, created)
        values (:recipient, :subject, :body, :now, :now)
    }
}

# Scheduled: send what is due.  A scheduled procedure never overlaps itself.
proc mail::sweep {} {
    variable maxAttempts
    set now [ns_time]
    foreach message [db::rows {
        select id, recipient, subject, body, n_attempts from mail
        where next_try <= :now and n_attempts < :maxAttempts order by id limit 200
    }] { Send $message }
}

proc mail::Send {message} {
    variable maxAttempts
    dict with message {
        try {
            ns_sendmail $recipient [site::parameter mailfrom] $subject $body
        } on error reason {
            # Twice the time with each attempt, up to an hour or so.
            incr n_attempts
            set nextTry [expr {[ns_time] + int([site::seconds mailinterval] * (1 << min($n_attempts, 10)))}]
            db::dml {update mail set n_attempts = :n_attempts, next_try = :nextTry where id = :id}
            ns_log [expr {$n_attempts < $maxAttempts ? "Warning" : "Error"}] \
                "mail: $id: not sent, attempt $n_attempts of $maxAttempts: $reason"
            return
        }
        db::dml {delete from mail where id = :id}
        ns_log Notice "mail: $id sent"
    }
}
