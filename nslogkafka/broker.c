/* SPDX-License-Identifier: MPL-2.0
 * broker.c --
 *
 *      librdkafka: producers and their transactions.
 *
 *      A commit is answered when the coordinator has written its decision
 *      down.  The markers that tell the readers of each partition come later,
 *      and until they are there that producer can begin no other transaction:
 *      it asks every 20 ms.  So a second producer has the next one.  Let T be
 *      a transaction and U the next, of the other producer.  Two in turn
 *      promise what one does:
 *
 *      - U begins when the commit of T has been answered.  From then on nothing
 *        that happens to a process or a broker undoes T.  So no more than one
 *        transaction is undecided at any moment.
 *      - In each partition the messages of U are behind those of T, which had
 *        been acknowledged before T was committed.  Who reads committed
 *        messages stops in front of the first one whose transaction has no
 *        marker: so T is read before U, and each as a whole, whichever markers
 *        come first.
 *      - When T is aborted, or its commit is in doubt, U does not begin.  The
 *        rows of T are sent again, after a doubt by new producers.
 *      - Whoever takes the epoch over, also after a doubt, initializes both
 *        ids before it reads a position or sends a message.  That aborts the
 *        one transaction that may be open, completes what is decided, and
 *        refuses whatever the producers before may still have on the way.  So
 *        the positions that are read then are those of the last transaction
 *        that was committed, and what is sent then comes behind it.
 */

#include "broker.h"

#include "nsstring.h"
#include "nsthread.h"
#include <tcl.h>

/* A transaction whose process died holds up who reads committed messages only;
 * no longer than this. */
#define TRANSACTION_MS "30000"

/* A transaction is sent in requests that are full, and the rest at its end: a
 * commit does not wait for this.  With librdkafka's 5 ms, a large one makes
 * many small requests, and beyond five under way its thread runs in circles. */
#define LINGER_MS "1000"

/* What a sink decides itself. */
static const char *const ours[] = {
    "metadata.broker.list",   "bootstrap.servers",  "transactional.id",
    "transaction.timeout.ms", "enable.idempotence", "plugin.library.paths"};

static bool Configure(const char *settings, rd_kafka_conf_t *conf, char *error,
                      size_t size);
static bool Set(rd_kafka_conf_t *conf, const char *name, const char *value,
                char *error, size_t size);
static bool NewProducer(Broker *brokerPtr, int index);
static rd_kafka_conf_t *ProducerConf(Broker *brokerPtr, int index);
static bool SetTransactions(Broker *brokerPtr, rd_kafka_conf_t *conf,
                            int index);
static bool InitTransactions(Broker *brokerPtr);
static void FreeProducer(BrokerProducer *producerPtr);
static bool AskBrokers(Broker *brokerPtr);
static rd_kafka_resp_err_t AskForTopic(Broker *brokerPtr);
static void NoteError(rd_kafka_t *handle, int code, const char *text,
                      void *opaque);
static void NoteDelivery(rd_kafka_t *handle, const rd_kafka_message_t *message,
                         void *opaque);
static void WakeUp(rd_kafka_t *handle, const rd_kafka_message_t *message,
                   void *opaque);
static void IgnoreLog(const rd_kafka_t *handle, int level, const char *facility,
                      const char *text);
static bool Fail(Broker *brokerPtr, int reason, const char *what,
                 const char *why);
static bool FailWith(Broker *brokerPtr, const char *what,
                     rd_kafka_error_t *error);
static int64_t NowMs(void);

int
BrokerCheckSettings(const char *text)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char             error[256];
    bool             isOk = Configure(text, conf, error, sizeof(error));

    rd_kafka_conf_destroy(conf);
    return isOk ? NS_OK : NS_ERROR;
}

