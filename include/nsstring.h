/* SPDX-License-Identifier: MPL-2.0
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
 * Names that some systems lack.
 */
#define ns_snprintf snprintf
#define ns_getline  getline

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
 * The content as an object without references; dsPtr is empty.
 */
NS_EXTERN Tcl_Obj *Ns_DStringToObj(Ns_DString *dsPtr);

/*
 * Append a time as decimal seconds without zeros at the end: 1.5, 7200, -0.25.
 */
NS_EXTERN char *Ns_DStringAppendTime(Ns_DString *dsPtr, const Ns_Time *timePtr);

/*
 * Append bytes as they may be shown in a log: what is not UTF-8 or has no
 * visible form becomes \xHH, newlines, too, unless isIndented: then they stay,
 * and what follows them is indented.
 */
NS_EXTERN char *Ns_DStringAppendPrintable(Ns_DString *dsPtr, bool isIndented,
                                          const char *bytes, size_t length);

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
 * A size in bytes, as `10MB`, `1.5 GiB`, `4096`: units B, kB, KB, MB, GB, KiB,
 * MiB, GiB, of 1024 with and without the i, in exactly this case.  NS_ERROR,
 * and nothing stored: anything else, a negative size, or one of more than 63
 * bits.
 */
NS_EXTERN Ns_ReturnCode Ns_StrToMemUnit(const char  *string,
                                        Tcl_WideInt *bytesPtr);

/*
 * b if one is a prefix of the other, ignoring case; else NULL.
 */
NS_EXTERN const char *Ns_Match(const char *a, const char *b);

/*
 * Behind the current word and the white space that follows it.
 */
NS_EXTERN const char *Ns_NextWord(const char *line);

/*
 * The first occurrence of pattern, ignoring case; NULL if there is none.
 */
NS_EXTERN const char *Ns_StrNStr(const char *string, const char *pattern);
NS_EXTERN const char *Ns_StrCaseFind(const char *string, const char *pattern);

/*
 * The name of a result: NS_OK and so on; of a result of Tcl: TCL_OK and so on;
 * "unknown" for any other number.
 */
NS_EXTERN const char *Ns_ReturnCodeString(Ns_ReturnCode code);
NS_EXTERN const char *Ns_TclReturnCodeString(int code);

/*
 * --------------------------------------------------------- Hosts and URLs
 */

/*
 * Whether a Host field holds nothing but letters, digits, single dots, and
 * : - _ [ ].  An empty string does.
 */
NS_EXTERN int Ns_StrIsHost(const char *string);

/*
 * Append the text percent-coded or decoded; in a query + means a blank.  The
 * encoding is that of the coded bytes, NULL for UTF-8.  Bytes that are not
 * valid UTF-8 decode to the characters U+0080 to U+00FF.  dsPtr's value.
 */
NS_EXTERN char *Ns_UrlPathEncode(Ns_DString *dsPtr, const char *text,
                                 Tcl_Encoding encoding);
NS_EXTERN char *Ns_UrlQueryEncode(Ns_DString *dsPtr, const char *text,
                                  Tcl_Encoding encoding);
NS_EXTERN char *Ns_UrlPathDecode(Ns_DString *dsPtr, const char *text,
                                 Tcl_Encoding encoding);
NS_EXTERN char *Ns_UrlQueryDecode(Ns_DString *dsPtr, const char *text,
                                  Tcl_Encoding encoding);

/*
 * Deprecated: the two query functions, with the encoding or its charset.
 */
NS_EXTERN char *Ns_EncodeUrlWithEncoding(Ns_DString *dsPtr, const char *text,
                                         Tcl_Encoding encoding);
NS_EXTERN char *Ns_DecodeUrlWithEncoding(Ns_DString *dsPtr, const char *text,
                                         Tcl_Encoding encoding);
NS_EXTERN char *Ns_EncodeUrlCharset(Ns_DString *dsPtr, const char *text,
                                    const char *charset);
NS_EXTERN char *Ns_DecodeUrlCharset(Ns_DString *dsPtr, const char *text,
                                    const char *charset);

/*
 * Split protocol://host:port/path/tail in place.  Parts that are absent become
 * NULL; with a host or a leading slash the path may be empty instead.  A text
 * that is neither is all tail.  NS_ERROR: host or port is malformed.
 */
NS_EXTERN int Ns_ParseUrl(char *url, char **protocolPtr, char **hostPtr,
                          char **portPtr, char **pathPtr, char **tailPtr);

/*
 * As later sources call it.  Strict: every character must be one that RFC 3986
 * allows where it stands.  NS_ERROR: *errorPtr (errorPtr may be NULL) is what
 * is wrong, and all parts are NULL.
 */
NS_EXTERN int Ns_ParseUrl_33(char *url, bool strict, Ns_URL *urlPtr,
                             const char **errorPtr);
#if NS_API_LEVEL >= 49933
#define Ns_ParseUrl Ns_ParseUrl_33
#endif

/*
 * Append the absolute form of a URL that was found at base.  NS_ERROR, and
 * nothing appended: base has no protocol or no host.
 */
