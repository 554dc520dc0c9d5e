/* SPDX-License-Identifier: MPL-2.0
 * parse.c --
 *
 *      The page parser: one pass over the text, from `<` to `<`.
 *
 *      Text may come from clients (ns_adp_parse), so nothing is searched twice:
 *      where an end is missing, or far away, for one opening, it is for all
 *      that follow.
 */

#include "adp/parse.h"
#include "nsthread.h"
#include "base/assert.h"
#include "base/chars.h"

/*
 * Openings of inline blocks, in order, and their ends, NULL if missing.
 */
typedef struct Pair {
    const char *open;
    const char *end;
    int         outer; /* Last one before it without an end; -1. */
} Pair;

typedef struct Parser {
    NsAdpCode            *codePtr;
    const NsAdpParseSpec *specPtr;
    const char           *lineMark; /* Lines are counted up to here. */
    int                   line;
    Ns_DString            single;   /* Script of a single-script page, ... */
    int                   nCounted; /* ... its bytes that are in singleLine, */
    int                   singleLine; /* ... and the line behind them. */
    bool                  isRestText; /* An end tag is missing. */
    const char           *close;      /* See NextClose. */
    Pair                 *pairs;      /* Once an end was missing, or NULL. */
    int                   nPairs;
    int                   pair; /* No earlier one is asked for. */
} Parser;

typedef struct Attribute {
    const char *name;
    int         nameLength;
    const char *value;
    int         valueLength;
} Attribute;

#define MAX_ATTRIBUTES 64
#define TAG_NAME_BYTES 128

static const char *ParseInline(Parser *parserPtr, const char *textStart,
                               const char *at);
static const char *ParseServerScript(Parser *parserPtr, const char *textStart,
                                     const char *at);
static const char *ParseTag(Parser *parserPtr, const char *textStart,
                            const char *at);
static void AddText(Parser *parserPtr, const char *start, const char *end);
static void AddScript(Parser *parserPtr, const char *script, int length,
                      const char *at, bool startsStream);
static void AddBlock(NsAdpCode *codePtr, const char *text, int length, int line,
                     bool isScript, bool startsStream);
static void NoteLine(Parser *parserPtr, const char *at);
static int  LineOf(Parser *parserPtr, const char *at);
static const char *InlineEnd(Parser *parserPtr, const char *at);
static const char *FindInlineEnd(const char *at);
static void        MatchPairs(Parser *parserPtr, const char *at);
static bool        IsOpening(const char *at);
static const char *NextClose(const char **closePtr, const char *from);
static const char *FindEndTag(const char *at, const char *name,
                              const char *endName, const char **afterPtr);
static int         ParseAttributes(const char *start, const char *end,
                                   Attribute *attributes);
static const char *ParseValue(const char *s, const char *end, Attribute *a);
static const char *WordEnd(const char *s, const char *end, char stop);
static const char *QuoteEnd(const char *s, const char *end);
static bool        IsQuote(char c);
static void        TagScript(Ns_DString *scriptPtr, const NsAdpTag *tagPtr,
                             const char *name, const Attribute *attributes,
                             int nAttributes, const char *content, int contentLength);
static void AppendWord(Ns_DString *scriptPtr, const char *word, int length);
static const char *TagName(const char *at, char *name);
static bool        IsWord(const char *text, int length, const char *word);

void
NsAdpCodeInit(NsAdpCode *codePtr)
{
    memset(codePtr, 0, sizeof(*codePtr));
    Ns_DStringInit(&codePtr->text);
}

void
NsAdpCodeFree(NsAdpCode *codePtr)
{
    Ns_DStringFree(&codePtr->text);
    ns_free(codePtr->blocks);
    ns_free(codePtr->lines);
    codePtr->blocks = NULL;
    codePtr->lines = NULL;
    codePtr->nBlocks = codePtr->nScripts = codePtr->maxBlocks = 0;
    codePtr->nLines = codePtr->maxLines = 0;
}

int
NsAdpPageLine(const NsAdpCode *codePtr, const NsAdpBlock *blockPtr, int line)
{
    int i = codePtr->nLines - 1;

    while (i >= 0 && codePtr->lines[i].line > line) {
        i--;
    }
    return i < 0 ? blockPtr->line + line - 1
                 : codePtr->lines[i].pageLine + line - codePtr->lines[i].line;
}

