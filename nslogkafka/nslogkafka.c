/* SPDX-License-Identifier: MPL-2.0
 * nslogkafka.c --
 *
 *      Log sinks that send records to a topic of Kafka.
 *
 *      One write is one transaction: the rows, how far each lane has been read,
 *      and the number of the write.  Who reads committed messages sees each
 *      record once, whatever happens to the server.
 *
 *      A process that takes over the mapping reads the positions; the first
 *      thing it does is to have the dead one's transaction ended.  The number
 *      tells the same about a commit whose answer did not come: a new producer
 *      has the transaction settled, and the positions have the number or not.
 *
 *      Without transactions, which some brokers lack, a batch whose answer did
 *      not come is sent again.
 */

#include "nslogsink.h"

#include "broker.h"
#include "nsstring.h"
#include "nsthread.h"

#define NUMBER_LANE (-1) /* The number's place among the positions. */

/*
 * A transaction costs the server 2 ms of a processor and the brokers more, as
 * much as the rows of a few thousand records.
 */
#define BATCH_ROWS     10000
#define BUFFER_SECONDS 1

enum {
    BROKERS_OPTION,
    TOPIC_OPTION,
    KEY_OPTION,
    HEADERS_OPTION,
    TRANSACTIONS_OPTION,
    POSITIONS_OPTION,
    SETTINGS_OPTION,
    TIMEOUT_OPTION
};

static int CheckKey(const char *text);
static int CheckTopic(const char *text);

static const Ns_LogSinkOption options[] = {
    [BROKERS_OPTION] = {.name = "brokers",
                        .kind = NS_LOGSINK_TEXT,
                        .range = "a list HOST:PORT,...",
                        .sentence = "Brokers to begin with: HOST:PORT,..."},
    [TOPIC_OPTION] = {.name = "topic",
                      .kind = NS_LOGSINK_TEXT,
                      .defaultText = "nsd-log",
                      .checkProc = CheckTopic,
                      .range = "a name of letters, digits, ., _ and -",
                      .sentence = "The topic of the records."},
    [KEY_OPTION] = {.name = "key",
                    .kind = NS_LOGSINK_TEXT,
                    .defaultText = "none",
                    .checkProc = CheckKey,
                    .range = "none, server, sink, stream or severity",
                    .sentence = "The messages' key: `none`, `server`, `sink`, "
                                "`stream` or `severity`.  Messages of one key "
                                "stay in order."},
    [HEADERS_OPTION] = {.name = "headers",
                        .kind = NS_LOGSINK_BOOL,
                        .defaultText = "false",
                        .range = "a boolean",
                        .sentence = "Headers `server`, `sink`, `stream`, "
                                    "`severity` and, without transactions, "
                                    "`id` with each message."},
    [TRANSACTIONS_OPTION] = {.name = "transactions",
                             .kind = NS_LOGSINK_BOOL,
                             .defaultText = "true",
                             .range = "a boolean",
                             .sentence = "Each record exactly once; false: at "
                                         "least once."},
    [POSITIONS_OPTION] =
        {.name = "positions",
         .kind = NS_LOGSINK_TEXT,
         .defaultText = "nsd-log-positions",
         .checkProc = CheckTopic,
         .range = "a name of letters, digits, ., _ and -",
         .sentence =
             "Topic that records how far a sink has got; compacted, and "
             "created if missing."},
    [SETTINGS_OPTION] = {.name = "settings",
                         .kind = NS_LOGSINK_TEXT,
                         .defaultText = "",
                         .isSecret = true,
                         .checkProc = BrokerCheckSettings,
                         .range = "a list of names and values of librdkafka",
                         .sentence = "Further settings of librdkafka: "
                                     "compression, TLS, SASL and others."},
    [TIMEOUT_OPTION] = {.name = "timeout",
                        .kind = NS_LOGSINK_TIME,
                        .defaultText = "4s",
                        .min = 1,
                        .max = 60,
                        .range = "a time from 1s to 60s",
                        .sentence = "How long one attempt to write may take."},
    {.name = NULL}};

static const char *const keys[] = {
    "none", "server", "sink", "stream", "severity"};

/*
 * A target's data.
 */
typedef struct Kafka {
    Broker  broker;
    int     key; /* Index into keys. */
    bool    hasHeaders;
    int64_t number;    /* Of the write under way. */
    bool    isInDoubt; /* It may have been committed. */
    bool    isPruned;  /* Positions of other epochs are withdrawn. */
} Kafka;

/*
 * What a reading of the positions looks for.
 */
