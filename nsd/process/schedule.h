/*
 * schedule.h --
 *
 *      When a daily or weekly procedure is due.
 */

#ifndef NSD_PROCESS_SCHEDULE_H
#define NSD_PROCESS_SCHEDULE_H

#include <time.h>

/*
 * The first time after `now` at which a daily or weekly procedure is due.
 */
time_t NsSchedNextClock(int flags, time_t interval, time_t now);

#endif
