# SPDX-License-Identifier: MPL-2.0
# config.tcl --
#
#       The configuration of the community site.  It runs from the directory where it
#       is:
#
#           nsd -f -u USER -t config.tcl
#
#       Each of these settings may come from the environment instead, as
#       commons_database=postgres.

ns_configure_variables commons_ {
    database        sqlite
    address         127.0.0.1
    port            8000
    hostname        localhost
    title           {The Commons}
    datasource      localhost::commons
    dbuser          commons
    dbpassword      {}
    connections     6
    threads         10
    smtphost        localhost
    smtpport        25
    mailfrom        commons@localhost
    mailinterval    5
    sessionlifetime 14d
    keylifetime     1d
    passwordcost    16384
    charsets        {}
    objects         tcloo
    home            {}
}
#       database        sqlite or postgres: the one value that decides
#       datasource      of PostgreSQL: HOST:PORT:DATABASE
#       home            where the site writes: logs, uploads, the database of SQLite
#       the others      see where they are used

# This directory; the server that runs, in the tree where it was built or installed.
set application [file dirname [file normalize [info script]]]
set top [file dirname [file dirname [file readlink /proc/self/exe]]]
if {[file exists $top/nssock/nssock.so]} {
    proc module {name} { return $::top/$name/$name.so }
    set initfile $top/nsd/init.tcl
} else {
    proc module {name} { return $name.so }
    set initfile $top/bin/init.tcl
}

if {$home eq ""} { set home $top/run/commons }
file mkdir $home/logs $home/files $home/spool

ns_section ns/parameters {
    ns_param home              $home
    ns_param tcllibrary        $top/tcl
    ns_param asynclogwriter    true
    ns_param smtphost          $smtphost
    ns_param smtpport          $smtpport
    ns_param smtpmsgid         true
    ns_param smtpmsgidhostname $hostname
    ns_param smtpencodingmode  true
    # The page of a form asks how far its upload is.
    ns_param progressminsize   100kB
}
ns_section ns/fastpath {
    ns_param cache             true
    ns_param cachemaxentry     64kB
}
ns_section ns/encodings {
    ns_param .adp              utf-8
}

# --- Databases

ns_section ns/db/drivers {
    ns_param sqlite            [module nsdbsqlite]
    ns_param postgres          [module nsdbpg]
}
ns_section ns/db/driver/sqlite {
    # A writer waits for others; a slow disk is no reason to fail.
    ns_param busytimeout       60s
}
ns_section ns/db/pools {
    ns_param main              "Everything that visitors see"
}
ns_section ns/db/pool/main {
    ns_param driver            $database
    ns_param connections       $connections
    ns_param logsqlerrors      true
    if {$database eq "sqlite"} {
        ns_param datasource    $home/commons.db
    } else {
        ns_param datasource    $datasource
        ns_param user          $dbuser
        ns_param password      $dbpassword
    }
}

# --- The server

ns_section ns/servers {
    ns_param commons           "The Commons"
}
ns_section ns/server/commons {
    ns_param minthreads        2
    ns_param maxthreads        $threads
    ns_param compressenable    true
    # Links that were made by older browsers and programs.
    ns_param formfallbackcharset iso-8859-1
    ns_param noticedetail      false
    ns_param extraheaders      {X-Content-Type-Options nosniff Referrer-Policy same-origin}
}
ns_section ns/server/commons/modules {
    ns_param nssock            [module nssock]
    ns_param nslog             [module nslog]
    ns_param nsdb              [module nsdb]
}
ns_section ns/server/commons/module/nssock {
    ns_param address           $address
    ns_param port              $port
    ns_param hostname          $hostname
    ns_param maxinput          64MB
    # Larger forms are parsed from a file.
    ns_param maxupload         256kB
    ns_param uploadpath        $home/spool
}
ns_section ns/server/commons/module/nslog {
    ns_param file              access.log
    ns_param logpartialtimes   true
}
ns_section ns/server/commons/db {
    ns_param pools             main
    ns_param defaultpool       main
}
ns_section ns/server/commons/tcl {
    ns_param library           $application/tcl
    ns_param initfile          $initfile
}
ns_section ns/server/commons/fastpath {
    ns_param pagedir           $application/www
}
ns_section ns/server/commons/adp {
    # Loops and conditions reach over the text between their blocks.
    ns_param singlescript      true
    # A page that fails shows the error page, not half of itself.
    ns_param stricterror       true
}
ns_section ns/server/commons/redirects {
    foreach status {400 403 404 413 500 503} {
        ns_param $status       /error
    }
}

# --- The application: what tcl/ asks site::parameter for

ns_section commons {
    ns_param database          $database
    ns_param directory         $application
    ns_param title             $title
    ns_param mailfrom          $mailfrom
    # Seconds between two looks at mail that waits.
    ns_param mailinterval      $mailinterval
    # A session ends when it was not used for so long.
    ns_param sessionlifetime   $sessionlifetime
    # A new key signs cookies each time this has passed.
    ns_param keylifetime       $keylifetime
    # What a guess at a password costs: N of scrypt.
    ns_param passwordcost      $passwordcost
    # Charsets of pages, by language.  The rest is UTF-8.
    ns_param charsets          $charsets
    # The objects of the home page: tcloo, or nx (Debian's package nsf).
    ns_param objects           $objects
}
