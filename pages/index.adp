<%= [welcome::top "nsd is running"] %>
<section class="hero">
<h1>Your server is running</h1>
<p>Edit <code>pages/index.adp</code> and reload this page: that is all it takes. Replace what is in <code>pages/</code>
with your own when you have seen enough.</p>
</section>

<section aria-labelledby="next">
<h2 id="next">Three things to do next</h2>
<ul class="cards">
<li><a href="examples/index.adp"><b>See the examples</b> Forms, databases, log-ins, uploads, jobs, WebSocket: each on one page.</a></li>
<li><a href="manual.tcl"><b>Read the manual</b> Pages, commands, logs, threads, modules, parameters.</a></li>
<li><a href="nsstats.tcl"><b>Watch the server work</b> The monitor shows pools, threads, locks and logs, live.</a></li>
</ul>
</section>

<% ns_adp_include live.adp %>
<%= [welcome::bottom] %>
