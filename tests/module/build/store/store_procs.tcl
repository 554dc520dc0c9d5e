# SPDX-License-Identifier: MPL-2.0
proc store_where {} { ns_module name }
