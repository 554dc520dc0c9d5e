/* SPDX-License-Identifier: MPL-2.0
 * nstypes.h --
 *
 *      The types, constants and macros that the other public headers share.
 *
 *      Names, values, and the order of public structure fields are fixed:
 *      modules are compiled against them.
 */

#ifndef NSTYPES_H
#define NSTYPES_H

/*
 * Before any header of the system.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef _LARGEFILE64_SOURCE
#define _LARGEFILE64_SOURCE
#endif

#include <tcl.h>

/*
 * Modules rely on all of these.
 */
#include <sys/types.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <arpa/inet.h>
#include <assert.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "nsversion.h"

/*
 * Which generation of the interfaces a module was written for, as
 * NS_VERSION_NUM counts: those of 4.99.5, or later ones (49933, 50000, 50100)
 * where they differ.  NS_API_5 is another way to say 50000.
 *
 * All modules of a process share each structure.  Where the generations give
 * a member different types under one name, the structure has both: NS_FIRST(x)
 * is x for sources of 4.99.5, NS_LATER(x) is x for later ones.  Functions that
 * take other arguments later have a second name with _33 or _50 at its end,
 * which the first name stands for then.
 */
#ifndef NS_API_LEVEL
#ifdef NS_API_5
#define NS_API_LEVEL 50000
#else
#define NS_API_LEVEL 49905
#endif
#endif
#if NS_API_LEVEL >= 49933
#define NS_API_CONST   const
#define NS_FIRST(name) first_##name
#define NS_LATER(name) name
#else
#define NS_API_CONST
#define NS_FIRST(name) name
#define NS_LATER(name) later_##name
#endif

/*
 * One function or another, by the number of the last arguments.
 */
#define NS_THIRD(first, second, third, ...) third

#ifdef __cplusplus
#define NS_EXTERN extern "C"
#else
#define NS_EXTERN extern
#endif

#if defined(__GNUC__)
#define NS_EXPORT                  __attribute__((visibility("default")))
#define NS_GNUC_PRINTF(m, n)       __attribute__((format(printf, m, n)))
#define NS_GNUC_SCANF(m, n)        __attribute__((format(scanf, m, n)))
#define NS_GNUC_UNUSED             __attribute__((unused))
#define NS_GNUC_NORETURN           __attribute__((noreturn))
#define NS_GNUC_MALLOC             __attribute__((malloc))
#define NS_GNUC_CONST              __attribute__((const))
#define NS_GNUC_PURE               __attribute__((pure))
#define NS_GNUC_NONNULL(...)       __attribute__((nonnull(__VA_ARGS__)))
#define NS_GNUC_RETURNS_NONNULL    __attribute__((returns_nonnull))
#define NS_GNUC_WARN_UNUSED_RESULT __attribute__((warn_unused_result))
#define NS_GNUC_DEPRECATED         __attribute__((deprecated))
#define NS_GNUC_SENTINEL           __attribute__((sentinel))
#define NS_GNUC_USED               __attribute__((used))
#define NS_GNUC_MAYALIAS           __attribute__((may_alias))
#define NS_GNUC_FORMAT(m)          __attribute__((format_arg(m)))
#define likely(x)                  __builtin_expect(!!(x), 1)
#define unlikely(x)                __builtin_expect(!!(x), 0)
#else
#define NS_EXPORT
#define NS_GNUC_PRINTF(m, n)
#define NS_GNUC_SCANF(m, n)
#define NS_GNUC_UNUSED
#define NS_GNUC_NORETURN
#define NS_GNUC_MALLOC
#define NS_GNUC_CONST
#define NS_GNUC_PURE
#define NS_GNUC_NONNULL(...)
#define NS_GNUC_RETURNS_NONNULL
#define NS_GNUC_WARN_UNUSED_RESULT
#define NS_GNUC_DEPRECATED
#define NS_GNUC_SENTINEL
#define NS_GNUC_USED
#define NS_GNUC_MAYALIAS
#define NS_GNUC_FORMAT(m)
#define likely(x)   (x)
#define unlikely(x) (x)
#endif
#define NS_IMPORT
#ifndef NS_STORAGE_CLASS
#define NS_STORAGE_CLASS
#endif
#if defined(__GNUC__) && __GNUC__ >= 7
#define NS_FALL_THROUGH __attribute__((fallthrough))
#else
#define NS_FALL_THROUGH ((void) 0)
#endif
#define NS_NONNULL_ASSERT(x) ((void) 0)
#define NS_INLINE            inline
/* The results of Ns_HttpParseHost2 are const char *. */
#define NS_HAVE_PARSEHOST2_CONST 1
#ifndef UNUSED
#define UNUSED(x) UNUSED_##x NS_GNUC_UNUSED
#endif

