/* SPDX-License-Identifier: MPL-2.0
 * log_settings.h --
 *
 *      The log as most unit tests of it have it: everything in one directory.
 */

#ifndef LOG_SETTINGS_H
#define LOG_SETTINGS_H

#include "log/init.h"

/*
 * The system log goes to the file.
 */
static void
ConfigureLog(const char *directory, const char *file, bool isAsync,
             int64_t memoryBytes)
{
    NsLogConfigure(&(NsLogSettings){
        .file = file,
        .notice = true,
        .showsTime = true,
        .showsThread = true,
        .sanitize = 2,
        .isAsync = isAsync,
        .memoryBytes = memoryBytes,
        .ringDirectory = directory,
        .home = directory});
}

#endif
