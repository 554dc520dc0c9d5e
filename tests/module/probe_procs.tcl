# SPDX-License-Identifier: MPL-2.0
# probe_procs.tcl --
#
#       The part in Tcl of the module in probe.c.

proc probe_version {} { return "probe of [ns_info version]" }