void
NsAdpParse(NsAdpCode *codePtr, const char *page, const NsAdpParseSpec *specPtr)
{
    Parser      parser = {.codePtr = codePtr,
                          .specPtr = specPtr,
                          .lineMark = page,
                          .line = 1,
                          .singleLine = 1};
    const char *textStart = page, *at = page;

    if (specPtr->isTcl) {
        AddBlock(codePtr, page, (int) strlen(page), 1, true, false);
        return;
    }

    Ns_DStringInit(&parser.single);
    while (!parser.isRestText && (at = strchr(at, '<')) != NULL) {
        const char *next = NULL;

        if (at[1] == '%') {
            next = (at[2] == '>') ? NULL : ParseInline(&parser, textStart, at);
        } else {
            if (strncasecmp(at + 1, "script", 6) == 0
                && (NsIsSpace(at[7]) || at[7] == '>')) {
                next = ParseServerScript(&parser, textStart, at);
            }
            if (next == NULL && !parser.isRestText
                && specPtr->findTagProc != NULL) {
                next = ParseTag(&parser, textStart, at);
            }
        }
        if (next != NULL) {
            textStart = at = next;
        } else {
            at += (at[1] == '%') ? 2 : 1;
        }
    }
    AddText(&parser, textStart, textStart + strlen(textStart));

    if (specPtr->isSingle && Ns_DStringLength(&parser.single) > 0) {
        AddBlock(codePtr, Ns_DStringValue(&parser.single),
                 Ns_DStringLength(&parser.single), 1, true, false);
    }
    ns_free(parser.pairs);
    Ns_DStringFree(&parser.single);
}

/*
 * A block <% ... %> or <%= ... %> at `at`; returns what follows it, NULL when
 * it has no end.
 */
static const char *
ParseInline(Parser *parserPtr, const char *textStart, const char *at)
{
    const char *end = InlineEnd(parserPtr, at);

    if (end == NULL) {
        return NULL;
    }
    AddText(parserPtr, textStart, at);
    if (parserPtr->specPtr->isSafe) {
        return end + 2;
    }
    if (at[2] != '=') {
        if (at + 2 < end) {
            AddScript(parserPtr, at + 2, (int) (end - at - 2), at, false);
        }
    } else if (at + 3 < end) {
        Ns_DString script;

        Ns_DStringInit(&script);
        Ns_DStringAppend(&script, "ns_adp_append ");
        Ns_DStringNAppend(&script, at + 3, (int) (end - at - 3));
        AddScript(parserPtr, Ns_DStringValue(&script),
                  Ns_DStringLength(&script), at, false);
        Ns_DStringFree(&script);
    }
    return end + 2;
}

/*
 * The %> that closes the <% at `at`, counting pairs in between.  The first one
 * that is missing makes all those behind be looked for, once.
 */
static const char *
InlineEnd(Parser *parserPtr, const char *at)
{
    if (parserPtr->pairs == NULL) {
        const char *end = FindInlineEnd(at);

        if (end != NULL) {
            return end;
        }
        MatchPairs(parserPtr, at);
    }
    while (parserPtr->pairs[parserPtr->pair].open < at) {
        parserPtr->pair++;
        NsAssert(parserPtr->pair < parserPtr->nPairs);
    }
    return parserPtr->pairs[parserPtr->pair].end;
}

static const char *
FindInlineEnd(const char *at)
{
    int depth = 1;

    for (at += 2; *at != '\0'; at++) {
        if (IsOpening(at)) {
            depth++;
            at++;
        } else if (at[0] == '%' && at[1] == '>') {
            if (--depth == 0) {
                return at;
            }
            at++;
        }
    }
    return NULL;
}

/*
 * An opening and an end never share a character, so that the pairs are the same
 * wherever the search begins.
 */
static void
MatchPairs(Parser *parserPtr, const char *at)
{
    int max = 0, n = 0, innermost = -1;

    for (; *at != '\0'; at++) {
        if (IsOpening(at)) {
            if (n == max) {
                max = MAX(64, 2 * max);
                parserPtr->pairs = ns_realloc(parserPtr->pairs,
                                              sizeof(Pair) * (size_t) max);
            }
            parserPtr->pairs[n] = (Pair){.open = at, .outer = innermost};
            innermost = n++;
            at++;
        } else if (at[0] == '%' && at[1] == '>') {
            if (innermost >= 0) {
                parserPtr->pairs[innermost].end = at;
                innermost = parserPtr->pairs[innermost].outer;
            }
            at++;
        }
    }
    parserPtr->nPairs = n;
}

