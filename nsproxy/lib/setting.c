/* SPDX-License-Identifier: MPL-2.0
 * setting.c --
 *
 *      The settings of a pool: ns_proxy configure.
 */

#include "proxy_int.h"

/*
 * The options of configure and their members.
 */
typedef enum { ENV_OPTION, TEXT_OPTION, COUNT_OPTION, TIME_OPTION } OptionKind;

#define MEMBER(name) offsetof(Settings, name)
static const struct Option {
    const char *name;
    OptionKind  kind;
    size_t      offset;
} settingOptions[] = {
    {"-env", ENV_OPTION, MEMBER(env)},
    {"-exec", TEXT_OPTION, MEMBER(exec)},
    {"-init", TEXT_OPTION, MEMBER(init)},
    {"-reinit", TEXT_OPTION, MEMBER(reinit)},
    {"-maxslaves", COUNT_OPTION, MEMBER(maxWorkers)},
    {"-maxworkers", COUNT_OPTION, MEMBER(maxWorkers)},
    {"-maxruns", COUNT_OPTION, MEMBER(maxRuns)},
    {"-gettimeout", TIME_OPTION, MEMBER(getTimeout)},
    {"-evaltimeout", TIME_OPTION, MEMBER(evalTimeout)},
    {"-sendtimeout", TIME_OPTION, MEMBER(sendTimeout)},
    {"-recvtimeout", TIME_OPTION, MEMBER(recvTimeout)},
    {"-waittimeout", TIME_OPTION, MEMBER(waitTimeout)},
    {"-idletimeout", TIME_OPTION, MEMBER(idleTimeout)},
    {"-logminduration", TIME_OPTION, MEMBER(logMinDuration)},
    {NULL, ENV_OPTION, 0}};

/*
 * A value for a setting; only the member of its kind is used.
 */
typedef struct Value {
    Ns_Set *env;
    char   *text;
    int     count;
    Ns_Time time;
} Value;

static Tcl_Obj *GetSetting(Tcl_Interp *interp, Pool *poolPtr,
                           const struct Option *optionPtr);
static int      PutSetting(Tcl_Interp *interp, Pool *poolPtr,
                           const struct Option *optionPtr, Tcl_Obj *valueObj);
static int      ReadEnv(Tcl_Interp *interp, Tcl_Obj *valueObj, Ns_Set **setPtr);
static char    *ReadText(const Pool *poolPtr, const struct Option *optionPtr,
                         const char *text);
static int      ReadCount(Tcl_Interp *interp, const struct Option *optionPtr,
                          Tcl_Obj *valueObj, int *countPtr);
static int      ReadDuration(Tcl_Interp *interp, const struct Option *optionPtr,
                             Tcl_Obj *valueObj, Ns_Time *timePtr);

int
ProxyConfigure(Tcl_Interp *interp, Pool *poolPtr, int objc,
               Tcl_Obj *const *objv)
{
    Tcl_Obj *listPtr;
    int      index = 0;

    if (objc == 0) {
        listPtr = Tcl_NewListObj(0, NULL);
        for (int i = 0; settingOptions[i].name != NULL; i++) {
            if (!STREQ(settingOptions[i].name, "-maxslaves")) {
                ProxyAppendPair(listPtr, settingOptions[i].name,
                                GetSetting(interp, poolPtr,
                                           &settingOptions[i]));
            }
        }
        Tcl_SetObjResult(interp, listPtr);
        return TCL_OK;
    }
    for (int i = 0; i < objc; i += 2) {
        if (Tcl_GetIndexFromObjStruct(interp, objv[i], settingOptions,
                                      sizeof(settingOptions[0]), "flags", 0,
                                      &index)
                != TCL_OK
            || (i + 1 < objc
                && PutSetting(interp, poolPtr, &settingOptions[index],
                              objv[i + 1])
                    != TCL_OK)) {
            return TCL_ERROR;
        }
    }
    if (objc <= 2) {
        Tcl_SetObjResult(interp,
                         GetSetting(interp, poolPtr, &settingOptions[index]));
    }
    return TCL_OK;
}

static Tcl_Obj *
GetSetting(Tcl_Interp *interp, Pool *poolPtr, const struct Option *optionPtr)
{
    Tcl_Obj *objPtr = NULL;
    Ns_Set  *env = NULL;
    char    *memberPtr = (char *) &poolPtr->settings + optionPtr->offset;

    Ns_MutexLock(&poolPtr->lock);
    switch (optionPtr->kind) {
    case ENV_OPTION:
        env = Ns_SetCopy(*(Ns_Set **) (void *) memberPtr);
        break;
    case TEXT_OPTION:
        objPtr = Tcl_NewStringObj(*(char **) (void *) memberPtr != NULL
                                      ? *(char **) (void *) memberPtr
                                      : "",
                                  -1);
        break;
    case COUNT_OPTION:
        objPtr = Tcl_NewIntObj(*(int *) (void *) memberPtr);
        break;
    case TIME_OPTION:
        objPtr = ProxyTimeObj((Ns_Time *) (void *) memberPtr, true);
        break;
    }
    Ns_MutexUnlock(&poolPtr->lock);
    if (env != NULL) {
        Tcl_ResetResult(interp);
        (void) Ns_TclEnterSet(interp, env, NS_TCL_SET_DYNAMIC);
        objPtr = Tcl_DuplicateObj(Tcl_GetObjResult(interp));
        Tcl_ResetResult(interp);
    }
    return objPtr != NULL ? objPtr : Tcl_NewObj();
}

