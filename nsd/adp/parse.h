/* SPDX-License-Identifier: MPL-2.0
 * parse.h --
 *
 *      From the text of a page to its blocks.
 *
 *      A page is a sequence of text blocks, which are copied to the output, and
 *      script blocks, which are evaluated.  Script blocks come from <% %>,
 *      <%= %>, <script runat=server>, and registered tags.
 */

#ifndef NSD_ADP_PARSE_H
#define NSD_ADP_PARSE_H

#include "nsstring.h"

typedef struct NsAdpBlock {
    size_t offset; /* In the code's text. */
    int    length; /* Bytes. */
    int    line;   /* Of the page where it begins, from 1. */
    bool   isScript;
    bool   startsStream; /* <script stream=on>. */
} NsAdpBlock;

/*
 * From a line of the script that a single-script page has become on, up to the
 * next one, its lines are those of the page from pageLine on.
 */
typedef struct NsAdpLine {
    int line;
    int pageLine;
} NsAdpLine;

typedef struct NsAdpCode {
    Ns_DString  text; /* All blocks, one after the other. */
    NsAdpBlock *blocks;
    int         nBlocks;
    int         nScripts;
    int         maxBlocks;
    NsAdpLine  *lines; /* Of a single-script page, in order; or NULL. */
    int         nLines;
    int         maxLines;
} NsAdpCode;

/*
 * A tag that is replaced by a script.
 */
typedef enum {
    NS_ADP_TAG_ADP,   /* Content is ADP text. */
    NS_ADP_TAG_PROC,  /* Called with attribute values and content. */
    NS_ADP_TAG_SCRIPT /* Called with content, set of attributes. */
} NsAdpTagKind;

typedef struct NsAdpTag {
    NsAdpTagKind kind;
    const char  *endTag;  /* Lower case, with its slash; NULL: none. */
    const char  *content; /* ADP text or command name. */
} NsAdpTag;

/*
 * The tag of that name (lower case); NULL if there is none.
 */
typedef const NsAdpTag *NsAdpFindTagProc(const char *name, void *arg);

typedef struct NsAdpParseSpec {
    bool              isTcl;       /* The whole text is one script. */
    bool              isSafe;      /* Inline scripts are removed. */
    bool              isSingle;    /* The whole page becomes one script. */
    NsAdpFindTagProc *findTagProc; /* NULL: no registered tags. */
    void             *arg;
} NsAdpParseSpec;

/*
 * Parse page (UTF-8, null-terminated) into an empty code.  Never fails: what
 * cannot be a block is text.
 */
void NsAdpParse(NsAdpCode *codePtr, const char *page,
                const NsAdpParseSpec *specPtr);

/*
 * The line of the page that is this line, from 1, of a block's script.
 */
int NsAdpPageLine(const NsAdpCode *codePtr, const NsAdpBlock *blockPtr,
                  int line);

void NsAdpCodeInit(NsAdpCode *codePtr);
void NsAdpCodeFree(NsAdpCode *codePtr);

#endif
