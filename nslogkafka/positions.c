/* SPDX-License-Identifier: MPL-2.0
 * positions.c --
 *
 *      The topic of the positions.
 *
 *      It is read from its beginning to the end that it has when the reading
 *      begins.  Who reads committed messages only does not get past a
 *      transaction of others that is open: so a reader waits until it is there.
 */

#include "broker.h"

#include "nsstring.h"
#include "nsthread.h"
#include <tcl.h>

static rd_kafka_resp_err_t AskForEnds(Broker *brokerPtr, int64_t *startPtr,
                                      int64_t *endPtr);
static bool                IsNew(rd_kafka_resp_err_t code);
static bool ReadTo(Broker *brokerPtr, rd_kafka_t *consumer, int64_t end,
                   BrokerPositionProc *proc, void *arg);
static void Report(const Broker *brokerPtr, const rd_kafka_message_t *message,
                   BrokerPositionProc *proc, void *arg);
static bool MakeTopic(Broker *brokerPtr);
static rd_kafka_t *NewConsumer(Broker *brokerPtr);
static bool Explain(Broker *brokerPtr, const char *what, const char *why);
static bool SendPosition(Broker *brokerPtr, uint64_t epoch, int64_t lane,
                         const char *text);

/*
 * Its segments are small, so that compacting leaves little to read.
 */
static const char *const topicConfig[] = {
    "cleanup.policy",
    "compact",
    "segment.bytes",
    "16777216",
    "min.cleanable.dirty.ratio",
    "0.1"};

bool
BrokerReadPositions(Broker *brokerPtr, BrokerPositionProc *proc, void *arg)
{
    rd_kafka_t                      *consumer;
    rd_kafka_topic_partition_list_t *list;
    rd_kafka_resp_err_t              code;
    int64_t                          start, end;
    bool                             isOk;

    if (!MakeTopic(brokerPtr)) {
        return false;
    }
    code = AskForEnds(brokerPtr, &start, &end);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return Explain(brokerPtr, "the positions cannot be found",
                       rd_kafka_err2str(code));
    }
    consumer = start < end ? NewConsumer(brokerPtr) : NULL;
    if (consumer == NULL) {
        return start >= end;
    }
    list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, brokerPtr->spec.positions, 0)
        ->offset = RD_KAFKA_OFFSET_BEGINNING;
    code = rd_kafka_assign(consumer, list);
    rd_kafka_topic_partition_list_destroy(list);
    isOk = code == RD_KAFKA_RESP_ERR_NO_ERROR
        ? ReadTo(brokerPtr, consumer, end, proc, arg)
        : Explain(brokerPtr, "the positions cannot be read",
                  rd_kafka_err2str(code));
    rd_kafka_destroy_flags(consumer, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    return isOk;
}

/*
 * What is asked of a producer counts messages that are not committed.  A topic
 * that has just been made is not known to all of the brokers at once.
 */
static rd_kafka_resp_err_t
AskForEnds(Broker *brokerPtr, int64_t *startPtr, int64_t *endPtr)
{
    rd_kafka_resp_err_t code;

    while ((code = rd_kafka_query_watermark_offsets(
                brokerPtr->producers[0].handle, brokerPtr->spec.positions, 0,
                startPtr, endPtr, BrokerLeft(brokerPtr)))
               != RD_KAFKA_RESP_ERR_NO_ERROR
           && IsNew(code) && BrokerLeft(brokerPtr) > BROKER_ASK_MS) {
        (void) rd_kafka_poll(brokerPtr->producers[0].handle, BROKER_ASK_MS);
    }
    return code;
}

static bool
IsNew(rd_kafka_resp_err_t code)
{
    return code == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION
        || code == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC
        || code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART
        || code == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE;
}

static bool
ReadTo(Broker *brokerPtr, rd_kafka_t *consumer, int64_t end,
       BrokerPositionProc *proc, void *arg)
{
    for (;;) {
        rd_kafka_message_t *message =
            rd_kafka_consumer_poll(consumer, BrokerLeft(brokerPtr));
        bool isThere = false;

        if (message == NULL) {
            return Explain(brokerPtr, "the positions cannot be read",
                           "no answer, or another transaction is open");
        }
        if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            Report(brokerPtr, message, proc, arg);
            /* Who gets on has time. */
            BrokerBegin(brokerPtr);
        } else if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            isThere = message->offset >= end;
        }
        rd_kafka_message_destroy(message);
        if (isThere) {
            return true;
        }
    }
}

/*
 * Key: a list of server, sink, epoch, lane.
 */
static void
Report(const Broker *brokerPtr, const rd_kafka_message_t *message,
       BrokerPositionProc *proc, void *arg)
{
    char        *key = ns_strncopy(message->key, (ssize_t) message->key_len);
    char        *value = ns_strncopy(message->payload, (ssize_t) message->len);
    int          n;
    const char **words;

    if (key != NULL && Tcl_SplitList(NULL, key, &n, &words) == TCL_OK) {
        if (n == 4 && STREQ(words[0], brokerPtr->spec.server)
            && STREQ(words[1], brokerPtr->spec.sink)) {
            proc(arg, strtoull(words[2], NULL, 16), strtoll(words[3], NULL, 10),
                 value != NULL ? strtoll(value, NULL, 10) : 0,
                 message->payload == NULL);
        }
        Tcl_Free((char *) words);
    }
    ns_free(key);
    ns_free(value);
}