/*
 * The value changes places with the old one, which is freed.
 */
static int
PutSetting(Tcl_Interp *interp, Pool *poolPtr, const struct Option *optionPtr,
           Tcl_Obj *valueObj)
{
    void *memberPtr = (char *) &poolPtr->settings + optionPtr->offset;
    Value value = {.env = NULL}, old = {.env = NULL};
    int   status = TCL_OK;

    switch (optionPtr->kind) {
    case ENV_OPTION:
        status = ReadEnv(interp, valueObj, &value.env);
        break;
    case TEXT_OPTION:
        value.text = ReadText(poolPtr, optionPtr, Tcl_GetString(valueObj));
        break;
    case COUNT_OPTION:
        status = ReadCount(interp, optionPtr, valueObj, &value.count);
        break;
    case TIME_OPTION:
        status = ReadDuration(interp, optionPtr, valueObj, &value.time);
        break;
    }
    if (status != TCL_OK) {
        return TCL_ERROR;
    }
    Ns_MutexLock(&poolPtr->lock);
    switch (optionPtr->kind) {
    case ENV_OPTION:
        old.env = *(Ns_Set **) memberPtr;
        *(Ns_Set **) memberPtr = value.env;
        break;
    case TEXT_OPTION:
        old.text = *(char **) memberPtr;
        *(char **) memberPtr = value.text;
        break;
    case COUNT_OPTION:
        *(int *) memberPtr = value.count;
        break;
    case TIME_OPTION:
        *(Ns_Time *) memberPtr = value.time;
        break;
    }
    Ns_MutexUnlock(&poolPtr->lock);
    Ns_SetFree(old.env);
    ns_free(old.text);
    if (optionPtr->offset == MEMBER(maxWorkers)) {
        ProxyPoolResize(poolPtr);
    }
    return TCL_OK;
}

static int
ReadEnv(Tcl_Interp *interp, Tcl_Obj *valueObj, Ns_Set **setPtr)
{
    const char *name = Tcl_GetString(valueObj);
    Ns_Set     *set;

    if (*name == '\0') {
        return TCL_OK;
    }
    set = Ns_TclGetSet(interp, name);
    if (set == NULL) {
        Ns_TclPrintfResult(interp, "no such set: %s", name);
        return TCL_ERROR;
    }
    *setPtr = Ns_SetCopy(set);
    return TCL_OK;
}

static char *
ReadText(const Pool *poolPtr, const struct Option *optionPtr, const char *text)
{
    bool       isExec = STREQ(optionPtr->name, "-exec");
    Ns_DString ds;

    if (isExec && *text == '\0') {
        text = poolPtr->defaultExec;
    }
    if (!isExec || Ns_PathIsAbsolute(text)) {
        return ns_strdup(text);
    }
    Ns_DStringInit(&ds);
    (void) Ns_HomePath(&ds, text, NULL);
    return Ns_DStringExport(&ds);
}

static int
ReadCount(Tcl_Interp *interp, const struct Option *optionPtr, Tcl_Obj *valueObj,
          int *countPtr)
{
    int most = optionPtr->offset == MEMBER(maxWorkers) ? 10000 : 10000000;

    if (Tcl_GetIntFromObj(interp, valueObj, countPtr) != TCL_OK) {
        return TCL_ERROR;
    }
    if (*countPtr < 0 || *countPtr > most) {
        Ns_TclPrintfResult(interp, "invalid %s: %d", optionPtr->name,
                           *countPtr);
        return TCL_ERROR;
    }
    return TCL_OK;
}

static int
ReadDuration(Tcl_Interp *interp, const struct Option *optionPtr,
             Tcl_Obj *valueObj, Ns_Time *timePtr)
{
    if (ProxyReadTime(interp, valueObj, timePtr) != TCL_OK) {
        return TCL_ERROR;
    }
    if (timePtr->sec < 0 || timePtr->usec < 0) {
        Ns_TclPrintfResult(interp, "invalid %s: %s", optionPtr->name,
                           Tcl_GetString(valueObj));
        return TCL_ERROR;
    }
    if (STREQ(optionPtr->name, "-idletimeout") && timePtr->sec < 10) {
        *timePtr = (Ns_Time){10, 0};
    }
    return TCL_OK;
}

int
ProxyReadTime(Tcl_Interp *interp, Tcl_Obj *objPtr, Ns_Time *timePtr)
{
    Ns_Time    *foundPtr = NULL;
    Ns_ObjvSpec args[] = {{"time", Ns_ObjvTime, &foundPtr, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(NULL, args, interp, 0, 1, &objPtr) != NS_OK) {
        return TCL_ERROR;
    }
    *timePtr = *foundPtr;
    return TCL_OK;
}

void
ProxyAppendPair(Tcl_Obj *listPtr, const char *key, Tcl_Obj *valuePtr)
{
    (void) Tcl_ListObjAppendElement(NULL, listPtr, Tcl_NewStringObj(key, -1));
    (void) Tcl_ListObjAppendElement(NULL, listPtr, valuePtr);
}

Tcl_Obj *
ProxyTimeObj(const Ns_Time *timePtr, bool isShort)
{
    char text[48];
    int  length = snprintf(text, sizeof(text), NS_TIME_FMT, timePtr->sec,
                           timePtr->usec);

    while (isShort && strchr("0.", text[length - 1]) != NULL) {
        bool isPoint = text[--length] == '.';

        text[length] = '\0';
        if (isPoint) {
            break;
        }
    }
    return Tcl_NewStringObj(text, -1);
}
