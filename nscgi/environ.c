/* SPDX-License-Identifier: MPL-2.0
 * environ.c --
 *
 *      The environment of a script (RFC 3875, 4.1).
 */

#include "nscgi.h"

static void        Put(Ns_Set *env, const char *name, const char *value);
static void        PutServer(const Script *scriptPtr, Ns_Set *env);
static void        PutClient(const Script *scriptPtr, Ns_Set *env);
static void        PutRequest(const Script *scriptPtr, Ns_Set *env);
static void        PutHeaders(const Script *scriptPtr, Ns_Set *env);
static bool        IsPassedOn(const char *field);
static void        Merge(Ns_Set *env, Ns_Set *lower);
static void        MergeServer(Ns_Set *env);
static const char *LineTarget(const Ns_Request *requestPtr, Ns_DString *dsPtr);

Ns_Set *
CgiEnvironment(const Script *scriptPtr)
{
    Ns_Set     *env = Ns_SetCreate("cgi");
    const char *path = getenv("PATH");

    /* The first value of a name is kept. */
    Merge(env, scriptPtr->interpEnvironment);
    Merge(env, scriptPtr->cgiPtr->environment);
    if (scriptPtr->cgiPtr->isServerEnvironment) {
        MergeServer(env);
    }
    if (path != NULL && Ns_SetFind(env, "PATH") < 0) {
        Ns_SetPut(env, "PATH", path);
    }
    PutHeaders(scriptPtr, env);
    PutServer(scriptPtr, env);
    PutClient(scriptPtr, env);
    PutRequest(scriptPtr, env);
    return env;
}

static void
Put(Ns_Set *env, const char *name, const char *value)
{
    Ns_SetUpdate(env, name, value != NULL ? value : "");
}

static void
Merge(Ns_Set *env, Ns_Set *lower)
{
    for (int i = 0; lower != NULL && i < Ns_SetSize(lower); i++) {
        if (Ns_SetFind(env, Ns_SetKey(lower, i)) < 0) {
            Ns_SetPut(env, Ns_SetKey(lower, i), Ns_SetValue(lower, i));
        }
    }
}

static void
MergeServer(Ns_Set *env)
{
    Ns_DString ds;
    char     **entries;

    Ns_DStringInit(&ds);
    entries = Ns_CopyEnviron(&ds);
    for (; *entries != NULL; entries++) {
        char *equals = strchr(*entries, '=');

        if (equals != NULL) {
            *equals = '\0';
            if (Ns_SetFind(env, *entries) < 0) {
                Ns_SetPut(env, *entries, equals + 1);
            }
        }
    }
    Ns_DStringFree(&ds);
    /*
     * Inherited from the server's environment, but it looks like a client's
     * header.
     */
    Ns_SetDeleteKey(env, "HTTP_PROXY");
}

/*
 * Taken from the location, which a Host field cannot change.
 */
static void
PutServer(const Script *scriptPtr, Ns_Set *env)
{
    char      *location = ns_strdup(Ns_ConnLocation(scriptPtr->conn));
    char      *protocol, *host, *port, *path, *tail;
    bool       isHttps;
    Ns_DString ds;

    Ns_DStringInit(&ds);
    Ns_DStringVarAppend(&ds, Ns_InfoServerName(), "/", Ns_InfoServerVersion(),
                        NULL);
    Put(env, "SERVER_SOFTWARE", ds.string);
    Put(env, "GATEWAY_INTERFACE", "CGI/1.1");
    isHttps = location != NULL && strncmp(location, "https", 5) == 0;
    if (location == NULL
        || Ns_ParseUrl(location, &protocol, &host, &port, &path, &tail)
            != NS_OK) {
        host = port = NULL;
    }
    Put(env, "SERVER_NAME", host != NULL ? host : Ns_InfoHostname());
    Put(env, "SERVER_PORT", port != NULL ? port : isHttps ? "443" : "80");
    if (isHttps) {
        Put(env, "HTTPS", "on");
    }
    Ns_DStringFree(&ds);
    ns_free(location);
}

static void
PutClient(const Script *scriptPtr, Ns_Set *env)
{
    Ns_Conn    *conn = scriptPtr->conn;
    const char *user = Ns_ConnAuthUser(conn);
    const char *password = Ns_ConnAuthPasswd(conn);
    const char *peer = Ns_ConnPeer(conn);
    bool        isKnown;
    Ns_DString  ds;

    /* The client's claim counts only if the password was checked. */
    isKnown = user != NULL && *user != '\0' && password != NULL
        && Ns_AuthorizeUser(user, password) == NS_OK;
    Put(env, "AUTH_TYPE", isKnown ? "Basic" : "");
    Put(env, "REMOTE_USER", isKnown ? user : "");

    Ns_DStringInit(&ds);
    Put(env, "REMOTE_ADDR", peer);
    Put(env, "REMOTE_HOST",
        scriptPtr->cgiPtr->isHostResolved && peer != NULL
                && Ns_GetHostByAddr(&ds, peer)
            ? ds.string
            : peer);
    Ns_DStringFree(&ds);
}

