/* SPDX-License-Identifier: MPL-2.0
 * contextspec.c --
 *
 *      What modules register with constraints.
 *
 *      For modules a specification has no parts; here it is the constraints.
 */

#include "nsrequest.h"
#include "request/filter.h"
#include "request/op.h"
#include "request/urlspace.h"

#define ConstraintsOf(spec) ((NsConstraints *) (void *) (spec))

static NsServer     *FindServer(Tcl_Interp *interp, const char *server);
static Ns_ReturnCode NoServer(Ns_UrlSpaceContextSpec *spec,
                              Ns_FreeProc *freeProc, void *data);

Ns_ReturnCode
Ns_UrlSpaceContextSpecParse(Tcl_Interp *interp, const char *list,
                            Ns_UrlSpaceContextSpec **specPtr)
{
    NsConstraints *constraintsPtr;

    if (NsConstraintsParse(list, &constraintsPtr) != NS_OK) {
        if (interp != NULL) {
            Tcl_SetObjResult(interp,
                             Tcl_ObjPrintf("invalid context constraints '%s': "
                                           "must be a key/value list",
                                           list));
        }
        return NS_ERROR;
    }
    *specPtr = (Ns_UrlSpaceContextSpec *) (void *) constraintsPtr;
    return NS_OK;
}

void
Ns_UrlSpaceContextSpecFree(Ns_UrlSpaceContextSpec *spec)
{
    NsConstraints *constraintsPtr = ConstraintsOf(spec);

    if (constraintsPtr != NULL) {
        NsConstraintsFree(&constraintsPtr);
    }
}

Ns_ReturnCode
Ns_UrlSpecificSet2(Tcl_Interp *interp, const char *server, const char *method,
                   const char *url, int id, void *data, unsigned int flags,
                   Ns_FreeProc *freeProc, Ns_UrlSpaceContextSpec *spec)
{
    NsServer *serverPtr = FindServer(interp, server);

    if (serverPtr == NULL) {
        return NoServer(spec, freeProc, data);
    }
    NsUrlSpaceSetFor(serverPtr, id, ConstraintsOf(spec), method, url, data,
                     (int) flags, freeProc);
    return NS_OK;
}

Ns_ReturnCode
Ns_RegisterRequest2(Tcl_Interp *interp, const char *server, const char *method,
                    const char *url, Ns_OpProc *proc, Ns_Callback *freeProc,
                    void *arg, unsigned int flags, Ns_UrlSpaceContextSpec *spec)
{
    NsServer *serverPtr = FindServer(interp, server);

    if (serverPtr == NULL) {
        return NoServer(spec, freeProc, arg);
    }
    NsOpRegister(serverPtr,
                 &(NsOpSpec){.constraintsPtr = ConstraintsOf(spec),
                             .method = method,
                             .url = url,
                             .proc = proc,
                             .freeProc = freeProc,
                             .arg = arg,
                             .flags = (int) flags & NS_OP_NOINHERIT});
    return NS_OK;
}

void *
Ns_RegisterFilter2(const char *server, const char *method, const char *url,
                   Ns_FilterProc *proc, int when, void *arg, bool isFirst,
                   Ns_UrlSpaceContextSpec *spec)
{
    return NsFilterRegister(server, ConstraintsOf(spec), method, url, proc,
                            isFirst ? when | NS_FILTER_FIRST : when, arg);
}

static NsServer *
FindServer(Tcl_Interp *interp, const char *server)
{
    NsServer *serverPtr = NsServerFind(server);

    if (serverPtr == NULL && interp != NULL) {
        Tcl_SetObjResult(interp, Tcl_ObjPrintf("no such server: %s", server));
    }
    return serverPtr;
}

static Ns_ReturnCode
NoServer(Ns_UrlSpaceContextSpec *spec, Ns_FreeProc *freeProc, void *data)
{
    Ns_UrlSpaceContextSpecFree(spec);
    if (freeProc != NULL) {
        freeProc(data);
    }
    return NS_ERROR;
}