/*
 * Results.
 */

typedef int Ns_ReturnCode;

#define NS_OK            0
#define NS_ERROR         (-1)
#define NS_TIMEOUT       (-2)
#define NS_UNAUTHORIZED  (-3)
#define NS_FORBIDDEN     (-4)
#define NS_FILTER_BREAK  (-5)
#define NS_FILTER_RETURN (-6)
#define NS_FATAL         (-7)

#define NS_TRUE  1
#define NS_FALSE 0

/*
 * Connection flags.
 */

#define NS_CONN_CLOSED            0x0001
#define NS_CONN_SKIPHDRS          0x0002 /* HTTP/0.9: no response headers. */
#define NS_CONN_SKIPBODY          0x0004 /* HEAD. */
#define NS_CONN_READHDRS          0x0008
#define NS_CONN_SENTHDRS          0x0010
#define NS_CONN_WRITE_ENCODED     0x0020
#define NS_CONN_STREAM            0x0040
#define NS_CONN_STREAM_CLOSE      0x0080
#define NS_CONN_CHUNK             0x0100
#define NS_CONN_SENT_LAST_CHUNK   0x0200
#define NS_CONN_SENT_VIA_WRITER   0x0400
#define NS_CONN_SOCK_CORKED       0x0800
#define NS_CONN_ZIPACCEPTED       0x1000
#define NS_CONN_ENTITYTOOLARGE    0x2000
#define NS_CONN_REQUESTURITOOLONG 0x4000
#define NS_CONN_LINETOOLONG       0x8000
#define NS_CONN_JSONPARSED        0x10000 /* The form was JSON. */
#define NS_CONN_BROTLIACCEPTED    0x20000 /* And the server can make it. */

#define NS_CONN_MAXCLS  16
#define NS_CONN_MAXBUFS 16

/*
 * URL registration, filters, scheduling, socket events, drivers, interpreter
 * traces, threads.
 */

#define NS_OP_NOINHERIT 0x02
#define NS_OP_NODELETE  0x04
#define NS_OP_RECURSE   0x08

#define NS_FILTER_PRE_AUTH   0x01
#define NS_FILTER_POST_AUTH  0x02
#define NS_FILTER_TRACE      0x04
#define NS_FILTER_VOID_TRACE 0x08
#define NS_FILTER_FIRST      0x10

#define NS_SCHED_THREAD  0x01
#define NS_SCHED_ONCE    0x02
#define NS_SCHED_DAILY   0x04
#define NS_SCHED_WEEKLY  0x08
#define NS_SCHED_PAUSED  0x10
#define NS_SCHED_RUNNING 0x20

#define NS_SOCK_READ      0x01
#define NS_SOCK_WRITE     0x02
#define NS_SOCK_EXCEPTION 0x04
#define NS_SOCK_EXIT      0x08
#define NS_SOCK_DONE      0x10
#define NS_SOCK_CANCEL    0x20
#define NS_SOCK_TIMEOUT   0x40
#define NS_SOCK_INIT      0x80
#define NS_SOCK_ANY       (NS_SOCK_READ | NS_SOCK_WRITE | NS_SOCK_EXCEPTION)

