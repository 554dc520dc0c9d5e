# SPDX-License-Identifier: MPL-2.0
# development.tcl --
#
#       Live reload (parameters development and livereload): what the server does when
#       files have changed, and the pages that listen for it.
#
#       The array of shared variables _ns_development has `version`, that of the last
#       change, and `problem`, why the libraries could not be reloaded; the array
#       _ns_developmentchannels a variable for each page that listens.

# _ns_devchanged --
#
#       Something has changed, libraries among them or not.

proc _ns_devchanged {libraries version} {
    if {[llength $libraries] > 0} {
        set names [join [lmap file $libraries { file tail $file }] ", "]
        if {[info commands ::nsd::ctl::ReloadLibraries] eq ""} {
            uplevel #0 [list source [file join [ns_library shared] ctl libraries.tcl]]
        }
        if {[catch { ::nsd::ctl::ReloadLibraries } message]} {
            ns_log Error "tcl\[[ns_info server]\]: libraries are not reloaded and stay as they were,\
                after a change of $names: $message; correct the file"
            nsv_set _ns_development problem $message
        } else {
            ns_log Notice "tcl\[[ns_info server]\]: libraries are reloaded, after a change of $names"
            nsv_set _ns_development problem ""
        }
    }
    nsv_set _ns_development version $version
    set event [_ns_devevent $version]
    foreach channel [nsv_array names _ns_developmentchannels] {
        if {[catch { ns_connchan write $channel $event }]} { _ns_devgone $channel error }
    }
}

# _ns_devlisten --
#
#       Answers with the script, or, if that asks, with the present version and, by and by,
#       later ones.  The connection leaves its thread.  A stream of HTTP/2 cannot do that:
#       it ends at once, and the browser asks again every second.

proc _ns_devlisten {version} {
    if {![_ns_islocal]} {
        ns_returnnotfound
        return
    }
    ns_set update [ns_conn outputheaders] Cache-Control no-store
    if {![string match *text/event-stream* [ns_set iget [ns_conn headers] Accept ""]]} {
        ns_return 200 "text/javascript; charset=utf-8" [_ns_devscript]
        return
    }
    if {[ns_conn version] >= 2} {
        ns_return 200 "text/event-stream; charset=utf-8" "retry: 1000\n[_ns_devevent $version]"
        return
    }
    set head "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n"
    set channel [ns_connchan detach]
    # A change from now on is told; one before may have come since the request.
    nsv_set _ns_developmentchannels $channel 1
    if {[nsv_exists _ns_development version]} {
        set last [nsv_get _ns_development version]
        if {[lindex [split $last .] end] > [lindex [split $version .] end]} { set version $last }
    }
    if {[catch {
        ns_connchan write $channel "${head}retry: 1000\n[_ns_devevent $version]"
        ns_connchan callback $channel [list _ns_devgone $channel] rex
    }]} {
        _ns_devgone $channel error
    }
}

# A browser that listens says nothing more: it has left.
proc _ns_devgone {channel reason} {
    nsv_unset -nocomplain _ns_developmentchannels $channel
    catch { ns_connchan close $channel }
    return 0
}

proc _ns_devevent {version} {
    set event "data: $version\n\n"
    set problem [_ns_devproblem]
    if {$problem ne ""} {
        append event "event: problem\n"
        foreach line [split $problem \n] { append event "data: $line\n" }
        append event \n
    }
    return [encoding convertto utf-8 $event]
}

# Why the libraries are not as their files are; or "".
proc _ns_devproblem {} {
    return [expr {[nsv_exists _ns_development problem] ? [nsv_get _ns_development problem] : ""}]
}

# Pages that change themselves by being shown would do so for ever: ten times in ten
# seconds is enough.
proc _ns_devscript {} {
    return {"use strict";
(() => {
    const here = new URL(document.currentScript.src);
    const version = here.search.slice(1);
    const key = "nsd reloads";
    let box = null;
    function tell(text) {
        box?.remove();
        box = document.createElement("pre");
        box.setAttribute("role", "alert");
        box.textContent = text;
        Object.assign(box.style, {
            position: "fixed", insetInline: "0", bottom: "0", margin: "0", padding: "0.75rem", zIndex: "2147483647",
            whiteSpace: "pre-wrap", overflowWrap: "anywhere", font: "0.9rem/1.4 monospace", color: "#fff", background: "#8b0000",
        });
        document.body.append(box);
    }
    function reload() {
        const now = Date.now();
        const times = JSON.parse(sessionStorage.getItem(key) || "[]").filter(time => now - time < 10000);
        if (times.length >= 10) {
            tell("This page has reloaded itself ten times in ten seconds: it changes files that it is made of.");
            return;
        }
        sessionStorage.setItem(key, JSON.stringify([...times, now]));
        location.reload();
    }
    const source = new EventSource(here.pathname);
    source.addEventListener("message", event => {
        if (event.data !== version) { source.close(); reload(); }
    });
    source.addEventListener("problem", event => tell("The libraries could not be reloaded:\n" + event.data));
    addEventListener("pagehide", () => source.close());
})();
}
}
