<%= [welcome::top "nsd is running"] %>
<section class="hero">
<h1>Your server is running</h1>
<p>This is <code>nsd</code>, a web application server in C with Tcl inside. What you see here comes from the
directory <code>pages/</code>; replace it with your own.</p>
</section>

<% ns_adp_include live.adp %>
<section aria-labelledby="examples">
<h2 id="examples">Examples</h2>
<ul class="cards">
<li><a href="example.adp"><b>An ADP page</b> HTML with Tcl in it, parsed once and kept.</a></li>
<li><a href="hello.tcl"><b>A Tcl page</b> A script that handles its own URL.</a></li>
<li><a href="upload.tcl"><b>A form with a file</b> What arrived, field by field.</a></li>
</ul>
</section>

<section aria-labelledby="next">
<h2 id="next">Where to go next</h2>
<ul class="cards">
<li><a href="manual.tcl"><b>The manual</b> Pages, commands, logs, threads, modules.</a></li>
<li><a href="nsstats.tcl"><b>The monitor</b> Pools, threads, locks, logs, live.</a></li>
<li><a href="manual.tcl?page=process"><b>Start and stop</b> Options, signals, users, ports.</a></li>
<li><a href="manual.tcl?page=parameters"><b>Parameters</b> Every parameter of the configuration file.</a></li>
</ul>
</section>
<%= [welcome::bottom] %>