/*
 * Have the topic.  An operator who allows nobody to make topics has made it.
 */
static bool
MakeTopic(Broker *brokerPtr)
{
    rd_kafka_NewTopic_t                  *topic;
    rd_kafka_queue_t                     *queue;
    rd_kafka_event_t                     *event;
    const rd_kafka_topic_result_t *const *results;
    size_t                                n = 0;
    rd_kafka_resp_err_t                   code;

    topic = rd_kafka_NewTopic_new(brokerPtr->spec.positions, 1, -1,
                                  brokerPtr->error, sizeof(brokerPtr->error));
    if (topic == NULL) {
        brokerPtr->reason = EINVAL;
        return false;
    }
    for (size_t i = 0; i < Ns_NrElements(topicConfig); i += 2) {
        (void) rd_kafka_NewTopic_set_config(topic, topicConfig[i],
                                            topicConfig[i + 1]);
    }
    queue = rd_kafka_queue_new(brokerPtr->producers[0].handle);
    rd_kafka_CreateTopics(brokerPtr->producers[0].handle, &topic, 1, NULL,
                          queue);
    event = rd_kafka_queue_poll(queue, BrokerLeft(brokerPtr));
    code = event != NULL ? rd_kafka_event_error(event)
                         : RD_KAFKA_RESP_ERR__TIMED_OUT;
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        results = rd_kafka_CreateTopics_result_topics(
            rd_kafka_event_CreateTopics_result(event), &n);
        code = n == 1 ? rd_kafka_topic_result_error(results[0])
                      : RD_KAFKA_RESP_ERR_UNKNOWN;
    }
    if (event != NULL) {
        rd_kafka_event_destroy(event);
    }
    rd_kafka_queue_destroy(queue);
    rd_kafka_NewTopic_destroy(topic);
    return code == RD_KAFKA_RESP_ERR_NO_ERROR
        || code == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS
        || code == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED
        || code == RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED
        || Explain(brokerPtr, "the topic of the positions cannot be made",
                   rd_kafka_err2str(code));
}

/*
 * NULL: there cannot be one.
 */
static rd_kafka_t *
NewConsumer(Broker *brokerPtr)
{
    static const char *const settings[] = {
        "isolation.level",
        "read_committed",
        "enable.partition.eof",
        "true",
        "enable.auto.commit",
        "false",
        "group.id",
        "nsd",
        "auto.offset.reset",
        "earliest"};
    rd_kafka_conf_t *conf = BrokerConsumerConf(brokerPtr);
    rd_kafka_t      *consumer = NULL;

    for (size_t i = 0; conf != NULL && i < Ns_NrElements(settings); i += 2) {
        (void) rd_kafka_conf_set(conf, settings[i], settings[i + 1], NULL, 0);
    }
    if (conf != NULL) {
        consumer = rd_kafka_new(RD_KAFKA_CONSUMER, conf, brokerPtr->error,
                                sizeof(brokerPtr->error));
    }
    if (consumer == NULL) {
        brokerPtr->reason = EINVAL;
        if (conf != NULL) {
            rd_kafka_conf_destroy(conf);
        }
        return NULL;
    }
    (void) rd_kafka_poll_set_consumer(consumer);
    return consumer;
}

static bool
Explain(Broker *brokerPtr, const char *what, const char *why)
{
    brokerPtr->reason = ETIMEDOUT;
    snprintf(brokerPtr->error, sizeof(brokerPtr->error), "%s: %s", what, why);
    return false;
}

bool
BrokerSetPosition(Broker *brokerPtr, int64_t lane, int64_t position)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRId64, position);
    return SendPosition(brokerPtr, brokerPtr->epoch, lane, text);
}

bool
BrokerWithdrawPosition(Broker *brokerPtr, uint64_t epoch, int64_t lane)
{
    return SendPosition(brokerPtr, epoch, lane, NULL);
}

static bool
SendPosition(Broker *brokerPtr, uint64_t epoch, int64_t lane, const char *text)
{
    char        number[24], place[24];
    const char *words[] = {
        brokerPtr->spec.server, brokerPtr->spec.sink, number, place};
    struct timespec now;
    char           *key;
    bool            isOk;

    (void) clock_gettime(CLOCK_REALTIME, &now);
    snprintf(number, sizeof(number), "%" PRIx64, epoch);
    snprintf(place, sizeof(place), "%" PRId64, lane);
    key = Tcl_Merge(Ns_NrElements(words), words);
    isOk = BrokerSend(brokerPtr,
                      &(BrokerMessage){
                          .isPosition = true,
                          .key = {key, strlen(key)},
                          .value = {text, text != NULL ? strlen(text) : 0},
                          .nanos = (int64_t) now.tv_sec * 1000000000
                              + now.tv_nsec});
    Tcl_Free(key);
    return isOk;
}
