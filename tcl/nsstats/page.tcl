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
    set view [ns_queryget view overview]
    if {$view ni [names]} {
        ns_return 404 text/html [Page "" [Html-note [note "There is no such view."]]]
        return
    }
    set blocks [arranged [view $view] [ns_queryget sort]]
    if {[ns_queryget part] eq "json"} {
        ns_return 200 application/json [json $blocks]
        return
    }
    set html ""
    set i -1
    foreach block $blocks {
        append html "<section data-block=\"[incr i]\" data-kind=\"[dict get $block kind]\">\n" \
            [Html-[dict get $block kind] $block $i] "</section>\n"
    }
    ns_return 200 text/html [Page $view $html]
}

#
# A link to this page, as an attribute: the query as it is, with some of it changed.
#
proc nsstats::Link {changes} {
    set query {}
    foreach key {view sort stack log severity find} {
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
    set host [ns_quotehtml [ns_info hostname]]
    set facts [ns_quotehtml "nsd [ns_info patchlevel], process [ns_info pid], running for [Duration [ns_info uptime]]"]
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
<label class="live" hidden><input type="checkbox" id="live" checked> live</label></header>
<nav aria-label="Views"><ul>
$links</ul></nav>
<main>
<h1>$title</h1>
$content</main>
</body>
</html>
}]
}

proc nsstats::Html-figures {block {i 0}} {
    set html "<dl>\n"
    foreach {label type value} [dict get $block items] {
        append html "<div><dt>[ns_quotehtml $label]</dt><dd>[ns_quotehtml [Text $type $value]]</dd></div>\n"
    }
    return "$html</dl>\n"
}

proc nsstats::Html-table {block {i 0}} {
    set columns [dict get $block columns]
    set html ""
    if {[dict get $block title] ne ""} { append html "<h2>[ns_quotehtml [dict get $block title]]</h2>\n" }
    append html "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>"
    set column -1
    foreach {head type} $columns { append html [Head $i [incr column] $head $type [dict get $block order]] }
    append html "</tr></thead>\n<tbody>\n"
    foreach row [dict get $block rows] {
        append html <tr>
        foreach {head type} $columns cell [Cells $columns $row] {
            append html "<td[Class $type]>[ns_quotehtml $cell]</td>"
        }
        append html "</tr>\n"
    }
    append html "</tbody></table></div>\n"
    if {[llength [dict get $block rows]] == 0} { append html "<p class=\"none\">None.</p>\n" }
    if {[dict get $block more] > 0} { append html "<p class=\"faint\">And [dict get $block more] more.</p>\n" }
    return $html
}

#
# Numbers stand on the right; they and times are not broken into lines.  Nor is a
# line, which is cut where it is too long: what changes from look to look would
# make the rows jump.
#
proc nsstats::Class {type} {
    switch -- $type {
        text    { return "" }
        line    { return { class="l"} }
        clock   { return { class="c"} }
        default { return { class="n"} }
    }
}

#
# The head of a column leads to the page that is sorted by it.
#
proc nsstats::Head {table column head type order} {
    set next [expr {$type in {text line} ? "up" : "down"}]
    set mark ""
    if {[lindex $order 0] eq $column} {
        set isUp [expr {[lindex $order 1] eq "up"}]
        set next [expr {$isUp ? "down" : "up"}]
        set mark " aria-sort=\"[expr {$isUp ? "ascending" : "descending"}]\""
    }
    return "<th scope=\"col\"$mark[Class $type]><a href=\"[Link [list sort $table.$column.$next]]\">[ns_quotehtml $head]</a></th>"
}