#define NS_DRIVER_ASYNC        0x01
#define NS_DRIVER_SSL          0x02
#define NS_DRIVER_NOPARSE      0x04
#define NS_DRIVER_FULLIO       0x08
#define NS_DRIVER_LINGER       0x10
#define NS_DRIVER_UDP          0x20
#define NS_DRIVER_QUEUE_ONREAD 0x40
#define NS_DRIVER_SNI          0x80
#define NS_DRIVER_VERSION_1    1
#define NS_DRIVER_VERSION_2    2
#define NS_DRIVER_VERSION_3    3
#define NS_DRIVER_VERSION_4    4
#define NS_DRIVER_VERSION_5    5
#define NS_DRIVER_VERSION_6    6
#define NS_DRIVER_VERSION_OWN         \
    100 /* With what only this server \
         * has. */

#define NS_TCL_TRACE_CREATE     0x01
#define NS_TCL_TRACE_DELETE     0x02
#define NS_TCL_TRACE_ALLOCATE   0x04
#define NS_TCL_TRACE_DEALLOCATE 0x08
#define NS_TCL_TRACE_GETCONN    0x10
#define NS_TCL_TRACE_FREECONN   0x20
#define NS_TCL_TRACE_IDLE       0x40

#define NS_THREAD_DETACHED 1
#define NS_THREAD_JOINED   2
#define NS_THREAD_EXITED   4
#define NS_THREAD_NAMESIZE 64
#define NS_THREAD_MAXTLS   100

#define NS_TCL_SET_STATIC     0
#define NS_TCL_SET_DYNAMIC    1
#define NS_SET_OPTION_NOCASE  1u
#define NS_URLSPACE_FAST      0x10
#define NS_COOKIE_SECURE      1
#define NS_COOKIE_SCRIPTABLE  2
#define NS_ENCRYPT_BUFSIZE    128
#define NS_DSTRING_PRINTF_MAX 2048
#define NS_CACHE_FREE         ns_free

#define NS_SIGHUP  SIGHUP
#define NS_SIGINT  SIGINT
#define NS_SIGQUIT SIGQUIT
#define NS_SIGPIPE SIGPIPE
#define NS_SIGTERM SIGTERM
#define DEVNULL    "/dev/null"

typedef int NS_SOCKET;
#define SOCKET            int
#define INVALID_SOCKET    (-1)
#define NS_INVALID_SOCKET (-1)
#define NS_INVALID_FD     (-1)
#define SOCKET_ERROR      (-1)

/*
 * Names that other systems have, or have differently.
 */
#ifndef F_CLOEXEC
#define F_CLOEXEC FD_CLOEXEC
#endif
#ifndef O_TEXT
#define O_TEXT 0
#endif
#ifndef O_BINARY
#define O_BINARY 0
#endif
#ifndef UIO_SMALLIOV
#define UIO_SMALLIOV 8
#endif
#ifndef TIME_T_MAX
#define TIME_T_MAX ((time_t) INT64_MAX)
#endif

#define NS_EINTR       EINTR
#define NS_EAGAIN      EAGAIN
#define NS_EWOULDBLOCK EWOULDBLOCK

#define ns_open  open
#define ns_close close
#define ns_read  read
#define ns_write write

#define PRIdz "zd"
#define PRIuz "zu"
#define PROTd PRId64

/* Ends the arguments of Ns_HomePath and the like. */
#define NS_SENTINEL ((char *) 0)

#define UCHAR(c)     ((unsigned char) (c))
#define STREQ(a, b)  (*(a) == *(b) && strcmp((a), (b)) == 0)
#define STRIEQ(a, b) (strcasecmp((a), (b)) == 0)
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
#define Ns_NrElements(array) ((int) (sizeof(array) / sizeof((array)[0])))
#ifndef INT2PTR
#define INT2PTR(p) ((void *) (intptr_t) (p))
#define PTR2INT(p) ((int) (intptr_t) (p))
#endif

/*
 * Opaque types.  Functions take the address of a variable of the first group;
 * zero-initialized static ones are valid objects.
 */

typedef struct Ns_Thread_ *Ns_Thread;
typedef struct Ns_Tls_    *Ns_Tls;
typedef struct Ns_Mutex_  *Ns_Mutex;
typedef struct Ns_Cond_   *Ns_Cond;
typedef struct Ns_Cs_     *Ns_Cs;
typedef struct Ns_Sema_   *Ns_Sema;
typedef struct Ns_RWLock_ *Ns_RWLock;
typedef struct Ns_Cls_    *Ns_Cls;
typedef struct Ns_Sls_    *Ns_Sls;

