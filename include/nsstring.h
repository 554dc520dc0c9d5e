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
 * ---------------------------------------------------------- Growing strings
 *
 * What appends returns the string's start.
 */

/*
 * Append all strings up to NULL.
 */
NS_EXTERN char *Ns_DStringVarAppend(Ns_DString *dsPtr, ...);

/*
 * Append output of any length.
 */
NS_EXTERN char *Ns_DStringPrintf(Ns_DString *dsPtr, const char *format, ...)
    NS_GNUC_PRINTF(2, 3);
NS_EXTERN char *Ns_DStringVPrintf(Ns_DString *dsPtr, const char *format,
                                  va_list ap) NS_GNUC_PRINTF(2, 0);

/*
 * The content, now the caller's to be freed with ns_free; dsPtr is empty.
 */
NS_EXTERN char *Ns_DStringExport(Ns_DString *dsPtr);

/*
 * Append a string with its null byte; append to several such the vector of
 * their addresses, ended by NULL, valid until dsPtr changes.
 */
NS_EXTERN char  *Ns_DStringAppendArg(Ns_DString *dsPtr, const char *string);
NS_EXTERN char **Ns_DStringAppendArgv(Ns_DString *dsPtr);

/*
 * A string from the heap, and its end.  Deprecated.
 */
NS_EXTERN Ns_DString *Ns_DStringPop(void);
NS_EXTERN void        Ns_DStringPush(Ns_DString *dsPtr);

/*
 * ------------------------------------------------------------ Plain strings
 */

/*
 * Cut white space off, in place: where the rest begins.
 */
NS_EXTERN char *Ns_StrTrim(char *string);
NS_EXTERN char *Ns_StrTrimLeft(char *string);
NS_EXTERN char *Ns_StrTrimRight(char *string);

/*
 * Change the case of ASCII letters in place: string.
 */
NS_EXTERN char *Ns_StrToLower(char *string);
NS_EXTERN char *Ns_StrToUpper(char *string);

/*
 * A decimal number, or a hexadecimal one with 0x.  NS_ERROR, and nothing
 * stored, when something follows it or it is too large.
 */
NS_EXTERN int Ns_StrToInt(const char *string, int *intPtr);
NS_EXTERN int Ns_StrToWideInt(const char *string, Tcl_WideInt *widePtr);

/*
 * b if one is a prefix of the other, ignoring case; else NULL.
 */
NS_EXTERN const char *Ns_Match(const char *a, const char *b);

/*
 * Behind the current word and the white space that follows it.
 */
NS_EXTERN const char *Ns_NextWord(const char *line);

/*
 * Where pattern occurs first, ignoring case; NULL for nowhere.
 */
NS_EXTERN const char *Ns_StrNStr(const char *string, const char *pattern);
NS_EXTERN const char *Ns_StrCaseFind(const char *string, const char *pattern);

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
 * crypt(3): result, which has NS_ENCRYPT_BUFSIZE bytes.  Empty for an empty
 * salt; for an invalid one a token that no key and salt ever give.
 */
NS_EXTERN char *Ns_Encrypt(const char *key, const char *salt, char *result);

/*
 * Random numbers, not to be guessed from earlier ones: at least 0 and below 1;
 * any.
 */
NS_EXTERN double Ns_DRand(void);
NS_EXTERN void   Ns_GenSeeds(unsigned long *seeds, int nSeeds);

#endif