static bool
Configure(const char *settings, rd_kafka_conf_t *conf, char *error, size_t size)
{
    int          n;
    const char **words;
    bool         isOk;

    if (Tcl_SplitList(NULL, settings, &n, &words) != TCL_OK) {
        snprintf(error, size, "%s", "the settings are not a list");
        return false;
    }
    isOk = n % 2 == 0;
    for (int i = 0; isOk && i < n; i += 2) {
        for (size_t j = 0; isOk && j < Ns_NrElements(ours); j++) {
            isOk = !STREQ(words[i], ours[j]);
        }
        isOk = isOk && Set(conf, words[i], words[i + 1], error, size);
    }
    Tcl_Free((char *) words);
    return isOk;
}

static bool
Set(rd_kafka_conf_t *conf, const char *name, const char *value, char *error,
    size_t size)
{
    return rd_kafka_conf_set(conf, name, value, error, size)
        == RD_KAFKA_CONF_OK;
}

void
BrokerBegin(Broker *brokerPtr)
{
    brokerPtr->deadline = NowMs() + brokerPtr->spec.timeoutMs;
    brokerPtr->reason = 0;
    brokerPtr->error[0] = '\0';
}

int
BrokerLeft(const Broker *brokerPtr)
{
    int64_t left = brokerPtr->deadline - NowMs();

    return left > 0 ? (int) left : 1;
}

static int64_t
NowMs(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool
BrokerConnect(Broker *brokerPtr, uint64_t epoch)
{
    if (brokerPtr->producers[0].handle != NULL && brokerPtr->epoch == epoch) {
        return true;
    }
    BrokerDisconnect(brokerPtr);
    brokerPtr->epoch = epoch;
    if (!NewProducer(brokerPtr, 0) || !AskBrokers(brokerPtr)
        || (brokerPtr->spec.hasTransactions && !InitTransactions(brokerPtr))) {
        BrokerDisconnect(brokerPtr);
        return false;
    }
    return true;
}

static bool
NewProducer(Broker *brokerPtr, int index)
{
    BrokerProducer  *producerPtr = &brokerPtr->producers[index];
    rd_kafka_conf_t *conf = ProducerConf(brokerPtr, index);

    if (conf == NULL) {
        return false;
    }
    producerPtr->handle = rd_kafka_new(RD_KAFKA_PRODUCER, conf,
                                       brokerPtr->error,
                                       sizeof(brokerPtr->error));
    if (producerPtr->handle == NULL) {
        brokerPtr->reason = EINVAL;
        rd_kafka_conf_destroy(conf);
        return false;
    }
    producerPtr->rows = rd_kafka_topic_new(producerPtr->handle,
                                           brokerPtr->spec.topic, NULL);
    if (brokerPtr->spec.hasTransactions) {
        producerPtr->positions = rd_kafka_topic_new(producerPtr->handle,
                                                    brokerPtr->spec.positions,
                                                    NULL);
    }
    return producerPtr->rows != NULL
        || Fail(brokerPtr, EINVAL, "the topic cannot be written",
                rd_kafka_err2str(rd_kafka_last_error()));
}

/*
 * NULL: the settings of an operator were not what BrokerCheckSettings saw.
 */
static rd_kafka_conf_t *
ProducerConf(Broker *brokerPtr, int index)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char            *error = brokerPtr->error;
    size_t           size = sizeof(brokerPtr->error);

    /* Whoever looks for the end of a topic counts what is not committed. */
    if (!Set(conf, "client.id", "nsd", error, size)
        || !Set(conf, "isolation.level", "read_uncommitted", error, size)
        || !Set(conf, "queue.buffering.max.messages", "10000000", error, size)
        || !Set(conf, "queue.buffering.max.kbytes", "2097151", error, size)
        || (brokerPtr->spec.hasTransactions
            && !Set(conf, "linger.ms", LINGER_MS, error, size))
        || !Configure(brokerPtr->spec.settings, conf, error, size)
        || !Set(conf, "bootstrap.servers", brokerPtr->spec.brokers, error, size)
        || !Set(conf, "enable.idempotence", "true", error, size)
        || (brokerPtr->spec.hasTransactions
            && !SetTransactions(brokerPtr, conf, index))) {
        brokerPtr->reason = EINVAL;
        rd_kafka_conf_destroy(conf);
        return NULL;
    }
    rd_kafka_conf_set_opaque(conf, brokerPtr);
    rd_kafka_conf_set_error_cb(conf, NoteError);
    rd_kafka_conf_set_log_cb(conf, IgnoreLog);
    rd_kafka_conf_set_dr_msg_cb(conf,
                                brokerPtr->spec.hasTransactions ? WakeUp
                                                                : NoteDelivery);
    return conf;
}

