/*
 * nsstring.h --
 *
 *      Growing strings, trimming, quoting, URL coding, character sets, digests.
 */

#ifndef NSSTRING_H
#define NSSTRING_H

#include "nstypes.h"


#define Ns_DStringInit          Tcl_DStringInit
#define Ns_DStringFree          Tcl_DStringFree
#define Ns_DStringAppend(d, s)  Tcl_DStringAppend((d), (s), -1)
#define Ns_DStringNAppend       Tcl_DStringAppend
#define Ns_DStringAppendElement Tcl_DStringAppendElement
#define Ns_DStringLength        Tcl_DStringLength
#define Ns_DStringValue         Tcl_DStringValue
#define Ns_DStringSetLength     Tcl_DStringSetLength
#define Ns_DStringTrunc         Tcl_DStringSetLength

/*
 * Append all strings up to NULL.
 */
NS_EXTERN char *Ns_DStringVarAppend(Ns_DString *, ...);

/*
 * Append printf output, any length.
 */
NS_EXTERN char *Ns_DStringPrintf(Ns_DString *dsPtr, const char *fmt, ...) NS_GNUC_PRINTF(2, 3);
NS_EXTERN char *Ns_DStringVPrintf(Ns_DString *, const char *, va_list);

/*
 * Detach as heap string (ns_free); ds reusable.
 */
NS_EXTERN char *Ns_DStringExport(Ns_DString *);

/*
 * Append including terminating null.
 */
NS_EXTERN char *Ns_DStringAppendArg(Ns_DString *, const char *);

/*
 * Build argv vector over null-separated contents inside ds.
 */
NS_EXTERN char **Ns_DStringAppendArgv(Ns_DString *);

/*
 * Allocate / release one. Deprecated.
 */
NS_EXTERN Ns_DString *Ns_DStringPop(void);
NS_EXTERN void Ns_DStringPush(Ns_DString *);

/*
 * Trim in place; pointer into argument.
 */
NS_EXTERN char *Ns_StrTrim(char *);
NS_EXTERN char *Ns_StrTrimLeft(char *);
NS_EXTERN char *Ns_StrTrimRight(char *);

/*
 * In place.
 */
NS_EXTERN char *Ns_StrToLower(char *);
NS_EXTERN char *Ns_StrToUpper(char *);

/*
 * Decimal or 0x; NS_ERROR on rest or overflow.
 */
NS_EXTERN int Ns_StrToInt(const char *, int *);
NS_EXTERN int Ns_StrToWideInt(const char *, Tcl_WideInt *);

/*
 * b if one is a prefix of the other, ignoring case.
 */
NS_EXTERN const char *Ns_Match(const char *, const char *);

/*
 * Start of next word.
 */
NS_EXTERN const char *Ns_NextWord(const char *);

/*
 * Case-insensitive substring.
 */
NS_EXTERN const char *Ns_StrNStr(const char *, const char *);
NS_EXTERN const char *Ns_StrCaseFind(const char *, const char *);

/*
 * Only letters, digits, single dots, colon (new code: also `-`, `[`,
 * `]`).
 */
NS_EXTERN int Ns_StrIsHost(const char *);

/*
 * Append with `< > & " '` escaped.
 */
NS_EXTERN void Ns_QuoteHtml(Ns_DString *, const char *);

/*
 * Percent coding, encoding NULL = UTF-8; query: blank ↔ `+`.
 */
NS_EXTERN char *Ns_UrlPathEncode(Ns_DString *, const char *, Tcl_Encoding);
NS_EXTERN char *Ns_UrlQueryEncode(Ns_DString *, const char *, Tcl_Encoding);
NS_EXTERN char *Ns_UrlPathDecode(Ns_DString *, const char *, Tcl_Encoding);
NS_EXTERN char *Ns_UrlQueryDecode(Ns_DString *, const char *, Tcl_Encoding);

/*
 * Deprecated.
 */
NS_EXTERN char *Ns_EncodeUrlWithEncoding(Ns_DString *, const char *, Tcl_Encoding);
NS_EXTERN char *Ns_DecodeUrlWithEncoding(Ns_DString *, const char *, Tcl_Encoding);
NS_EXTERN char *Ns_EncodeUrlCharset(Ns_DString *, const char *, const char *);
NS_EXTERN char *Ns_DecodeUrlCharset(Ns_DString *, const char *, const char *);

/*
 * Split in place: protocol, host, port, path, tail.
 */
NS_EXTERN int Ns_ParseUrl(char *, char **, char **, char **, char **, char **);

/*
 * Resolve against base.
 */
NS_EXTERN int Ns_AbsoluteUrl(Ns_DString *, const char *, const char *);

/*
 * Strip own location prefix.
 */
NS_EXTERN const char *Ns_RelativeUrl(const char *, const char *);

/*
 * Charset, connection, configuration, default.
 */
NS_EXTERN Tcl_Encoding Ns_GetUrlEncoding(const char *);

/*
 * Charset ↔ Tcl encoding.
 */
NS_EXTERN Tcl_Encoding Ns_GetCharsetEncoding(const char *);
NS_EXTERN Tcl_Encoding Ns_GetCharsetEncodingEx(const char *, size_t);
NS_EXTERN const char *Ns_GetEncodingCharset(Tcl_Encoding);

/*
 * Encoding for content type / file name (third deprecated).
 */
NS_EXTERN Tcl_Encoding Ns_GetTypeEncoding(const char *);
NS_EXTERN Tcl_Encoding Ns_GetFileEncoding(const char *);
NS_EXTERN Tcl_Encoding Ns_GetEncoding(const char *);

/*
 * Type by extension.
 */
NS_EXTERN char *Ns_GetMimeType(const char *);

/*
 * Base64; caller provides the buffer.
 */
NS_EXTERN size_t Ns_HtuuEncode(unsigned char *, size_t, char *);
NS_EXTERN size_t Ns_HtuuDecode(const char *, unsigned char *, size_t);

/*
 * MD5.
 */
NS_EXTERN void Ns_CtxMD5Init(Ns_CtxMD5 *);
NS_EXTERN void Ns_CtxMD5Update(Ns_CtxMD5 *, unsigned const char *, unsigned len);
NS_EXTERN void Ns_CtxMD5Final(Ns_CtxMD5 *, unsigned char *);

/*
 * SHA-1.
 */
NS_EXTERN void Ns_CtxSHAInit(Ns_CtxSHA1 *);
NS_EXTERN void Ns_CtxSHAUpdate(Ns_CtxSHA1 *, const unsigned char *, unsigned len);
NS_EXTERN void Ns_CtxSHAFinal(Ns_CtxSHA1 *, unsigned char *);

/*
 * Digest to hex text (upper case).
 */
NS_EXTERN void Ns_CtxString(unsigned char *, char *, int);

/*
 * crypt(3); buffer ≥ NS_ENCRYPT_BUFSIZE.
 */
NS_EXTERN char *Ns_Encrypt(const char *key, const char *salt, char *result);

/*
 * Random double 0-1; seeds.
 */
NS_EXTERN double Ns_DRand(void);
NS_EXTERN void Ns_GenSeeds(unsigned long *, int);

#endif
