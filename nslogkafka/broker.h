/* SPDX-License-Identifier: MPL-2.0
 * broker.h --
 *
 *      Kafka's brokers as a log sink needs them: a producer whose transactions
 *      carry rows and positions together, and the positions that an earlier
 *      process committed.
 *
 *      There are two producers, whose transactions take turns: a producer
 *      cannot begin one before the brokers have written down everywhere that
 *      its last one is committed, which takes longer than the commit itself.
 *      No two transactions are open at a time; see broker.c.
 *
 *      Producers are bound to an epoch: their transactional ids are made of the
 *      epoch, so whoever takes the epoch over, in this process or in the next
 *      one, first has the transaction ended that the last one left open.
 *
 *      The positions are messages of a compacted topic.  Key: server, sink,
 *      epoch and lane; value: the position.
 *
 *      A Broker belongs to one thread at a time.  What fails sets reason and
 *      error.
 */

#ifndef NSLOGKAFKA_BROKER_H
#define NSLOGKAFKA_BROKER_H

#include "nslogsink.h"

#include <librdkafka/rdkafka.h>

#define BROKER_ASK_MS    50 /* Between two questions for a topic. */
#define BROKER_PRODUCERS 2  /* That take turns. */

/*
 * What an operator has set.  The texts live as long as the Broker.
 */
typedef struct BrokerSpec {
    const char *brokers;   /* HOST:PORT,... */
    const char *topic;     /* Of the rows. */
    const char *positions; /* The topic of the positions. */
    const char *settings;  /* A list of librdkafka's names and values. */
    const char *server;
    const char *sink;
    int64_t     timeoutMs;       /* How long one call may wait. */
    bool        hasTransactions; /* False: rows only, at least once. */
} BrokerSpec;

typedef struct BrokerProducer {
    rd_kafka_t       *handle; /* NULL: none. */
    rd_kafka_topic_t *rows;
    rd_kafka_topic_t *positions; /* NULL without transactions. */
} BrokerProducer;

typedef struct Broker {
    BrokerSpec     spec;
    BrokerProducer producers[BROKER_PRODUCERS]; /* None: not connected.
                                                 * Without transactions only the
                                                 * first one. */
    int      turn;     /* Whose transaction is the present or next one. */
    uint64_t epoch;    /* Of the producers. */
    int      nFailed;  /* Messages that were not delivered. */
    int64_t  deadline; /* Of the call under way; monotonic, in ms. */
    int      reason;   /* An errno. */
    char     error[256];
    char     said[200]; /* What librdkafka reported last. */
} Broker;

/*
 * Whether a text is a list of settings that a sink may have.
 */
int BrokerCheckSettings(const char *text);

/*
 * A call begins: it may wait for timeoutMs from now on.
 */
void BrokerBegin(Broker *brokerPtr);

/*
 * Milliseconds until the deadline, at least 1.
 */
int BrokerLeft(const Broker *brokerPtr);

/*
 * Have the producers of that epoch.  When they are there, no transaction of the
 * epoch is open, whoever began it, and those that were committed can be read.
 */
bool BrokerConnect(Broker *brokerPtr, uint64_t epoch);
void BrokerDisconnect(Broker *brokerPtr);

/*
 * For a consumer of the same brokers, with the same settings.  NULL: there is
 * none.
 */
rd_kafka_conf_t *BrokerConsumerConf(Broker *brokerPtr);

/*
 * Put a message into the queue of the producer whose turn it is.  keyLength 0:
 * no key; valueLength 0: no value.  False with reason EMSGSIZE: it never fits.
 */
typedef struct BrokerMessage {
    bool                isPosition; /* It goes to the topic of the positions. */
    Ns_LogText          key;
    Ns_LogText          value;
    int64_t             nanos;   /* Since 1970. */
    rd_kafka_headers_t *headers; /* NULL: none.  Taken over, also on failure. */
} BrokerMessage;

bool BrokerSend(Broker *brokerPtr, const BrokerMessage *messagePtr);

bool BrokerStartTransaction(Broker *brokerPtr);

/*
 * End the transaction; the next one is the other producer's.  False with
 * *isInDoubtPtr: it may have been committed; new producers have it settled.
 */
bool BrokerCommit(Broker *brokerPtr, bool *isInDoubtPtr);

/*
 * Undo the transaction, or give up the producers.
 */
void BrokerAbort(Broker *brokerPtr);

/*
 * Without transactions: everything sent has arrived.
 */
bool BrokerFlush(Broker *brokerPtr);

/*
 * Report each committed position of this server and sink, the newest last.
 * isGone: the message of the key was withdrawn.
 */
typedef void BrokerPositionProc(void *arg, uint64_t epoch, int64_t lane,
                                int64_t position, bool isGone);

bool BrokerReadPositions(Broker *brokerPtr, BrokerPositionProc *proc,
                         void *arg);

/*
 * Note a position; within a transaction.  Withdraw one that nobody needs.
 */
bool BrokerSetPosition(Broker *brokerPtr, int64_t lane, int64_t position);
bool BrokerWithdrawPosition(Broker *brokerPtr, uint64_t epoch, int64_t lane);

#endif
