# SPDX-License-Identifier: MPL-2.0
# page.tcl --
#
#       Blocks as HTML, and the page around them.  The page needs nothing but itself:
#       it also gives its own style sheet and script.

#
# Answer a request for the monitor.
#
proc nsstats::answer {} {
    if {![isEnabled]} {
        ns_returnnotfound
        return
    }
    if {![admit]} return
    set start [clock microseconds]
    set headers [ns_conn outputheaders]
    ns_set update $headers Content-Security-Policy \
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ns_set update $headers X-Content-Type-Options nosniff
    ns_set update $headers Referrer-Policy no-referrer
    switch -- [ns_queryget part] {
        style  { ns_return 200 "text/css; charset=utf-8" [style]; return }
        icon   {
            ns_return 200 image/svg+xml {<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M1 12l4-6 3 4 3-7 4 9" fill="none" stroke="#0f766e" stroke-width="2"/></svg>}
            return
        }
        script { ns_return 200 "text/javascript; charset=utf-8" [script]; return }
    }
    ns_set update $headers Cache-Control no-store
    if {[ns_conn method] eq "POST"} {
        act
        return
    }
    set view [ns_queryget view overview]
    if {$view ni [names]} {
        ns_return 404 text/html [Page "" "[Html-note [note "There is no such view."]][Html-links [links {{To the overview} {view overview}}]]"]
        return
    }
    set blocks [arranged [view $view] [ns_queryget sort]]
    if {[ns_queryget part] eq "json"} {
        ns_return 200 application/json [json $blocks]
        return
    }
    set html ""
    set said [said]
    if {$said ne ""} { append html "<p class=\"said\" role=\"status\">[ns_quotehtml $said]</p>\n" }
    set i -1
    foreach block $blocks {
        append html "<section data-block=\"[incr i]\" data-kind=\"[dict get $block kind]\">\n" \
            [Html-[dict get $block kind] $block $i] "</section>\n"
    }
    append html "<footer>Made in [ns_quotehtml [Duration [expr {([clock microseconds] - $start) / 1e6}]]].</footer>\n"
    ns_return 200 text/html [Page $view $html]
}

#
# A link to this page, as an attribute: the query as it is, with some of it changed.
#
proc nsstats::Link {changes} {
    set query {}
    foreach key {view sort range all stack log severity since find skip show server method url} {
        set value [expr {[dict exists $changes $key] ? [dict get $changes $key] : [ns_queryget $key]}]
        if {$value ne ""} { lappend query "$key=[ns_urlencode $value]" }
    }
    return [ns_quotehtml [lindex [ns_conn urlv] end]?[join $query &]]
}

proc nsstats::Page {view content} {
    set self [ns_quotehtml [lindex [ns_conn urlv] end]]
    set links ""
    set title Monitor
    foreach {name label} [titles] {
        set mark ""
        if {$name eq $view} {
            set mark { aria-current="page"}
            set title $label
        }
        append links "<li><a href=\"$self?view=$name\"$mark>$label</a></li>\n"
    }
    set places {<a href="/">Site</a>}
    if {[info commands ::welcome::manualUrl] ne ""} {
        append places { <a href="/manual.tcl?page=monitoring">Manual</a>}
    }
    set token [expr {[mayAct] ? " data-token=\"[token]\"" : ""}]
    set host [ns_quotehtml [ns_info hostname]]
    set facts [ns_quotehtml "nsd [ns_info release], process [ns_info pid], running for [Duration [ns_info uptime]]"]
    return [subst -nocommands -nobackslashes {<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>$title · $host</title>
<link rel="icon" href="$self?part=icon" type="image/svg+xml">
<link rel="stylesheet" href="$self?part=style">
<script src="$self?part=script" defer></script>
</head>
<body>
<header><a class="brand" href="$self">$host</a><span>$facts</span>
<span class="places">$places <button type="button" id="live" hidden>Pause</button></span></header>
<nav aria-label="Views"><ul>
$links</ul></nav>
<main data-view="$view"$token>
<h1>$title</h1>
$content</main>
</body>
</html>
}]
}

proc nsstats::Html-figures {block {i 0}} {
    set html "<dl>\n"
    foreach {label type value} [dict get $block items] {
        set shown [ns_quotehtml [Text $type $value]]
        set query [expr {[dict exists $block marks $label] ? [lindex [dict get $block marks $label] 1] : ""}]
        set class [expr {[IsBad $block $label $value] ? { class="bad"} : ""}]
        append html "<div><dt>[ns_quotehtml $label]</dt><dd$class>" \
            [expr {$query eq "" ? "<span>$shown</span>" : "<a href=\"[Query $query]\">$shown</a>"}] "</dd></div>\n"
    }
    return "$html</dl>\n"
}

#
# A link to this page with this query alone, as an attribute.
#
proc nsstats::Query {query} { return [ns_quotehtml [lindex [ns_conn urlv] end]?[QueryText $query]] }

proc nsstats::Html-choices {block {i 0}} {
    set html ""
    foreach {value text} [dict get $block items] {
        set mark [expr {$value eq [dict get $block value] ? { aria-current="true"} : ""}]
        append html "<li><a href=\"[Link [list [dict get $block name] $value]]\"$mark>[ns_quotehtml $text]</a></li>"
    }
    set label [ns_quotehtml [dict get $block label]]
    return "<div class=\"choices\"><span>$label</span><ul aria-label=\"$label\">$html</ul></div>\n"
}

proc nsstats::Html-button {block {i 0}} { return "[Button [dict get $block action]]\n" }

#
# A form of one button: its label, what it does and to what.
#
proc nsstats::Button {action} {
    if {$action eq ""} { return "" }
    lassign $action label does what
    set title [ns_quotehtml [string trim "$label $what"]]
    return "<form method=\"post\"><input type=\"hidden\" name=\"token\" value=\"[token]\"><input type=\"hidden\" name=\"action\" value=\"$does\"><input type=\"hidden\" name=\"what\" value=\"[ns_quotehtml $what]\"><button aria-label=\"$title\">[ns_quotehtml $label]</button></form>"
}

proc nsstats::Html-links {block {i 0}} {
    set html ""
    foreach {text query} [dict get $block items] { append html "<a href=\"[Query $query]\">[ns_quotehtml $text]</a> " }
    return "<p>$html</p>\n"
}

proc nsstats::Html-table {block {i 0}} {
    set columns [dict get $block columns]
    set html ""
    if {[dict get $block title] ne ""} { append html "<h2>[ns_quotehtml [dict get $block title]]</h2>\n" }
    set isEmpty [expr {[llength [dict get $block rows]] == 0}]
    append html "<div class=\"scroll\" tabindex=\"0\"[expr {$isEmpty ? " hidden" : ""}]><table>\n<thead><tr>"
    set column -1
    foreach {head type} $columns { append html [Head $i [incr column] $head $type [dict get $block order]] }
    append html "</tr></thead>\n<tbody>\n"
    foreach row [dict get $block rows] {
        append html <tr>
        foreach {head type} $columns cell [Cells $columns $row] value [lrange $row 0 [expr {[llength $columns] / 2 - 1}]] {
            append html "<td[Class $type $cell]>[Content $type $cell $value]</td>"
        }
        append html "</tr>\n"
    }
    append html "</tbody></table></div>\n"
    append html "<p class=\"none\"[expr {$isEmpty ? "" : " hidden"}]>[ns_quotehtml [dict get $block none]]</p>\n"
    if {[dict get $block more] > 0} { append html "<p class=\"faint\">And [dict get $block more] more.</p>\n" }
    return $html
}

#
# What stands in a cell: its text, with what its type adds.
#
proc nsstats::Content {type cell value} {
    set text [ns_quotehtml $cell]
    switch -- $type {
        use {
            if {[regexp {^[\d.]+} $cell percent]} {
                return "<progress max=\"100\" value=\"$percent\" aria-hidden=\"true\"></progress> $text"
            }
        }
        link   { if {[lindex $value 1] ne ""} { return "<a href=\"[Query [lindex $value 1]]\">$text</a>" } }
        action { return [Button $value] }
    }
    return $text
}

#
# Numbers stand on the right; they, times and lines are not broken.
#
proc nsstats::Class {type {cell ""}} {
    switch -- $type {
        text    { return "" }
        wide    { return { class="w"} }
        link    { return { class="l k"} }
        action  { return { class="a"} }
        trouble { return " class=\"n t[expr {$cell ni {"" 0 –} ? " bad" : ""}]\"" }
        line    { return { class="l"} }
        word    { return " class=\"v[expr {[regexp {^\w+$} $cell] ? " $cell" : ""}]\"" }
        use     { return { class="n u"} }
        clock   { return { class="c"} }
        default { return { class="n"} }
    }
}

#
# The head of a column leads to the page that is sorted by it.
#
proc nsstats::Head {table column head type order} {
    set next [expr {[IsText $type] ? "up" : "down"}]
    set mark ""
    if {[lindex $order 0] eq $column} {
        set isUp [expr {[lindex $order 1] eq "up"}]
        set next [expr {$isUp ? "down" : "up"}]
        set mark " aria-sort=\"[expr {$isUp ? "ascending" : "descending"}]\""
    }
    if {$head eq ""} { return "<td[Class $type]></td>" }
    return "<th scope=\"col\"$mark[Class $type]><a href=\"[Link [list sort $table.$column.$next]]\">[ns_quotehtml $head]</a></th>"
}

proc nsstats::Html-chart {block {i 0}} {
    set type [dict get $block type]
    lassign [Lines $type [dict get $block series] [dict get $block labels]] lines top bottom
    set legend ""
    set drawing ""
    set facts {}
    set n -1
    foreach {label values} [dict get $block series] points $lines {
        lappend facts "$label [Text $type [lindex $values end]], at most [Text $type [::tcl::mathfunc::max 0 {*}$values]]"
        append legend "<li class=\"s[incr n]\">[ns_quotehtml $label] <b>[
            ns_quotehtml [Text $type [lindex $values end]]]</b></li>"
        append drawing "<polyline class=\"s$n\" points=\"$points\"/>\n"
    }
    set axis ""
    foreach label [dict get $block axis] { append axis "<span>[ns_quotehtml $label]</span>" }
    set title [ns_quotehtml [dict get $block title]]
    return "<h2>$title</h2>
<ul class=\"legend\">$legend</ul>
<figure><span class=\"top\">[ns_quotehtml [Text $type $top]]</span>
<svg viewBox=\"0 0 300 80\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"$title: [ns_quotehtml [join $facts {; }]]\">
<path d=\"M0 2H300M0 40H300M0 78H300\"/>
$drawing</svg>
<span class=\"bottom\">[ns_quotehtml [Bottom $type $bottom]]</span>
<figcaption>$axis</figcaption></figure>
"
}

