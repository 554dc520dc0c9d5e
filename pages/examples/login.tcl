# SPDX-License-Identifier: MPL-2.0
# login.tcl --
#
#       A log-in with a password, kept by a cookie that is signed: any server that has
#       the secret believes it, and nobody else can make one.

# Name -> salt, and the password's key: ns_crypto::scrypt -salt SALT -secret PASSWORD.
set users {
    demo {a4dd6a2d01c13b6a 6f868293f6cf4e9c563a4a740a96e490a7ddc0cdc40b89360063f349b3632145e8c9eb56e77cc4982743b96e5801e8c817164bec1a4547514dc521ed7b2c2356}
}
# Lives as long as the process; a site keeps it in a file that only the server can read.
set secret [nsv_set -default examples secret [ns_crypto::randombytes 32]]
set path [ns_conn url]

if {[ns_conn method] eq "POST" && [ns_queryget action] eq "logout"} {
    ns_deletecookie -path $path -- session
    return [ns_returnredirect $path]
}

set status 200
set problem ""
if {[ns_conn method] eq "POST"} {
    set name [ns_queryget name]
    # An unknown name takes as long as a wrong password.
    lassign [expr {[dict exists $users $name] ? [dict get $users $name] : "a4dd6a2d01c13b6a none"}] salt key
    if {[ns_crypto::scrypt -salt $salt -secret [string range [ns_queryget password] 0 99]] eq $key} {
        set token [ns_jwt encode -alg HS256 -secret $secret -sub $name -exp [expr {[clock seconds] + 3600}]]
        ns_setcookie -path $path -expires 1h -samesite strict -secure [expr {[ns_conn protocol] eq "https"}] -- session $token
        return [ns_returnredirect $path]
    }
    ns_log Notice "login.tcl: refused a log-in from [ns_conn peeraddr]"
    set status 403
    set problem [welcome::problem "This is not the name and password of a user."]
}

if {[catch {dict get [ns_jwt verify -alg HS256 -secret $secret -- [ns_getcookie session ""]] payload sub} name]} {
    set html {<p>You are a stranger. Name and password are <code>demo</code> and <code>demo</code>.</p>
<form method="post" class="stack">
<label for="name">Name</label><input id="name" name="name" autocomplete="username" required>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button>Log in</button>
</form>}
} else {
    set html "<p>You are logged in as <b>[ns_quotehtml $name]</b>, for an hour.</p>
<form method=\"post\"><button name=\"action\" value=\"logout\">Log out</button></form>"
}
welcome::reply $status "A log-in" $problem$html \
    "Some milliseconds of computing for each try of a password; for each page a signature, and no memory." \
    {crypto#keys-from-passwords crypto#json-web-tokens connection#cookies nsperm}
