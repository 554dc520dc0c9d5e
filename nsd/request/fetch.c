/* SPDX-License-Identifier: MPL-2.0
 * fetch.c --
 *
 *      The body of any URL, by a request that its caller waits for.
 */

#include "nsrequest.h"
#include "nslog.h"
#include "nsset.h"
#include "nsstring.h"
#include "net/httpclient.h"

#define MAX_SILENCE 60 /* Seconds. */

static Ns_ReturnCode TakeReply(Ns_DString *dsPtr, Ns_Set *headers,
                               const NsHttpClient *clientPtr,
                               Ns_DString         *errorPtr);

int
Ns_FetchURL(Ns_DString *dsPtr, const char *url, Ns_Set *headers)
{
    Ns_ReturnCode result = NS_ERROR;
    NsHttpClient *clientPtr;
    Ns_DString    error;

    Ns_DStringInit(&error);
    clientPtr =
        NsHttpClientCreate(&(NsHttpClientSpec){.url = url,
                                               .silence = MAX_SILENCE
                                                   * NS_STAMP_SECOND,
                                               .reply = {.maxInMemory = -1}},
                           &error);
    if (clientPtr != NULL) {
        NsHttpClientRun(clientPtr);
        result = TakeReply(dsPtr, headers, clientPtr, &error);
        NsHttpClientDestroy(&clientPtr);
    }
    if (result != NS_OK) {
        Ns_Log(Error, "fetch[%s]: %s", url, Ns_DStringValue(&error));
    }
    Ns_DStringFree(&error);
    return result;
}

static Ns_ReturnCode
TakeReply(Ns_DString *dsPtr, Ns_Set *headers, const NsHttpClient *clientPtr,
          Ns_DString *errorPtr)
{
    const Ns_Set *fields = NsHttpClientFields(clientPtr);
    const char   *bytes;
    size_t        length;

    if (NsHttpClientError(clientPtr) != NULL) {
        Ns_DStringAppend(errorPtr, NsHttpClientError(clientPtr));
        return NS_ERROR;
    }
    for (int i = 0; headers != NULL && i < (int) Ns_SetSize(fields); i++) {
        (void) Ns_SetPut(headers, Ns_SetKey(fields, i), Ns_SetValue(fields, i));
    }
    bytes = NsReplyBodyBytes(NsHttpClientBody(clientPtr), &length);
    Ns_DStringNAppend(dsPtr, bytes, (int) length);
    return NS_OK;
}
