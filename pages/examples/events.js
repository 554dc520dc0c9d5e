/* SPDX-License-Identifier: MPL-2.0 */
// events.js --
//
//      What the page of the events does in a browser.

const events = new EventSource("events.tcl?listen=1");
events.onmessage = event => document.getElementById("time").textContent = event.data;
