/* SPDX-License-Identifier: MPL-2.0
 * config_cmd.c --
 *
 *      Commands that read the configuration: ns_config, ns_configsection,
 *      ns_configsections, ns_driversection.
 */

#include "process/config.h"
#include "process/config_file.h"
#include "process/units.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"
#include "tcl/set.h"

#include "nsconn.h"
#include "nsset.h"
#include "nsstring.h"
#include "nsthread.h"

/*
 * The options of ns_config.
 */
typedef struct Query {
    int      isBool;
    int      isInt;
    int      isExact;
    int      isAll;
    int      isSet;
    Tcl_Obj *minPtr;
    Tcl_Obj *maxPtr;
    char    *section;
    char    *key;
    Tcl_Obj *defaultPtr;
} Query;

static Tcl_ObjCmdProc ConfigCmd, ConfigSectionCmd, ConfigSectionsCmd,
    DriverSectionCmd;

static int   ParseQuery(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
                        Query *queryPtr);
static int   AnswerAll(Tcl_Interp *interp, const Query *queryPtr);
static int   AnswerSet(Tcl_Interp *interp, const Query *queryPtr);
static int   AnswerBool(Tcl_Interp *interp, const Query *queryPtr,
                        const char *value);
static int   AnswerInt(Tcl_Interp *interp, const Query *queryPtr,
                       const char *value);
static int   CheckRange(Tcl_Interp *interp, const Query *queryPtr,
                        Tcl_WideInt number, bool *isInRangePtr);
static int   EnterCopy(Tcl_Interp *interp, const char *section,
                       NsConfigFilter filter);
static char *DriverPath(const char *server, const char *driver);

static const NsTclCommand commands[] = {
    {"ns_config", ConfigCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_configsection", ConfigSectionCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_configsections", ConfigSectionsCmd, 0, 0, NULL, NS_TCL_BASIC},
    {"ns_driversection", DriverSectionCmd, 0, NS_TCL_ANY, NULL, 0},
    NS_TCL_END};

void
NsConfigCmdInit(void)
{
    NsTclAddCommands(commands);
    NsConfigSetInterpProcs(Ns_TclCreateInterp, Ns_TclDestroyInterp);
}

/*
 * ns_config ?-all? ?-bool? ?-int? ?-min min? ?-max max? ?-exact? ?-set? ?--?
 *     section key ?default?
 */
static int
ConfigCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    Query       query = {.section = NULL};
    const char *value;

    if (ParseQuery(interp, objc, objv, &query) != TCL_OK) {
        return TCL_ERROR;
    }
    if (query.isSet) {
        return AnswerSet(interp, &query);
    }
    if (query.isAll) {
        return AnswerAll(interp, &query);
    }
    value = NsConfigLookup(query.section, query.key, query.isExact, NULL);
    if (value == NULL && query.defaultPtr == NULL) {
        return TCL_OK;
    }
    if (query.isBool) {
        return AnswerBool(interp, &query, value);
    }
    if (query.isInt || query.minPtr != NULL || query.maxPtr != NULL) {
        return AnswerInt(interp, &query, value);
    }
    return NsTclReturn(interp,
                       value != NULL ? Tcl_NewStringObj(value, -1)
                                     : query.defaultPtr);
}

/*
 * ns_configsection ?-filter unread|defaulted|defaults? ?--? section
 */
static int
ConfigSectionCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                 Tcl_Obj *const *objv)
{
    static const struct {
        const char    *name;
        NsConfigFilter filter;
    } filters[] = {{"unread", NS_CONFIG_UNREAD},
                   {"defaulted", NS_CONFIG_DEFAULTED},
                   {"defaults", NS_CONFIG_DEFAULTS},
                   {NULL, NS_CONFIG_ALL}};
    NsConfigFilter filter = NS_CONFIG_ALL;
    int            i = 1, index;

    if (i + 1 < objc && STREQ(Tcl_GetString(objv[i]), "-filter")) {
        if (Tcl_GetIndexFromObjStruct(interp, objv[i + 1], filters,
                                      sizeof(filters[0]), "option", TCL_EXACT,
                                      &index)
            != TCL_OK) {
            return TCL_ERROR;
        }
        filter = filters[index].filter;
        i += 2;
    }
    i += i < objc && STREQ(Tcl_GetString(objv[i]), "--");
    if (i + 1 != objc) {
        Tcl_WrongNumArgs(interp, 1, objv,
                         "?-filter unread|defaulted|defaults? ?--? section");
        return TCL_ERROR;
    }
    return EnterCopy(interp, Tcl_GetString(objv[i]), filter);
}

