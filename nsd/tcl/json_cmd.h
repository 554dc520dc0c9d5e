/*
 * json_cmd.h --
 *
 *      JSON as values of scripts.
 */

#ifndef NSD_TCL_JSON_CMD_H
#define NSD_TCL_JSON_CMD_H

#include "nstcl.h"

typedef enum {
    NS_JSON_AS_VALUE,   /* Dicts, lists, strings. */
    NS_JSON_AS_TRIPLES, /* Name, type, value. */
    NS_JSON_AS_SET
} NsJsonOutput;

/*
 * Set the result to what a text in UTF-8 holds.  TCL_ERROR, with error code
 * NS_INVALID_JSON: it is not JSON.
 */
int NsTclReturnJson(Tcl_Interp *interp, const char *text, size_t length,
                    NsJsonOutput output);

#endif
