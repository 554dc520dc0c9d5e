/* SPDX-License-Identifier: MPL-2.0
 * base_thread_test.c --
 *
 *      1. start, end, join    2. names    3. list    4. thread-local values
 *      5. stack
 */

#include "unit.h"
#include "base/thread.h"
#include "nsstring.h"

#include <pthread.h>

static void
ExitWithArg(void *arg)
{
    Ns_ThreadExit(arg);
}

static void
Return(void *arg)
{
}

static void
join_fetches_the_exit_value(void **state)
{
    Ns_Thread thread;
    int       value;
    void     *result = NULL;

    Ns_ThreadCreate(ExitWithArg, &value, 0, &thread);
    Ns_ThreadJoin(&thread, &result);
    assert_ptr_equal(result, &value);

    Ns_ThreadCreate(Return, &value, 0, &thread);
    Ns_ThreadJoin(&thread, &result);
    assert_null(result);
}

static void
a_dead_handle_is_recognized(void **state)
{
    Ns_Thread thread, another, self, unknown = (Ns_Thread) INT64_C(0x7fffffff);
    int       value;
    void     *result;

    Ns_ThreadCreate(ExitWithArg, &value, 0, &thread);
    assert_int_equal(NsThreadJoin(&thread, &result), NS_OK);
    assert_int_equal(NsThreadJoin(&thread, &result), NS_ERROR);

    /* Another thread does not inherit the number. */
    Ns_ThreadCreate(ExitWithArg, &value, 0, &another);
    assert_int_equal(NsThreadJoin(&thread, &result), NS_ERROR);
    assert_int_equal(NsThreadJoin(&another, &result), NS_OK);

    result = &value;
    Ns_ThreadJoin(&thread, &result);
    assert_null(result);
    assert_int_equal(NsThreadJoin(&unknown, NULL), NS_ERROR);
    Ns_ThreadSelf(&self);
    assert_int_equal(NsThreadJoin(&self, NULL), NS_ERROR);
}

/*
 * A thread that tells what it sees and stays until told to go.
 */
typedef struct Worker {
    Ns_Sema   isReady, mayEnd;
    char      name[100], parent[100];
    int       osId;
    uintptr_t id;
} Worker;

static void
Work(void *arg)
{
    Worker *workerPtr = arg;

    Ns_ThreadSetName("-worker:%d-", 7);
    strcpy(workerPtr->name, Ns_ThreadGetName());
    strcpy(workerPtr->parent, Ns_ThreadGetParent());
    workerPtr->id = Ns_ThreadId();
    workerPtr->osId = NsThreadOsId();
    Ns_SemaPost(&workerPtr->isReady, 1);
    Ns_SemaWait(&workerPtr->mayEnd);
}

static void
Start(Worker *workerPtr, Ns_Thread *threadPtr)
{
    *workerPtr = (Worker){0};
    Ns_SemaInit(&workerPtr->isReady, 0);
    Ns_SemaInit(&workerPtr->mayEnd, 0);
    Ns_ThreadCreate(Work, workerPtr, 0, threadPtr);
    Ns_SemaWait(&workerPtr->isReady);
}

static void
Stop(Worker *workerPtr, Ns_Thread *threadPtr)
{
    Ns_SemaPost(&workerPtr->mayEnd, 1);
    Ns_ThreadJoin(threadPtr, NULL);
    Ns_SemaDestroy(&workerPtr->isReady);
    Ns_SemaDestroy(&workerPtr->mayEnd);
}

static void
a_thread_knows_its_name_and_who_started_it(void **state)
{
    Worker    worker;
    Ns_Thread thread;

    assert_string_equal(Ns_ThreadGetName(), "-main-");
    assert_string_equal(Ns_ThreadGetParent(), "");
    Start(&worker, &thread);
    assert_string_equal(worker.name, "-worker:7-");
    assert_string_equal(worker.parent, "-main-");
    Stop(&worker, &thread);
}

static void
TakeLongName(void *arg)
{
    Ns_ThreadSetName("%0100d", 1);
    strcpy(arg, Ns_ThreadGetName());
}

static void
names_end_after_sixty_four_bytes(void **state)
{
    Ns_Thread thread;
    char      name[200] = "";

    Ns_ThreadCreate(TakeLongName, name, 0, &thread);
    Ns_ThreadJoin(&thread, NULL);
    assert_int_equal(strlen(name), 64);
}

static void
DescribeArg(Ns_DString *dsPtr, void *proc, void *arg)
{
    Tcl_DStringAppendElement(dsPtr, proc == (void *) Work ? "work" : "other");
    Tcl_DStringAppendElement(dsPtr, arg != NULL ? "some arg" : "");
}

static void
the_list_shows_newest_first_with_all_elements(void **state)
{
    Worker       worker;
    Ns_Thread    thread;
    Ns_DString   ds;
    int          n, nElements;
    const char **threads, **elements;
    char         expected[40];

    Start(&worker, &thread);
    Tcl_DStringInit(&ds);
    Ns_ThreadList(&ds, DescribeArg);
    assert_int_equal(Tcl_SplitList(NULL, ds.string, &n, &threads), TCL_OK);
    assert_int_equal(n, 2);

    assert_int_equal(Tcl_SplitList(NULL, threads[0], &nElements, &elements),
                     TCL_OK);
    assert_int_equal(nElements, 8);
    assert_string_equal(elements[0], "-worker:7-");
    assert_string_equal(elements[1], "-main-");
    snprintf(expected, sizeof(expected), "%" PRIxPTR, worker.id);
    assert_string_equal(elements[2], expected);
    assert_string_equal(elements[3], "0");
    assert_in_range(atol(elements[4]), time(NULL) - 60, time(NULL));
    assert_string_equal(elements[5], "work");
    assert_string_equal(elements[6], "some arg");
    assert_int_equal(atoi(elements[7]), worker.osId);
    Tcl_Free((char *) elements);

    Tcl_SplitList(NULL, threads[1], &nElements, &elements);
    assert_string_equal(elements[0], "-main-");
    assert_string_equal(elements[1], "");
    assert_string_equal(elements[3], "1");
    assert_int_equal(atoi(elements[7]), getpid());
    Tcl_Free((char *) elements);
    Tcl_Free((char *) threads);

    Stop(&worker, &thread);
    Tcl_DStringSetLength(&ds, 0);
    Ns_ThreadList(&ds, NULL);
    assert_null(strstr(ds.string, "worker"));
    assert_non_null(strstr(ds.string, " p:0x"));
    Tcl_DStringFree(&ds);
}

