/* SPDX-License-Identifier: MPL-2.0
 * nsconn.h --
 *
 *      A request as its handler sees it: data, body, output, local storage.
 *
 *      A connection belongs to the thread that serves it.  Pointers returned
 *      here are good until the end of the request, unless something else is
 *      said.
 */

#ifndef NSCONN_H
#define NSCONN_H

#include "nstypes.h"

/*
 * The request that the calling thread serves, or NULL.
 */
NS_EXTERN Ns_Conn *Ns_GetConn(void);

/*
 * Its number, counting up per server; the name of the virtual server.
 */
NS_EXTERN int   Ns_ConnId(Ns_Conn *conn);
NS_EXTERN char *Ns_ConnServer(Ns_Conn *conn);

/*
 * Header fields of the request and of the response.
 */
NS_EXTERN Ns_Set *Ns_ConnHeaders(Ns_Conn *conn);
NS_EXTERN Ns_Set *Ns_ConnOutputHeaders(Ns_Conn *conn);

/*
 * The content of the Authorization field: AuthMethod, Username, Password, or
 * the parameters of a digest; NULL without such a field.  User and password as
 * the client gave them, unchecked, or NULL.
 */
NS_EXTERN Ns_Set *Ns_ConnAuth(Ns_Conn *conn);
NS_EXTERN char   *Ns_ConnAuthUser(Ns_Conn *conn);
NS_EXTERN char   *Ns_ConnAuthPasswd(Ns_Conn *conn);

/*
 * The body: its length; its bytes, followed by a null byte, NULL when it is
 * in a file; the name of an upload's file, or NULL; the descriptor of the
 * body's file, 0 if there is none.
 */
NS_EXTERN size_t Ns_ConnContentLength(Ns_Conn *conn);
NS_EXTERN size_t Ns_ConnContentSize(Ns_Conn *conn);
NS_EXTERN char  *Ns_ConnContent(Ns_Conn *conn);
NS_EXTERN char  *Ns_ConnContentFile(Ns_Conn *conn);
NS_EXTERN int    Ns_ConnContentFd(Ns_Conn *conn);

/*
 * The form: fields of the body of a POST, else of the query, decoded with the
 * URL encoding.  Parsed at the first call; ClearQuery lets the next call parse
 * again, the old set stays valid.
 */
NS_EXTERN Ns_Set *Ns_ConnGetQuery(Ns_Conn *conn);
NS_EXTERN void    Ns_ConnClearQuery(Ns_Conn *conn);

/*
 * Append the fields of `a=b&c=d`, unescaped but not converted from any charset,
 * to a set; a field without `=` has a NULL value.  Fields whose names end in
 * .tmpfile or .content-type are dropped: these names are for what the server
 * itself adds to a form.  NS_OK.
 */
NS_EXTERN int Ns_QueryToSet(const char *query, Ns_Set *setPtr);

/*
 * Address and port of the client.  SetPeer overrides them for this request, as
 * behind a proxy.
 */
NS_EXTERN char *Ns_ConnPeer(Ns_Conn *conn);
NS_EXTERN int   Ns_ConnPeerPort(Ns_Conn *conn);
NS_EXTERN char *Ns_ConnSetPeer(Ns_Conn *conn, struct sockaddr_in *saPtr);

/*
 * Address and port of the driver.
 */
NS_EXTERN char *Ns_ConnHost(Ns_Conn *conn);
NS_EXTERN int   Ns_ConnPort(Ns_Conn *conn);

/*
 * `scheme://host[:port]`: of the driver or its host map (deprecated); or,
 * appended, as virtual hosts and location procedures have it.
 */
NS_EXTERN char *Ns_ConnLocation(Ns_Conn *conn);
NS_EXTERN char *Ns_ConnLocationAppend(Ns_Conn *conn, Ns_DString *dsPtr);

/*
 * Replace the computation of locations: for the server that is being
 * initialized; old form for a named server.  A procedure that returns NULL
 * leaves it to the default.
 */
NS_EXTERN int  Ns_SetConnLocationProc(Ns_ConnLocationProc *proc, void *arg);
NS_EXTERN void Ns_SetLocationProc(const char *server, Ns_LocationProc *proc);

/*
 * When the request was queued (both), accepted, taken up by its thread, done
 * with its filters.
 */
