/* SPDX-License-Identifier: MPL-2.0 */
// The figures of the start page, brought up to date every two seconds.
"use strict";

const period = 2000;
const length = 90;     // Of the chart, in periods.
const rates = [];
let last = null;

const time = value => value < 1000 ? value + " µs"
    : value < 1e6 ? (value / 1e3).toFixed(1) + " ms" : (value / 1e6).toFixed(1) + " s";
const formats = {
    count: value => value.toLocaleString("en"),
    bytes: value => (value / 1048576).toFixed(1) + " MiB",
    times: values => values.map(time).join(" / "),
    share: ([part, all]) => part + " of " + all,
    seconds: value => {
        const units = [["d", 86400], ["h", 3600], ["min", 60]];
        const [name, size] = units.find(([, s]) => value >= 2 * s) || ["s", 1];
        return Math.floor(value / size) + " " + name;
    },
};

function show(element, value) {
    element.textContent = formats[element.dataset.unit](value);
    element.classList.toggle("bad", element.dataset.figure === "errors" && value > 0);
}

const perSecond = rate => rate.toFixed(rate < 10 ? 1 : 0);

function draw() {
    const top = Math.max(...rates, 1);
    const first = length - rates.length;
    const points = rates.map((rate, i) =>
        `${(300 * (first + i) / (length - 1)).toFixed(1)},${(57 - 54 * rate / top).toFixed(1)}`);
    document.getElementById("top").textContent = perSecond(Math.max(...rates));
    document.querySelector("#chart polyline").setAttribute("points", points.join(" "));
}

function showRate(status, now) {
    if (last && status.uptime >= last.status.uptime) {
        const rate = (status.requests - last.status.requests) * 1000 / (now - last.now);
        rates.push(rate);
        if (rates.length > length) { rates.shift(); }
        document.getElementById("rate").textContent = perSecond(rate);
        draw();
    }
    last = {status, now};
}

async function update() {
    if (document.hidden) { return; }
    try {
        const reply = await fetch("status.tcl", {cache: "no-store"});
        const status = await reply.json();
        showRate(status, performance.now());
        for (const element of document.querySelectorAll("[data-figure]")) {
            show(element, status[element.dataset.figure]);
        }
        document.body.classList.remove("stale");
    } catch (error) {
        document.body.classList.add("stale");
        last = null;
    }
}

for (const element of document.querySelectorAll("[data-figure]")) {
    const values = element.textContent.split(" ").map(Number);
    show(element, values.length > 1 ? values : values[0]);
}
update();
setInterval(update, period);
document.addEventListener("visibilitychange", update);
