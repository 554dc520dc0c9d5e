/*
 * nsconn.h --
 *
 *      A request as its handler sees it: data, body, output, local storage.
 */

#ifndef NSCONN_H
#define NSCONN_H

#include "nstypes.h"


/*
 * Connection of the calling thread or NULL.
 */
NS_EXTERN Ns_Conn *Ns_GetConn(void);

/*
 * Number of the connection structure.
 */
NS_EXTERN int Ns_ConnId(Ns_Conn *);

/*
 * Virtual server name.
 */
NS_EXTERN char *Ns_ConnServer(Ns_Conn *);

/*
 * Request / response header sets.
 */
NS_EXTERN Ns_Set *Ns_ConnHeaders(Ns_Conn *);
NS_EXTERN Ns_Set *Ns_ConnOutputHeaders(Ns_Conn *);

/*
 * Set with `AuthMethod`, `Username`, `Password` or Digest fields; NULL if
 * none.
 */
NS_EXTERN Ns_Set *Ns_ConnAuth(Ns_Conn *);

/*
 * User/password from the header, NULL if none.
 */
NS_EXTERN char *Ns_ConnAuthUser(Ns_Conn *);
NS_EXTERN char *Ns_ConnAuthPasswd(Ns_Conn *);

/*
 * Announced body length.
 */
NS_EXTERN size_t Ns_ConnContentLength(Ns_Conn *);

/*
 * Body in memory, null-terminated; NULL if spooled to a file.
 */
NS_EXTERN char *Ns_ConnContent(Ns_Conn *);

/*
 * Received body bytes.
 */
NS_EXTERN size_t Ns_ConnContentSize(Ns_Conn *);

/*
 * Name of the spool file (uploads above `maxupload`) or NULL.
 */
NS_EXTERN char *Ns_ConnContentFile(Ns_Conn *);

/*
 * Descriptor of the spool file, 0 if none.
 */
NS_EXTERN int Ns_ConnContentFd(Ns_Conn *);

/*
 * Set of query or form fields, parsed once, decoded with the URL
 * encoding.
 */
NS_EXTERN Ns_Set *Ns_ConnGetQuery(Ns_Conn *);

/*
 * Forget it so that it is parsed again.
 */
NS_EXTERN void Ns_ConnClearQuery(Ns_Conn *);

/*
 * Append the fields of `a=b&c=d`, unescaped but not converted from any charset,
 * to a set; a field without `=` has a NULL value.  NS_OK.
 */
NS_EXTERN int Ns_QueryToSet(const char *query, Ns_Set *setPtr);

/*
 * Peer address string / port.
 */
NS_EXTERN char *Ns_ConnPeer(Ns_Conn *);
NS_EXTERN int Ns_ConnPeerPort(Ns_Conn *);

/*
 * Override the peer for this request; returns the string.
 */
NS_EXTERN char *Ns_ConnSetPeer(Ns_Conn *, struct sockaddr_in *);

/*
 * Driver's configured address / port.
 */
NS_EXTERN char *Ns_ConnHost(Ns_Conn *);
NS_EXTERN int Ns_ConnPort(Ns_Conn *);

/*
 * Static driver location. Deprecated.
 */
NS_EXTERN char *Ns_ConnLocation(Ns_Conn *);

/*
 * Append `scheme://host[:port]`, virtual-host aware.
 */
NS_EXTERN char *Ns_ConnLocationAppend(Ns_Conn *, Ns_DString *);

/*
 * Replace location computation for the initialising server (second: old,
 * deprecated).
 */
NS_EXTERN int Ns_SetConnLocationProc(Ns_ConnLocationProc *, void *);
NS_EXTERN void Ns_SetLocationProc(const char *, Ns_LocationProc *);

/*
 * Time of queueing (both the same).
 */
NS_EXTERN Ns_Time *Ns_ConnStartTime(Ns_Conn *);
NS_EXTERN Ns_Time *Ns_ConnQueueTime(Ns_Conn *);

/*
 * Times of accept/first byte, dequeue, filters done.
 */
NS_EXTERN Ns_Time *Ns_ConnAcceptTime(Ns_Conn *);
NS_EXTERN Ns_Time *Ns_ConnDequeueTime(Ns_Conn *);
NS_EXTERN Ns_Time *Ns_ConnFilterTime(Ns_Conn *);

