/* SPDX-License-Identifier: MPL-2.0 */
// upload.js --
//
//      How far an upload is: the page asks for it while it runs.

const form = document.querySelector("form"), id = crypto.randomUUID?.() ?? String(Math.random());
form.action = "upload.tcl?X-Progress-ID=" + id;
form.onsubmit = () => setInterval(async () => {
    const [received, total] = await (await fetch("upload.tcl?progress=" + id)).json();
    const bar = document.querySelector("progress");
    if (total) { bar.hidden = false; bar.value = received / total; }
}, 300);
