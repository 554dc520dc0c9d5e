/* SPDX-License-Identifier: MPL-2.0
 * acme.c --
 *
 *      Challenges by which an authority for certificates finds out who has a
 *      name.
 */

#include "acme.h"

#define ACME_URL "/.well-known/acme-challenge"

static void      Register(const char *server, const char *directory);
static Ns_OpProc Answer;
static bool      IsToken(const char *text);

void
AcmeInit(const char *server, const char *module)
{
    const char   *path = Ns_ConfigGetPath(server, module, NULL);
    const char   *directory = path == NULL
          ? NULL
          : Ns_ConfigGetValue(path, "acmedir");
    const Ns_Set *setPtr;

    if (directory == NULL || *directory == '\0') {
        return;
    }
    if (!Ns_PathIsAbsolute(directory)) {
        Ns_DString ds;

        Ns_DStringInit(&ds);
        directory = Ns_HomePath(&ds, directory, NULL);
        directory = Ns_DStringExport(&ds);
    }
    if (server != NULL) {
        Register(server, directory);
        return;
    }
    setPtr = Ns_ConfigGetSection("ns/servers");
    for (int i = 0; setPtr != NULL && i < (int) Ns_SetSize(setPtr); i++) {
        Register(Ns_SetKey(setPtr, i), directory);
    }
}

static void
Register(const char *server, const char *directory)
{
    Ns_RegisterRequest(server, "GET", ACME_URL, Answer, NULL,
                       (void *) directory, 0);
    Ns_RegisterRequest(server, "HEAD", ACME_URL, Answer, NULL,
                       (void *) directory, 0);
}

static int
Answer(void *arg, Ns_Conn *conn)
{
    const char *directory = arg;
    const char *url = conn->request->url;
    const char *token = url + sizeof(ACME_URL) - 1u;
    Ns_DString  file;
    int         result;

    if (strlen(url) <= sizeof(ACME_URL) || !IsToken(++token)) {
        return Ns_ConnReturnNotFound(conn);
    }
    Ns_DStringInit(&file);
    Ns_MakePath(&file, directory, token, NULL);
    result = access(Ns_DStringValue(&file), R_OK) == 0
        ? Ns_ConnReturnFile(conn, 200, "application/octet-stream",
                            Ns_DStringValue(&file))
        : Ns_ConnReturnNotFound(conn);
    Ns_DStringFree(&file);
    return result;
}

/*
 * Of the characters that RFC 8555 allows: no other file can be meant.
 */
static bool
IsToken(const char *text)
{
    return *text != '\0'
        && text[strspn(text,
                       "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                       "abcdefghijklmnopqrstuvwxyz0123456789-_")]
        == '\0';
}
