# SPDX-License-Identifier: MPL-2.0
#
# compress.tcl --
#
#       Compressed variants of files.
#

# Make target of source, with the command of that parameter of ns/fastpath.
proc ns_gzipfile {source target} { _ns_compressfile gzip_cmd $source $target }
proc ns_brotlifile {source target} { _ns_compressfile brotli_cmd $source $target }

# Nobody sees a target that is not complete.  Who comes while it is made does not
# make it, too.
proc _ns_compressfile {parameter source target} {
    set commands {}
    switch [string tolower [file extension $source]] {
        .css { lappend commands [ns_config ns/fastpath minify_css_cmd] }
        .js { lappend commands [ns_config ns/fastpath minify_js_cmd] }
    }
    set command [ns_config ns/fastpath $parameter]
    if {$command eq ""} { error "no ns/fastpath $parameter configured" }
    lappend commands $command
    if {[nsv_incr _ns_compressfile $target] > 1} {
        throw NS_BUSY "it is being made already"
    }
    set part $target.[ns_info pid].part
    try {
        set changed [file mtime $source]
        set pipeline [join [lsearch -all -inline -not -exact $commands {}] " | "]
        exec -ignorestderr {*}$pipeline < $source > $part
        file attributes $part -permissions [file attributes $source -permissions]
        if {[file mtime $source] != $changed} { error "$source has changed meanwhile" }
        file rename -force -- $part $target
    } finally {
        nsv_unset -nocomplain _ns_compressfile $target
        file delete -- $part
    }
}
