# SPDX-License-Identifier: MPL-2.0
# names.tcl --
#
#       Commands of AOLserver that have other names today.

# ns_markfordelete --
#
#       The interpreter ends with the request.

proc ns_markfordelete {} {
    ns_ictl markfordelete
}

# ns_zlib compress|uncompress|gzip|gunzip data --
# ns_zlib gzipfile file --
#
#       Compressed bytes, or the bytes that they were; the name of a compressed copy of
#       the file.

proc ns_zlib {command data} {
    switch -- [::tcl::prefix match {compress gunzip gzip gzipfile uncompress} $command] {
        compress   { return [zlib compress $data] }
        uncompress { return [zlib decompress $data] }
        gzip       { return [zlib gzip $data] }
        gunzip     { return [zlib gunzip $data] }
        gzipfile   {
            ns_filewrite $data.gz [zlib gzip [ns_fileread $data]]
            return $data.gz
        }
    }
}