typedef struct Ns_Cache_      *Ns_Cache;
typedef struct Ns_Entry_      *Ns_Entry;
typedef struct Ns_Task_       *Ns_Task;
typedef struct Ns_TaskQueue_  *Ns_TaskQueue;
typedef struct Ns_Event_      *Ns_Event;
typedef struct Ns_EventQueue_ *Ns_EventQueue;
typedef struct Ns_OpContext_  *Ns_OpContext;

/*
 * Of OpenSSL, so that a header of the library is needed only where they are
 * looked into.
 */
typedef struct ssl_ctx_st NS_TLS_SSL_CTX;
typedef struct ssl_st     NS_TLS_SSL;

typedef struct Ns_Server Ns_Server;

/*
 * Public structures.
 */

typedef Tcl_DString Ns_DString;

typedef struct Ns_Time {
    long sec;
    long usec;
} Ns_Time;

/* For printf, with sec and usec as arguments. */
#define NS_TIME_FMT "%ld.%06ld"

typedef struct Ns_ObjvTimeRange {
    Ns_Time min;
    Ns_Time max;
} Ns_ObjvTimeRange;

typedef struct Ns_SetField {
    char *name;
    char *value;
} Ns_SetField;

/*
 * Later sources see a size_t where the first ones see the int of its lower
 * half; the other half is always 0.
 */
#if NS_API_LEVEL >= 49933
#define NS_COUNT(name) size_t name
#elif SIZE_MAX == UINT_MAX
#define NS_COUNT(name) int name
#elif __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define NS_COUNT(name) int upper_##name, name
#else
#define NS_COUNT(name) int name, upper_##name
#endif

typedef struct Ns_Set {
    char *name;
    NS_COUNT(size);
    NS_COUNT(maxSize);
    Ns_SetField *fields;
} Ns_Set;

typedef enum {
    NS_REQUEST_TYPE_PLAIN,
    NS_REQUEST_TYPE_PROXY, /* An absolute URL. */
    NS_REQUEST_TYPE_CONNECT,
    NS_REQUEST_TYPE_ASTERISK /* OPTIONS * */
} Ns_RequestType;

typedef struct Ns_Request {
    NS_API_CONST char *line; /* As received, trimmed. */
    NS_API_CONST char *method;
    NS_API_CONST char *protocol; /* Only for absolute request URLs. */
    NS_API_CONST char *host;     /* Likewise. */
    unsigned short     port;     /* Likewise. */
    bool               isProxyRequest;
    NS_API_CONST char *url;   /* Decoded and normalized path. */
    NS_API_CONST char *query; /* Undecoded, NULL if none. */
    int                urlc;
    char             **NS_FIRST(urlv);
    double             version; /* 0.9, 1.0, 1.1 */

    /* The elements as a Tcl list: made when there is a module that has this
     * member, and for what Ns_ParseRequest makes. */
    NS_API_CONST char *NS_LATER(urlv);
    int                urlv_len; /* Bytes. */
    int                url_len;
    Ns_RequestType     requestType;
    NS_API_CONST char *fragment;   /* NULL. */
    NS_API_CONST char *serverRoot; /* NULL. */
} Ns_Request;

typedef struct Ns_Conn {
    Ns_Request *NS_FIRST(request); /* The address of the other one. */
    Ns_Set     *headers;
    Ns_Set     *outputheaders;
    Ns_Set     *auth;
    size_t      contentLength;
#if NS_API_LEVEL >= 49933
    unsigned int flags; /* NS_CONN_* */
#else
    int   flags; /* NS_CONN_* */
#endif
    Ns_Request NS_LATER(request);
} Ns_Conn;

