// SPDX-License-Identifier: MPL-2.0
// The search in the manual in files: fills the list of search.html with what the words
// of the form find in manualIndex.  manual::find decides alike in the server.
"use strict";

const kinds = ["command", "parameter", "row", "section"];

function find(words) {
    words = words.trim().toLowerCase();
    if (words === "") return [];
    const parts = words.split(/\s+/);
    const hasAll = (text) => parts.every((part) => text.includes(part));
    const rank = ([, title, , , text]) => {
        const lower = title.toLowerCase();
        if (lower === words) return 0;
        if (lower.startsWith(words)) return 1;
        if (hasAll(lower)) return 2;
        return hasAll(`${title} ${text}`.toLowerCase()) ? 3 : -1;
    };
    return manualIndex.map((entry, i) => [rank(entry), kinds.indexOf(entry[0]), i, entry])
        .filter(([r]) => r >= 0)
        .sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2])
        .slice(0, 100).map((hit) => hit[3]);
}

function element(name, text, properties) {
    return Object.assign(document.createElement(name), { textContent: text }, properties);
}

function excerpt(text, words) {
    const from = Math.max(0, text.toLowerCase().indexOf(words.trim().toLowerCase().split(/\s+/)[0]) - 60);
    return (from > 0 ? "… " : "") + text.slice(from, from + 161) + (text.length > from + 161 ? " …" : "");
}

const words = new URLSearchParams(location.search).get("find") || "";
const hits = find(words);
document.querySelectorAll("input[name=find]").forEach((input) => { input.value = words; });
const count = hits.length === 0 ? "Nothing" : hits.length === 1 ? "One place" : `${hits.length} places`;
document.querySelector("ol.found").previousElementSibling.textContent = `${count} found for “${words}”.`;
document.querySelector("ol.found").append(...hits.map(([kind, title, place, href, text]) => {
    const item = document.createElement("li");
    item.append(element("a", title, { href }), " ", element("span", `${kind}, ${place}`, { className: "note" }),
        document.createElement("br"), excerpt(text, words));
    return item;
}));