/*
 * Fill accept, queue, filter, run spans; valid in traces.
 */
NS_EXTERN void Ns_ConnTimeSpans(Ns_Conn *, Ns_Time *, Ns_Time *, Ns_Time *, Ns_Time *);

/*
 * Compute the spans and add them to the pool statistics (core; once per
 * request).
 */
NS_EXTERN void Ns_ConnTimeStats(Ns_Conn *);

/*
 * Absolute deadline for waiting on resources in this request.
 */
NS_EXTERN Ns_Time *Ns_ConnTimeout(Ns_Conn *);

/*
 * Output charset encoding.
 */
NS_EXTERN void Ns_ConnSetEncoding(Ns_Conn *, Tcl_Encoding);
NS_EXTERN Tcl_Encoding Ns_ConnGetEncoding(Ns_Conn *);

/*
 * Encoding for URL/form decoding.
 */
NS_EXTERN void Ns_ConnSetUrlEncoding(Ns_Conn *, Tcl_Encoding);
NS_EXTERN Tcl_Encoding Ns_ConnGetUrlEncoding(Ns_Conn *);

/*
 * Compression level 0-9; used only if the client accepts gzip.
 */
NS_EXTERN void Ns_ConnSetCompression(Ns_Conn *, int);
NS_EXTERN int Ns_ConnGetCompression(Ns_Conn *);

/*
 * False if `If-Modified-Since` is present, checked, and ≥ the time; else
 * true.
 */
NS_EXTERN int Ns_ConnModifiedSince(Ns_Conn *, time_t);

/*
 * True unless `If-Unmodified-Since` is older than the time.
 */
NS_EXTERN int Ns_ConnUnmodifiedSince(Ns_Conn *, time_t);

/*
 * Status to be logged, default 200.
 */
NS_EXTERN int Ns_ConnResponseStatus(Ns_Conn *);

/*
 * Set it; 200 is ignored.
 */
NS_EXTERN void Ns_ConnSetResponseStatus(Ns_Conn *, int);

/*
 * Byte counter for logs.
 */
NS_EXTERN Tcl_WideInt Ns_ConnContentSent(Ns_Conn *);
NS_EXTERN void Ns_ConnSetContentSent(Ns_Conn *, Tcl_WideInt);

/*
 * Declared response length, −1 unknown.
 */
NS_EXTERN Tcl_WideInt Ns_ConnResponseLength(Ns_Conn *);

/*
 * Add one header line to a set, its name in the case that disposition says; a
 * line that begins with white space goes on with the last value.  NS_ERROR: no
 * colon, or nothing to go on with.
 */
NS_EXTERN int Ns_ParseHeader(Ns_Set *setPtr, const char *line,
                             Ns_HeaderCaseDisposition disposition);

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
 * Where the decoded URL goes on after n elements of its path; NULL if it has
 * fewer.
 */
NS_EXTERN char *Ns_SkipUrl(Ns_Request *requestPtr, int n);

/*
 * Copy up to n body bytes; count.
 */
NS_EXTERN size_t Ns_ConnRead(Ns_Conn *, void *, size_t);

/*
 * Next body line without line end; optional consumed count.
 */
NS_EXTERN int Ns_ConnReadLine(Ns_Conn *, Ns_DString *, size_t *);

/*
 * Read a MIME header block from the body.
 */
NS_EXTERN int Ns_ConnReadHeaders(Ns_Conn *, Ns_Set *, size_t *);

/*
 * fgets-like; NULL at end.
 */
NS_EXTERN char *Ns_ConnGets(char *, size_t, Ns_Conn *);

/*
 * Copy n body bytes to a string.
 */
NS_EXTERN int Ns_ConnCopyToDString(Ns_Conn *, size_t, Ns_DString *);

/*
 * Copy n body bytes to fd, FILE, channel.
 */
NS_EXTERN int Ns_ConnCopyToFd(Ns_Conn *, size_t, int);
NS_EXTERN int Ns_ConnCopyToFile(Ns_Conn *, size_t, FILE *);
NS_EXTERN int Ns_ConnCopyToChannel(Ns_Conn *, size_t, Tcl_Channel);

