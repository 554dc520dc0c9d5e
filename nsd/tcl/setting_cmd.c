/* SPDX-License-Identifier: MPL-2.0
 * setting_cmd.c --
 *
 *      ns_setting: parameters of the configuration in the running server.
 */

#include "ns.h"
#include "process/config_check.h"
#include "process/reload.h"
#include "process/setting.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"

static Tcl_ObjCmdProc ConfiguredCmd, GetCmd, ListCmd, ReloadCmd, SetCmd;

static const NsTclCommand rows[] = {
    {"configured", ConfiguredCmd, 0, 0, NULL, 0},
    {"get", GetCmd, 2, 2, "section key", 0},
    {"list", ListCmd, 0, 0, NULL, 0},
    {"reload", ReloadCmd, 0, 1, "?-dryrun?", 0},
    {"set", SetCmd, 3, 4, "?-ctl? section key value", 0},
    NS_TCL_END,
    NS_TCL_END};

static const NsTclEnsemble ensemble = {
    "ns_setting", "subcommand ?arg ...?", "subcommand", 0, rows};

static NsConfigFactsProc  AppendConfigured;
static NsSettingVisitProc AppendSetting;
static NsReloadProc       AppendItem;
static void PutText(Tcl_Obj *dictObj, const char *key, const char *value);

NS_TCL_FAMILY_OF_ONE(Setting, &ensemble)

/*
 * ns_setting configured: a dict for each parameter that the file sets.
 */
static int
ConfiguredCmd(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    Tcl_Obj *listObj = Tcl_NewListObj(0, NULL);

    NsConfigFactsVisit(AppendConfigured, listObj);
    return NsTclReturn(interp, listObj);
}

static void
AppendConfigured(const NsConfigFacts *factsPtr, void *arg)
{
    const NsConfigItem *itemPtr = factsPtr->itemPtr;
    Tcl_Obj            *dictObj = Tcl_NewDictObj();

    PutText(dictObj, "section", itemPtr->section);
    PutText(dictObj, "name", itemPtr->key);
    PutText(dictObj, "value", itemPtr->value);
    PutText(dictObj, "file", itemPtr->place.file);
    NsTclDictPut(dictObj, Tcl_NewStringObj("line", -1),
                 Tcl_NewIntObj(itemPtr->place.line));
    PutText(dictObj, "known", factsPtr->isKnown ? "1" : "0");
    PutText(dictObj, "default", factsPtr->isDefault ? "1" : "0");
    PutText(dictObj, "read", itemPtr->isRead ? "1" : "0");
    Tcl_ListObjAppendElement(NULL, arg, dictObj);
}

/*
 * ns_setting get section key
 */
static int
GetCmd(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    Ns_DString    ds;
    Ns_ReturnCode result;

    Ns_DStringInit(&ds);
    result = NsSettingGet(Tcl_GetString(objv[2]), Tcl_GetString(objv[3]), &ds);
    (void) NsTclReturnText(interp, &ds);
    return result == NS_OK ? TCL_OK : TCL_ERROR;
}

/*
 * ns_setting set ?-ctl? section key value
 */
static int
SetCmd(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    bool          isCtl = objc == 6;
    int           i = isCtl ? 3 : 2;
    Ns_DString    ds;
    Ns_ReturnCode result;

    if (isCtl && !STREQ(Tcl_GetString(objv[2]), "-ctl")) {
        Tcl_WrongNumArgs(interp, 2, objv, NsTclRow(clientData)->usage);
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    result = NsSettingSet(Tcl_GetString(objv[i]), Tcl_GetString(objv[i + 1]),
                          Tcl_GetString(objv[i + 2]),
                          isCtl ? NS_SETTING_CTL : NS_SETTING_SCRIPT, &ds);
    (void) NsTclReturnText(interp, &ds);
    return result == NS_OK ? TCL_OK : TCL_ERROR;
}

/*
 * ns_setting list: a dict for each.
 */
static int
ListCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    Tcl_Obj *listObj = Tcl_NewListObj(0, NULL);

    NsSettingVisit(AppendSetting, listObj);
    return NsTclReturn(interp, listObj);
}

static void
AppendSetting(const NsSettingFacts *factsPtr, void *arg)
{
    Tcl_Obj *dictObj = Tcl_NewDictObj();

    PutText(dictObj, "section", factsPtr->section);
    PutText(dictObj, "name", factsPtr->rowPtr->key);
    PutText(dictObj, "value", factsPtr->value);
    PutText(dictObj, "default", factsPtr->defaultText);
    PutText(dictObj, "origin", factsPtr->origin);
    PutText(dictObj, "range", factsPtr->range);
    PutText(dictObj, "byhand", factsPtr->isByHand ? "1" : "0");
    Tcl_ListObjAppendElement(NULL, arg, dictObj);
}

/*
 * ns_setting reload ?-dryrun?: a dict of three lists.
 */
static int
ReloadCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    static const char *const names[] = {[NS_RELOAD_APPLIED] = "applied",
                                        [NS_RELOAD_RESTART] = "restart",
                                        [NS_RELOAD_BY_HAND] = "byhand"};
    Tcl_Obj      *lists[Ns_NrElements(names)], *dictObj = Tcl_NewDictObj();
    Ns_DString    problem;
    Ns_ReturnCode result;

    if (objc == 3 && !STREQ(Tcl_GetString(objv[2]), "-dryrun")) {
        Tcl_WrongNumArgs(interp, 2, objv, NsTclRow(clientData)->usage);
        Tcl_DecrRefCount(dictObj);
        return TCL_ERROR;
    }
    for (int i = 0; i < Ns_NrElements(names); i++) {
        lists[i] = Tcl_NewListObj(0, NULL);
        Tcl_IncrRefCount(lists[i]);
    }
    Ns_DStringInit(&problem);
    result = NsReload(objc == 3, AppendItem, lists, &problem);
    for (int i = 0; i < Ns_NrElements(names); i++) {
        NsTclDictPut(dictObj, Tcl_NewStringObj(names[i], -1), lists[i]);
        Tcl_DecrRefCount(lists[i]);
    }
    if (result == NS_OK) {
        Ns_DStringFree(&problem);
        return NsTclReturn(interp, dictObj);
    }
    Tcl_DecrRefCount(dictObj);
    (void) NsTclReturnText(interp, &problem);
    return TCL_ERROR;
}

static void
AppendItem(const NsReloadItem *itemPtr, void *arg)
{
    Tcl_Obj *const *lists = arg;
    Tcl_Obj        *dictObj = Tcl_NewDictObj();

    PutText(dictObj, "section", itemPtr->section);
    PutText(dictObj, "name", itemPtr->key);
    PutText(dictObj, "old", itemPtr->oldText);
    PutText(dictObj, "new", itemPtr->newText);
    Tcl_ListObjAppendElement(NULL, lists[itemPtr->fate], dictObj);
}

static void
PutText(Tcl_Obj *dictObj, const char *key, const char *value)
{
    NsTclDictPut(dictObj, Tcl_NewStringObj(key, -1),
                 Tcl_NewStringObj(value, -1));
}