static bool
IsOpening(const char *at)
{
    return at[0] == '<' && at[1] == '%' && at[2] != '>';
}

/*
 * The next `>`; NULL without one.  *closePtr remembers it, for later and later
 * places.
 */
static const char *
NextClose(const char **closePtr, const char *from)
{
    if (*closePtr == NULL || *closePtr < from) {
        *closePtr = strchrnul(from, '>');
    }
    return **closePtr == '>' ? *closePtr : NULL;
}

static const char *
ParseServerScript(Parser *parserPtr, const char *textStart, const char *at)
{
    const char *close = NextClose(&parserPtr->close, at), *end, *after;
    Attribute   attributes[MAX_ATTRIBUTES];
    bool        isServer = false, isTcl = true, startsStream = false;
    int         n;

    if (close == NULL) {
        return NULL;
    }
    n = ParseAttributes(at + 7, close, attributes);
    for (int i = 0; i < n; i++) {
        const Attribute *a = &attributes[i];

        if (IsWord(a->name, a->nameLength, "runat")) {
            isServer = IsWord(a->value, a->valueLength, "server");
        } else if (IsWord(a->name, a->nameLength, "language")) {
            isTcl = IsWord(a->value, a->valueLength, "tcl");
        } else if (IsWord(a->name, a->nameLength, "stream")) {
            startsStream = IsWord(a->value, a->valueLength, "on");
        }
    }
    if (!isServer || !isTcl) {
        return NULL;
    }
    end = FindEndTag(close + 1, "script", "/script", &after);
    if (end == NULL) {
        parserPtr->isRestText = true;
        return NULL;
    }
    AddText(parserPtr, textStart, at);
    if (!parserPtr->specPtr->isSafe) {
        AddScript(parserPtr, close + 1, (int) (end - close - 1), close + 1,
                  startsStream);
    }
    return after;
}

/*
 * A registered tag at `at`; NULL if none has that name.  Without its end tag,
 * the rest of the page is text.
 */
static const char *
ParseTag(Parser *parserPtr, const char *textStart, const char *at)
{
    char            name[TAG_NAME_BYTES];
    const NsAdpTag *tagPtr;
    const char     *close, *end = NULL, *after;
    const char     *nameEnd = TagName(at + 1, name);
    Attribute       attributes[MAX_ATTRIBUTES];
    Ns_DString      script;
    int             n;

    if (nameEnd == NULL) {
        return NULL;
    }
    tagPtr = parserPtr->specPtr->findTagProc(name, parserPtr->specPtr->arg);
    close = tagPtr == NULL ? NULL : NextClose(&parserPtr->close, nameEnd);
    if (close == NULL) {
        return NULL;
    }
    after = close + 1;
    if (tagPtr->endTag != NULL) {
        end = FindEndTag(close + 1, name, tagPtr->endTag, &after);
        if (end == NULL) {
            parserPtr->isRestText = true;
            return NULL;
        }
    }
    n = ParseAttributes(nameEnd, close, attributes);

    AddText(parserPtr, textStart, at);
    Ns_DStringInit(&script);
    TagScript(&script, tagPtr, name, attributes, n,
              (end != NULL) ? close + 1 : NULL,
              (end != NULL) ? (int) (end - close - 1) : 0);
    AddScript(parserPtr, Ns_DStringValue(&script), Ns_DStringLength(&script),
              at, false);
    Ns_DStringFree(&script);
    return after;
}

/*
 * The name behind a `<`, in lower case: blanks are skipped, white space or `>`
 * ends it.  Returns its end; NULL if there is none or it is too long.
 */
static const char *
TagName(const char *at, char *name)
{
    size_t n = 0;

    while (*at == ' ' || *at == '\t') {
        at++;
    }
    while (*at != '\0' && *at != '>' && *at != '<' && !NsIsSpace(*at)) {
        if (n + 1 >= TAG_NAME_BYTES) {
            return NULL;
        }
        name[n++] = (char) tolower(UCHAR(*at++));
    }
    name[n] = '\0';
    return (n > 0 && *at != '\0') ? at : NULL;
}

