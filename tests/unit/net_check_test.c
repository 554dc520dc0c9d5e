/* SPDX-License-Identifier: MPL-2.0
 * net_check_test.c --
 *
 *      What messages, sockets, wheels, receipts and writer jobs assert: each
 *      member that is wrong ends the process.
 *
 *      1. messages    3. wheels        5. writer jobs
 *      2. sockets     4. receipts
 */

#include "log/stream/receipt.h"
#include "unit.h"
#include "aborts.h"
#include "net/sockstate.h"
#include "net/writer_check.h"
#include "base/lock.h"

#define MS INT64_C(1000000)

static void
ExpectAborts(void (*const *faults)(void), size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!Aborts(faults[i])) {
            fail_msg("fault %zu went by", i);
        }
    }
}

static NsMessage message;
static NsSock    sock;
static NsServer  server;
static char      content[] = "body";

static void
MakeMessage(void)
{
    message = (NsMessage){.sockPtr = &sock,
                          .serverPtr = &server,
                          .content = content,
                          .contentLength = 4u,
                          .contentFd = -1};
}

#define FAULT(name, change)       \
    static void name(void)        \
    {                             \
        MakeMessage();            \
        change;                   \
        NsMessageCheck(&message); \
    }

FAULT(Whole, (void) 0)
FAULT(Refused, message.refusal = 413; message.contentLength = 0u;
      content[0] = '\0'; message.mustClose = true)
FAULT(InAFile, message.content = NULL; message.contentFd = 3)
FAULT(StillRead, message.readerPtr = (struct NsReader *) &sock)
FAULT(InAList, message.nextPtr = &message)
FAULT(WithoutSock, message.sockPtr = NULL)
FAULT(WithoutServer, message.serverPtr = NULL)
FAULT(BodyInTwoPlaces, message.contentFd = 3)
FAULT(BodyInNoPlace, message.content = NULL)
FAULT(FileBesideMemory, message.contentFile = "file")
FAULT(BodyWithoutEnd, message.contentLength = 3u)
FAULT(UnknownRefusal, message.refusal = 404)
FAULT(RefusedWithBody, message.refusal = 413; message.mustClose = true)
FAULT(RefusedAndKept, message.refusal = 503; message.contentLength = 0u;
      content[0] = '\0')

static void
a_message_that_is_not_complete_is_not_handed_over(void **state)
{
    static void (*const faults[])(void) = {
        StillRead,       InAList,         WithoutSock,      WithoutServer,
        BodyInTwoPlaces, BodyInNoPlace,   FileBesideMemory, BodyWithoutEnd,
        UnknownRefusal,  RefusedWithBody, RefusedAndKept};

    assert_false(Aborts(Whole));
    assert_false(Aborts(Refused));
    assert_false(Aborts(InAFile));
    ExpectAborts(faults, sizeof(faults) / sizeof(faults[0]));
}

static void
ReleaseTwice(void)
{
    NsMessage *messagePtr = NsMessageCreate(), *samePtr = messagePtr;

    NsMessageThreadBegin();
    NsMessageRelease(&messagePtr);
    messagePtr = NsMessageCreate();
    NsMessageRelease(&messagePtr);
    messagePtr = samePtr;
    messagePtr->contentFd = 3;
    (void) NsMessageCreate();
}

static void
what_is_changed_after_its_release_is_found_when_taken_again(void **state)
{
    assert_true(Aborts(ReleaseTwice));
}

static const NsReadKind driverKind = {.ownState = NS_SOCK_DRIVER};
static const NsReadKind spoolerKind = {.ownState = NS_SOCK_BUSY_EVENT};
static NsDriverThread   home, spooler;

static void
MakeSock(NsSockState state)
{
    home = (NsDriverThread){.kindPtr = &driverKind};
    spooler = (NsDriverThread){.kindPtr = &spoolerKind};
    sock = (NsSock){.homePtr = &home};
    atomic_init(&sock.state, (int) state);
}

static void
TakeWhatIsMine(void)
{
    MakeSock(NS_SOCK_DRIVER);
    NsSockSetState(&home, &sock, NS_SOCK_DRIVER);
}