typedef struct Found {
    uint64_t             epoch;
    Ns_LogSinkPositions *listPtr; /* NULL: nobody wants the list. */
    int64_t              number;
    Tcl_HashTable       *others; /* EPOCH LANE; NULL: nobody wants them. */
} Found;

static int  OpenNothing(Ns_LogSinkTarget *targetPtr);
static int  WriteRows(Ns_LogSinkTarget *targetPtr, Ns_LogSinkBatch *batchPtr);
static bool IsWritten(Kafka *kafkaPtr, uint64_t epoch, bool *isWrittenPtr);
static bool Transaction(Kafka *kafkaPtr, Ns_LogSinkBatch *batchPtr);
static bool SendRows(Kafka *kafkaPtr, Ns_LogSinkBatch *batchPtr);
static Ns_LogText KeyOf(const Kafka *kafkaPtr, const Ns_LogRow *rowPtr);
static rd_kafka_headers_t *HeadersOf(const Kafka     *kafkaPtr,
                                     const Ns_LogRow *rowPtr);
static void     AddHeader(rd_kafka_headers_t *headers, const char *name,
                          Ns_LogText value);
static uint64_t Hash(uint64_t hash, const void *bytes, size_t n);
static bool     SendPositions(Kafka *kafkaPtr, const Ns_LogSinkBatch *batchPtr);
static bool     Withdraw(Kafka *kafkaPtr, Tcl_HashTable *others);
static bool     FindOthers(Kafka *kafkaPtr, const Ns_LogSinkBatch *batchPtr,
                           Tcl_HashTable *others);
static void     NotePosition(void *arg, uint64_t epoch, int64_t lane,
                             int64_t position, bool isGone);
static int      GetPositions(Ns_LogSinkTarget *targetPtr, uint64_t epoch,
                             Ns_LogSinkPositions *listPtr);
static void     CloseKafka(Ns_LogSinkTarget *targetPtr);
static int      Complain(Ns_LogSinkTarget *targetPtr);

const Ns_LogSinkType *
Ns_LogSinkInit(const char **reasonPtr)
{
    static const Ns_LogSinkType type = {
        .version = NS_LOGSINK_INTERFACE,
        .name = "kafka",
        .options = options,
        .openProc = OpenNothing,
        .writeProc = WriteRows,
        .positionsProc = GetPositions,
        .closeProc = CloseKafka,
        .batchRows = BATCH_ROWS,
        .bufferSeconds = BUFFER_SECONDS};

    return &type;
}

static int
CheckKey(const char *text)
{
    for (int i = 0; i < Ns_NrElements(keys); i++) {
        if (STREQ(text, keys[i])) {
            return NS_OK;
        }
    }
    return NS_ERROR;
}