rd_kafka_conf_t *
BrokerConsumerConf(Broker *brokerPtr)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char            *error = brokerPtr->error;
    size_t           size = sizeof(brokerPtr->error);

    if (!Set(conf, "client.id", "nsd", error, size)
        || !Configure(brokerPtr->spec.settings, conf, error, size)
        || !Set(conf, "bootstrap.servers", brokerPtr->spec.brokers, error,
                size)) {
        rd_kafka_conf_destroy(conf);
        return NULL;
    }
    rd_kafka_conf_set_log_cb(conf, IgnoreLog);
    return conf;
}

static bool
SetTransactions(Broker *brokerPtr, rd_kafka_conf_t *conf, int index)
{
    Ns_DString id;
    bool       isOk;

    Ns_DStringInit(&id);
    Ns_DStringPrintf(&id, "nsd %s %s %" PRIx64, brokerPtr->spec.server,
                     brokerPtr->spec.sink, brokerPtr->epoch);
    if (index > 0) {
        Ns_DStringPrintf(&id, " %d", index);
    }
    isOk = Set(conf, "transactional.id", Ns_DStringValue(&id), brokerPtr->error,
               sizeof(brokerPtr->error))
        && Set(conf, "transaction.timeout.ms", TRANSACTION_MS, brokerPtr->error,
               sizeof(brokerPtr->error));
    Ns_DStringFree(&id);
    return isOk;
}

/*
 * All of the epoch's ids, before anything is read or sent.
 */
static bool
InitTransactions(Broker *brokerPtr)
{
    for (int i = 1; i < BROKER_PRODUCERS; i++) {
        if (!NewProducer(brokerPtr, i)) {
            return false;
        }
    }
    for (int i = 0; i < BROKER_PRODUCERS; i++) {
        rd_kafka_error_t *error =
            rd_kafka_init_transactions(brokerPtr->producers[i].handle,
                                       BrokerLeft(brokerPtr));

        if (error != NULL) {
            return FailWith(brokerPtr, "transactions cannot be had", error);
        }
    }
    return true;
}

/*
 * Somebody is there and has the topic.  A broker that makes topics when they
 * are asked for does so meanwhile.
 */
static bool
AskBrokers(Broker *brokerPtr)
{
    rd_kafka_resp_err_t code;

    while ((code = AskForTopic(brokerPtr))
               == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART
           && NowMs() < brokerPtr->deadline) {
        (void) rd_kafka_poll(brokerPtr->producers[0].handle, BROKER_ASK_MS);
    }
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR
        || code == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE) {
        return true;
    }
    return code < RD_KAFKA_RESP_ERR_UNKNOWN
        ? Fail(brokerPtr, ETIMEDOUT, "no broker answers",
               rd_kafka_err2str(code))
        : Fail(brokerPtr, ENOENT, "the topic cannot be written",
               rd_kafka_err2str(code));
}

/*
 * What librdkafka itself finds is below RD_KAFKA_RESP_ERR_UNKNOWN.
 */
static rd_kafka_resp_err_t
AskForTopic(Broker *brokerPtr)
{
    const struct rd_kafka_metadata *metadata;
    rd_kafka_resp_err_t             code =
        rd_kafka_metadata(brokerPtr->producers[0].handle, 0,
                          brokerPtr->producers[0].rows, &metadata,
                          BrokerLeft(brokerPtr));

    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        code = metadata->topic_cnt == 1
            ? metadata->topics[0].err
            : RD_KAFKA_RESP_ERR_UNKNOWN;
        rd_kafka_metadata_destroy(metadata);
    }
    return code;
}