static void
GiveWhatIsGiven(void)
{
    MakeSock(NS_SOCK_BUSY);
    NsSockSetState(&home, &sock, NS_SOCK_BUSY_EVENT);
}

static void
TakeFromAnotherHome(void)
{
    NsDriverThread other = {.kindPtr = &driverKind};

    MakeSock(NS_SOCK_BUSY);
    NsSockSetState(&other, &sock, NS_SOCK_DRIVER);
}

static void
SpoolerTakes(void)
{
    MakeSock(NS_SOCK_BUSY_EVENT);
    NsSockSetState(&spooler, &sock, NS_SOCK_DRIVER);
}

static void
LeaveToBusy(void)
{
    MakeSock(NS_SOCK_BUSY);
    (void) NsSockLeaveBusy(&sock, NS_SOCK_BUSY);
}

static void
ReadWhatIsBusy(void)
{
    MakeSock(NS_SOCK_BUSY);
    NsSockAssertMine(&home, &sock);
}

static void
SpoolWhatIsTheDrivers(void)
{
    MakeSock(NS_SOCK_DRIVER);
    NsSockAssertMine(&spooler, &sock);
}

static void
ReadIntoWhatIsHandedOver(void)
{
    MakeSock(NS_SOCK_DRIVER);
    MakeMessage();
    sock.messagePtr = &message;
    NsSockAssertMine(&home, &sock);
}

static void
SendWhatIsTheDrivers(void)
{
    MakeSock(NS_SOCK_DRIVER);
    (void) NsSockSend(&sock, NULL, 0);
}

static void
FinishWhatIsTheDrivers(void)
{
    MakeSock(NS_SOCK_DRIVER);
    NsSockFinish(&sock, true);
}

static void
a_socket_is_touched_by_its_owner_alone(void **state)
{
    static void (*const faults[])(void) = {
        TakeWhatIsMine,        GiveWhatIsGiven,
        TakeFromAnotherHome,   SpoolerTakes,
        LeaveToBusy,           ReadWhatIsBusy,
        SpoolWhatIsTheDrivers, ReadIntoWhatIsHandedOver,
        SendWhatIsTheDrivers,  FinishWhatIsTheDrivers};

    ExpectAborts(faults, sizeof(faults) / sizeof(faults[0]));
}

static NsWheel      wheel;
static NsWheelEntry first, second;

static void
Ignore(NsWheelEntry *entryPtr, void *arg)
{
}

static void
MakeWheel(void)
{
    NsWheelInit(&wheel, 5000 * MS);
    NsWheelSet(&wheel, &first, 6000 * MS);
    NsWheelSet(&wheel, &second, 6000 * MS);
}

static void
CancelBrokenLink(void)
{
    MakeWheel();
    first.nextPtr->prevPtr = NULL;
    NsWheelCancel(&wheel, &first);
}

static void
SetNoLimit(void)
{
    MakeWheel();
    NsWheelSet(&wheel, &first, 0);
}

static void
AdvanceWithoutBit(void)
{
    MakeWheel();
    memset(wheel.used, 0, sizeof(wheel.used));
    NsWheelAdvance(&wheel, 5900 * MS, Ignore, NULL);
}

static void
AdvanceWithEntryInWrongSlot(void)
{
    MakeWheel();
    second.tick++;
    NsWheelAdvance(&wheel, 5900 * MS, Ignore, NULL);
}

static void
a_wrong_wheel_ends_the_process(void **state)
{
    assert_true(Aborts(CancelBrokenLink));
    assert_true(Aborts(SetNoLimit));
#ifdef NS_DEBUG
    assert_true(Aborts(AdvanceWithoutBit));
    assert_true(Aborts(AdvanceWithEntryInWrongSlot));
#else
    (void) AdvanceWithoutBit;
    (void) AdvanceWithEntryInWrongSlot;
#endif
}

static void
LeaveUncollected(void)
{
    NsReceiptLeave(NsReceiptCreate());
}

static void
LeaveTwice(void)
{
    NsReceipt *receiptPtr = NsReceiptCreate();

    NsReceiptCollect(receiptPtr);
    NsReceiptLeave(receiptPtr);
    NsReceiptLeave(receiptPtr);
}

static void
DestroyFollowed(void)
{
    NsReceipt *receiptPtr = NsReceiptCreate();

    NsReceiptFollow(receiptPtr);
    NsReceiptDestroy(&receiptPtr);
}