/*
 * ns_configsections
 */
static int
ConfigSectionsCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                  Tcl_Obj *const *objv)
{
    Ns_Set **sections;
    int      result = TCL_OK;

    sections = Ns_ConfigGetSections();
    for (int i = 0; sections[i] != NULL && result == TCL_OK; i++) {
        result = EnterCopy(interp, Ns_SetName(sections[i]), NS_CONFIG_ALL);
    }
    ns_free(sections);
    return result;
}

/*
 * ns_driversection ?-driver drv? ?-server s?
 */
static int
DriverSectionCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                 Tcl_Obj *const *objv)
{
    NsInterp   *itPtr = clientData;
    const char *driver = NULL, *server = NULL, *path;

    for (int i = 1; i < objc; i += 2) {
        const char *word = Tcl_GetString(objv[i]);

        if (i + 1 < objc && STREQ(word, "-driver")) {
            driver = Tcl_GetString(objv[i + 1]);
        } else if (i + 1 < objc && STREQ(word, "-server")) {
            server = Tcl_GetString(objv[i + 1]);
        } else {
            Tcl_SetObjResult(
                interp,
                Tcl_NewStringObj(
                    "usage: ns_driversection ?-driver drv? ?-server s?", -1));
            return TCL_ERROR;
        }
    }
    if (server == NULL && itPtr->serverPtr != NULL) {
        server = itPtr->serverPtr->name;
    }
    if (driver == NULL && Ns_TclGetConn(interp) != NULL) {
        driver = Ns_ConnDriverName(Ns_TclGetConn(interp));
    }
    path = DriverPath(server, driver);
    if (path != NULL) {
        Tcl_SetObjResult(interp, Tcl_NewStringObj(path, -1));
    }
    return TCL_OK;
}

static int
ParseQuery(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv, Query *queryPtr)
{
    Ns_ObjvSpec options[] = {
        {"-all", Ns_ObjvBool, &queryPtr->isAll, INT2PTR(true)},
        {"-bool", Ns_ObjvBool, &queryPtr->isBool, INT2PTR(true)},
        {"-int", Ns_ObjvBool, &queryPtr->isInt, INT2PTR(true)},
        {"-min", Ns_ObjvObj, &queryPtr->minPtr, NULL},
        {"-max", Ns_ObjvObj, &queryPtr->maxPtr, NULL},
        {"-exact", Ns_ObjvBool, &queryPtr->isExact, INT2PTR(true)},
        {"-set", Ns_ObjvBool, &queryPtr->isSet, INT2PTR(true)},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"section", Ns_ObjvString, &queryPtr->section, NULL},
                          {"key", Ns_ObjvString, &queryPtr->key, NULL},
                          {"?default", Ns_ObjvObj, &queryPtr->defaultPtr, NULL},
                          {NULL, NULL, NULL, NULL}};

    return Ns_ParseObjv(options, args, interp, 1, objc, objv) == NS_OK
        ? TCL_OK
        : TCL_ERROR;
}

static int
AnswerAll(Tcl_Interp *interp, const Query *queryPtr)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    if (NsConfigQueryAll(queryPtr->section, queryPtr->key, &ds) > 0) {
        Tcl_DStringResult(interp, &ds);
    } else if (queryPtr->defaultPtr != NULL) {
        Tcl_SetObjResult(interp, queryPtr->defaultPtr);
    }
    Ns_DStringFree(&ds);
    return TCL_OK;
}

static int
AnswerSet(Tcl_Interp *interp, const Query *queryPtr)
{
    if (queryPtr->defaultPtr == NULL) {
        return NsTclFailArgs(interp,
                             "wrong # args: should be "
                             "\"ns_config -set section key value\"");
    }
    if (NsConfigSet(queryPtr->section, queryPtr->key,
                    Tcl_GetString(queryPtr->defaultPtr))
        != NS_OK) {
        Tcl_SetObjResult(interp,
                         Tcl_NewStringObj("server already started", -1));
        return TCL_ERROR;
    }
    return NsTclReturn(interp, queryPtr->defaultPtr);
}