/*
 * The `<` of the end tag that matches, counting tags of the same name in
 * between; *afterPtr gets what follows the end tag.
 */
static const char *
FindEndTag(const char *at, const char *name, const char *endName,
           const char **afterPtr)
{
    const char *nextClose = NULL;
    int         depth = 1;

    for (at = strchr(at, '<'); at != NULL; at = strchr(at + 1, '<')) {
        char        found[TAG_NAME_BYTES];
        const char *close, *nameEnd = TagName(at + 1, found);

        if (nameEnd == NULL) {
            continue;
        }
        if (STREQ(found, endName)) {
            close = NextClose(&nextClose, nameEnd);
            if (close == NULL) {
                return NULL;
            }
            if (--depth == 0) {
                *afterPtr = close + 1;
                return at;
            }
        } else if (STREQ(found, name)) {
            depth++;
        }
    }
    return NULL;
}

/*
 * Attributes between start and end: name=value, with or without quotes, or a
 * name alone, whose value is the name.
 */
static int
ParseAttributes(const char *start, const char *end, Attribute *attributes)
{
    const char *s = NsSkipSpaceTo(start, end);
    int         n = 0;

    while (s < end && n < MAX_ATTRIBUTES) {
        Attribute  *a = &attributes[n++];
        const char *behind;

        a->name = s;
        s = IsQuote(*s) ? QuoteEnd(s, end) : WordEnd(s, end, '=');
        a->nameLength = (int) (s - a->name);
        a->value = a->name;
        a->valueLength = a->nameLength;

        behind = NsSkipSpaceTo(s, end);
        if (behind < end && *behind == '=') {
            s = ParseValue(NsSkipSpaceTo(behind + 1, end), end, a);
        }
        s = NsSkipSpaceTo(s, end);
    }
    return n;
}

/*
 * Quotes are not part of a value.
 */
static const char *
ParseValue(const char *s, const char *end, Attribute *a)
{
    const char *valueEnd;

    a->value = s;
    if (s < end && IsQuote(*s)) {
        valueEnd = QuoteEnd(s, end);
        a->value = s + 1;
        a->valueLength = (int) (valueEnd - a->value);
        if (a->valueLength > 0 && valueEnd[-1] == *s) {
            a->valueLength--;
        }
    } else {
        valueEnd = WordEnd(s, end, '\0');
        a->valueLength = (int) (valueEnd - s);
    }
    return valueEnd;
}

static const char *
WordEnd(const char *s, const char *end, char stop)
{
    while (s < end && *s != stop && !NsIsSpace(*s)) {
        s++;
    }
    return s;
}

/*
 * Behind the closing quote of what begins with a quote.
 */
static const char *
QuoteEnd(const char *s, const char *end)
{
    const char *quote = memchr(s + 1, *s, (size_t) (end - s - 1));

    return (quote != NULL) ? quote + 1 : end;
}

static bool
IsQuote(char c)
{
    return c == '"' || c == '\'';
}

/*
 * The script of a registered tag.
 */
static void
TagScript(Ns_DString *scriptPtr, const NsAdpTag *tagPtr, const char *name,
          const Attribute *attributes, int nAttributes, const char *content,
          int contentLength)
{
    Ns_DStringAppend(scriptPtr, "ns_adp_append [");
    if (tagPtr->kind == NS_ADP_TAG_ADP) {
        Ns_DStringAppend(scriptPtr, "_ns_adp_tag");
    }
    AppendWord(scriptPtr, tagPtr->content, -1);

    if (tagPtr->kind == NS_ADP_TAG_PROC) {
        for (int i = 0; i < nAttributes; i++) {
            AppendWord(scriptPtr, attributes[i].value,
                       attributes[i].valueLength);
        }
    }
    if (content != NULL) {
        AppendWord(scriptPtr, content, contentLength);
    }
    if (tagPtr->kind != NS_ADP_TAG_PROC) {
        Ns_DStringAppend(scriptPtr, " [ns_set create");
        AppendWord(scriptPtr, name, -1);
        for (int i = 0; i < nAttributes; i++) {
            AppendWord(scriptPtr, attributes[i].name, attributes[i].nameLength);
            AppendWord(scriptPtr, attributes[i].value,
                       attributes[i].valueLength);
        }
        Ns_DStringNAppend(scriptPtr, "]", 1);
    }
    Ns_DStringNAppend(scriptPtr, "]", 1);
}