NS_EXTERN Ns_Time *Ns_ConnStartTime(Ns_Conn *conn);
NS_EXTERN Ns_Time *Ns_ConnQueueTime(Ns_Conn *conn);
NS_EXTERN Ns_Time *Ns_ConnAcceptTime(Ns_Conn *conn);
NS_EXTERN Ns_Time *Ns_ConnDequeueTime(Ns_Conn *conn);
NS_EXTERN Ns_Time *Ns_ConnFilterTime(Ns_Conn *conn);

/*
 * The four spans; the run span ends now as long as the response is not
 * finished.
 */
NS_EXTERN void Ns_ConnTimeSpans(Ns_Conn *conn, Ns_Time *acceptPtr,
                                Ns_Time *queuePtr, Ns_Time *filterPtr,
                                Ns_Time *runPtr);

/*
 * End the run span and count the spans in the pool's figures; once per request.
 * The server does it.
 */
NS_EXTERN void Ns_ConnTimeStats(Ns_Conn *conn);

/*
 * The time at which the request should give up waiting; 0 for none.
 */
NS_EXTERN Ns_Time *Ns_ConnTimeout(Ns_Conn *conn);

/*
 * Encodings of output text, and of queries and forms.
 */
NS_EXTERN void         Ns_ConnSetEncoding(Ns_Conn *conn, Tcl_Encoding encoding);
NS_EXTERN Tcl_Encoding Ns_ConnGetEncoding(Ns_Conn *conn);
NS_EXTERN void Ns_ConnSetUrlEncoding(Ns_Conn *conn, Tcl_Encoding encoding);
NS_EXTERN Tcl_Encoding Ns_ConnGetUrlEncoding(Ns_Conn *conn);

/*
 * Level 0 to 9 at which text is compressed, if the client accepts it.
 */
NS_EXTERN void Ns_ConnSetCompression(Ns_Conn *conn, int level);
NS_EXTERN int  Ns_ConnGetCompression(Ns_Conn *conn);

/*
 * False if the client has a copy at least as new (If-Modified-Since); false if
 * it wants nothing newer (If-Unmodified-Since).
 */
NS_EXTERN int Ns_ConnModifiedSince(Ns_Conn *conn, time_t since);
NS_EXTERN int Ns_ConnUnmodifiedSince(Ns_Conn *conn, time_t since);

/*
 * The response's status, 200 at first.  Setting 200 has no effect.
 */
NS_EXTERN int  Ns_ConnResponseStatus(Ns_Conn *conn);
NS_EXTERN void Ns_ConnSetResponseStatus(Ns_Conn *conn, int status);

/*
 * Bytes sent or queued, header included.
 */
NS_EXTERN Tcl_WideInt Ns_ConnContentSent(Ns_Conn *conn);
NS_EXTERN void        Ns_ConnSetContentSent(Ns_Conn *conn, Tcl_WideInt bytes);

/*
 * The declared length of the response's body; -1 if unknown.
 */
NS_EXTERN Tcl_WideInt Ns_ConnResponseLength(Ns_Conn *conn);

/*
 * Add one header line to a set, its name in the case that disposition says; a
 * line that begins with white space continues the last value.  NS_ERROR: no
 * colon, or nothing to continue.
 */
NS_EXTERN int Ns_ParseHeader(Ns_Set *setPtr, const char *line,
                             Ns_HeaderCaseDisposition disposition);

/*
 * The same as later sources call it: the names of the fields get prefix (NULL:
 * none) before them, and the index of the field is stored in *indexPtr (may be
 * NULL).
 */
NS_EXTERN int Ns_ParseHeader_33(Ns_Set *setPtr, const char *line,
                                const char              *prefix,
                                Ns_HeaderCaseDisposition disposition,
                                size_t                  *indexPtr);
#if NS_API_LEVEL >= 50000
#define Ns_ParseHeader(setPtr, line, prefix, indexPtr) \
    Ns_ParseHeader_33((setPtr), (line), (prefix), Preserve, (indexPtr))
#elif NS_API_LEVEL >= 49933
#define Ns_ParseHeader Ns_ParseHeader_33
#endif

/*
 * Fill an Ns_Request, whose content does not matter, from a request line.
 * NS_ERROR: there is no URL; all members are 0 or NULL then.
 *
 * Ns_ResetRequest releases the parts; Ns_FreeRequest (NULL is allowed) also the
 * structure, which came from ns_malloc.
 */
NS_EXTERN int  Ns_ParseRequest(Ns_Request *requestPtr, const char *line);
NS_EXTERN void Ns_ResetRequest(Ns_Request *requestPtr);
NS_EXTERN void Ns_FreeRequest(Ns_Request *requestPtr);

