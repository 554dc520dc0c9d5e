<% # For clients on this machine alone.
if {![_ns_islocal]} { ns_adp_return }
set status [welcome::status] %><section aria-labelledby="live">
<h2 id="live">Right now</h2>
<div class="rate">
<p><b id="rate">&ndash;</b> requests per second</p>
<svg id="chart" viewBox="0 0 300 60" preserveAspectRatio="none" role="img" aria-label="Requests per second over the last three minutes"><polyline points=""/></svg>
<p class="scale">at most <span id="top">&ndash;</span><br>in three minutes</p>
</div>
<dl class="figures">
<%= [welcome::figure $status requests "Requests" count "Since the start, without those of this page"] %>
<%= [welcome::figure $status errors "Errors" count "Entries of the log with severity Error, since the start" "nsstats.tcl?view=messages&amp;severity=Error"] %>
<%= [welcome::figure $status run "Run time" times "How long pages run: half of them at most the first time, 99 % at most the second"] %>
<%= [welcome::figure $status busy "Threads at work" share "Connection threads that run a request, of those that there may be"] %>
<%= [welcome::figure $status memory "Memory" bytes "Resident memory of the process"] %>
<%= [welcome::figure $status uptime "Uptime" seconds "Time since the start"] %>
</dl>
<p class="note">Refreshed every two seconds while this page is visible. The <a href="nsstats.tcl">monitor</a> shows much more.</p>
</section>
<script src="live.js" defer></script>