typedef struct Ns_Driver {
    void              *arg;    /* The driver's own. */
    NS_API_CONST char *server; /* NULL for a driver shared by all servers. */
#if NS_API_LEVEL >= 49933
    const char *moduleName;
    const char *type;
#else
    char *module;
    char *name;
#endif
    NS_API_CONST char *location;
    NS_API_CONST char *address;
    NS_API_CONST char *protocol;
    int                NS_FIRST(sendwait); /* Seconds. */
    int                NS_FIRST(recvwait);
    NS_COUNT(bufsize);
    const char *threadName;
    const char *extraHeaders; /* As it is configured, or NULL. */
    Ns_Time     NS_LATER(sendwait);
    Ns_Time     NS_LATER(recvwait);
} Ns_Driver;

/*
 * Room for the address of a client by IPv4 or IPv6.
 */
struct NS_SOCKADDR_STORAGE {
    sa_family_t ss_family;
    uint16_t    ss_port;
    uint32_t    ss_rest[sizeof(struct sockaddr_in6) / sizeof(uint32_t) - 1];
};

typedef struct Ns_Sock {
    Ns_Driver *driver;
    NS_SOCKET  sock;
    __extension__ union {
        struct sockaddr_in         NS_FIRST(sa);
        struct NS_SOCKADDR_STORAGE NS_LATER(sa);
    };
    void *arg; /* The driver's own. */
} Ns_Sock;

typedef struct Ns_FileVec {
    int    fd; /* -1: offset is an address in memory. */
    off_t  offset;
    size_t length;
} Ns_FileVec;

typedef struct Ns_Index {
    void **el;
    int (*CmpEls)(const void *left, const void *right);
    int (*CmpKeyWithEl)(const void *key, const void *elem);
    int n;
    int max;
    int inc;
} Ns_Index;

typedef struct Ns_List {
    void           *first;
    float           weight;
    struct Ns_List *rest;
} Ns_List;

typedef struct Ns_CacheSearch {
    void *opaque[8];
} Ns_CacheSearch;

typedef struct Ns_CompressStream {
    void *opaque[24];
} Ns_CompressStream;

typedef struct Ns_CtxMD5 {
    void *opaque[32];
} Ns_CtxMD5;

typedef struct Ns_CtxSHA1 {
    void *opaque[32];
} Ns_CtxSHA1;

/*
 * Enumerations.
 */

typedef enum {
    Notice,
    Warning,
    Error,
    Fatal,
    Bug,
    Debug,
    Dev,
    Deprecated, /* What will go, and what to use instead. */
    Security    /* What looks like an attack. */
} Ns_LogSeverity;

typedef enum { Preserve, ToLower, ToUpper } Ns_HeaderCaseDisposition;

/*
 * Of NS_FILTER_*, and of NS_SOCK_*.
 */
#if NS_API_LEVEL >= 49933
typedef unsigned int Ns_FilterType;
typedef unsigned int Ns_SockState;
#else
typedef int Ns_FilterType;
typedef int Ns_SockState;
#endif

typedef enum {
    NS_DRIVER_ACCEPT,       /* Wait for data. */
    NS_DRIVER_ACCEPT_DATA,  /* Read at once. */
    NS_DRIVER_ACCEPT_ERROR, /* Nothing accepted. */
    NS_DRIVER_ACCEPT_QUEUE  /* Hand over without reading. */
} NS_DRIVER_ACCEPT_STATUS;

/*
 * Procedure types.
 */

typedef void (*ns_funcptr_t)(void);
typedef void  Ns_Callback(void *arg);
typedef int   Ns_LogCallbackProc(void *arg);
typedef void  Ns_ShutdownProc(NS_API_CONST Ns_Time *toPtr, void *arg);
typedef int   Ns_TclTraceProc(Tcl_Interp *interp, NS_API_CONST void *arg);
typedef int   Ns_TclInterpInitProc(Tcl_Interp *interp, NS_API_CONST void *arg);
typedef void  Ns_TclDeferProc(Tcl_Interp *interp, void *arg);
typedef bool  Ns_SockProc_33(NS_SOCKET sock, void *arg, unsigned int why);
typedef void  Ns_TaskProc(Ns_Task *task, NS_SOCKET sock, void *arg,
                          Ns_SockState why);