proc nsstats::Html-bars {block {i 0}} {
    lassign [Shown [dict get $block counts]] counts most
    set rows ""
    foreach {label n} $counts {
        append rows "<tr><th scope=\"row\">[ns_quotehtml $label]</th>" \
            "<td><progress max=\"$most\" value=\"$n\" aria-hidden=\"true\"></progress></td>" \
            "<td class=\"n\">[ns_quotehtml [Text count $n]]</td></tr>\n"
    }
    return "<h2>[ns_quotehtml [dict get $block title]]</h2>
<figure><table class=\"bars\"><tbody>
$rows</tbody></table></figure>
"
}

proc nsstats::Html-alerts {block {i 0}} {
    set sentences [dict get $block sentences]
    set html ""
    foreach sentence $sentences { append html "<li>[ns_quotehtml $sentence]</li>\n" }
    return "<div role=\"status\"><ul class=\"alerts\"[expr {$sentences eq "" ? " hidden" : ""}]>$html</ul></div>\n"
}

proc nsstats::Html-note {block {i 0}} {
    return "<p class=\"faint\">[ns_quotehtml [dict get $block text]]</p>\n"
}

proc nsstats::Html-form {block {i 0}} {
    set html "<form method=\"get\"><input type=\"hidden\" name=\"view\" value=\"[dict get $block view]\">\n"
    foreach {name label value choices} [dict get $block fields] {
        append html "<label>[ns_quotehtml $label] "
        if {$name eq "since"} {
            append html "<input type=\"datetime-local\" name=\"$name\" value=\"[ns_quotehtml $value]\">"
        } elseif {[llength $choices] == 0} {
            append html "<input type=\"search\" name=\"$name\" value=\"[ns_quotehtml $value]\">"
        } else {
            append html "<select name=\"$name\">"
            foreach {choice text} $choices {
                set mark [expr {$choice eq $value ? " selected" : ""}]
                append html "<option value=\"[ns_quotehtml $choice]\"$mark>[ns_quotehtml $text]</option>"
            }
            append html "</select>"
        }
        append html "</label>\n"
    }
    return "$html<button>Show</button></form>\n"
}

