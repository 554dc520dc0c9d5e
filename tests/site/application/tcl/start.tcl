# SPDX-License-Identifier: MPL-2.0
# start.tcl --
#
#       What happens once, when the procedures are there: the last file of the library.

ns_cache_create -expires 10m commons 10MB

i18n::load
portlet::init
sitemap::init
if {[db::install]} {
    # A new site has some boards to begin with.
    sitemap::mount / home
    foreach package {account chat admin error news} { sitemap::mount /$package $package }
    board::create "Garden"     "Beds, bees and the great compost question" /boards/garden
    board::create "Workshop"   "Things that are being made, or mended"     /boards/workshop
    board::create "Neighbours" "What stays between members"                /boards/neighbours members
}
sitemap::load
session::rotateKeys
chat::init
news::init
rp::init

ns_atstartup news::start
ns_atshutdown news::stop

ns_schedule_proc -thread [site::seconds mailinterval] mail::sweep
ns_schedule_proc -thread 1 chat::save
ns_schedule_proc -thread 10 board::saveViews
ns_schedule_proc 60 account::forgetSeen
ns_schedule_proc -thread 1h session::rotateKeys
ns_schedule_daily -thread 4 10 session::sweep
ns_schedule_daily -thread 4 20 file::sweep

# What is only in memory.
ns_atshutdown chat::save
ns_atshutdown board::saveViews

ns_log Notice "[site::title]: [llength [board::all]] boards, on [site::parameter database]"