NS_EXTERN int Ns_AbsoluteUrl(Ns_DString *dsPtr, const char *url,
                             const char *base);

/*
 * The rest of url after the location (protocol://host:port); url itself, less
 * doubled slashes at its start, if it begins otherwise.
 */
NS_EXTERN const char *Ns_RelativeUrl(const char *url, const char *location);

/*
 * ------------------------------------------- Character sets and media types
 *
 * Encodings are Tcl's, borrowed, and stay loaded.
 */

/*
 * The encoding of a charset, in any case, with white space around it; NULL if
 * there is none.
 */
NS_EXTERN Tcl_Encoding Ns_GetCharsetEncoding(const char *charset);
NS_EXTERN Tcl_Encoding Ns_GetCharsetEncodingEx(const char *charset,
                                               size_t      length);

/*
 * The name of an encoding in protocols.
 */
NS_EXTERN const char *Ns_GetEncodingCharset(Tcl_Encoding encoding);

/*
 * The encoding for URLs: of charset unless it is NULL or unknown, else of the
 * current connection, else UTF-8.
 */
NS_EXTERN Tcl_Encoding Ns_GetUrlEncoding(const char *charset);

/*
 * The encoding that a content type asks for; for text without a charset the
 * default one; NULL for anything else.
 */
NS_EXTERN Tcl_Encoding Ns_GetTypeEncoding(const char *type);

/*
 * The encoding of a file on disk, by its extension; UTF-8 unless configured.
 */
NS_EXTERN Tcl_Encoding Ns_GetFileEncoding(const char *file);

/*
 * Deprecated: Ns_GetCharsetEncoding.
 */
NS_EXTERN Tcl_Encoding Ns_GetEncoding(const char *name);

/*
 * The media type of a file, by its extension; never NULL.
 */
NS_EXTERN char *Ns_GetMimeType(const char *file);

/*
 * ------------------------------------------------------ HTML and binary data
 */

/*
 * Append text with < > & " ' escaped.
 */
NS_EXTERN void Ns_QuoteHtml(Ns_DString *dsPtr, const char *text);

/*
 * Base64, in lines of 60 characters.  Encoding needs room for 4 characters per
 * started group of 3 bytes, 1 per line, and a null byte; decoding skips other
 * characters and writes at most bufferBytes, null terminated if there is room.
 * How many characters or bytes were written, without the null byte.
 */
NS_EXTERN size_t Ns_HtuuEncode(unsigned char *bytes, size_t nBytes,
                               char *buffer);
NS_EXTERN size_t Ns_HtuuDecode(const char *text, unsigned char *buffer,
                               size_t bufferBytes);

/*
 * Base64 in lines of at most maxLine characters (rounded down to a multiple of
 * 4, at least 4), or, with 0, in one.  With isUrl in the alphabet for URLs (RFC
 * 4648, section 5), without padding.  out has room for 4 characters per started
 * group of 3 bytes, 1 per line, and a null byte.  How many characters were
 * written, without the null byte.
 */
NS_EXTERN size_t Ns_Base64Encode(const unsigned char *bytes, size_t nBytes,
                                 char *out, size_t maxLine, int isUrl);

/*
 * Bytes as hexadecimal digits and a null byte: out, which has room for 2 *
 * nBytes + 1 characters.
 */
NS_EXTERN char *Ns_HexString(const unsigned char *bytes, char *out,
                             TCL_SIZE_T nBytes, bool isUpper);

/*
 * Whether bytes are UTF-8 (RFC 3629), null bytes included.  If not, and dsPtr
 * is not NULL, the place is appended: `TEXT|BAD|...`, with the text before and
 * the first bad bytes as \xHH.
 */
NS_EXTERN bool Ns_Valid_UTF8(const unsigned char *bytes, size_t nBytes,
                             Ns_DString *dsPtr);

/*
 * Message digests: Init, any number of Updates, Final, which writes 16 (MD5) or
 * 20 (SHA-1) bytes.  Nothing is to be freed.
 */
NS_EXTERN void Ns_CtxMD5Init(Ns_CtxMD5 *ctxPtr);
NS_EXTERN void Ns_CtxMD5Update(Ns_CtxMD5 *ctxPtr, const unsigned char *bytes,
                               unsigned length);
NS_EXTERN void Ns_CtxMD5Final(Ns_CtxMD5 *ctxPtr, unsigned char *digest);

NS_EXTERN void Ns_CtxSHAInit(Ns_CtxSHA1 *ctxPtr);
NS_EXTERN void Ns_CtxSHAUpdate(Ns_CtxSHA1 *ctxPtr, const unsigned char *bytes,
                               unsigned length);
NS_EXTERN void Ns_CtxSHAFinal(Ns_CtxSHA1 *ctxPtr, unsigned char *digest);

/*
 * A digest of nBytes as upper-case hexadecimal digits and a null byte.
 */
NS_EXTERN void Ns_CtxString(unsigned char *digest, char *text, int nBytes);

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