static int
CheckTopic(const char *text)
{
    size_t n = strlen(text);

    return n > 0 && n < 250
            && strspn(text,
                      "abcdefghijklmnopqrstuvwxyz"
                      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
                == n
            && !STREQ(text, ".") && !STREQ(text, "..")
        ? NS_OK
        : NS_ERROR;
}

static int
OpenNothing(Ns_LogSinkTarget *targetPtr)
{
    const Ns_LogSinkValue *values = targetPtr->values;
    Kafka                 *kafkaPtr = ns_calloc(1u, sizeof(*kafkaPtr));

    kafkaPtr->broker.spec = (BrokerSpec){
        .brokers = values[BROKERS_OPTION].text,
        .topic = values[TOPIC_OPTION].text,
        .positions = values[POSITIONS_OPTION].text,
        .settings = values[SETTINGS_OPTION].text,
        .server = targetPtr->server,
        .sink = targetPtr->sink,
        .timeoutMs = values[TIMEOUT_OPTION].number / 1000000,
        .hasTransactions = values[TRANSACTIONS_OPTION].number != 0};
    while (!STREQ(keys[kafkaPtr->key], values[KEY_OPTION].text)) {
        kafkaPtr->key++;
    }
    kafkaPtr->hasHeaders = values[HEADERS_OPTION].number != 0;
    targetPtr->data = kafkaPtr;
    return NS_OK;
}

/*
 * All rows or none; without transactions, all of them at least once.
 */
static int
WriteRows(Ns_LogSinkTarget *targetPtr, Ns_LogSinkBatch *batchPtr)
{
    Kafka *kafkaPtr = targetPtr->data;
    bool   isWritten = false;

    BrokerBegin(&kafkaPtr->broker);
    if (!BrokerConnect(&kafkaPtr->broker, batchPtr->epoch)) {
        return Complain(targetPtr);
    }
    if (!kafkaPtr->broker.spec.hasTransactions) {
        return SendRows(kafkaPtr, batchPtr) && BrokerFlush(&kafkaPtr->broker)
            ? NS_OK
            : Complain(targetPtr);
    }
    if (kafkaPtr->isInDoubt) {
        if (!IsWritten(kafkaPtr, batchPtr->epoch, &isWritten)) {
            return Complain(targetPtr);
        }
        kafkaPtr->isInDoubt = false;
    }
    if (!isWritten) {
        struct timespec now;

        (void) clock_gettime(CLOCK_REALTIME, &now);
        kafkaPtr->number = MAX(kafkaPtr->number + 1,
                               (int64_t) now.tv_sec * 1000000000 + now.tv_nsec);
        isWritten = Transaction(kafkaPtr, batchPtr);
    }
    return isWritten ? NS_OK : Complain(targetPtr);
}

/*
 * False: it is not known.
 */
static bool
IsWritten(Kafka *kafkaPtr, uint64_t epoch, bool *isWrittenPtr)
{
    Found found = {.epoch = epoch};

    if (!BrokerReadPositions(&kafkaPtr->broker, NotePosition, &found)) {
        return false;
    }
    *isWrittenPtr = found.number == kafkaPtr->number;
    return true;
}

/*
 * The positions come first: as a rule one request then adds both topics to the
 * transaction, while the rows are still being handed over.
 */
static bool
Transaction(Kafka *kafkaPtr, Ns_LogSinkBatch *batchPtr)
{
    Broker       *brokerPtr = &kafkaPtr->broker;
    Tcl_HashTable others;
    bool          isOk;

    Tcl_InitHashTable(&others, TCL_STRING_KEYS);
    isOk = FindOthers(kafkaPtr, batchPtr, &others)
        && BrokerStartTransaction(brokerPtr);
    if (isOk) {
        isOk = SendPositions(kafkaPtr, batchPtr) && Withdraw(kafkaPtr, &others)
            && SendRows(kafkaPtr, batchPtr);
        if (!isOk) {
            BrokerAbort(brokerPtr);
        }
    }
    isOk = isOk && BrokerCommit(brokerPtr, &kafkaPtr->isInDoubt);
    if (isOk && batchPtr->mayForget) {
        kafkaPtr->isPruned = true;
    }
    Tcl_DeleteHashTable(&others);
    return isOk;
}

/*
 * A row that is too long for every broker is left out.
 */
static bool
SendRows(Kafka *kafkaPtr, Ns_LogSinkBatch *batchPtr)
{
    Broker   *brokerPtr = &kafkaPtr->broker;
    Ns_LogRow row;

    while (Ns_LogSinkNextRow(batchPtr, &row)) {
        BrokerMessage message = {.key = KeyOf(kafkaPtr, &row),
                                 .value = row.record,
                                 .nanos = row.nanos,
                                 .headers = HeadersOf(kafkaPtr, &row)};

        if (BrokerSend(brokerPtr, &message)) {
            continue;
        }
        if (brokerPtr->reason != EMSGSIZE) {
            return false;
        }
        Ns_LogSinkRefuse(batchPtr, brokerPtr->error);
    }
    return true;
}

static Ns_LogText
KeyOf(const Kafka *kafkaPtr, const Ns_LogRow *rowPtr)
{
    const BrokerSpec *specPtr = &kafkaPtr->broker.spec;
    const Ns_LogText  texts[] = {
         {NULL, 0},
         {specPtr->server, strlen(specPtr->server)},
         {specPtr->sink, strlen(specPtr->sink)},
         rowPtr->stream,
         rowPtr->severity};

    return texts[kafkaPtr->key];
}

/*
 * NULL: none are wanted.
 */
static rd_kafka_headers_t *
HeadersOf(const Kafka *kafkaPtr, const Ns_LogRow *rowPtr)
{
    const BrokerSpec   *specPtr = &kafkaPtr->broker.spec;
    rd_kafka_headers_t *headers;

    if (!kafkaPtr->hasHeaders) {
        return NULL;
    }
    headers = rd_kafka_headers_new(5);
    AddHeader(headers, "server",
              (Ns_LogText){specPtr->server, strlen(specPtr->server)});
    AddHeader(headers, "sink",
              (Ns_LogText){specPtr->sink, strlen(specPtr->sink)});
    AddHeader(headers, "stream", rowPtr->stream);
    AddHeader(headers, "severity", rowPtr->severity);
    if (!specPtr->hasTransactions) {
        /* The same for a record that comes twice.  FNV-1a, 64 bits. */
        uint64_t hash = UINT64_C(0xcbf29ce484222325);
        char     id[17];

        hash = Hash(hash, &rowPtr->nanos, sizeof(rowPtr->nanos));
        hash = Hash(hash, rowPtr->stream.bytes, rowPtr->stream.length);
        hash = Hash(hash, rowPtr->record.bytes, rowPtr->record.length);
        snprintf(id, sizeof(id), "%016" PRIx64, hash);
        AddHeader(headers, "id", (Ns_LogText){id, 16});
    }
    return headers;
}

static void
AddHeader(rd_kafka_headers_t *headers, const char *name, Ns_LogText value)
{
    (void) rd_kafka_header_add(headers, name, -1, value.bytes,
                               (ssize_t) value.length);
}

static uint64_t
Hash(uint64_t hash, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        hash = (hash ^ ((const unsigned char *) bytes)[i])
            * UINT64_C(0x100000001b3);
    }
    return hash;
}

