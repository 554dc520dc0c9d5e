/*
 * adp.h --
 *
 *      Shared by the files of this room: settings of a server, parsed pages,
 *      and the state of a running page.
 *
 *      handler.c   requests for pages; reads the settings
 *      page.c      parsed pages of a server, shared by its interpreters
 *      route.c     the pages that URLs led to
 *      interp.c    the state of an interpreter
 *      run.c       frames: running a page or a string
 *      error.c     reports of errors
 *      debug.c     attaching a debugger
 *      output.c    buffers and their way to the client
 *      adp_cmd.c   the ns_adp_* commands
 *      frame_cmd.c those that ask for or control the running page
 *      register_cmd.c  registration of tags and pages
 *      tag.c       registered tags
 *      parse.c     from text to blocks
 */

#ifndef NSD_ADP_ADP_H
#define NSD_ADP_ADP_H

#include "adp/parse.h"
#include "tcl/command.h"
#include "tcl/result.h"

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

/*
 * The settable flags in the order of registration options, then a NULL key.
 */
extern const Ns_ObjvTable nsAdpFlagNames[];

struct NsAdpPage;

typedef struct NsAdpServer {
    NsServer   *serverPtr;      /* Constant, as all up to lock. */
    int         flags;          /* A request starts with these. */
    size_t      bufferBytes;    /* The same. */
    size_t      cacheBytes;     /* Limit of pages per interpreter. */
    int         traceBytes;
    const char *startPage;      /* Or NULL. */
    const char *errorPage;      /* Or NULL. */
    int         errorStatus;    /* Of pages that fail; 200: as of others. */
    const char *debugInit;
    bool        isDebugEnabled;
    bool        isDisabled;     /* No page is mapped by the configuration. */
    bool        runsTclPages;

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
    Tcl_Obj           *textObj;     /* Of a string. */
    const char        *dir;         /* For relative names, or NULL: NsAdpDir. */
    off_t              bytes;       /* Of the file. */
    time_t             mtime;
    int                nArgs;
    Tcl_Obj *const    *args;
    bool               isInclude;   /* args lack the name of the page. */
    Ns_DString        *outputPtr;   /* Where its output goes. */
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
    Ns_DString      output;         /* The response buffer. */
    NsAdpFrame     *framePtr;       /* Innermost; NULL when no page runs. */
    int             depth;          /* Frames. */
    Tcl_Channel     channel;        /* Instead of the connection, or NULL. */
    bool            hasFlushed;     /* Something of the response was sent. */
    bool            isClosed;       /* ns_adp_close: later output is dropped. */
    int             nRecordings;    /* Nesting of pages whose output is kept. */
    bool            isSpoilt;       /* The recorded output must not be kept. */
    bool            isErrorPage;    /* The error page runs. */
    bool            hasFailed;      /* An error stopped nothing but its block:
                                     * no caller will hear of it. */
    Tcl_Obj        *reportedObj;    /* Stack trace of the last error, ... */
    int             reportedDepth;  /* ... and where. */
    int             debugLevel;

    Tcl_HashTable     pages;        /* File, flags -> NsAdpHeld. */
    struct NsAdpHeld *newestPtr;    /* By last use. */
    struct NsAdpHeld *oldestPtr;
    size_t            heldBytes;
    struct NsAdpRoute *routes;      /* Made at first use. */
} NsAdpInterp;

/* ---- handler.c ---- */

NsAdpServer *NsAdpServerOf(NsServer *serverPtr);

/* ---- interp.c ---- */

/*
 * The state of an interpreter, made at first use.  NULL without a server.
 */
NsAdpInterp *NsAdpGet(Tcl_Interp *interp);

/*
 * Back to the configured values: at the begin and the end of a request.
 */
void NsAdpReset(NsAdpInterp *adpPtr);

/*
 * Have the state of each interpreter of a server reset and freed in time.
 */
void NsAdpInterpServerInit(NsServer *serverPtr);

/* ---- run.c ---- */

/*
 * The code to run.
 */
typedef struct NsAdpSource {
    const char        *file;        /* A file, or ... */
    Tcl_Obj           *textObj;     /* ... a string. */
    struct NsAdpHeld  *heldPtr;     /* Of the file if the caller has it. */
    bool               isTcl;       /* The file is a Tcl script. */
    bool               isTrusted;   /* Keep inline scripts in safe mode, too. */
    bool               isGlobal;    /* Run at global level. */
    const Ns_Time     *ttlPtr;      /* Keep the output so long; NULL: do not. */
    int                nArgs;
    Tcl_Obj *const    *args;
    bool               isInclude;   /* args lack the name of the page. */
    const char        *dir;         /* NULL: that of the file, or as before. */
    Ns_DString        *outputPtr;   /* NULL: the current buffer. */
} NsAdpSource;

/*
 * Run a page in the current variable scope.  TCL_ERROR with a message when the
 * file cannot be read, or its last block failed, or any did under stricterror.
 */
int NsAdpRun(NsAdpInterp *adpPtr, const NsAdpSource *sourcePtr);

/*
 * Append the directory that relative names refer to; nothing outside pages.
 */
void NsAdpDir(const NsAdpInterp *adpPtr, Ns_DString *dsPtr);

/*
 * File name relative to the current page, or to the page root.
 */
