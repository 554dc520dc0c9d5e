/*
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
                                               .timeout = {MAX_SILENCE, 0},
                                               .isForSilence = true},
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
    const char       *error = NsHttpClientError(clientPtr);
    NsHttpClientReply reply = {0};

    if (error == NULL) {
        NsHttpClientGetReply(clientPtr, &reply, headers);
        error = reply.status == 0 ? "the reply is not HTTP" : NULL;
    }
    if (error != NULL) {
        Ns_DStringAppend(errorPtr, error);
        return NS_ERROR;
    }
    Ns_DStringNAppend(dsPtr, reply.body, (int) reply.bodyBytes);
    return NS_OK;
}
