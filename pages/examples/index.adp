<%= [welcome::top "Examples"] %>
<h1>Examples</h1>
<p>Each page does one thing that most sites need, in at most sixty lines. Its source stands beside it and may be copied;
so may its error handling.</p>
<h2>Pages</h2>
<ul class="cards">
<li><a href="page.adp"><b>An ADP page</b> HTML with Tcl in it, parsed once and kept.</a></li>
<li><a href="request.tcl"><b>A Tcl page</b> A script that handles its own URL.</a></li>
<li><a href="api.tcl"><b>A JSON API</b> Statuses that programs understand.</a></li>
<li><a href="csv.tcl"><b>A streamed table</b> A million lines, never in memory at once.</a></li>
</ul>
<h2>Forms and visitors</h2>
<ul class="cards">
<li><a href="guestbook.tcl"><b>A form and a database</b> SQLite, a token against forgery, quoting.</a></li>
<li><a href="login.tcl"><b>A log-in</b> A password, and a session in a signed cookie.</a></li>
<li><a href="upload.tcl"><b>A form with a file</b> How far it is, and what arrived.</a></li>
</ul>
<h2>Live</h2>
<ul class="cards">
<li><a href="events.tcl"><b>Server-sent events</b> News for all pages that listen, without a thread.</a></li>
<li><a href="chat.tcl"><b>A chat</b> WebSocket: what one page says, all hear.</a></li>
</ul>
<h2>Work</h2>
<ul class="cards">
<li><a href="cache.tcl"><b>A cache</b> Computed once, kept for a while.</a></li>
<li><a href="job.tcl"><b>A job with progress</b> Work that outlasts its request.</a></li>
<li><a href="schedule.tcl"><b>A scheduled procedure</b> Work that nobody asks for.</a></li>
<li><a href="fetch.tcl"><b>Asking another server</b> A limit in time, and what can go wrong.</a></li>
<li><a href="hosts.tcl"><b>Two virtual hosts</b> Two sites, one process.</a></li>
</ul>
<%= [welcome::bottom] %>