/*
 * Replace url, query, urlv, and urlc by those of a URL as a client would send
 * it.  It may be a part of the present one.
 */
NS_EXTERN void Ns_SetRequestUrl(Ns_Request *requestPtr, const char *url);

/*
 * The rest of the decoded URL after n elements of its path; NULL if it has
 * fewer.
 */
NS_EXTERN char *Ns_SkipUrl(Ns_Request *requestPtr, int n);

/*
 * Reading the body piece by piece: up to size bytes (their number); a line
 * without its end (NS_ERROR: there is no whole line); header lines up to an
 * empty one; a line as fgets does it (NULL at the end).  nReadPtr may be NULL.
 */
NS_EXTERN size_t Ns_ConnRead(Ns_Conn *conn, void *buffer, size_t size);
NS_EXTERN int    Ns_ConnReadLine(Ns_Conn *conn, Ns_DString *dsPtr,
                                 size_t *nReadPtr);
NS_EXTERN int    Ns_ConnReadHeaders(Ns_Conn *conn, Ns_Set *setPtr,
                                    size_t *nReadPtr);
NS_EXTERN char  *Ns_ConnGets(char *buffer, size_t size, Ns_Conn *conn);

/*
 * Copy the next bytes of the body; NS_ERROR, with nothing copied, when there
 * are fewer.
 */
NS_EXTERN int Ns_ConnCopyToDString(Ns_Conn *conn, size_t length,
                                   Ns_DString *dsPtr);
NS_EXTERN int Ns_ConnCopyToFd(Ns_Conn *conn, size_t length, int fd);
NS_EXTERN int Ns_ConnCopyToFile(Ns_Conn *conn, size_t length, FILE *file);
NS_EXTERN int Ns_ConnCopyToChannel(Ns_Conn *conn, size_t length,
                                   Tcl_Channel channel);

/*
 * Skip the rest of the body.
 */
NS_EXTERN int Ns_ConnFlushContent(Ns_Conn *conn);

/*
 * Send a part of the response; the first one sends the header, too.  flags: 0
 * for a complete body, NS_CONN_STREAM when more will follow,
 * NS_CONN_STREAM_CLOSE for the last part.  No call waits for the client.
 * NS_ERROR: the client is gone.
 */
NS_EXTERN int Ns_ConnWriteData(Ns_Conn *conn, const void *bytes, size_t length,
                               int flags);
NS_EXTERN int Ns_ConnWriteVData(Ns_Conn *conn, struct iovec *bufs, int nBufs,
                                int flags);

/*
 * The same with UTF-8 text: converted to the output encoding, and compressed
 * where the client accepts it.
 */
NS_EXTERN int Ns_ConnWriteChars(Ns_Conn *conn, const char *text, size_t length,
                                int flags);
NS_EXTERN int Ns_ConnWriteVChars(Ns_Conn *conn, struct iovec *bufs, int nBufs,
                                 int flags);

/*
 * Send bytes and nothing else; their number, or -1.
 */
NS_EXTERN ssize_t Ns_ConnSend(Ns_Conn *conn, struct iovec *bufs, int nBufs);

/*
 * Send the next bytes of a file, -1 for all; or ranges of files and memory.
 */
NS_EXTERN int Ns_ConnSendFd(Ns_Conn *conn, int fd, Tcl_WideInt bytes);
NS_EXTERN int Ns_ConnSendFp(Ns_Conn *conn, FILE *file, Tcl_WideInt bytes);
NS_EXTERN int Ns_ConnSendChannel(Ns_Conn *conn, Tcl_Channel channel,
                                 Tcl_WideInt bytes);
NS_EXTERN int Ns_ConnSendFileVec(Ns_Conn *conn, Ns_FileVec *vectors, int n);

/*
 * Send a string as part of a stream.
 */
NS_EXTERN int Ns_ConnSendDString(Ns_Conn *conn, Ns_DString *dsPtr);
NS_EXTERN int Ns_ConnPuts(Ns_Conn *conn, const char *text);

/*
 * Finish the response: last chunk, keep or close the connection, at-close
 * scripts.  Harmless when repeated.  NS_OK.
 */
NS_EXTERN int Ns_ConnClose(Ns_Conn *conn);

/*
 * Decide length, chunks and keep-alive and append the header; 0 when none is to
 * be sent.
 */
NS_EXTERN int Ns_CompleteHeaders(Ns_Conn *conn, Tcl_WideInt bodyBytes,
                                 int flags, Ns_DString *dsPtr);

