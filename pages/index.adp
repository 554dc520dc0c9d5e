<% set status [welcome::status] %><%= [welcome::top "nsd is running"] %>
<section class="hero">
<h1>Your server is running</h1>
<p>This is <code>nsd</code>, a web application server in C with Tcl inside. What you see here comes from the
directory <code>pages/</code>; put your own pages in its place.</p>
</section>

<section aria-labelledby="live">
<h2 id="live">Right now</h2>
<div class="rate">
<p><b id="rate">&ndash;</b> requests per second</p>
<svg id="chart" viewBox="0 0 300 60" preserveAspectRatio="none" role="img" aria-label="Requests per second over the last minutes"><polyline points=""/></svg>
</div>
<dl class="figures">
<%= [welcome::figure $status requests "Requests" count] %>
<%= [welcome::figure $status queue-p50 "Queue, median" time] %>
<%= [welcome::figure $status queue-p99 "Queue, 99&nbsp;%" time] %>
<%= [welcome::figure $status run-p50 "Run, median" time] %>
<%= [welcome::figure $status run-p99 "Run, 99&nbsp;%" time] %>
<%= [welcome::figure $status queued "Had to wait" count] %>
<%= [welcome::figure $status waiting "Waiting now" count] %>
<%= [welcome::figure $status threads "Threads" count] %>
<%= [welcome::figure $status idle "Idle threads" count] %>
<%= [welcome::figure $status maxthreads "At most" count] %>
<%= [welcome::figure $status memory "Memory" bytes] %>
<%= [welcome::figure $status uptime "Up for" seconds] %>
</dl>
<h3>Log engine</h3>
<dl class="figures">
<%= [welcome::figure $status logengine "Mode" text] %>
<%= [welcome::figure $status delivered "Records written" count] %>
<%= [welcome::figure $status pending "On their way" count] %>
<%= [welcome::figure $status dropped "Dropped" count] %>
<%= [welcome::figure $status warnings "Warnings" count] %>
<%= [welcome::figure $status errors "Errors" count] %>
</dl>
<p class="note">The figures come from <a href="status.tcl">status.tcl</a>, every two seconds while you look.</p>
</section>

<section aria-labelledby="examples">
<h2 id="examples">Examples</h2>
<ul class="cards">
<li><a href="example.adp"><b>An ADP page</b> HTML with Tcl in it, parsed once and kept.</a></li>
<li><a href="hello.tcl"><b>A Tcl page</b> A script that answers for its URL.</a></li>
<li><a href="upload.tcl"><b>A form with a file</b> What arrived, field by field.</a></li>
</ul>
</section>

<section aria-labelledby="next">
<h2 id="next">Where to go on</h2>
<ul class="cards">
<li><a href="manual.tcl"><b>The manual</b> Pages, commands, logs, threads, modules.</a></li>
<li><a href="nsstats.tcl"><b>The monitor</b> Pools, threads, locks, logs, live.</a></li>
<li><a href="manual.tcl?page=process"><b>Start and stop</b> Options, signals, users, ports.</a></li>
<li><a href="manual.tcl?page=parameters"><b>Parameters</b> All of the configuration file.</a></li>
</ul>
</section>
<script src="live.js" defer></script>
<%= [welcome::bottom] %>
