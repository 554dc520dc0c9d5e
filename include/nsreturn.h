/* SPDX-License-Identifier: MPL-2.0
 * nsreturn.h --
 *
 *      Whole responses and response headers.
 *
 *      The Ns_ConnReturn... functions send status, header and body, finish the
 *      connection and return NS_OK, or NS_ERROR when the client is gone; a
 *      handler passes the result on.  After the header was sent they append
 *      only their body; after the connection was closed they send nothing.
 *      For the statuses named below, a registered error document is sent
 *      instead of the built-in page.
 */

#ifndef NSRETURN_H
#define NSRETURN_H

#include "nstypes.h"

/*
 * Bytes with a type, as they are; length -1: strlen.  The client may ask for
 * ranges.
 */
NS_EXTERN int Ns_ConnReturnData(Ns_Conn *conn, int status, const char *data,
                                ssize_t length, const char *type);

/*
 * UTF-8 text, sent in the output encoding, which is added to the type.
 */
NS_EXTERN int Ns_ConnReturnCharData(Ns_Conn *conn, int status, const char *text,
                                    ssize_t length, const char *type);
NS_EXTERN int Ns_ConnReturnHtml(Ns_Conn *conn, int status, const char *html,
                                ssize_t length);

/*
 * A small HTML page.  Title and text are HTML.
 */
NS_EXTERN int Ns_ConnReturnNotice(Ns_Conn *conn, int status, const char *title,
                                  const char *notice);
NS_EXTERN int Ns_ConnReturnAdminNotice(Ns_Conn *conn, int status,
                                       const char *title, const char *notice);

/*
 * A file by name, with ranges and conditions; type NULL: by the extension.
 */
NS_EXTERN int Ns_ConnReturnFile(Ns_Conn *conn, int status, const char *type,
                                const char *path);

/*
 * The next bytes of an open file, which stays open.  NS_ERROR also when it has
 * fewer.
 */
NS_EXTERN int Ns_ConnReturnOpenFd(Ns_Conn *conn, int status, const char *type,
                                  int fd, size_t length);
NS_EXTERN int Ns_ConnReturnOpenFile(Ns_Conn *conn, int status, const char *type,
                                    FILE *file, size_t length);
NS_EXTERN int Ns_ConnReturnOpenChannel(Ns_Conn *conn, int status,
                                       const char *type, Tcl_Channel channel,
                                       size_t length);

/*
 * A status without body; 200; 204; 304.
 */
NS_EXTERN int Ns_ConnReturnStatus(Ns_Conn *conn, int status);
NS_EXTERN int Ns_ConnReturnOk(Ns_Conn *conn);
NS_EXTERN int Ns_ConnReturnNoResponse(Ns_Conn *conn);
NS_EXTERN int Ns_ConnReturnNotModified(Ns_Conn *conn);

/*
 * 302; 301.  A URL that starts with a slash gets the location in front; NULL:
 * 204.
 */
NS_EXTERN int Ns_ConnReturnRedirect(Ns_Conn *conn, const char *url);
NS_EXTERN int Ns_ConnReturnMoved(Ns_Conn *conn, const char *url);

/*
 * 400; reason, as HTML, may be NULL.
 */
NS_EXTERN int Ns_ConnReturnBadRequest(Ns_Conn *conn, const char *reason);

/*
 * 401, asking for a password unless WWW-Authenticate was set.
 */
NS_EXTERN int Ns_ConnReturnUnauthorized(Ns_Conn *conn);

/*
 * 403; 404; 413; 414; 431; 501.
 */
NS_EXTERN int Ns_ConnReturnForbidden(Ns_Conn *conn);
NS_EXTERN int Ns_ConnReturnNotFound(Ns_Conn *conn);
NS_EXTERN int Ns_ConnReturnEntityTooLarge(Ns_Conn *conn);
NS_EXTERN int Ns_ConnReturnRequestURITooLong(Ns_Conn *conn);
NS_EXTERN int Ns_ConnReturnHeaderLineTooLong(Ns_Conn *conn);
NS_EXTERN int Ns_ConnReturnNotImplemented(Ns_Conn *conn);

/*
 * 500; 503.  Header fields set so far are dropped.  If the header was sent, 500
 * just ends the response and closes the connection.
 */
