/* SPDX-License-Identifier: MPL-2.0 */
// chat.js --
//
//      What the page of the chat does in a browser.

const [state, said, text] = ["state", "said", "text"].map(id => document.getElementById(id));
let socket;
function connect() {
    socket = new WebSocket(location.href.replace(/^http/, "ws"));
    socket.onopen = () => state.textContent = "Connected.";
    socket.onmessage = event => {
        const entry = document.createElement("li");
        entry.textContent = event.data;
        said.prepend(entry);
        if (said.children.length > 50) { said.lastChild.remove(); }
    };
    socket.onclose = event => {
        state.textContent = "Not connected. " + event.reason;
        setTimeout(connect, 2000);
    };
}
document.querySelector("form").onsubmit = event => {
    event.preventDefault();
    if (socket.readyState === 1) { socket.send(text.value); text.value = ""; }
};
connect();