/*
 * Messages that are still queued are forgotten.
 */
void
BrokerDisconnect(Broker *brokerPtr)
{
    for (int i = 0; i < BROKER_PRODUCERS; i++) {
        FreeProducer(&brokerPtr->producers[i]);
    }
    brokerPtr->turn = 0;
}

static void
FreeProducer(BrokerProducer *producerPtr)
{
    if (producerPtr->handle == NULL) {
        return;
    }
    (void) rd_kafka_purge(producerPtr->handle,
                          RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    if (producerPtr->rows != NULL) {
        rd_kafka_topic_destroy(producerPtr->rows);
    }
    if (producerPtr->positions != NULL) {
        rd_kafka_topic_destroy(producerPtr->positions);
    }
    rd_kafka_destroy_flags(producerPtr->handle, 0);
    *producerPtr = (BrokerProducer){.handle = NULL};
}

bool
BrokerSend(Broker *brokerPtr, const BrokerMessage *messagePtr)
{
    const BrokerProducer *producerPtr = &brokerPtr->producers[brokerPtr->turn];
    rd_kafka_topic_t     *topic = messagePtr->isPosition
            ? producerPtr->positions
            : producerPtr->rows;

    rd_kafka_vu_t parts[] = {
        {.vtype = RD_KAFKA_VTYPE_RKT, .u = {.rkt = topic}},
        {.vtype = RD_KAFKA_VTYPE_KEY,
         .u = {.mem = {(void *) messagePtr->key.bytes,
                       messagePtr->key.length}}},
        {.vtype = RD_KAFKA_VTYPE_VALUE,
         .u = {.mem = {(void *) messagePtr->value.bytes,
                       messagePtr->value.length}}},
        {.vtype = RD_KAFKA_VTYPE_TIMESTAMP,
         .u = {.i64 = messagePtr->nanos / 1000000}},
        {.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u = {.i = RD_KAFKA_MSG_F_COPY}},
        {.vtype = RD_KAFKA_VTYPE_HEADERS,
         .u = {.headers = messagePtr->headers}}};
    size_t            n = Ns_NrElements(parts) - (messagePtr->headers == NULL);
    rd_kafka_error_t *error;
    rd_kafka_resp_err_t code;

    while ((error = rd_kafka_produceva(producerPtr->handle, parts, n)) != NULL
           && rd_kafka_error_code(error) == RD_KAFKA_RESP_ERR__QUEUE_FULL
           && NowMs() < brokerPtr->deadline) {
        rd_kafka_error_destroy(error);
        (void) rd_kafka_poll(producerPtr->handle, 10);
    }
    if (error == NULL) {
        return true;
    }
    if (messagePtr->headers != NULL) {
        rd_kafka_headers_destroy(messagePtr->headers);
    }
    code = rd_kafka_error_code(error);
    (void) FailWith(brokerPtr, "a record cannot be sent", error);
    if (code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE) {
        brokerPtr->reason = EMSGSIZE;
    }
    return false;
}

bool
BrokerStartTransaction(Broker *brokerPtr)
{
    rd_kafka_error_t *error = rd_kafka_begin_transaction(
        brokerPtr->producers[brokerPtr->turn].handle);

    if (error != NULL) {
        (void) FailWith(brokerPtr, "no transaction can begin", error);
        BrokerDisconnect(brokerPtr);
        return false;
    }
    return true;
}

bool
BrokerCommit(Broker *brokerPtr, bool *isInDoubtPtr)
{
    rd_kafka_t       *handle = brokerPtr->producers[brokerPtr->turn].handle;
    rd_kafka_error_t *error;

    while ((error = rd_kafka_commit_transaction(handle, BrokerLeft(brokerPtr)))
               != NULL
           && rd_kafka_error_is_retriable(error)
           && NowMs() < brokerPtr->deadline) {
        rd_kafka_error_destroy(error);
    }
    if (error == NULL) {
        brokerPtr->turn = (brokerPtr->turn + 1) % BROKER_PRODUCERS;
        return true;
    }
    *isInDoubtPtr = !rd_kafka_error_txn_requires_abort(error);
    (void) FailWith(brokerPtr, "a transaction cannot be committed", error);
    if (*isInDoubtPtr) {
        BrokerDisconnect(brokerPtr);
    } else {
        BrokerAbort(brokerPtr);
    }
    return false;
}

void
BrokerAbort(Broker *brokerPtr)
{
    rd_kafka_t       *handle = brokerPtr->producers[brokerPtr->turn].handle;
    rd_kafka_error_t *error;

    if (handle == NULL) {
        return;
    }
    error = rd_kafka_abort_transaction(handle, BrokerLeft(brokerPtr));
    if (error != NULL) {
        rd_kafka_error_destroy(error);
        BrokerDisconnect(brokerPtr);
    }
}

bool
BrokerFlush(Broker *brokerPtr)
{
    rd_kafka_resp_err_t code = rd_kafka_flush(brokerPtr->producers[0].handle,
                                              BrokerLeft(brokerPtr));
    int                 nFailed = brokerPtr->nFailed;

    brokerPtr->nFailed = 0;
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR && nFailed == 0) {
        return true;
    }
    (void) Fail(brokerPtr, ETIMEDOUT, "records were not acknowledged",
                rd_kafka_err2str(code));
    BrokerDisconnect(brokerPtr);
    brokerPtr->nFailed = 0;
    return false;
}

