# init.tcl --
