/* SPDX-License-Identifier: MPL-2.0 */
// site.js -- what pages do beyond forms and links, which work without it.

"use strict";

// New posts in the topic that is open.
const news = document.getElementById("news");
if (news) {
    const source = new EventSource("/news/stream");
    source.addEventListener("post", event => {
        const post = JSON.parse(event.data);
        if (String(post.topic) !== news.dataset.topic) return;
        const link = document.createElement("a");
        link.href = location.pathname + location.search + "#post-" + post.post;
        link.textContent = news.dataset.text.replace("%author%", post.author);
        link.addEventListener("click", () => setTimeout(() => location.reload()));
        news.replaceChildren(link);
        news.hidden = false;
    });
    addEventListener("pagehide", () => source.close());
}

// How far an upload is: the server says so while the form is under way.
for (const form of document.querySelectorAll("form[data-progress]")) {
    form.addEventListener("submit", () => {
        const files = form.querySelector("input[type=file]");
        if (!files || files.files.length === 0) return;
        const bar = form.querySelector("progress");
        const url = new URL(form.action);
        url.searchParams.set("upload", crypto.randomUUID ? crypto.randomUUID() : String(Math.random()));
        form.action = url;
        bar.hidden = false;
        const timer = setInterval(async () => {
            const reply = await fetch(form.dataset.progress + "?upload=" + encodeURIComponent(url.pathname + url.search));
            const progress = reply.ok ? await reply.json() : null;
            if (progress) bar.value = progress[0] / progress[1];
        }, 500);
        addEventListener("pagehide", () => clearInterval(timer));
    });
}

// The chat.
const chat = document.querySelector("[data-chat]");
if (chat) {
    const list = document.getElementById("messages");
    const lost = document.getElementById("lost");
    let socket;
    const show = message => {
        if (list.querySelector(`[data-id="${message.id}"]`)) return;
        const item = document.createElement("li");
        const avatar = document.createElement("span");
        const name = document.createElement("strong");
        const text = document.createElement("span");
        item.dataset.id = message.id;
        name.textContent = message.name;
        text.textContent = message.body;
        avatar.className = "avatar";
        avatar.style.setProperty("--hue", message.hue);
        avatar.textContent = message.name.slice(0, 2).toUpperCase();
        item.append(avatar, name, " ", text);
        list.append(item);
        list.scrollTop = list.scrollHeight;
    };
    const connect = () => {
        socket = new WebSocket(location.origin.replace(/^http/, "ws") + chat.dataset.chat);
        socket.onopen = () => { lost.hidden = true; };
        socket.onmessage = event => show(JSON.parse(event.data));
        socket.onclose = () => { lost.hidden = false; setTimeout(connect, 2000); };
    };
    connect();
    list.scrollTop = list.scrollHeight;
    document.getElementById("say").addEventListener("submit", event => {
        event.preventDefault();
        const field = event.target.elements.text;
        if (socket.readyState !== WebSocket.OPEN || field.value.trim() === "") return;
        socket.send(field.value);
        field.value = "";
    });
}
