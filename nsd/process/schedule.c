/* SPDX-License-Identifier: MPL-2.0
 * schedule.c --
 *
 *      Scheduling by the clock, and as modules ask for it.
 */

#include "process/sched.h"

#include "base/calendar.h"

int
Ns_ScheduleProc(Ns_Callback *proc, void *arg, int thread, int interval)
{
    return NsSchedAdd(&(NsSchedSpec){
        .callback = proc,
        .arg = arg,
        .interval = {interval, 0},
        .flags = thread != 0 ? NS_SCHED_THREAD : 0});
}

int
Ns_ScheduleProcEx(Ns_SchedProc *proc, void *arg, int flags, int interval,
                  Ns_SchedProc *cleanupProc)
{
    return NsSchedAdd(&(NsSchedSpec){
        .proc = proc,
        .cleanupProc = cleanupProc,
        .arg = arg,
        .flags = flags,
        .interval = {interval, 0}});
}

int
Ns_ScheduleDaily(Ns_SchedProc *proc, void *arg, int flags, int hour, int minute,
                 Ns_SchedProc *cleanupProc)
{
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59) {
        return NS_ERROR;
    }
    return Ns_ScheduleProcEx(proc, arg, flags | NS_SCHED_DAILY,
                             hour * 3600 + minute * 60, cleanupProc);
}

int
Ns_ScheduleWeekly(Ns_SchedProc *proc, void *arg, int flags, int day, int hour,
                  int minute, Ns_SchedProc *cleanupProc)
{
    if (day < 0 || day > 6 || hour < 0 || hour > 23 || minute < 0
        || minute > 59) {
        return NS_ERROR;
    }
    return Ns_ScheduleProcEx(proc, arg, flags | NS_SCHED_WEEKLY,
                             day * NS_CALENDAR_DAY + hour * 3600 + minute * 60,
                             cleanupProc);
}

int
Ns_After(int delay, Ns_Callback *proc, void *arg, Ns_Callback *cleanupProc)
{
    return NsSchedAdd(&(NsSchedSpec){
        .callback = proc,
        .cleanupCallback = cleanupProc,
        .arg = arg,
        .flags = NS_SCHED_ONCE,
        .interval = {delay, 0}});
}