NS_EXTERN int Ns_ConnReturnInternalError(Ns_Conn *conn);
NS_EXTERN int Ns_ConnReturnUnavailable(Ns_Conn *conn);

/*
 * The error document of a status, for the server that is being initialized: a
 * local URL; NULL removes it.
 */
NS_EXTERN void Ns_RegisterReturn(int status, const char *url);

/*
 * Add a response header field; replace the first of exactly that name; add it
 * unless there is one, in any case.
 */
NS_EXTERN void Ns_ConnSetHeaders(Ns_Conn *conn, const char *field,
                                 const char *value);
NS_EXTERN void Ns_ConnUpdateHeaders(Ns_Conn *conn, const char *field,
                                    const char *value);
NS_EXTERN void Ns_ConnCondSetHeaders(Ns_Conn *conn, const char *field,
                                     const char *value);

/*
 * Add a field with a formatted value.
 */
NS_EXTERN void Ns_ConnPrintfHeaders(Ns_Conn *conn, const char *field,
                                    const char *fmt, ...) NS_GNUC_PRINTF(3, 4);

/*
 * Replace all fields by copies of those in the set.
 */
NS_EXTERN void Ns_ConnReplaceHeaders(Ns_Conn *conn, Ns_Set *setPtr);

/*
 * Content-Type: as given; or for text, with the charset: one in the type
 * selects the output encoding, otherwise that of the output encoding is
 * appended.
 */
NS_EXTERN void Ns_ConnSetTypeHeader(Ns_Conn *conn, const char *type);
NS_EXTERN void Ns_ConnSetEncodedTypeHeader(Ns_Conn *conn, const char *type);

/*
 * Content-Length, and so the length of a streamed response; Last-Modified
 * unless there is one; Expires.
 */
NS_EXTERN void Ns_ConnSetLengthHeader(Ns_Conn *conn, Tcl_WideInt length);
NS_EXTERN void Ns_ConnSetLastModifiedHeader(Ns_Conn *conn, time_t *mtimePtr);
NS_EXTERN void Ns_ConnSetExpiresHeader(Ns_Conn *conn, const char *expires);

/*
 * Decide how the response is framed and append its header.
 */
NS_EXTERN void Ns_ConnConstructHeaders(Ns_Conn *conn, Ns_DString *dsPtr);

/*
 * Deprecated.  Type and length in one call; set the status; send the header now
 * (bytes sent so far); nothing.
 */
NS_EXTERN void        Ns_ConnSetRequiredHeaders(Ns_Conn *conn, const char *type,
                                                size_t length);
NS_EXTERN void        Ns_ConnQueueHeaders(Ns_Conn *conn, int status);
NS_EXTERN Tcl_WideInt Ns_ConnFlushHeaders(Ns_Conn *conn, int status);
NS_EXTERN int         Ns_ConnResetReturn(Ns_Conn *conn);

/*
 * Add a Set-Cookie field; the value is coded.  maxAge in seconds: 0 for the
 * session, negative to expire it, the largest time_t for a cookie that never
 * expires.  Cookies are HttpOnly unless flags has NS_COOKIE_SCRIPTABLE.  domain
 * and path may be NULL.
 */
NS_EXTERN void Ns_ConnSetCookie(Ns_Conn *conn, const char *name,
                                const char *value, time_t maxAge);
NS_EXTERN void Ns_ConnSetSecureCookie(Ns_Conn *conn, const char *name,
                                      const char *value, time_t maxAge);
NS_EXTERN void Ns_ConnSetCookieEx(Ns_Conn *conn, const char *name,
                                  const char *value, time_t maxAge,
                                  const char *domain, const char *path,
                                  int flags);

/*
 * Expire a cookie of that name, domain and path.
 */
NS_EXTERN void Ns_ConnDeleteCookie(Ns_Conn *conn, const char *name,
                                   const char *domain, const char *path);
NS_EXTERN void Ns_ConnDeleteSecureCookie(Ns_Conn *conn, const char *name,
                                         const char *domain, const char *path);

/*
 * Append the decoded value of the first cookie of that name; NULL if there is
 * none.
 */
NS_EXTERN char *Ns_ConnGetCookie(Ns_DString *dsPtr, Ns_Conn *conn,
                                 const char *name);

#endif
