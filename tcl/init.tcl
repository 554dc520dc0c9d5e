# SPDX-License-Identifier: MPL-2.0
# init.tcl --
#
#       Packages of the installation.

set auto_path [linsert $auto_path 0 [file join [ns_info home] lib]]
