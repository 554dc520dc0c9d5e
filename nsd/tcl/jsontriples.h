/* SPDX-License-Identifier: MPL-2.0
 * jsontriples.h --
 *
 *      JSON as triples of name, type and value: the elements of an object or
 *      array are a list of them.  In an array the names are the positions.  The
 *      whole is one more triple, without a name.
 */

#ifndef NSD_TCL_JSONTRIPLES_H
#define NSD_TCL_JSONTRIPLES_H

#include "nstcl.h"

typedef enum {
    NS_TRIPLE_AUTO, /* As the value looks; see NsTripleTypeOf. */
    NS_TRIPLE_STRING,
    NS_TRIPLE_NUMBER,
    NS_TRIPLE_BOOLEAN,
    NS_TRIPLE_NULL,
    NS_TRIPLE_OBJECT,
    NS_TRIPLE_ARRAY
} NsTripleType;

/*
 * The type with the name in an object.
 */
int NsTripleTypeFind(Tcl_Interp *interp, Tcl_Obj *obj, NsTripleType *typePtr);

/*
 * The type of a value that has none: null, truth values and numbers by
 * themselves, a whole object or array as its triple, all else strings.  What is
 * inside the triple, or the value itself, is in *valuePtrPtr.
 */
NsTripleType NsTripleTypeOf(Tcl_Obj *obj, Tcl_Obj **valuePtrPtr);

/*
 * The null of JSON, a value of its own kind: an empty string for everybody
 * else.
 */
Tcl_Obj *NsTripleNewNull(void);
bool     NsTripleIsNull(const Tcl_Obj *obj);

/*
 * ns_json triples getvalue|gettype|setvalue ...
 */
Tcl_ObjCmdProc NsTriplesCmd;

#endif
