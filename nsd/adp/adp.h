/*
 * adp.h --
 *
 *      What the files of this room share: settings of a server, parsed pages,
 *      and the state of a running page.
 *
 *      handler.c   requests for pages; reads the settings
 *      page.c      parsed pages of a server, shared by its interpreters
 *      run.c       frames: running a page or a string, errors
 *      output.c    buffers and their way to the client
 *      adp_cmd.c   the ns_adp_* commands
 *      tag.c       registered tags
 *      parse.c     from text to blocks
 */

#ifndef NSD_ADP_ADP_H
#define NSD_ADP_ADP_H

#include "adp/parse.h"
#include "tcl/interp.h"

/*
 * Flags of a page; ns_adp_ctl shows and sets them.
 */
#define NS_ADP_AUTOABORT    0x0001
#define NS_ADP_CACHE        0x0002
#define NS_ADP_DETAIL       0x0004
#define NS_ADP_DISPLAY      0x0008
#define NS_ADP_EXPIRE       0x0010
#define NS_ADP_SAFE         0x0020
#define NS_ADP_SINGLE       0x0040
#define NS_ADP_STREAM       0x0080
#define NS_ADP_STRICT       0x0100
#define NS_ADP_TRACE        0x0200
#define NS_ADP_TRIM         0x0400
/* Not settable. */
#define NS_ADP_TCL          0x1000      /* The source is a Tcl script. */

#define NS_ADP_PARSE_FLAGS  (NS_ADP_SAFE | NS_ADP_SINGLE | NS_ADP_TCL)

typedef struct NsAdpFlagName {
    const char *name;
    int         flag;
} NsAdpFlagName;

/*
 * The settable flags in the order of ns_adp_ctl; ends with a NULL name.
 */
extern const NsAdpFlagName nsAdpFlagNames[];

struct NsAdpPage;

typedef struct NsAdpServer {
    NsServer   *serverPtr;      /* Constant after creation, like all up to lock. */
    int         flags;          /* A request starts with these. */
    size_t      bufferBytes;    /* Likewise. */
    size_t      cacheBytes;     /* Limit of pages per interpreter. */
    int         traceBytes;
    const char *startPage;      /* Or NULL. */
    const char *errorPage;      /* Or NULL. */
    const char *debugInit;
    bool        isDebugEnabled;

    Ns_Mutex      lock;         /* Guards the rest. */
    Ns_Cond       cond;         /* A page was parsed, or its output made. */
    Tcl_HashTable pages;        /* File, flags -> struct NsAdpPage. */

    Ns_RWLock     tagLock;      /* Guards tags. */
    Tcl_HashTable tags;         /* Lower-case name -> NsAdpTag. */
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
    struct NsAdpFrame *prevPtr;
    const char        *file;        /* NULL: a string. */
    Tcl_Obj           *sourceObj;   /* Of a string. */
    Tcl_DString        dir;         /* For relative names. */
    off_t              bytes;       /* Of the file. */
    time_t             mtime;
    int                nArgs;
    Tcl_Obj *const    *args;
    bool               isInclude;   /* args lack the name of the page. */
    Tcl_DString       *outputPtr;   /* Where its output goes. */
} NsAdpFrame;

/*
 * ADP state of an interpreter; owned by its thread.
 */
typedef struct NsAdpInterp {
    NsInterp       *interpPtr;
    NsAdpServer    *adpServerPtr;
    int             flags;
    size_t          bufferBytes;
    NsAdpException  exception;
    Tcl_DString     output;         /* The response buffer. */
    NsAdpFrame     *framePtr;       /* Innermost; NULL when no page runs. */
    int             depth;          /* Frames. */
    Tcl_Channel     channel;        /* Instead of the connection, or NULL. */
    bool            hasFlushed;     /* Something of the response was sent. */
    bool            isClosed;       /* ns_adp_close: later output is dropped. */
    int             recording;      /* Nesting of pages whose output is kept. */
    bool            isCacheSpoilt;  /* The recorded output must not be kept. */
    bool            isErrorPage;    /* The error page runs. */
    int             debugLevel;

    Tcl_HashTable   pages;          /* struct NsAdpPage -> InterpPage. */
    struct NsAdpHeld *newestPtr;    /* By last use. */
    struct NsAdpHeld *oldestPtr;
    size_t          heldBytes;
} NsAdpInterp;

/* ---- handler.c ---- */

NsAdpServer *NsAdpServerOf(NsServer *serverPtr);

/* ---- run.c ---- */

/*
 * The state of an interpreter, made at first use.  NULL without a server.
 */
NsAdpInterp *NsAdpGet(Tcl_Interp *interp);

