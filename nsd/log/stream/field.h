/* SPDX-License-Identifier: MPL-2.0
 * field.h --
 *
 *      What a record says, by name: for templates, conditions and masks, which
 *      know no layout of records.
 *
 *      Each stream that has such names registers procedures that take its
 *      records apart (NsStreamSetFields).  All of it points into the record.
 */

#ifndef NSD_LOG_FIELD_H
#define NSD_LOG_FIELD_H

#include "log/stream/line.h"
#include "log/stream/stream.h"
#include "nslogstream.h"

typedef enum {
    NS_FIELD_SERVER,
    NS_FIELD_THREAD,
    NS_FIELD_DRIVER,
    NS_FIELD_PEER,
    NS_FIELD_USER,
    NS_FIELD_REQUEST,
    NS_FIELD_REFERER,
    NS_FIELD_AGENT,
    NS_FIELD_MESSAGE,
    NS_FIELD_KIND,
    NS_FIELD_SEVERITY, /* As its process called it, if the record says. */
    NS_FIELD_REQUEST_ID,
    NS_FIELD_TRACE_ID,
    NS_FIELD_SPAN_ID,
    NS_FIELD_TEXTS
} NsFieldTextIndex;

typedef enum {
    NS_FIELD_STATUS,
    NS_FIELD_BYTES,
    NS_FIELD_START, /* This and the next ones: microseconds. */
    NS_FIELD_DURATION,
    NS_FIELD_ACCEPT,
    NS_FIELD_QUEUE,
    NS_FIELD_FILTER,
    NS_FIELD_RUN,
    NS_FIELD_EVENTS, /* How many there are. */
    NS_FIELD_ERROR,  /* 1: with an error. */
    NS_FIELD_PID,
    NS_FIELD_NUMBERS
} NsFieldNumberIndex;

typedef struct NsFieldText {
    const char *bytes; /* NULL: the record has none. */
    size_t      length;
} NsFieldText;

typedef struct NsFields {
    const Ns_LogRecord *recordPtr;
    NsFieldText         texts[NS_FIELD_TEXTS];
    int64_t             numbers[NS_FIELD_NUMBERS];
    uint32_t            has; /* A bit for each number that is known. */

    /* Pairs of names and values: header fields, keys of audit records. */
    const char *pairs;
    const char *pairsEnd;
    uint32_t    nPairs; /* At most. */
} NsFields;

/*
 * Read: false, the record is damaged; fieldsPtr is all zero before.
 *
 * Next pair: false, there are no more.
 *
 * Replace: put the record with other texts, those in `texts` that are not NULL
 * and which the record has; with a value for each pair whose name is hidden.
 * PutEvents: as a JSON array; NULL: records have none.
 *
 * Pieces: the line of a template whose pieces are plain; 0: this record needs
 * more than that, or more room.  NULL: all of them do.
 */
typedef bool NsFieldHidesProc(const NsFieldText *namePtr, const void *arg);

struct NsPieces;

struct NsFieldProcs {
    bool (*readProc)(const Ns_LogRecord *recordPtr, NsFields *fieldsPtr);
    bool (*nextProc)(NsFields *fieldsPtr, NsFieldText *namePtr,
                     NsFieldText *valuePtr);
    void (*replaceProc)(NsLogOut *outPtr, const NsFields *fieldsPtr,
                        const NsFieldText *texts, NsFieldHidesProc *hidesProc,
                        const void *arg);
    void (*eventsProc)(NsLogOut *outPtr, const NsFields *fieldsPtr);
    size_t (*piecesProc)(const struct NsPieces *piecesPtr,
                         const Ns_LogRecord *recordPtr, char *buffer,
                         size_t room);
};

/* What stands for a value that is hidden. */
#define NS_FIELD_HIDDEN "***"

static inline void
NsFieldSetNumber(NsFields *fieldsPtr, NsFieldNumberIndex index, int64_t number)
{
    fieldsPtr->numbers[index] = number;
    fieldsPtr->has |= 1u << index;
}

static inline bool
NsFieldHas(const NsFields *fieldsPtr, NsFieldNumberIndex index)
{
    return (fieldsPtr->has & 1u << index) != 0;
}

/*
 * A field as templates and conditions name it.
 */
typedef enum {
    NS_VARIABLE_TEXT,
    NS_VARIABLE_NUMBER,
    NS_VARIABLE_SECONDS, /* Of microseconds. */
    NS_VARIABLE_TIME,    /* These need no more than the record's head: */
    NS_VARIABLE_LOCAL,   /* as in common log format, */
    NS_VARIABLE_EPOCH,   /* in seconds since 1970. */
    NS_VARIABLE_START,   /* The same of numbers: NS_FIELD_START. */
    NS_VARIABLE_STREAM,
    NS_VARIABLE_SEVERITY,
    NS_VARIABLE_METHOD, /* Parts of the request line. */
    NS_VARIABLE_URL,
    NS_VARIABLE_PATH,
    NS_VARIABLE_QUERY,
    NS_VARIABLE_PROTOCOL,
    NS_VARIABLE_PAIR, /* With a name in parentheses: a pair. */
    NS_VARIABLE_EVENTS
} NsVariableKind;

typedef struct NsVariable {
    const char    *name;
    NsVariableKind kind;
    int            index;  /* Of the text or number. */
    const char    *prefix; /* Of the pair's name, or NULL. */
} NsVariable;

/*
 * A template as it is compiled.
 */
typedef struct NsPiece {
    char *text; /* Before the variable; NS_PIECE_ROOM more bytes
                 * behind it can be read. */
    size_t            length;
    const NsVariable *variablePtr; /* NULL: the end of the template. */
    char             *name;        /* Of a pair; else NULL. */
} NsPiece;

#define NS_PIECE_ROOM 16

typedef struct NsPieces {
    int      n;
    NsPiece *pieces;
    size_t   textBytes; /* Of all. */
    bool     isPlain;   /* All variables are plain, and values are written as
                         * access lines have them. */
} NsPieces;

/*
 * A part of the request line, or one of the texts and numbers that each access
 * record has, or its time.
 */
bool NsVariableIsPlain(const NsVariable *variablePtr);

/*
 * NULL: there is no such variable.
 */
const NsVariable *NsVariableFind(const char *name, size_t length);

/*
 * Take a record apart.  False: its stream has no procedures, or it is damaged.
 */
bool NsFieldsRead(const NsFieldProcs *procsPtr, const Ns_LogRecord *recordPtr,
                  NsFields *fieldsPtr);

/*
 * The severity under which daemons and collectors get the record: that of a
 * request whose status is 500 or more is Error, from 400 on Warning, if its own
 * is not worse.  Filters go by its own.
 */
Ns_LogSeverity NsFieldsSeverity(const NsFields *fieldsPtr);

/*
 * The text of a variable that is one; NULL bytes: the record lacks it.
 */
NsFieldText NsVariableText(const NsVariable *variablePtr, const char *name,
                           const NsFieldProcs *procsPtr,
                           const NsFields     *fieldsPtr);

NsFieldText NsPartOfRequest(NsVariableKind kind, NsFieldText request);

/*
 * The number of one that is a number, or seconds in microseconds.  False: the
 * record lacks it.
 */
bool NsVariableNumber(const NsVariable *variablePtr, const NsFields *fieldsPtr,
                      int64_t *numberPtr);
bool NsVariableIsNumber(const NsVariable *variablePtr);

#endif