/*
 * Deprecated forms of the above.
 */
NS_EXTERN int Ns_ConnInit(Ns_Conn *conn);
NS_EXTERN int Ns_ConnWrite(Ns_Conn *conn, const void *bytes, size_t length);
NS_EXTERN int Ns_WriteConn(Ns_Conn *conn, const char *bytes, size_t length);
NS_EXTERN int Ns_WriteCharConn(Ns_Conn *conn, const char *text, size_t length);

/*
 * Prepare and release a gzip stream, which must not move in between and serves
 * any number of bodies, one after the other.
 */
NS_EXTERN int  Ns_CompressInit(Ns_CompressStream *streamPtr);
NS_EXTERN void Ns_CompressFree(Ns_CompressStream *streamPtr);

/*
 * Append compressed bytes, so that all given so far can be read; with flush,
 * the body ends.  The level, 1 to 9, is that of a body's first call.
 */
NS_EXTERN int Ns_CompressBufsGzip(Ns_CompressStream *streamPtr,
                                  struct iovec *bufs, int nBufs,
                                  Ns_DString *dsPtr, int level, int flush);

/*
 * Append a whole body, compressed.
 */
NS_EXTERN int Ns_CompressGzip(const char *bytes, int nBytes, Ns_DString *dsPtr,
                              int level);

/*
 * Slots for data that lives as long as a request; there are NS_CONN_MAXCLS.
 * cleanupProc (NULL: none) is called for data other than NULL at the end.
 */
NS_EXTERN void  Ns_ClsAlloc(Ns_Cls *clsPtr, Ns_Callback *cleanupProc);
NS_EXTERN void  Ns_ClsSet(Ns_Cls *clsPtr, Ns_Conn *conn, void *data);
NS_EXTERN void *Ns_ClsGet(Ns_Cls *clsPtr, Ns_Conn *conn);

/*
 * Slots for data that lives as long as a client's connection.
 */
NS_EXTERN void  Ns_SlsAlloc(Ns_Sls *slsPtr, Ns_Callback *cleanupProc);
NS_EXTERN void  Ns_SlsSet(Ns_Sls *slsPtr, Ns_Sock *sock, void *data);
NS_EXTERN void *Ns_SlsGet(Ns_Sls *slsPtr, Ns_Sock *sock);

/*
 * Named strings of a client's connection: set; the value, or NULL; all names
 * and values, appended as a list; unset.
 */
NS_EXTERN void  Ns_SlsSetKeyed(Ns_Sock *sock, const char *key,
                               const char *value);
NS_EXTERN char *Ns_SlsGetKeyed(Ns_Sock *sock, const char *key);
NS_EXTERN char *Ns_SlsAppendKeyed(Ns_DString *dsPtr, Ns_Sock *sock);
NS_EXTERN void  Ns_SlsUnsetKeyed(Ns_Sock *sock, const char *key);

/*
 * The address of the client: of its socket, which may be a proxy's; as
 * reported by trusted proxies, "" if there is no report; and the one that
 * counts, as in Ns_ConnPeer.
 */
NS_EXTERN const char *Ns_ConnPeerAddr(const Ns_Conn *conn);
NS_EXTERN const char *Ns_ConnForwardedPeerAddr(const Ns_Conn *conn);
NS_EXTERN const char *Ns_ConnConfiguredPeerAddr(const Ns_Conn *conn);

/*
 * Address and port at which the connection came in; "" and 0 when it is closed.
 */
NS_EXTERN const char    *Ns_ConnCurrentAddr(const Ns_Conn *conn);
NS_EXTERN unsigned short Ns_ConnCurrentPort(const Ns_Conn *conn);

/*
 * Append what the request line has as its target, as the client sent it, with
 * the query; nothing for a driver that does not parse.  dsPtr's value.
 */
NS_EXTERN const char *Ns_ConnTarget(const Ns_Conn *conn, Ns_DString *dsPtr);

/*
 * Whether nothing more can be sent: the reply is finished, or the socket has
 * been taken over.
 */
NS_EXTERN bool Ns_ConnIsClosed(const Ns_Conn *conn);

/*
 * The server of a request; the one of that name, NULL if there is none; its
 * name.
 */
NS_EXTERN Ns_Server  *Ns_ConnServPtr(const Ns_Conn *conn);
NS_EXTERN Ns_Server  *Ns_GetServer(const char *server);
NS_EXTERN const char *Ns_ServerName(const Ns_Server *server);

#endif