static void *
AskForeignThread(void *arg)
{
    strcpy(arg, Ns_ThreadGetName());
    return NULL;
}

static void
a_thread_started_elsewhere_gets_a_name_and_leaves_the_list(void **state)
{
    pthread_t  thread;
    char       name[100];
    Ns_DString ds;

    pthread_create(&thread, NULL, AskForeignThread, name);
    pthread_join(thread, NULL);
    assert_memory_equal(name, "-thread:", 8);

    Tcl_DStringInit(&ds);
    Ns_ThreadList(&ds, NULL);
    assert_null(strstr(ds.string, "-thread:"));
    Tcl_DStringFree(&ds);
}

static void
ForgetArg(void *arg)
{
    NsThreadForgetArg();
    /* From here on nobody looks at it. */
    memset(arg, 0, sizeof(int));
    ns_free(arg);
}

static void
LookAtArg(Ns_DString *dsPtr, void *proc, void *arg)
{
    if (proc == (void *) ForgetArg && arg != NULL) {
        Ns_DStringPrintf(dsPtr, " forget %d", *(int *) arg);
    }
}

static void
an_argument_is_not_looked_at_after_it_was_forgotten(void **state)
{
    Ns_DString ds;

    Tcl_DStringInit(&ds);
    for (int i = 0; i < 200; i++) {
        Ns_Thread thread;
        int      *argPtr = ns_malloc(sizeof(int));

        *argPtr = 4711;
        Ns_ThreadCreate(ForgetArg, argPtr, 0, &thread);
        Tcl_DStringSetLength(&ds, 0);
        Ns_ThreadList(&ds, LookAtArg);
        assert_null(strstr(ds.string, "forget 0"));
        Ns_ThreadJoin(&thread, NULL);
    }
    Tcl_DStringFree(&ds);
}

static Ns_Tls first, second;
static int    nCleanups;

static void
CleanFirst(void *value)
{
    nCleanups++;
    assert_null(Ns_TlsGet(&first));
    /* Another slot may be used again: it is cleaned up again. */
    if (nCleanups == 1) {
        Ns_TlsSet(&second, value);
    }
}

static void
CleanSecond(void *value)
{
    nCleanups++;
}

static void
SetSlots(void *arg)
{
    *(bool *) arg = Ns_TlsGet(&first) == NULL;
    Ns_TlsSet(&first, arg);
    *(bool *) arg = *(bool *) arg && Ns_TlsGet(&first) == arg;
}

static void
thread_local_values_are_separate_and_cleaned_up(void **state)
{
    Ns_Thread thread;
    bool      isRight = false;
    int       mine;

    Ns_TlsAlloc(&first, CleanFirst);
    Ns_TlsAlloc(&second, CleanSecond);
    Ns_TlsSet(&first, &mine);
    Ns_ThreadCreate(SetSlots, &isRight, 0, &thread);
    Ns_ThreadJoin(&thread, NULL);
    assert_true(isRight);
    assert_int_equal(nCleanups, 2);
    assert_ptr_equal(Ns_TlsGet(&first), &mine);
    Ns_TlsSet(&first, NULL);
}

typedef struct Stack {
    size_t bytes, usedBytes;
} Stack;

static void
MeasureStack(void *arg)
{
    Stack *stackPtr = arg;

    Ns_ThreadGetThreadInfo(&stackPtr->bytes, &stackPtr->usedBytes);
}

static void
a_thread_gets_the_stack_it_was_started_with(void **state)
{
    Ns_Thread thread;
    Stack     stack;
    long      before = Ns_ThreadStackSize(0);

    Ns_ThreadCreate(MeasureStack, &stack, 1024 * 1024 + 1, &thread);
    Ns_ThreadJoin(&thread, NULL);
    assert_in_range(stack.bytes, 1024 * 1024 + 1, 1024 * 1024 + 65536);
    assert_in_range(stack.usedBytes, 1, stack.bytes);

    assert_int_equal(Ns_ThreadStackSize(512 * 1024), before);
    assert_int_equal(Ns_ThreadStackSize(-1), 512 * 1024);
    Ns_ThreadCreate(MeasureStack, &stack, 0, &thread);
    Ns_ThreadJoin(&thread, NULL);
    assert_int_equal(stack.bytes, 512 * 1024);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(join_fetches_the_exit_value),
        cmocka_unit_test(a_dead_handle_is_recognized),
        cmocka_unit_test(a_thread_knows_its_name_and_who_started_it),
        cmocka_unit_test(names_end_after_sixty_four_bytes),
        cmocka_unit_test(the_list_shows_newest_first_with_all_elements),
        cmocka_unit_test(
            a_thread_started_elsewhere_gets_a_name_and_leaves_the_list),
        cmocka_unit_test(an_argument_is_not_looked_at_after_it_was_forgotten),
        cmocka_unit_test(thread_local_values_are_separate_and_cleaned_up),
        cmocka_unit_test(a_thread_gets_the_stack_it_was_started_with),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