proc nsstats::style {} {
    return {:root {
    --page: #fbfbf9; --card: #fff; --text: #17211f; --faint: #5b6764; --line: #dfe4e1;
    --s0: #0f766e; --s1: #b45309; --s2: #4338ca; --s3: #be123c;
}
@media (prefers-color-scheme: dark) {
    :root {
        --page: #111719; --card: #192123; --text: #e4eae8; --faint: #9aa8a5; --line: #2c383a;
        --s0: #2dd4bf; --s1: #fbbf24; --s2: #a5b4fc; --s3: #fb7185;
    }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, "Segoe UI", Roboto, sans-serif; }
header { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: baseline; padding: .75rem 1rem; }
header .brand { font-weight: 700; font-size: 1.1rem; color: var(--text); text-decoration: none; }
header span, .faint, .none { color: var(--faint); }
header .places { display: flex; gap: 1rem; align-items: baseline; margin-left: auto; }
header .places a, footer { color: var(--faint); }
footer { font-size: .8rem; margin-top: 1.5rem; }
.stale #live { color: var(--s3); border-color: var(--s3); }
.bad, .v.Error, .v.Fatal, .v.Bug, .v.Alert, .v.Security, .v.stalled, .v.failing, .v.late, .v.expired, .v.unknown, .v.failed { color: var(--s3); font-weight: 600; }
.bad::before { content: "⚠ "; }
.v.Warning, .v.prunes, .v.soon, .v.queued { color: var(--s1); font-weight: 600; }
.v.changed { font-weight: 600; }
.said { grid-column: 1 / -1; background: var(--card); border: 1px solid var(--line); border-left: .4rem solid var(--s0); border-radius: .5rem; padding: .6rem .9rem; margin: .5rem 0; }
dd a { color: inherit; }
[hidden] { display: none !important; }
nav { border-block: 1px solid var(--line); background: var(--card); padding: 0 1rem; }
nav ul { display: flex; flex-wrap: wrap; gap: 0 1.1rem; list-style: none; margin: 0; padding: 0; }
nav a { display: block; padding: .45rem 0; color: var(--faint); text-decoration: none; }
nav a:hover, nav a[aria-current] { color: var(--text); }
nav a[aria-current] { box-shadow: inset 0 -2px var(--s0); }
:focus-visible, [type=datetime-local]:focus-within { outline: 2px solid var(--s0); outline-offset: 2px; }
main { padding: .5rem 1rem 3rem; display: grid; grid-template-columns: repeat(12, minmax(0, 1fr)); gap: 0 1.5rem; }
h1, section, footer { grid-column: 1 / -1; }
[data-kind=chart], [data-kind=bars] { grid-column: span 6; }
[data-kind=chart] { display: flex; flex-direction: column; }
[data-kind=chart] figure { margin-top: auto; }
h1 { font-size: 1.5rem; margin: .5rem 0; }
h2 { font-size: 1.05rem; margin: 1.5rem 0 .4rem; }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); gap: .6rem; margin: .5rem 0; }
dl div { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .75rem; }
dt { color: var(--faint); font-size: .85rem; }
dd { margin: 0; font-size: 1.2rem; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; width: fit-content; max-width: 100%; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
table { border-collapse: collapse; min-width: min(24rem, 100%); font-size: .9rem; }
.bars { width: 100%; }
.w { min-width: 15rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .75rem; border-bottom: 1px solid var(--line); white-space: pre-wrap; overflow-wrap: break-word; max-width: 40rem; }
tbody tr:last-child td { border-bottom: 0; }
td:last-child:not(:only-child):not(.n, .c, .l) { min-width: 14rem; }
th, .n, .c, .l, td:first-child:not(:only-child) { white-space: nowrap; }
.n { text-align: right; font-variant-numeric: tabular-nums; }
th a { color: var(--faint); text-decoration: none; font-weight: 600; }
th[aria-sort] a { color: var(--text); }
th[aria-sort=ascending] a::after { content: " ▲"; }
th[aria-sort=descending] a::after { content: " ▼"; }
td.k a, p a, footer a { color: var(--s0); }
.a { padding-block: .15rem; }
td form { margin: 0; }
td button { padding: .05rem .6rem; }
button:hover, select:hover, input:hover { border-color: var(--faint); }
button { cursor: pointer; }
.choices { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: .5rem 0; color: var(--faint); }
.choices ul { display: flex; list-style: none; margin: 0; padding: 0; border: 1px solid var(--line); border-radius: .4rem; background: var(--card); overflow: hidden; }
.choices li + li { border-left: 1px solid var(--line); }
.choices a { display: block; padding: .3rem .7rem; color: var(--faint); text-decoration: none; }
.choices a:hover { color: var(--text); }
.choices a[aria-current] { color: var(--text); font-weight: 600; box-shadow: inset 0 -2px var(--s0); }
.choices a:focus-visible { outline-offset: -2px; }
.cursor { position: absolute; width: 1px; background: var(--faint); pointer-events: none; }
.tip { position: absolute; z-index: 1; pointer-events: none; background: var(--page); border: 1px solid var(--faint); border-radius: .4rem; padding: .25rem .6rem; font-size: .8rem; white-space: nowrap; }
.tip ul { display: block; margin: 0; font-size: inherit; }
.tip b { float: right; margin-left: 1rem; }
figure { position: relative; margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .75rem; }
svg { display: block; width: 100%; height: 9rem; }
svg path { fill: none; stroke: var(--line); vector-effect: non-scaling-stroke; }
polyline { fill: none; stroke-width: 1.75; vector-effect: non-scaling-stroke; stroke-linejoin: round; }
polyline.s0 { stroke: var(--s0); } polyline.s1 { stroke: var(--s1); stroke-dasharray: 7 2; }
polyline.s2 { stroke: var(--s2); stroke-dasharray: 2 2; } polyline.s3 { stroke: var(--s3); stroke-dasharray: 9 3 2 3; }
progress { appearance: none; border: 0; width: 100%; height: .7rem; background: var(--line); border-radius: .2rem; overflow: hidden; accent-color: var(--s0); }
progress::-webkit-progress-bar { background: var(--line); }
progress::-webkit-progress-value { background: var(--s0); }
progress::-moz-progress-bar { background: var(--s0); }
.u progress { width: 4rem; vertical-align: middle; }
.bars { font-size: .8rem; }
.bars th, .bars td { border: 0; padding: .1rem .5rem .1rem 0; font-weight: 400; color: var(--faint); }
.bars td:nth-child(2) { width: 100%; min-width: 4rem; vertical-align: middle; }
[data-view=messages] td { font: .8rem/1.5 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
figcaption { display: flex; justify-content: space-between; color: var(--faint); font-size: .8rem; }
.top, .bottom { display: block; text-align: right; color: var(--faint); font-size: .8rem; line-height: 1.2; }
.bottom:empty { display: none; }
.legend { display: flex; flex-wrap: wrap; gap: 0 1.25rem; list-style: none; margin: 0 0 .3rem; padding: 0; font-size: .9rem; }
.legend li::before { content: "■ "; }
.legend .s0::before { color: var(--s0); } .legend .s1::before { color: var(--s1); }
.legend .s2::before { color: var(--s2); } .legend .s3::before { color: var(--s3); }
.legend b { font-variant-numeric: tabular-nums; }
.alerts { list-style: none; margin: .5rem 0; padding: .6rem .9rem; background: var(--card); border: 1px solid var(--s3); border-left-width: .4rem; border-radius: .5rem; }
.alerts li::before { content: "⚠ "; color: var(--s3); }
form { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin: .5rem 0 1rem; }
input, select, button { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: .4rem; padding: .3rem .6rem; max-width: 100%; }
@media (prefers-contrast: more) { :root { --faint: var(--text); --line: currentcolor; } }
@media (forced-colors: active) { polyline { stroke: CanvasText !important; } }
@media print { nav, #live, form, .choices { display: none; } }
@media (max-width: 50rem) {
    [data-kind=chart], [data-kind=bars] { grid-column: 1 / -1; }
    nav ul { flex-wrap: nowrap; overflow-x: auto; scrollbar-width: thin; padding-right: 2rem;
        mask-image: linear-gradient(to right, #000 calc(100% - 3rem), transparent); }
    nav a { padding: .6rem 0; white-space: nowrap; }
    header > span:not(.places) { order: 1; flex-basis: 100%; }
    th, td { max-width: 20rem; padding: .3rem .5rem; }
    td:first-child:not(:only-child):not(.n, .c, .l) { white-space: pre-wrap; overflow-wrap: anywhere; min-width: 8.5rem; }
}
}
}

proc nsstats::script {} {
    return {// Keeps the page up to date, every two seconds while it is seen.
"use strict";

const live = document.getElementById("live");
const url = new URL(location.href);
url.searchParams.set("part", "json");

function fill(elements, texts) {
    texts.forEach((text, i) => { if (elements[i]) { elements[i].textContent = text; } });
}

const show = {
    figures(section, block) {
        fill(section.querySelectorAll("dd > *"), block.items.map(item => item.text));
        section.querySelectorAll("dd").forEach((value, i) => value.classList.toggle("bad", block.items[i].bad === 1));
    },
    table(section, block) {
        const body = section.querySelector("tbody");
        // Nothing moves under a finger that is about to press a button.
        if (body.contains(document.activeElement) || body.matches(":hover") && body.querySelector("button")) { return; }
        const classes = [...section.querySelectorAll("thead tr > *")].map(head => head.className);
        body.replaceChildren(...block.rows.map(row => {
            const line = document.createElement("tr");
            row.forEach((content, i) => fillCell(line.insertCell(), content, classes[i]));
            return line;
        }));
        const none = section.querySelector(".none");
        none.hidden = block.rows.length > 0;
        section.querySelector(".scroll").hidden = block.rows.length === 0;
    },
    chart(section, block) {
        fill(section.querySelectorAll(".legend b"), block.series.map(series => series.last));
        fill(section.querySelectorAll(".top"), [block.top]);
        fill(section.querySelectorAll(".bottom"), [block.bottom]);
        fill(section.querySelectorAll("figcaption span"), block.axis);
        section.querySelectorAll("polyline").forEach((line, i) =>
            line.setAttribute("points", block.series[i].points));
        charts.set(section, block);
    },
    bars(section, block) {
        section.querySelector("tbody").replaceChildren(...block.items.map(item => {
            const line = document.createElement("tr");
            const head = document.createElement("th");
            head.scope = "row";
            head.textContent = item.label;
            line.append(head);
            line.insertCell().append(bar(block.most, item.value));
            const count = line.insertCell();
            count.className = "n";
            count.textContent = item.text;
            return line;
        }));
    },
    alerts(section, block) {
        const list = section.querySelector("ul");
        list.replaceChildren(...block.sentences.map(sentence => {
            const item = document.createElement("li");
            item.textContent = sentence;
            return item;
        }));
        list.hidden = block.sentences.length === 0;
    },
    note(section, block) {
        fill(section.querySelectorAll("p"), [block.text]);
    },
    form() {},
    links() {},
    choices() {},
    button() {},
};

// A text; [text, query] of a link; [label, what it does, to what] of a button.
function fillCell(cell, content, kind) {
    cell.className = kind;
    if (typeof content === "string") {
        cell.textContent = content;
        if (kind === "v" && /^\w+$/.test(content)) { cell.classList.add(content); }
        if (kind === "n t") { cell.classList.toggle("bad", content !== "0" && content !== "–"); }
        if (kind === "n u" && parseFloat(content) >= 0) { cell.prepend(bar(100, parseFloat(content)), " "); }
    } else if (content.length === 2) {
        const link = document.createElement("a");
        link.href = `${location.pathname}?${content[1]}`;
        link.textContent = content[0];
        cell.append(link);
    } else {
        const form = document.createElement("form");
        form.method = "post";
        const fields = {token: document.querySelector("main").dataset.token, action: content[1], what: content[2]};
        for (const [name, value] of Object.entries(fields)) {
            const field = document.createElement("input");
            Object.assign(field, {type: "hidden", name, value});
            form.append(field);
        }
        const button = document.createElement("button");
        button.textContent = content[0];
        button.ariaLabel = `${content[0]} ${content[2]}`;
        form.append(button);
        cell.append(form);
    }
}

// What a chart shows at one place: under the pointer, or chosen by the arrow keys.
const charts = new Map();

function point(section, choose) {
    const block = charts.get(section);
    if (!block || block.labels.length === 0) { return; }
    const figure = section.querySelector("figure");
    const places = block.series[0].points.split(" ").map(place => parseFloat(place) / 300);
    const last = places.length - 1;
    const i = Math.min(last, Math.max(0, choose(places, section.place ?? last + 1)));
    section.place = i;
    const outer = figure.getBoundingClientRect();
    const inner = figure.querySelector("svg").getBoundingClientRect();
    const x = inner.left - outer.left + places[i] * inner.width;
    const [cursor, tip] = section.pointer ??= ["cursor", "tip"].map(name => {
        const element = document.createElement("div");
        element.className = name;
        figure.append(element);
        return element;
    });
    tip.setAttribute("role", "status");
    const list = document.createElement("ul");
    list.className = "legend";
    list.append(...block.series.map((series, n) => {
        const item = document.createElement("li");
        const value = document.createElement("b");
        item.className = `s${n}`;
        value.textContent = series.texts[i];
        item.append(value, series.label);
        return item;
    }));
    tip.replaceChildren(block.labels[i], list);
    cursor.hidden = tip.hidden = false;
    Object.assign(cursor.style, {left: `${x}px`, top: `${inner.top - outer.top}px`, height: `${inner.height}px`});
    const side = places[i] > 0.5 ? -tip.offsetWidth - 8 : 8;
    Object.assign(tip.style, {left: `${Math.max(0, Math.min(outer.width - tip.offsetWidth, x + side))}px`, top: `${inner.top - outer.top}px`});
}

function unpoint(section) {
    delete section.place;
    section.pointer?.forEach(element => { element.hidden = true; });
}

for (const section of document.querySelectorAll("[data-kind=chart]")) {
    const figure = section.querySelector("figure");
    figure.tabIndex = 0;
    figure.setAttribute("aria-label", `${section.querySelector("h2").textContent}: arrow keys show the values`);
    figure.addEventListener("pointermove", event => {
        const box = figure.querySelector("svg").getBoundingClientRect();
        const x = (event.clientX - box.left) / box.width;
        point(section, places => places.reduce((best, place, i) => Math.abs(place - x) < Math.abs(places[best] - x) ? i : best, 0));
    });
    figure.addEventListener("pointerleave", () => unpoint(section));
    figure.addEventListener("blur", () => unpoint(section));
    figure.addEventListener("keydown", event => {
        const moves = {ArrowLeft: (places, i) => i - 1, ArrowRight: (places, i) => i + 1, Home: () => 0, End: places => places.length - 1};
        if (event.key === "Escape") {
            unpoint(section);
        } else if (moves[event.key]) {
            point(section, moves[event.key]);
            event.preventDefault();
        }
    });
}

function bar(max, value) {
    const element = document.createElement("progress");
    element.max = max;
    element.value = value;
    element.ariaHidden = "true";
    return element;
}

async function update() {
    // What somebody is about to copy stays as it is.
    if (document.hidden || live.dataset.paused || !getSelection().isCollapsed) { return; }
    try {
        const reply = await fetch(url, {cache: "no-store"});
        const {blocks} = await reply.json();
        blocks.forEach((block, i) => {
            const section = document.querySelector(`[data-block="${i}"][data-kind="${block.kind}"]`);
            if (section) { show[block.kind](section, block); }
        });
        document.body.classList.remove("stale");
    } catch (error) {
        document.body.classList.add("stale");
    }
}

async function run() {
    await update();
    setTimeout(run, 2000);
}

live.hidden = false;
live.addEventListener("click", () => {
    if (live.dataset.paused) {
        delete live.dataset.paused;
    } else {
        live.dataset.paused = "yes";
    }
    live.textContent = live.dataset.paused ? "Resume" : "Pause";
});
// On a phone the bar of views scrolls.
document.querySelector("nav [aria-current]")?.scrollIntoView({inline: "center", block: "nearest"});
run();
}
}
