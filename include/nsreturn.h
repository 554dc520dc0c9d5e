/*
 * nsreturn.h --
 *
 *      Whole responses and response headers.
 */

#ifndef NSRETURN_H
#define NSRETURN_H

#include "nstypes.h"


/*
 * Raw bytes with type; len −1 = strlen; supports ranges.
 */
NS_EXTERN int Ns_ConnReturnData(Ns_Conn *, int, const char *, ssize_t, const char *);

/*
 * UTF-8 text, charset-converted.
 */
NS_EXTERN int Ns_ConnReturnCharData(Ns_Conn *, int, const char *, ssize_t, const char *);

/*
 * Same with `text/html`.
 */
NS_EXTERN int Ns_ConnReturnHtml(Ns_Conn *, int, const char *, ssize_t);

/*
 * Small HTML page with title and text.
 */
NS_EXTERN int Ns_ConnReturnNotice(Ns_Conn *, int, const char *, const char *);
NS_EXTERN int Ns_ConnReturnAdminNotice(Ns_Conn *, int, const char *, const char *);

/*
 * File by name (cache, ranges, modified-since); type NULL = guess.
 */
NS_EXTERN int Ns_ConnReturnFile(Ns_Conn *, int, const char *, const char *);

/*
 * `len` bytes of an open file.
 */
NS_EXTERN int Ns_ConnReturnOpenFd(Ns_Conn *, int, const char *, int, size_t);
NS_EXTERN int Ns_ConnReturnOpenFile(Ns_Conn *, int, const char *, FILE *, size_t);
NS_EXTERN int Ns_ConnReturnOpenChannel(Ns_Conn *, int, const char *, Tcl_Channel, size_t);

/*
 * Status without body.
 */
NS_EXTERN int Ns_ConnReturnStatus(Ns_Conn *, int);

/*
 * 200 / 204 without body.
 */
NS_EXTERN int Ns_ConnReturnOk(Ns_Conn *);
NS_EXTERN int Ns_ConnReturnNoResponse(Ns_Conn *);

/*
 * 302 / 301; path-only URLs get the location prefixed; NULL = 204.
 */
NS_EXTERN int Ns_ConnReturnRedirect(Ns_Conn *, const char *);
NS_EXTERN int Ns_ConnReturnMoved(Ns_Conn *, const char *);

/*
 * 400 with optional reason.
 */
NS_EXTERN int Ns_ConnReturnBadRequest(Ns_Conn *, const char *);

/*
 * 401; adds `WWW-Authenticate: Basic realm="…"` if absent.
 */
NS_EXTERN int Ns_ConnReturnUnauthorized(Ns_Conn *);

/*
 * 403, 404, 304.
 */
NS_EXTERN int Ns_ConnReturnForbidden(Ns_Conn *);
NS_EXTERN int Ns_ConnReturnNotFound(Ns_Conn *);
NS_EXTERN int Ns_ConnReturnNotModified(Ns_Conn *);

/*
 * 413, 414, 431.
 */
NS_EXTERN int Ns_ConnReturnEntityTooLarge(Ns_Conn *);
NS_EXTERN int Ns_ConnReturnRequestURITooLong(Ns_Conn *);
NS_EXTERN int Ns_ConnReturnHeaderLineTooLong(Ns_Conn *);

/*
 * 500, 501, 503.
 */
NS_EXTERN int Ns_ConnReturnInternalError(Ns_Conn *);
NS_EXTERN int Ns_ConnReturnNotImplemented(Ns_Conn *);
NS_EXTERN int Ns_ConnReturnUnavailable(Ns_Conn *);

/*
 * Serve internal URL instead of the built-in page for a status
 * (initialising server); NULL removes.
 */
NS_EXTERN void Ns_RegisterReturn(int, const char *);

/*
 * Add / replace / add-if-absent response header.
 */
NS_EXTERN void Ns_ConnSetHeaders(Ns_Conn *, const char *, const char *);
NS_EXTERN void Ns_ConnUpdateHeaders(Ns_Conn *, const char *, const char *);
NS_EXTERN void Ns_ConnCondSetHeaders(Ns_Conn *, const char *, const char *);

/*
 * Add with printf value.
 */
NS_EXTERN void Ns_ConnPrintfHeaders(Ns_Conn *conn, const char *key, const char *fmt, ...) NS_GNUC_PRINTF(3, 4);

/*
 * Replace all by a copy.
 */
NS_EXTERN void Ns_ConnReplaceHeaders(Ns_Conn *, Ns_Set *);

/*
 * Content-Type as given.
 */
NS_EXTERN void Ns_ConnSetTypeHeader(Ns_Conn *, const char *);

/*
 * Content-Type, adding charset and selecting the output encoding.
 */
NS_EXTERN void Ns_ConnSetEncodedTypeHeader(Ns_Conn *, const char *);

/*
 * Content-Length.
 */
NS_EXTERN void Ns_ConnSetLengthHeader(Ns_Conn *, Tcl_WideInt);

/*
 * Last-Modified.
 */
NS_EXTERN void Ns_ConnSetLastModifiedHeader(Ns_Conn *, time_t *);

/*
 * Expires.
 */
NS_EXTERN void Ns_ConnSetExpiresHeader(Ns_Conn *, const char *);

/*
 * Render status line and headers to ds.
 */
NS_EXTERN void Ns_ConnConstructHeaders(Ns_Conn *, Ns_DString *);

/*
 * Deprecated header calls.
 */
NS_EXTERN void Ns_ConnSetRequiredHeaders(Ns_Conn *, const char *, size_t);
NS_EXTERN void Ns_ConnQueueHeaders(Ns_Conn *, int);
NS_EXTERN Tcl_WideInt Ns_ConnFlushHeaders(Ns_Conn *, int);
NS_EXTERN int Ns_ConnResetReturn(Ns_Conn *);

/*
 * Set cookie name, value, max age: 0 session, negative expires,
 * TIME_T_MAX far future; HttpOnly unless NS_COOKIE_SCRIPTABLE.
 */
NS_EXTERN void Ns_ConnSetCookie(Ns_Conn *, const char *, const char *, time_t);
NS_EXTERN void Ns_ConnSetSecureCookie(Ns_Conn *, const char *, const char *, time_t);

/*
 * Also domain, path, NS_COOKIE_ flags.
 */
NS_EXTERN void Ns_ConnSetCookieEx(Ns_Conn *, const char *, const char *, time_t, const char *, const char *, int);

/*
 * Expire cookie name/domain/path.
 */
NS_EXTERN void Ns_ConnDeleteCookie(Ns_Conn *, const char *, const char *, const char *);
NS_EXTERN void Ns_ConnDeleteSecureCookie(Ns_Conn *, const char *, const char *, const char *);

/*
 * Append decoded value of first match; NULL if absent.
 */
NS_EXTERN char *Ns_ConnGetCookie(Ns_DString *, Ns_Conn *, const char *);

#endif