proc nsstats::Html-chart {block {i 0}} {
    set type [dict get $block type]
    lassign [Lines $type [dict get $block series]] lines top bottom
    set legend ""
    set drawing ""
    set n -1
    foreach {label values} [dict get $block series] points $lines {
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
<svg viewBox=\"0 0 300 80\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"$title\">
<path d=\"M0 2H300M0 40H300M0 78H300\"/>
$drawing</svg>
<span class=\"bottom\">[ns_quotehtml [Bottom $type $bottom]]</span>
<figcaption>$axis</figcaption></figure>
"
}

proc nsstats::Html-bars {block {i 0}} {
    set counts [dict get $block counts]
    set most [::tcl::mathfunc::max 1 {*}[dict values $counts]]
    set width [expr {300.0 / max(1, [dict size $counts])}]
    set drawing ""
    set x 0
    foreach {label n} $counts {
        set height [expr {76.0 * $n / $most}]
        append drawing [format {<rect x="%.2f" y="%.1f" width="%.2f" height="%.1f">} \
                            [expr {$x + 0.1 * $width}] [expr {78 - $height}] [expr {0.8 * $width}] $height] \
            "<title>[ns_quotehtml "$label: [Text count $n]"]</title></rect>\n"
        set x [expr {$x + $width}]
    }
    set labels [dict keys $counts]
    set title [ns_quotehtml [dict get $block title]]
    return "<h2>$title</h2>
<figure><svg viewBox=\"0 0 300 80\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"$title\">
<path d=\"M0 78H300\"/>
$drawing</svg>
<figcaption><span>[ns_quotehtml [lindex $labels 0]]</span><span>[
    ns_quotehtml [lindex $labels [expr {[llength $labels] / 2}]]]</span><span>[
    ns_quotehtml [lindex $labels end]]</span></figcaption></figure>
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
        if {[llength $choices] == 0} {
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
.live { margin-left: auto; }
.stale .live { color: var(--s3); }
nav { border-block: 1px solid var(--line); background: var(--card); padding: 0 1rem; }
nav ul { display: flex; flex-wrap: wrap; gap: 0 1.1rem; list-style: none; margin: 0; padding: 0; }
nav a { display: block; padding: .45rem 0; color: var(--faint); text-decoration: none; }
nav a:hover, nav a[aria-current] { color: var(--text); }
nav a[aria-current] { box-shadow: inset 0 -2px var(--s0); }
:focus-visible { outline: 2px solid var(--s0); outline-offset: 2px; }
main { padding: .5rem 1rem 3rem; display: grid; grid-template-columns: repeat(12, minmax(0, 1fr)); gap: 0 1.5rem; }
h1, section { grid-column: 1 / -1; }
[data-kind=chart], [data-kind=bars] { grid-column: span 6; }
h1 { font-size: 1.5rem; margin: .5rem 0; }
h2 { font-size: 1.05rem; margin: 1.5rem 0 .4rem; }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); gap: .6rem; margin: .5rem 0; }
dl div { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .75rem; }
dt { color: var(--faint); font-size: .85rem; }
dd { margin: 0; font-size: 1.2rem; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .75rem; border-bottom: 1px solid var(--line); white-space: pre-wrap; overflow-wrap: break-word; max-width: 40rem; }
tbody tr:last-child td { border-bottom: 0; }
.l { overflow: hidden; text-overflow: ellipsis; }
td:last-child:not(:only-child):not(.n, .c, .l) { min-width: 14rem; }
th, .n, .c, .l, td:first-child:not(:only-child) { white-space: nowrap; }
.n { text-align: right; font-variant-numeric: tabular-nums; }
th a { color: var(--faint); text-decoration: none; font-weight: 600; }
th[aria-sort] a { color: var(--text); }
th[aria-sort=ascending] a::after { content: " ▲"; }
th[aria-sort=descending] a::after { content: " ▼"; }
figure { position: relative; margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .75rem; }
svg { display: block; width: 100%; height: 9rem; }
svg path { fill: none; stroke: var(--line); vector-effect: non-scaling-stroke; }
polyline { fill: none; stroke-width: 1.75; vector-effect: non-scaling-stroke; stroke-linejoin: round; }
polyline.s0 { stroke: var(--s0); } polyline.s1 { stroke: var(--s1); stroke-dasharray: 7 2; }
polyline.s2 { stroke: var(--s2); stroke-dasharray: 2 2; } polyline.s3 { stroke: var(--s3); stroke-dasharray: 9 3 2 3; }
rect { fill: var(--s0); }
figcaption { display: flex; justify-content: space-between; color: var(--faint); font-size: .8rem; }
.top, .bottom { display: block; text-align: right; color: var(--faint); font-size: .8rem; line-height: 1.2; }
.bottom { position: absolute; right: .75rem; bottom: 2rem; }
.legend { display: flex; flex-wrap: wrap; gap: 0 1.25rem; list-style: none; margin: 0 0 .3rem; padding: 0; font-size: .9rem; }
.legend li::before { content: "■ "; }
.legend .s0::before { color: var(--s0); } .legend .s1::before { color: var(--s1); }
.legend .s2::before { color: var(--s2); } .legend .s3::before { color: var(--s3); }
.legend b { font-variant-numeric: tabular-nums; }
.alerts { list-style: none; margin: .5rem 0; padding: .6rem .9rem; background: var(--card); border: 1px solid var(--s3); border-left-width: .4rem; border-radius: .5rem; }
.alerts li::before { content: "⚠ "; color: var(--s3); }
.alerts[hidden] { display: none; }
form { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin: .5rem 0 1rem; }
input, select, button { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: .4rem; padding: .3rem .6rem; max-width: 100%; }
@media (max-width: 50rem) {
    [data-kind=chart], [data-kind=bars] { grid-column: 1 / -1; }
    nav ul { flex-wrap: nowrap; overflow-x: auto; scrollbar-width: thin; }
    nav a { padding: .6rem 0; white-space: nowrap; }
    th, td { max-width: 20rem; padding: .3rem .5rem; }
    td:first-child:not(:only-child):not(.n, .c) { white-space: pre-wrap; overflow-wrap: anywhere; min-width: 8.5rem; }
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
        fill(section.querySelectorAll("dd"), block.items.map(item => item.text));
    },
    table(section, block) {
        const classes = [...section.querySelectorAll("th")].map(head => head.className);
        section.querySelector("tbody").replaceChildren(...block.rows.map(row => {
            const line = document.createElement("tr");
            row.forEach((text, i) => {
                const cell = line.insertCell();
                cell.textContent = text;
                cell.className = classes[i];
            });
            return line;
        }));
        const none = section.querySelector(".none");
        if (none) { none.hidden = block.rows.length > 0; }
    },
    chart(section, block) {
        fill(section.querySelectorAll(".legend b"), block.series.map(series => series.last));
        fill(section.querySelectorAll(".top"), [block.top]);
        fill(section.querySelectorAll(".bottom"), [block.bottom]);
        fill(section.querySelectorAll("figcaption span"), block.axis);
        section.querySelectorAll("polyline").forEach((line, i) =>
            line.setAttribute("points", block.series[i].points));
    },
    bars(section, block) {
        section.querySelectorAll("rect").forEach((bar, i) => {
            bar.setAttribute("height", block.items[i].height);
            bar.setAttribute("y", 78 - block.items[i].height);
            bar.firstChild.textContent = block.items[i].label + ": " + block.items[i].text;
        });
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
};

async function update() {
    // What somebody is about to copy stays as it is.
    if (document.hidden || !live.checked || !getSelection().isCollapsed) { return; }
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

live.parentElement.hidden = false;
setTimeout(run, 2000);
}
}
