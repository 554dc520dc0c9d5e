<% # For clients on this machine alone.
if {![_ns_islocal]} { ns_adp_return }
set status [welcome::status] %><section aria-labelledby="live">
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
<%= [welcome::figure $status queued "Queued" count] %>
<%= [welcome::figure $status waiting "Waiting now" count] %>
<%= [welcome::figure $status threads "Threads" count] %>
<%= [welcome::figure $status idle "Idle threads" count] %>
<%= [welcome::figure $status maxthreads "Max threads" count] %>
<%= [welcome::figure $status memory "Memory" bytes] %>
<%= [welcome::figure $status uptime "Uptime" seconds] %>
</dl>
<h3>Log engine</h3>
<dl class="figures">
<%= [welcome::figure $status logengine "Mode" text] %>
<%= [welcome::figure $status delivered "Records written" count] %>
<%= [welcome::figure $status pending "Pending" count] %>
<%= [welcome::figure $status dropped "Dropped" count] %>
<%= [welcome::figure $status warnings "Warnings" count] %>
<%= [welcome::figure $status errors "Errors" count] %>
</dl>
<p class="note">The figures come from <a href="status.tcl">status.tcl</a>, every two seconds while this page is visible.</p>
</section>
<script src="live.js" defer></script>
