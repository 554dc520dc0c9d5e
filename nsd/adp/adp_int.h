/* SPDX-License-Identifier: MPL-2.0
 * adp_int.h --
 *
 *      The settings of a server and the state of a running page, as the files
 *      of this room share them.
 */

#ifndef NSD_ADP_ADP_INT_H
#define NSD_ADP_ADP_INT_H

#include "nsthread.h"
#include "tcl/command.h"

/*
 * Flags of a page; ns_adp_ctl shows and sets them.
 */
#define NS_ADP_AUTOABORT 0x0001
#define NS_ADP_CACHE     0x0002
#define NS_ADP_DETAIL    0x0004
#define NS_ADP_DISPLAY   0x0008
#define NS_ADP_EXPIRE    0x0010
#define NS_ADP_SAFE      0x0020
#define NS_ADP_SINGLE    0x0040
#define NS_ADP_STREAM    0x0080
#define NS_ADP_STRICT    0x0100
#define NS_ADP_TRACE     0x0200
#define NS_ADP_TRIM      0x0400
/* Not settable. */
#define NS_ADP_TCL  0x1000 /* The source is a Tcl script. */
#define NS_ADP_PROC 0x2000 /* And that the body of a procedure. */

#define NS_ADP_PARSE_FLAGS \
    (NS_ADP_SAFE | NS_ADP_SINGLE | NS_ADP_TCL | NS_ADP_PROC)

typedef struct NsAdpServer {
    NsServer   *serverPtr;   /* Constant, as all up to lock. */
    int         flags;       /* A request starts with these. */
    size_t      bufferBytes; /* The same. */
    size_t      cacheBytes;  /* Limit of pages per interpreter. */
    int         traceBytes;
    const char *startPage;   /* Or NULL. */
    const char *errorPage;   /* Or NULL. */
    int         errorStatus; /* Of pages that fail; 200: as of others. */
    const char *debugInit;
    bool        isDebugEnabled;
    bool        isDisabled; /* No page is mapped by the configuration. */
    bool        runsTclPages;

    Ns_Mutex      lock;  /* Guards the rest. */
    Ns_Cond       cond;  /* A page was parsed, or its output made. */
    Tcl_HashTable pages; /* File, flags -> struct NsAdpPage. */

    Ns_RWLock     tagLock; /* Guards tags. */
    Tcl_HashTable tags;    /* Lower-case name -> NsAdpTag. */
} NsAdpServer;

typedef enum {
    NS_ADP_OK,
    NS_ADP_BREAK,
    NS_ADP_ABORT,
    NS_ADP_RETURN,
    NS_ADP_TIMEOUT
} NsAdpException;

/*
 * A running page or string; on the C stack of the thread that runs it.
 */
typedef struct NsAdpFrame {
    struct NsAdpFrame       *prevPtr;
    const char              *file;    /* NULL: a string. */
    Tcl_Obj                 *textObj; /* Of a string. */
    const struct NsAdpCode  *codePtr;
    const struct NsAdpBlock *blockPtr; /* The one that runs; NULL: none yet. */
    const char              *dir;   /* For relative names, or NULL: NsAdpDir. */
    off_t                    bytes; /* Of the file. */
    time_t                   mtime;
    int                      nArgs;
    Tcl_Obj *const          *args;
    bool                     isInclude; /* args lack the name of the page. */
    Ns_DString              *outputPtr; /* The receiver of its output. */
} NsAdpFrame;

/*
 * ADP state of an interpreter; owned by its thread.
 */
typedef struct NsAdpInterp {
    NsInterp      *interpPtr;
    NsAdpServer   *adpServerPtr;
    int            flags;
    size_t         bufferBytes;
    NsAdpException exception;
    Ns_DString     output;      /* The response buffer. */
    NsAdpFrame    *framePtr;    /* Innermost; NULL when no page runs. */
    int            depth;       /* Frames. */
    Tcl_Channel    channel;     /* Instead of the connection, or NULL. */
    bool           hasFlushed;  /* Something of the response was sent. */
    bool           isClosed;    /* ns_adp_close: later output is dropped. */
    int            nRecordings; /* Nesting of pages whose output is kept. */
    bool           isSpoilt;    /* The recorded output must not be kept. */
    bool           isErrorPage; /* The error page runs. */
    bool           hasFailed;   /* An error stopped nothing but its block:
                                 * no caller will hear of it. */
    int clientStatus;           /* Something failed over what the client
                                 * sent: the status for that; or 0. */
    Tcl_Obj *reportedObj;       /* Stack trace of the last error, ... */
    int      reportedDepth;     /* ... and where. */
    int      debugLevel;

    Tcl_HashTable      pages;     /* File, flags -> NsAdpHeld. */
    struct NsAdpHeld  *newestPtr; /* By last use. */
    struct NsAdpHeld  *oldestPtr;
    size_t             heldBytes;
    struct NsAdpRoute *routes; /* Made at first use. */
} NsAdpInterp;

#endif
