<%
    set name [ns_queryget name world]
    if {[string length $name] > 100} {
        ns_returnbadrequest "This name is too long."
    }
    set now [clock format [clock seconds] -format "%H:%M:%S"]
    ns_adp_puts [welcome::top "An ADP page"]
%>
<div class="beside">
<div>
<h1>Hello, <%= [ns_quotehtml $name] %></h1>
<p>An ADP page is HTML with Tcl between <code>&lt;%</code> and <code>%&gt;</code>. It is <%= $now %> here.</p>

<form method="get" class="line">
<label for="name">Your name</label>
<input id="name" name="name" maxlength="100" value="<%= [ns_quotehtml $name] %>">
<button>Greet</button>
</form>

<p>A loop:
<%
    foreach n {1 2 3 4 5} {
        ns_adp_puts "<code>$n&sup2; = [expr {$n * $n}]</code>"
    }
%>
</p>
<p>What a visitor typed goes through <code>ns_quotehtml</code> on its way into the page, always.</p>
<%= [welcome::facts "A connection thread, for microseconds: the page is parsed once and kept." adp] %>
</div>
<div>
<%= [welcome::source [lindex [ns_adp_info] 0]] %>
</div>
</div>
<%= [welcome::bottom] %>
