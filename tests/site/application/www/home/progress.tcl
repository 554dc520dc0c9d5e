# SPDX-License-Identifier: MPL-2.0
# How far an upload is, for the page of its form: [received, total].

page::contract {{upload line}}
set progress [ns_upload_stats $upload]
ns_set iupdate [ns_conn outputheaders] Cache-Control no-store
page::json [expr {$progress eq "" ? "null" : "\[[join $progress ,]\]"}]