typedef void  Ns_EventProc(Ns_Event *event, NS_SOCKET sock, void *arg,
                           Ns_Time *now, Ns_SockState why);
typedef void  Ns_SchedProc(void *arg, int id);
typedef int   Ns_ServerInitProc(const char *server);
typedef int   Ns_ModuleInitProc(const char *server, const char *module);
typedef int   Ns_RequestAuthorizeProc(NS_API_CONST char *server,
                                      NS_API_CONST char *method,
                                      NS_API_CONST char *url,
                                      NS_API_CONST char *user,
                                      NS_API_CONST char *pass,
                                      NS_API_CONST char *peer);
typedef int   Ns_UserAuthorizeProc(NS_API_CONST char *user,
                                   NS_API_CONST char *passwd);
typedef void  Ns_AdpParserProc(Ns_DString *outPtr, char *page);
typedef int   Ns_OpProc(NS_API_CONST void *arg, Ns_Conn *conn);
typedef void  Ns_TraceProc(void *arg, Ns_Conn *conn);
typedef int   Ns_FilterProc(NS_API_CONST void *arg, Ns_Conn *conn,
                            Ns_FilterType why);
typedef int   Ns_LogFilter(NS_API_CONST void *arg, Ns_LogSeverity severity,
                           NS_API_CONST Ns_Time *stamp, NS_API_CONST char *msg,
                           size_t len);
typedef void  Ns_ArgProc(Ns_DString *dsPtr, NS_API_CONST void *arg);
typedef int   Ns_Url2FileProc(Ns_DString *dsPtr, const char *url,
                              NS_API_CONST void *arg);
typedef int   Ns_UrlToFileProc(Ns_DString *dsPtr, const char *server,
                               const char *url);
typedef char *Ns_ServerRootProc(Ns_DString *dest, const char *host,
                                NS_API_CONST void *arg);
typedef char *Ns_LocationProc(Ns_Conn *conn);
typedef int   Ns_LogFlushProc(NS_API_CONST char *msg, size_t len);
typedef int   Ns_LogProc(Ns_DString *msg, Ns_LogSeverity severity,
                         NS_API_CONST char *fmt, va_list ap);
typedef int   Ns_OptionConverter(Tcl_Interp *interp, Tcl_Obj *labelPtr,
                                 Tcl_Obj *objPtr, ClientData *clientData);
typedef void  Ns_ThreadProc(void *arg);
typedef void  Ns_TlsCleanup(void *arg);
#if NS_API_LEVEL >= 49933
typedef void Ns_ThreadArgProc(Ns_DString *dsPtr, ns_funcptr_t proc,
                              const void *arg);
typedef bool Ns_SockProc(NS_SOCKET sock, void *arg, unsigned int why);
#else
typedef void Ns_ThreadArgProc(Ns_DString *dsPtr, void *proc, void *arg);
typedef int Ns_SockProc(NS_SOCKET sock, void *arg, int why);
#endif
typedef int   Ns_IndexCmpProc(const void *left, const void *right);
typedef int   Ns_SortProc(void *left, void *right);
typedef int   Ns_EqualProc(void *left, void *right);
typedef void  Ns_ElemVoidProc(void *elem);
typedef void *Ns_ElemValProc(void *elem);
typedef int   Ns_ElemTestProc(void *elem);

/*
 * Argument parsing.
 */

struct Ns_ObjvSpec;
typedef int Ns_ObjvProc(struct Ns_ObjvSpec *specPtr, Tcl_Interp *interp,
                        int *objcPtr, Tcl_Obj *const *objv);

typedef struct Ns_ObjvSpec {
    const char  *key;
    Ns_ObjvProc *proc;
    void        *dest;
    void        *arg;
} Ns_ObjvSpec;

typedef struct Ns_ObjvTable {
    const char *key;
    int         value;
} Ns_ObjvTable;

#if NS_API_LEVEL >= 49933
typedef struct Ns_TclCallback {
    ns_funcptr_t cbProc;
    const char  *server;
    const char  *script;
    int          argc;
    char       **argv;
} Ns_TclCallback;
typedef char *Ns_ConnLocationProc(Ns_Conn *conn, Ns_DString *dest,
                                  const Ns_TclCallback *cbPtr);