/*
 * Discard unread body.
 */
NS_EXTERN int Ns_ConnFlushContent(Ns_Conn *);

/*
 * Send raw bytes / vector.
 */
NS_EXTERN int Ns_ConnWriteData(Ns_Conn *, const void *, size_t, int);
NS_EXTERN int Ns_ConnWriteVData(Ns_Conn *, struct iovec *, int, int);

/*
 * Send UTF-8 text: converted to the output encoding, possibly compressed.
 */
NS_EXTERN int Ns_ConnWriteChars(Ns_Conn *, const char *, size_t, int);
NS_EXTERN int Ns_ConnWriteVChars(Ns_Conn *, struct iovec *, int, int);

/*
 * Write vector to the driver (or writer) without adding headers; bytes or
 * −1.
 */
NS_EXTERN ssize_t Ns_ConnSend(Ns_Conn *, struct iovec *, int);

/*
 * Send n bytes (−1 = rest) of an open file.
 */
NS_EXTERN int Ns_ConnSendFd(Ns_Conn *, int, Tcl_WideInt);
NS_EXTERN int Ns_ConnSendFp(Ns_Conn *, FILE *, Tcl_WideInt);
NS_EXTERN int Ns_ConnSendChannel(Ns_Conn *, Tcl_Channel, Tcl_WideInt);

/*
 * Send file/memory ranges completely.
 */
NS_EXTERN int Ns_ConnSendFileVec(Ns_Conn *, Ns_FileVec *, int);

/*
 * Send string contents raw; no newline added.
 */
NS_EXTERN int Ns_ConnSendDString(Ns_Conn *, Ns_DString *);
NS_EXTERN int Ns_ConnPuts(Ns_Conn *, const char *);

/*
 * Finish the response: last chunk, keep or close; runs at-close scripts;
 * always NS_OK.
 */
NS_EXTERN int Ns_ConnClose(Ns_Conn *);

/*
 * Decide length/chunking/keep-alive, render headers to ds; 1 unless
 * suppressed.
 */
NS_EXTERN int Ns_CompleteHeaders(Ns_Conn *, Tcl_WideInt, int, Ns_DString *);

/*
 * Deprecated forms of the above.
 */
NS_EXTERN int Ns_ConnInit(Ns_Conn *);
NS_EXTERN int Ns_ConnWrite(Ns_Conn *, const void *, size_t);
NS_EXTERN int Ns_WriteConn(Ns_Conn *, const char *, size_t);
NS_EXTERN int Ns_WriteCharConn(Ns_Conn *, const char *, size_t);

/*
 * Prepare and release a gzip stream, which must not move in between and serves
 * any number of bodies, one after the other.
 */
NS_EXTERN int  Ns_CompressInit(Ns_CompressStream *streamPtr);
NS_EXTERN void Ns_CompressFree(Ns_CompressStream *streamPtr);

/*
 * Append compressed bytes, so that all given so far can be read; with flush, the
 * body ends.  The level, 1 to 9, is that of a body's first call.
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
 * Slot per request (≤16), cleanup at end.
 */
NS_EXTERN void Ns_ClsAlloc(Ns_Cls *, Ns_Callback *);
NS_EXTERN void Ns_ClsSet(Ns_Cls *, Ns_Conn *, void *);
NS_EXTERN void *Ns_ClsGet(Ns_Cls *, Ns_Conn *);

/*
 * Slot per socket, survives keep-alive requests.
 */
NS_EXTERN void Ns_SlsAlloc(Ns_Sls *, Ns_Callback *);
NS_EXTERN void Ns_SlsSet(Ns_Sls *, Ns_Sock *, void *);
NS_EXTERN void *Ns_SlsGet(Ns_Sls *, Ns_Sock *);

/*
 * Named strings per socket.
 */
NS_EXTERN void Ns_SlsSetKeyed(Ns_Sock *, const char *, const char *);
NS_EXTERN char *Ns_SlsGetKeyed(Ns_Sock *, const char *);
NS_EXTERN char *Ns_SlsAppendKeyed(Ns_DString *, Ns_Sock *);
NS_EXTERN void Ns_SlsUnsetKeyed(Ns_Sock *, const char *);

#endif