/*
 * Back to the configured values: at the begin and the end of a request.
 */
void NsAdpReset(NsAdpInterp *adpPtr);

/*
 * What to run.
 */
typedef struct NsAdpSource {
    const char    *file;            /* A file, or ... */
    Tcl_Obj       *textObj;         /* ... a string. */
    bool           isTcl;           /* The source is a Tcl script. */
    const Ns_Time *ttlPtr;          /* Keep the output so long; NULL: do not. */
    int            nArgs;
    Tcl_Obj *const *args;
    bool           isInclude;
    const char    *dir;             /* NULL: that of the file, or as before. */
    Tcl_DString   *outputPtr;       /* NULL: the current buffer. */
} NsAdpSource;

/*
 * Run a page in the current variable scope.  TCL_ERROR with a message when the
 * file cannot be read, or its last block failed, or any did under stricterror.
 */
int NsAdpRun(NsAdpInterp *adpPtr, const NsAdpSource *sourcePtr);

/*
 * File name relative to the current page, or to the page root.
 */
const char *NsAdpResolve(NsAdpInterp *adpPtr, const char *file, Tcl_DString *dsPtr);

/*
 * Report the error in the interpreter: log, page, error page.
 */
void NsAdpLogError(NsAdpInterp *adpPtr, int line);

/*
 * Attach a debugger (ns_adp_debug).
 */
int NsAdpDebug(NsAdpInterp *adpPtr, const char *host, const char *port,
               const char *procs);

/* ---- output.c ---- */

/*
 * Append to the current buffer, flushing as the settings say.
 */
int NsAdpAppend(NsAdpInterp *adpPtr, const char *text, int length);

/*
 * Send the response buffer; isFinal: as the last part.
 */
int NsAdpFlush(NsAdpInterp *adpPtr, bool isFinal);

/*
 * The buffer that the innermost frame writes to.
 */
Tcl_DString *NsAdpBuffer(NsAdpInterp *adpPtr);

/* ---- page.c ---- */

typedef struct NsAdpPage NsAdpPage;

/*
 * A parsed page in use by an interpreter, with that interpreter's scripts.
 */
typedef struct NsAdpHeld {
    struct NsAdpHeld *newerPtr;
    struct NsAdpHeld *olderPtr;
    NsAdpPage        *pagePtr;
    Tcl_Obj         **scripts;      /* One per block; NULL for text. */
    int               nUses;        /* Frames that run it. */
    bool              isStale;      /* Drop when no longer in use. */
} NsAdpHeld;

/*
 * The page of a file, parsed with the flags in force.  NULL with an error in the
 * interpreter.  In use until NsAdpRelease.
 */
NsAdpHeld *NsAdpHold(NsAdpInterp *adpPtr, const char *file, int flags);
void NsAdpRelease(NsAdpInterp *adpPtr, NsAdpHeld *heldPtr);

const NsAdpCode *NsAdpPageCode(const NsAdpPage *pagePtr);
off_t  NsAdpPageBytes(const NsAdpPage *pagePtr);
time_t NsAdpPageTime(const NsAdpPage *pagePtr);

/*
 * Kept output of a page: NS_OK and a copy in dsPtr, or NS_ERROR when the caller
 * has to make it and to call NsAdpPutOutput (text NULL: nothing to keep).
 */
Ns_ReturnCode NsAdpGetOutput(NsAdpServer *adpServerPtr, NsAdpPage *pagePtr,
                             Tcl_DString *dsPtr);
void NsAdpPutOutput(NsAdpServer *adpServerPtr, NsAdpPage *pagePtr,
                    const char *text, const Ns_Time *ttlPtr);

void NsAdpPagesFree(NsAdpInterp *adpPtr);

/*
 * Result of ns_adp_stats.
 */
void NsAdpStats(NsAdpServer *adpServerPtr, Tcl_DString *dsPtr);

/* ---- tag.c ---- */

void NsAdpRegisterTag(NsAdpServer *adpServerPtr, NsAdpTagKind kind,
                      const char *name, const char *endName, const char *content);

/*
 * Parse with the tags of the server, flags being NS_ADP_PARSE_FLAGS.
 */
void NsAdpParseFor(NsAdpServer *adpServerPtr, NsAdpCode *codePtr,
                   const char *text, int flags);

/* ---- adp_cmd.c, register_cmd.c ---- */

void NsAdpCmdInit(void);
void NsAdpRegisterCmdInit(void);

/*
 * Register the page handler of a server for method and url.
 */
void NsAdpRegisterPage(NsServer *serverPtr, const char *method, const char *url,
                       const char *file, const Ns_Time *ttlPtr, int pageFlags,
                       int opFlags);

#endif