const char *NsAdpResolve(NsAdpInterp *adpPtr, const char *file,
                         Ns_DString *dsPtr);

/* ---- error.c ---- */

/*
 * Report the error in the interpreter, raised in that line of the current
 * frame: log, page, error page.  An error that an inner frame has reported is
 * not reported again.
 */
void NsAdpLogError(NsAdpInterp *adpPtr, int line);

/* ---- debug.c ---- */

/*
 * Attach a debugger, once per request (ns_adp_debug).
 */
int NsAdpDebug(NsAdpInterp *adpPtr, const char *host, const char *port,
               const char *procs);

/*
 * Attach one if the query asks for it for this file.  TCL_ERROR: the client got
 * a notice instead of the page.
 */
int NsAdpDebugFile(NsAdpInterp *adpPtr, const char *file);

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
 * Send output to a channel from now on; NULL: to the connection again.  It
 * stays open as long.
 */
void NsAdpSetChannel(NsAdpInterp *adpPtr, Tcl_Channel channel);

/*
 * The buffer that the innermost frame writes to.
 */
Ns_DString *NsAdpBuffer(NsAdpInterp *adpPtr);

/* ---- page.c ---- */

typedef struct NsAdpPage NsAdpPage;

/*
 * A parsed page in use by an interpreter, with that interpreter's scripts.
 */
typedef struct NsAdpHeld {
    struct NsAdpHeld *newerPtr;
    struct NsAdpHeld *olderPtr;
    NsAdpPage        *pagePtr;
    Tcl_Obj          *fileObj;      /* Name of the file. */
    Tcl_Obj         **scripts;      /* One per block; NULL for text. */
    int               nUses;        /* Frames that run it. */
    bool              isStale;      /* Drop when no longer in use. */
} NsAdpHeld;

/*
 * The page of a file, parsed with these flags.  NULL with an error in the
 * interpreter.  In use until NsAdpRelease.  The file is looked at, unless one
 * has done so after lookStamp (of the connection; 0: in any case).
 */
NsAdpHeld *NsAdpHold(NsAdpInterp *adpPtr, const char *file, int flags,
                     NsStamp lookStamp);

/*
 * Use a page once more, and true, if it is still that of its file.
 */
bool NsAdpHoldAgain(NsAdpInterp *adpPtr, NsAdpHeld *heldPtr,
                    NsStamp lookStamp);

void NsAdpRelease(NsAdpInterp *adpPtr, NsAdpHeld *heldPtr);

const NsAdpCode *NsAdpPageCode(const NsAdpPage *pagePtr);
off_t  NsAdpPageBytes(const NsAdpPage *pagePtr);
time_t NsAdpPageTime(const NsAdpPage *pagePtr);

/*
 * Kept output of a page: NS_OK and a copy in dsPtr, or NS_ERROR when the caller
 * has to make it and to call NsAdpPutOutput (text NULL: nothing to keep).
 * NS_TIMEOUT: another thread makes it, and mayWait is false.
 */
Ns_ReturnCode NsAdpGetOutput(NsAdpServer *adpServerPtr, NsAdpPage *pagePtr,
                             bool mayWait, Ns_DString *dsPtr);
void NsAdpPutOutput(NsAdpServer *adpServerPtr, NsAdpPage *pagePtr,
                    const char *text, const Ns_Time *ttlPtr);

void NsAdpPagesFree(NsAdpInterp *adpPtr);

/*
 * Result of ns_adp_stats.
 */
void NsAdpStats(NsAdpServer *adpServerPtr, Ns_DString *dsPtr);

/* ---- route.c ---- */

/*
 * The page that a URL led to with these flags, in use until NsAdpRelease; NULL
 * when it is not known, or not to be had any more.
 */
NsAdpHeld *NsAdpRouteHold(NsAdpInterp *adpPtr, const char *url, int flags,
                          NsStamp lookStamp);

/*
 * Remember a page for a URL.  generation: NsRequestGeneration before it was
 * found.
 */
void NsAdpRoutePut(NsAdpInterp *adpPtr, const char *url, int flags,
                   unsigned generation, NsAdpHeld *heldPtr);

/*
 * Forget a page that goes away.
 */
void NsAdpRouteForget(NsAdpInterp *adpPtr, const NsAdpHeld *heldPtr);

/* ---- tag.c ---- */

void NsAdpRegisterTag(NsAdpServer *adpServerPtr, NsAdpTagKind kind,
                      const char *name, const char *endName,
                      const char *content);

/*
 * Parse with the tags of the server, flags being NS_ADP_PARSE_FLAGS.
 */
void NsAdpParseFor(NsAdpServer *adpServerPtr, NsAdpCode *codePtr,
                   const char *text, int flags);

/* ---- adp_cmd.c, frame_cmd.c, register_cmd.c, handler.c ---- */

void NsAdpCmdInit(void);
void NsAdpFrameCmdInit(void);
void NsAdpRegisterCmdInit(void);
void NsAdpHandlerInit(void);

/*
 * Register the page handler of a server for method and url.
 */
void NsAdpRegisterPage(NsServer *serverPtr, const char *method, const char *url,
                       const char *file, const Ns_Time *ttlPtr, int pageFlags,
                       int opFlags);

#endif