/*
 * Append one word, quoted as a list element, always behind a blank.
 */
static void
AppendWord(Ns_DString *scriptPtr, const char *word, int length)
{
    Ns_DString text, quoted;

    Ns_DStringInit(&text);
    Ns_DStringInit(&quoted);
    Ns_DStringNAppend(&text, word, length);
    Ns_DStringAppendElement(&quoted, Ns_DStringValue(&text));
    Ns_DStringNAppend(scriptPtr, " ", 1);
    Ns_DStringNAppend(scriptPtr, Ns_DStringValue(&quoted),
                      Ns_DStringLength(&quoted));
    Ns_DStringFree(&quoted);
    Ns_DStringFree(&text);
}

static void
AddText(Parser *parserPtr, const char *start, const char *end)
{
    int length = (int) (end - start);

    if (length == 0) {
        return;
    }
    if (parserPtr->specPtr->isSingle) {
        NoteLine(parserPtr, start);
        Ns_DStringAppend(&parserPtr->single, "ns_adp_append");
        AppendWord(&parserPtr->single, start, length);
        Ns_DStringNAppend(&parserPtr->single, "\n", 1);
    } else {
        AddBlock(parserPtr->codePtr, start, length, LineOf(parserPtr, start),
                 false, false);
    }
}

static void
AddScript(Parser *parserPtr, const char *script, int length, const char *at,
          bool startsStream)
{
    if (!parserPtr->specPtr->isSingle) {
        AddBlock(parserPtr->codePtr, script, length, LineOf(parserPtr, at),
                 true, startsStream);
        return;
    }
    if (startsStream) {
        Ns_DStringAppend(&parserPtr->single, "ns_adp_ctl stream on\n");
    }
    NoteLine(parserPtr, at);
    Ns_DStringNAppend(&parserPtr->single, script, length);
    Ns_DStringNAppend(&parserPtr->single, "\n", 1);
}

/*
 * What is appended next to the single script is from there.
 */
static void
NoteLine(Parser *parserPtr, const char *at)
{
    NsAdpCode  *codePtr = parserPtr->codePtr;
    const char *script = Ns_DStringValue(&parserPtr->single);

    while (parserPtr->nCounted < Ns_DStringLength(&parserPtr->single)) {
        parserPtr->singleLine += script[parserPtr->nCounted++] == '\n';
    }
    if (codePtr->nLines == codePtr->maxLines) {
        codePtr->maxLines = codePtr->maxLines * 2 + 8;
        codePtr->lines = ns_realloc(codePtr->lines,
                                    (size_t) codePtr->maxLines
                                        * sizeof(NsAdpLine));
    }
    codePtr->lines[codePtr->nLines++] = (NsAdpLine){
        .line = parserPtr->singleLine, .pageLine = LineOf(parserPtr, at)};
}

static void
AddBlock(NsAdpCode *codePtr, const char *text, int length, int line,
         bool isScript, bool startsStream)
{
    if (codePtr->nBlocks == codePtr->maxBlocks) {
        codePtr->maxBlocks = codePtr->maxBlocks * 2 + 8;
        codePtr->blocks = ns_realloc(codePtr->blocks,
                                     (size_t) codePtr->maxBlocks
                                         * sizeof(NsAdpBlock));
    }
    codePtr->blocks[codePtr->nBlocks++] = (NsAdpBlock){
        .offset = (size_t) Ns_DStringLength(&codePtr->text),
        .length = length,
        .line = line,
        .isScript = isScript,
        .startsStream = startsStream};
    codePtr->nScripts += isScript;
    Ns_DStringNAppend(&codePtr->text, text, length);
}

/*
 * Blocks come in the order of the page, so each line is counted once.
 */
static int
LineOf(Parser *parserPtr, const char *at)
{
    for (; parserPtr->lineMark < at; parserPtr->lineMark++) {
        parserPtr->line += (*parserPtr->lineMark == '\n');
    }
    return parserPtr->line;
}

static bool
IsWord(const char *text, int length, const char *word)
{
    return (size_t) length == strlen(word)
        && strncasecmp(text, word, (size_t) length) == 0;
}