#else
typedef struct Ns_TclCallback {
    Ns_Callback *cbProc;
    const char *server;
    char *script;
    int argc;
    char **argv;
} Ns_TclCallback;
typedef char *Ns_ConnLocationProc(Ns_Conn *conn, Ns_DString *dest, void *arg);
#endif

/*
 * The parts of a URL; see Ns_ParseUrl.
 */
typedef struct Ns_URL {
    const char *protocol;
    const char *userinfo;
    const char *host;
    const char *port;
    const char *path;
    const char *tail;
    const char *query;
    const char *fragment;
} Ns_URL;

/*
 * Tells the server whether these structures are those that a module was built
 * with: the number rises when one of them changes.  And which generation a
 * module sees.  Each object of a module has the functions; the linker keeps one
 * of each.
 */
#define NS_MODULE_INTERFACE 2

#if defined(__GNUC__)
NS_EXTERN int Ns_ModuleInterface(void)
    __attribute__((weak, visibility("default")));
NS_EXTERN int Ns_ModuleApiLevel(void)
    __attribute__((weak, visibility("default")));
int
Ns_ModuleInterface(void)
{
    return NS_MODULE_INTERFACE;
}
int
Ns_ModuleApiLevel(void)
{
    return NS_API_LEVEL;
}
#endif

/*
 * The same number and the sizes of structures, where the server reads them
 * before it loads the file: as ELF notes, each of one number, in each object of
 * the module.
 */
enum {
    NS_NOTE_INTERFACE = 1,
    NS_NOTE_CONN,
    NS_NOTE_REQUEST,
    NS_NOTE_SET,
    NS_NOTE_DRIVER,
    NS_NOTE_SOCK,
    NS_NOTE_DRIVER_INIT,
    NS_NOTE_DRIVER_INIT_33
};

#define NS_NOTE_NAME       "nsd"
#define NS_NOTE_NAME_BYTES 4u

typedef struct Ns_ModuleNote {
    uint32_t nameBytes;
    uint32_t valueBytes;
    uint32_t type; /* NS_NOTE_... */
    char     name[NS_NOTE_NAME_BYTES];
    uint32_t value;
} Ns_ModuleNote;

#if defined(__ELF__) && !defined(NS_NO_MODULE_NOTES)
#define NS_MODULE_NOTES(notes)         \
    static const Ns_ModuleNote notes[] \
        __attribute__((section(".note.nsd"), used, aligned(4)))
#define NS_MODULE_NOTE(type, value)                                      \
    {                                                                    \
        NS_NOTE_NAME_BYTES, 4u, (type), NS_NOTE_NAME, (uint32_t) (value) \
    }

NS_MODULE_NOTES(nsModuleNotes) = {
    NS_MODULE_NOTE(NS_NOTE_INTERFACE, NS_MODULE_INTERFACE),
    NS_MODULE_NOTE(NS_NOTE_CONN, sizeof(Ns_Conn)),
    NS_MODULE_NOTE(NS_NOTE_REQUEST, sizeof(Ns_Request)),
    NS_MODULE_NOTE(NS_NOTE_SET, sizeof(Ns_Set)),
    NS_MODULE_NOTE(NS_NOTE_DRIVER, sizeof(Ns_Driver)),
    NS_MODULE_NOTE(NS_NOTE_SOCK, sizeof(Ns_Sock))};
#endif

/*
 * What modules of today say so that they build with Tcl 9 as well.
 */
#ifndef TCL_INDEX_NONE
#define TCL_INDEX_NONE (-1)
#endif
#define TCL_SIZE_T           int
#define TCL_OBJC_T           int
#define PRITcl_Size          "d"
#define NS_TCL_PRE9          1
#define TCL_OBJCMDPROC_T     Tcl_ObjCmdProc
#define TCL_CREATEOBJCOMMAND Tcl_CreateObjCommand
#define CHARTYPE(what, c)    (is##what((int) UCHAR(c)))
#define INTCHAR(c)           ((int) UCHAR(c))

#endif
