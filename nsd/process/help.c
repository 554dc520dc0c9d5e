/* SPDX-License-Identifier: MPL-2.0
 * help.c --
 *
 *      What `nsd --help TOPIC` prints.
 */

#include "process/help.h"

#include "nsstring.h"
#include "process/paths.h"

typedef struct Topic {
    const char *name;
    const char *text;
    bool (*moreProc)(FILE *file); /* NULL: that is all. */
} Topic;

static const Topic topics[] = {
    {"ctl",
     "`nsd ctl` queries and controls a running server, even when all\n"
     "its threads are busy. Root and the server's user may use it.\n"
     "\n"
     "    nsd ctl -t FILE COMMAND        FILE: configuration of that server\n"
     "    nsd ctl --socket PATH COMMAND  PATH: nsd.ctl, next to its pid file\n"
     "\n"
     "Status: 0 done, 1 refused or failed, 2 wrong usage, 3 no server there.\n"
     "\n",
     NsHelpControl},
    {"files",
     "Relative paths are below `home` of the configuration.\n"
     "\n"
     "  conf/nsd.tcl           configuration, unless -t names another\n"
     "  logs/nsd.log           system log; access.log is next to it\n"
     "  logs/nsd.pid           process id; nsd.ctl next to it: control socket\n"
     "  logs/nsd.crash         report of the last crash\n"
     "  logs/spill/            log records for which there was no memory\n"
     "  /dev/shm/nsd-*         log records to be written; a start writes\n"
     "                         those that a killed process left there\n"
     "  modules/tcl/           Tcl library of the site\n"
     "  pages/                 its pages\n",
     NULL},
    {"logs",
     "  nsd ctl logs           newest records of the running server\n"
     "  nsd --logs FILE        those that a process left in a log memory\n"
     "                         (/dev/shm/nsd-*) or spill file; each with:\n"
     "    --follow             continue as the server writes them\n"
     "  nsd --logs --list      log memory of all servers: owner, waiting\n"
     "                         records; or that of another directory\n"
     "  nsd ctl log sinks      state of each log: what is written, behind,\n"
     "                         dropped\n"
     "  nsd ctl log debug on   entries of that severity from now on\n"
     "  nsd ctl reopen         reopen files that were moved away\n"
     "  nsd ctl roll           start new files\n",
     NULL},
    {"signals",
     "  TERM  stop, after serving accepted requests; status 0\n"
     "  INT   the same; status 2, so that a watchdog starts the server again\n"
     "  QUIT  stop at once; status 3\n"
     "  HUP   roll logs, read certificates again, run ns_atsignal\n"
     "  USR1  reopen log files that were moved away\n"
     "  USR2  execute the program again; no connection is refused\n",
     NULL}};

bool
NsHelpPrint(FILE *file, const char *topic)
{
    for (int i = 0; i < Ns_NrElements(topics); i++) {
        if (STREQ(topics[i].name, topic)) {
            fputs(topics[i].text, file);
            return topics[i].moreProc == NULL || topics[i].moreProc(file);
        }
    }
    fprintf(file, "no topic %s: it is one of", topic);
    for (int i = 0; i < Ns_NrElements(topics); i++) {
        fprintf(file, "%s %s", i == 0 ? "" : ",", topics[i].name);
    }
    fputs("\n", file);
    return false;
}

bool
NsHelpControl(FILE *file)
{
    Tcl_Interp *interp = Tcl_CreateInterp();
    Ns_DString  path;
    bool        isThere;

    Ns_DStringInit(&path);
    isThere = NsPathsInstalled(&path, "tcl/ctl/ctl.tcl")
        && Tcl_EvalFile(interp, path.string) == TCL_OK
        && Tcl_EvalEx(interp, "::nsd::ctl::Do-help", -1, TCL_EVAL_GLOBAL)
            == TCL_OK;
    fprintf(file, "%s\n",
            isThere ? Tcl_GetStringResult(interp)
                    : "The commands: nsd ctl help, with a running server.");
    Ns_DStringFree(&path);
    Tcl_DeleteInterp(interp);
    return isThere;
}