static bool
SendPositions(Kafka *kafkaPtr, const Ns_LogSinkBatch *batchPtr)
{
    Broker *brokerPtr = &kafkaPtr->broker;
    bool    isOk = BrokerSetPosition(brokerPtr, NUMBER_LANE, kafkaPtr->number);

    for (int i = 0; isOk && i < batchPtr->nPositions; i++) {
        isOk = BrokerSetPosition(brokerPtr, batchPtr->positions[i].lane,
                                 (int64_t) batchPtr->positions[i].position);
    }
    return isOk;
}

/*
 * Positions that nobody needs; but never another server's.
 */
static bool
FindOthers(Kafka *kafkaPtr, const Ns_LogSinkBatch *batchPtr,
           Tcl_HashTable *others)
{
    Found found = {.epoch = batchPtr->epoch, .others = others};

    return kafkaPtr->isPruned || !batchPtr->mayForget
        || BrokerReadPositions(&kafkaPtr->broker, NotePosition, &found);
}

static bool
Withdraw(Kafka *kafkaPtr, Tcl_HashTable *others)
{
    Tcl_HashSearch search;
    bool           isOk = true;

    for (Tcl_HashEntry *entryPtr = Tcl_FirstHashEntry(others, &search);
         isOk && entryPtr != NULL; entryPtr = Tcl_NextHashEntry(&search)) {
        char    *lane;
        uint64_t epoch = strtoull(Tcl_GetHashKey(others, entryPtr), &lane, 16);

        isOk = BrokerWithdrawPosition(&kafkaPtr->broker, epoch,
                                      strtoll(lane, NULL, 10));
    }
    return isOk;
}

static void
NotePosition(void *arg, uint64_t epoch, int64_t lane, int64_t position,
             bool isGone)
{
    Found *foundPtr = arg;

    if (epoch != foundPtr->epoch) {
        if (foundPtr->others != NULL) {
            char           key[48];
            int            isNew;
            Tcl_HashEntry *entryPtr;

            snprintf(key, sizeof(key), "%" PRIx64 " %" PRId64, epoch, lane);
            entryPtr = Tcl_CreateHashEntry(foundPtr->others, key, &isNew);
            if (isGone) {
                Tcl_DeleteHashEntry(entryPtr);
            }
        }
    } else if (isGone) {
        return;
    } else if (lane == NUMBER_LANE) {
        foundPtr->number = position;
    } else if (foundPtr->listPtr != NULL) {
        Ns_LogSinkAddPosition(foundPtr->listPtr, lane, position);
    }
}

/*
 * What the process that died has committed.
 */
static int
GetPositions(Ns_LogSinkTarget *targetPtr, uint64_t epoch,
             Ns_LogSinkPositions *listPtr)
{
    Kafka *kafkaPtr = targetPtr->data;
    Found  found = {.epoch = epoch, .listPtr = listPtr};

    if (!kafkaPtr->broker.spec.hasTransactions) {
        return NS_OK;
    }
    BrokerBegin(&kafkaPtr->broker);
    return BrokerConnect(&kafkaPtr->broker, epoch)
            && BrokerReadPositions(&kafkaPtr->broker, NotePosition, &found)
        ? NS_OK
        : Complain(targetPtr);
}

static void
CloseKafka(Ns_LogSinkTarget *targetPtr)
{
    Kafka *kafkaPtr = targetPtr->data;

    BrokerDisconnect(&kafkaPtr->broker);
    ns_free(kafkaPtr);
    targetPtr->data = NULL;
}

static int
Complain(Ns_LogSinkTarget *targetPtr)
{
    const Kafka *kafkaPtr = targetPtr->data;

    snprintf(targetPtr->error, sizeof(targetPtr->error), "%s",
             kafkaPtr->broker.error);
    errno = kafkaPtr->broker.reason != 0 ? kafkaPtr->broker.reason : EIO;
    return NS_ERROR;
}