/*
 * A value that is not a boolean is replaced by a default that is one.
 */
static int
AnswerBool(Tcl_Interp *interp, const Query *queryPtr, const char *value)
{
    const char *defaultValue = queryPtr->defaultPtr == NULL
        ? NULL
        : Tcl_GetString(queryPtr->defaultPtr);
    bool        isTrue;

    if ((value == NULL || !NsUnitsBool(value, &isTrue))
        && (defaultValue == NULL || !NsUnitsBool(defaultValue, &isTrue))) {
        return NsTclFailValue(interp, "BOOLEAN",
                              "expected boolean value but got \"%s\"",
                              defaultValue != NULL ? defaultValue : value);
    }
    return NsTclReturn(interp, Tcl_NewBooleanObj(isTrue));
}

/*
 * A value out of range is replaced by a default in range; one that is not a
 * number does not.
 */
static int
AnswerInt(Tcl_Interp *interp, const Query *queryPtr, const char *value)
{
    Tcl_WideInt number;
    bool        isInRange;

    if (value != NULL) {
        if (!NsUnitsInteger(value, &number)) {
            return NsTclFailValue(interp, "INTEGER",
                                  "expected integer but got \"%s\"", value);
        }
        if (CheckRange(interp, queryPtr, number, &isInRange) != TCL_OK) {
            return TCL_ERROR;
        }
        if (isInRange) {
            return NsTclReturn(interp, Tcl_NewWideIntObj(number));
        }
    }
    if (queryPtr->defaultPtr != NULL) {
        if (Tcl_GetWideIntFromObj(interp, queryPtr->defaultPtr, &number)
                != TCL_OK
            || CheckRange(interp, queryPtr, number, &isInRange) != TCL_OK) {
            return TCL_ERROR;
        }
        if (isInRange) {
            return NsTclReturn(interp, queryPtr->defaultPtr);
        }
    }
    return NsTclFail(interp, "value out of range");
}

static int
CheckRange(Tcl_Interp *interp, const Query *queryPtr, Tcl_WideInt number,
           bool *isInRangePtr)
{
    Tcl_WideInt min = INT64_MIN, max = INT64_MAX;

    if ((queryPtr->minPtr != NULL
         && Tcl_GetWideIntFromObj(interp, queryPtr->minPtr, &min) != TCL_OK)
        || (queryPtr->maxPtr != NULL
            && Tcl_GetWideIntFromObj(interp, queryPtr->maxPtr, &max)
                != TCL_OK)) {
        return TCL_ERROR;
    }
    *isInRangePtr = number >= min && number <= max;
    return TCL_OK;
}

/*
 * A copy, for other threads may still record defaults.
 */
static int
EnterCopy(Tcl_Interp *interp, const char *section, NsConfigFilter filter)
{
    Ns_Set  *copyPtr = NsConfigDupSection(section, filter);
    Tcl_Obj *idPtr;

    if (copyPtr != NULL) {
        idPtr = NsTclSetEnterCopy(NsInterpOf(interp), copyPtr);
        Tcl_IncrRefCount(idPtr);
        Tcl_AppendElement(interp, Tcl_GetString(idPtr));
        Tcl_DecrRefCount(idPtr);
    }
    return TCL_OK;
}

static char *
DriverPath(const char *server, const char *driver)
{
    Ns_Set *modules;

    if (driver == NULL) {
        return NULL;
    }
    modules = Ns_ConfigGetSection("ns/modules");
    if (modules != NULL && Ns_SetIFind(modules, driver) >= 0) {
        return Ns_ConfigGetPath(NULL, driver, NULL);
    }
    if (server == NULL) {
        return NULL;
    }
    modules = Ns_ConfigGetSection(Ns_ConfigGetPath(server, NULL, "modules",
                                                   NULL));
    if (modules != NULL && Ns_SetIFind(modules, driver) >= 0) {
        return Ns_ConfigGetPath(server, driver, NULL);
    }
    return NULL;
}