/*
 * In the thread that polls.
 */
static void
NoteDelivery(rd_kafka_t *handle, const rd_kafka_message_t *message,
             void *opaque)
{
    Broker *brokerPtr = opaque;

    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        brokerPtr->nFailed++;
        NoteError(handle, (int) message->err, rd_kafka_message_errstr(message),
                  opaque);
    }
}

/*
 * A commit that waits for its messages looks every 10 ms whether they have
 * arrived, unless somebody wants to know of each.
 */
static void
WakeUp(rd_kafka_t *handle, const rd_kafka_message_t *message, void *opaque)
{
}

static void
NoteError(rd_kafka_t *handle, int code, const char *text, void *opaque)
{
    Broker *brokerPtr = opaque;

    /* That none is left says less than what the last one said. */
    if (code != RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN
        || brokerPtr->said[0] == '\0') {
        snprintf(brokerPtr->said, sizeof(brokerPtr->said), "%s", text);
    }
}

/*
 * It would go to standard error.
 */
static void
IgnoreLog(const rd_kafka_t *handle, int level, const char *facility,
          const char *text)
{
}

/*
 * What librdkafka reported meanwhile says more than "timed out".
 */
static bool
Fail(Broker *brokerPtr, int reason, const char *what, const char *why)
{
    for (int i = 0; i < BROKER_PRODUCERS; i++) {
        if (brokerPtr->producers[i].handle != NULL) {
            (void) rd_kafka_poll(brokerPtr->producers[i].handle, 0);
        }
    }
    brokerPtr->reason = reason;
    snprintf(brokerPtr->error, sizeof(brokerPtr->error), "%s: %s", what,
             brokerPtr->said[0] != '\0' ? brokerPtr->said : why);
    brokerPtr->said[0] = '\0';
    return false;
}

static bool
FailWith(Broker *brokerPtr, const char *what, rd_kafka_error_t *error)
{
    bool isLate = rd_kafka_error_code(error) == RD_KAFKA_RESP_ERR__TIMED_OUT;

    (void) Fail(brokerPtr, isLate ? ETIMEDOUT : EIO, what,
                rd_kafka_error_string(error));
    rd_kafka_error_destroy(error);
    return false;
}