static void
a_receipt_is_left_once_and_not_freed_before(void **state)
{
    assert_true(Aborts(LeaveUncollected));
    assert_true(Aborts(LeaveTwice));
    assert_true(Aborts(DestroyFollowed));
}

/*
 * Two of six bytes are sent, one waits in the writer, three are on the way.
 */
static NsWriter    writer;
static NsWriterJob job;

static void
MakeJob(void)
{
    writer = (NsWriter){.index = 0};
    NsMutexSetup(&writer.lock, NS_RANK_WRITER, "test", "writer");
    job = (NsWriterJob){.writerPtr = &writer};
    job.output = (NsOutput){.firstPtr = (NsOutputNode *) &job, .bytes = 1};
    job.incoming = (NsOutput){.firstPtr = (NsOutputNode *) &job, .bytes = 3};
    job.receiptPtr = (NsReceipt *) &job;
    job.isReady = true;
    atomic_init(&job.appended, 6);
    atomic_init(&job.sent, 2);
    atomic_init(&job.remaining, 4);
}

#define JOB_FAULT(name, change)       \
    static void name(void)            \
    {                                 \
        MakeJob();                    \
        change;                       \
        Ns_MutexLock(&writer.lock);   \
        NsWriterCheckJobLocked(&job); \
        Ns_MutexUnlock(&writer.lock); \
        NsWriterCheckServed(&job);    \
    }

JOB_FAULT(WholeJob, (void) 0)
JOB_FAULT(JobThatIsGone, atomic_store(&job.isGone, true);
          atomic_store(&job.remaining, 0))
JOB_FAULT(EndedJob, job.sawEnd = job.isFinished = true; job.receiptPtr = NULL;
          job.output.bytes = 4; job.incoming = (NsOutput){.bytes = 0})
JOB_FAULT(BytesWithoutPieces, job.output.firstPtr = NULL)
JOB_FAULT(PiecesWithoutBytes, job.incoming.bytes = 0;
          atomic_store(&job.remaining, 1); atomic_store(&job.sent, 5))
JOB_FAULT(MoreSentThanAppended, atomic_store(&job.sent, 7))
JOB_FAULT(LostCount, atomic_store(&job.remaining, 3))
JOB_FAULT(LostBytes, job.incoming.bytes = 2; atomic_store(&job.remaining, 3))
JOB_FAULT(EndBeforeTheEnd, job.sawEnd = true)
JOB_FAULT(EndAtADrain, job.sawEnd = job.isFinished = job.isDraining = true;
          job.output.bytes = 4; job.incoming = (NsOutput){.bytes = 0})
JOB_FAULT(MoreAfterTheEnd, job.sawEnd = job.isFinished = true)
JOB_FAULT(NobodyLogs, job.receiptPtr = NULL)
JOB_FAULT(NobodyComesBack, job.isReady = false)

static void
CheckWithoutLock(void)
{
    MakeJob();
    NsWriterCheckJobLocked(&job);
}

static void
the_counts_of_a_writer_job_agree_and_somebody_comes_back_to_it(void **state)
{
    static void (*const faults[])(void) = {
        BytesWithoutPieces, PiecesWithoutBytes, MoreSentThanAppended,
        LostCount,          LostBytes,          EndBeforeTheEnd,
        EndAtADrain,        MoreAfterTheEnd,    NobodyLogs,
        NobodyComesBack,    CheckWithoutLock};

    assert_false(Aborts(WholeJob));
    assert_false(Aborts(JobThatIsGone));
    assert_false(Aborts(EndedJob));
    ExpectAborts(faults, sizeof(faults) / sizeof(faults[0]));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_that_is_not_complete_is_not_handed_over),
        cmocka_unit_test(
            what_is_changed_after_its_release_is_found_when_taken_again),
        cmocka_unit_test(a_socket_is_touched_by_its_owner_alone),
        cmocka_unit_test(a_wrong_wheel_ends_the_process),
        cmocka_unit_test(a_receipt_is_left_once_and_not_freed_before),
        cmocka_unit_test(
            the_counts_of_a_writer_job_agree_and_somebody_comes_back_to_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
