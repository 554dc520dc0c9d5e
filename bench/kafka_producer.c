/* SPDX-License-Identifier: MPL-2.0
 * kafka_producer.c --
 *
 *      How fast librdkafka is: what its own performance program, which has no
 *      transactions and is in no package, does with messages that are ready to
 *      be sent.
 *
 *      kafka_producer BROKERS TOPIC RECORDS BYTES ROWS ?NAME VALUE ...?
 *
 *      RECORDS messages of BYTES each, ROWS of them in one transaction, or,
 *      with 0, all without; NAME VALUE are settings of librdkafka.  Prints the
 *      rate from the first message until all are acknowledged or committed,
 *      and the seconds of processor time meanwhile.
 */

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "measure.h"

#define WAIT_MS 60000

static rd_kafka_t *Connect(char **argv, bool hasTransactions);
static void Set(rd_kafka_conf_t *conf, const char *name, const char *value);
static void NoteDelivery(rd_kafka_t *handle, const rd_kafka_message_t *message,
                         void *arg);
static void Produce(rd_kafka_topic_t *topic, rd_kafka_t *producer,
                    const char *bytes, size_t length, long nRecords, long rows);
static void Send(rd_kafka_topic_t *topic, rd_kafka_t *producer,
                 const char *bytes, size_t length);
static void Judge(rd_kafka_error_t *error);
static double ProcessorSeconds(void);

int
main(int argc, char **argv)
{
    rd_kafka_t       *producer;
    rd_kafka_topic_t *topic;
    long              nRecords, rows;
    size_t            length;
    char             *bytes;
    int64_t           start;
    double            used;

    if (argc < 6 || argc % 2 != 0) {
        fprintf(stderr,
                "usage: kafka_producer BROKERS TOPIC RECORDS BYTES "
                "ROWS ?NAME VALUE ...?\n");
        return 2;
    }
    nRecords = atol(argv[3]);
    length = (size_t) atol(argv[4]);
    rows = atol(argv[5]);
    bytes = malloc(length);
    memset(bytes, 'x', length);
    producer = Connect(argv, rows > 0);
    topic = rd_kafka_topic_new(producer, argv[2], NULL);
    if (rows > 0) {
        Judge(rd_kafka_init_transactions(producer, WAIT_MS));
    }
    /* The topic is made, and its broker known. */
    Produce(topic, producer, bytes, length, 1, rows);
    start = BenchNow();
    used = ProcessorSeconds();
    Produce(topic, producer, bytes, length, nRecords, rows);
    printf("rate %.0f seconds %.3f\n",
           (double) nRecords * 1e9 / (double) (BenchNow() - start),
           ProcessorSeconds() - used);
    rd_kafka_topic_destroy(topic);
    rd_kafka_destroy(producer);
    free(bytes);
    return 0;
}

/*
 * Settings as the sink has them, so that what is compared is the same.
 */
static rd_kafka_t *
Connect(char **argv, bool hasTransactions)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_t      *producer;
    char             error[256];

    Set(conf, "bootstrap.servers", argv[1]);
    Set(conf, "enable.idempotence", "true");
    Set(conf, "queue.buffering.max.messages", "10000000");
    Set(conf, "queue.buffering.max.kbytes", "2097151");
    if (hasTransactions) {
        Set(conf, "transactional.id", "bench");
        Set(conf, "linger.ms", "1000");
    }
    for (char **word = argv + 6; *word != NULL; word += 2) {
        Set(conf, word[0], word[1]);
    }
    rd_kafka_conf_set_dr_msg_cb(conf, NoteDelivery);
    producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, error, sizeof(error));
    if (producer == NULL) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
    return producer;
}

static void
Set(rd_kafka_conf_t *conf, const char *name, const char *value)
{
    char error[256];

    if (rd_kafka_conf_set(conf, name, value, error, sizeof(error))
        != RD_KAFKA_CONF_OK) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
}

static void
NoteDelivery(rd_kafka_t *handle, const rd_kafka_message_t *message, void *arg)
{
    (void) handle;
    (void) arg;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        fprintf(stderr, "%s\n", rd_kafka_message_errstr(message));
        exit(1);
    }
}

/*
 * Until all are acknowledged or committed.
 */
static void
Produce(rd_kafka_topic_t *topic, rd_kafka_t *producer, const char *bytes,
        size_t length, long nRecords, long rows)
{
    for (long i = 0; i < nRecords; i++) {
        if (rows > 0 && i % rows == 0) {
            Judge(rd_kafka_begin_transaction(producer));
        }
        Send(topic, producer, bytes, length);
        if (rows > 0 && (i % rows == rows - 1 || i == nRecords - 1)) {
            Judge(rd_kafka_commit_transaction(producer, WAIT_MS));
        }
    }
    if (rd_kafka_flush(producer, WAIT_MS) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        fprintf(stderr, "messages were not acknowledged\n");
        exit(1);
    }
}

static void
Send(rd_kafka_topic_t *topic, rd_kafka_t *producer, const char *bytes,
     size_t length)
{
    while (rd_kafka_produce(topic, RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY,
                            (void *) bytes, length, NULL, 0, NULL)
           != 0) {
        if (rd_kafka_last_error() != RD_KAFKA_RESP_ERR__QUEUE_FULL) {
            fprintf(stderr, "%s\n", rd_kafka_err2str(rd_kafka_last_error()));
            exit(1);
        }
        (void) rd_kafka_poll(producer, 10);
    }
    (void) rd_kafka_poll(producer, 0);
}

static void
Judge(rd_kafka_error_t *error)
{
    if (error != NULL) {
        fprintf(stderr, "%s\n", rd_kafka_error_string(error));
        exit(1);
    }
}

static double
ProcessorSeconds(void)
{
    struct rusage usage;

    (void) getrusage(RUSAGE_SELF, &usage);
    return (double) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + (double) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}