static void
PutRequest(const Script *scriptPtr, Ns_Set *env)
{
    Ns_Conn          *conn = scriptPtr->conn;
    const Ns_Request *requestPtr = conn->request;
    const char       *type = Ns_SetIGet(conn->headers, "Content-Type");
    Ns_DString        ds;
    char              text[32];

    Ns_DStringInit(&ds);
    snprintf(text, sizeof(text), "HTTP/%.1f", requestPtr->version);
    Put(env, "SERVER_PROTOCOL", text);
    Put(env, "REQUEST_METHOD", requestPtr->method);
    Put(env, "QUERY_STRING", requestPtr->query);
    Put(env, "REQUEST_URI", LineTarget(requestPtr, &ds));
    Put(env, "SCRIPT_NAME", scriptPtr->name.string);
    Put(env, "SCRIPT_FILENAME", scriptPtr->file.string);
    Put(env, "PATH_INFO", scriptPtr->pathInfo.string);
    Ns_DStringTrunc(&ds, 0);
    if (*scriptPtr->pathInfo.string == '\0'
        || Ns_UrlToFile(&ds, scriptPtr->cgiPtr->server,
                        scriptPtr->pathInfo.string)
            != NS_OK) {
        Ns_DStringTrunc(&ds, 0);
    }
    Put(env, "PATH_TRANSLATED", ds.string);
    if (type == NULL && STREQ(requestPtr->method, "POST")) {
        type = "application/x-www-form-urlencoded";
    }
    Put(env, "CONTENT_TYPE", type);
    snprintf(text, sizeof(text), "%zu", Ns_ConnContentSize(conn));
    Put(env, "CONTENT_LENGTH", Ns_ConnContentSize(conn) > 0 ? text : "");
    if (scriptPtr->program != NULL) {
        Put(env, "REDIRECT_STATUS", "1");
    }
    Ns_DStringFree(&ds);
}

/*
 * The second word of the request line.
 */
static const char *
LineTarget(const Ns_Request *requestPtr, Ns_DString *dsPtr)
{
    const char *word = Ns_NextWord(requestPtr->line);

    Ns_DStringNAppend(dsPtr, word, (int) strcspn(word, " \t"));
    return dsPtr->string;
}

/*
 * Set HTTP_NAME for each field; values with the same name are joined.
 */
static void
PutHeaders(const Script *scriptPtr, Ns_Set *env)
{
    Ns_Set    *headers = scriptPtr->conn->headers;
    Ns_Set    *fields = Ns_SetCreate(NULL);
    Ns_DString name, value;

    Ns_DStringInit(&name);
    Ns_DStringInit(&value);
    for (int i = 0; i < Ns_SetSize(headers); i++) {
        const char *field = Ns_SetKey(headers, i), *others;

        if (!IsPassedOn(field)) {
            continue;
        }
        Ns_DStringTrunc(&name, 0);
        Ns_DStringVarAppend(&name, "HTTP_", field, NULL);
        for (char *p = name.string; *p != '\0'; p++) {
            *p = *p == '-' ? '_' : (char) toupper(UCHAR(*p));
        }
        Ns_DStringTrunc(&value, 0);
        others = Ns_SetGet(fields, name.string);
        if (others != NULL) {
            Ns_DStringVarAppend(&value, others, ", ", NULL);
        }
        Ns_DStringAppend(&value, Ns_SetValue(headers, i));
        Ns_SetUpdate(fields, name.string, value.string);
    }
    for (int i = 0; i < Ns_SetSize(fields); i++) {
        Put(env, Ns_SetKey(fields, i), Ns_SetValue(fields, i));
    }
    Ns_SetFree(fields);
    Ns_DStringFree(&name);
    Ns_DStringFree(&value);
}

/*
 * HTTP_PROXY is a variable that libraries trust, passwords are not for scripts,
 * and the last two have their own variables.  With other characters in their
 * names, two fields could become the same variable.
 */
static bool
IsPassedOn(const char *field)
{
    static const char *const kept[] = {
        "Proxy", "Authorization", "Proxy-Authorization", "Content-Length",
        "Content-Type"};

    for (int i = 0; i < Ns_NrElements(kept); i++) {
        if (STRIEQ(field, kept[i])) {
            return false;
        }
    }
    for (; *field != '\0'; field++) {
        if (!isalnum(UCHAR(*field)) && *field != '-') {
            return false;
        }
    }
    return true;
}
