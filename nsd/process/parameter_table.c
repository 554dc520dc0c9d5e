/* SPDX-License-Identifier: MPL-2.0
 * parameter_table.c --
 *
 *      All sections, and the parameters that no room of the server owns: those
 *      of modules and of the Tcl library.
 */

#include "process/parameter_table.h"
#include "process/parameters.h"
#include "process/setting.h"

/*
 * One row: key, default, (choices,) sentence.
 */
#define TEXT(key, text, sentence) \
    NS_LISTED(key, NS_PARAM_STRING, text, sentence)
#define BOOL(key, text, sentence) NS_LISTED(key, NS_PARAM_BOOL, text, sentence)
#define PATH(key, text, sentence) NS_LISTED(key, NS_PARAM_PATH, text, sentence)
#define LIST(key, text, sentence) NS_LISTED(key, NS_PARAM_LIST, text, sentence)
#define IGNORED                   NS_IGNORED
/*
 * Scripts read it whenever they need it.
 */
#define READ(key_, type_, text, sentence_)                       \
    {                                                            \
        .key = key_, .type = type_, .defaultText = text,         \
        .sentence = sentence_, .settingProc = NsSettingReadAtUse \
    }
#define CHOICE(key_, text, words, sentence_)                       \
    {                                                              \
        .key = key_, .type = NS_PARAM_CHOICE, .defaultText = text, \
        .choices = words, .sentence = sentence_                    \
    }
/*
 * With limits; times in milliseconds.
 */
#define LIMITED(key_, type_, text, min_, max_, sentence_)             \
    {                                                                 \
        .key = key_, .type = type_, .defaultText = text, .min = min_, \
        .max = max_, .sentence = sentence_                            \
    }
#define NUMBER(key, text, min, max, sentence) \
    LIMITED(key, NS_PARAM_INT, text, min, max, sentence)
#define SPAN(key, text, min, max, sentence) \
    LIMITED(key, NS_PARAM_TIME, text, min, max, sentence)
#define END NS_PARAM_END

static const NsParameter processParameters[] = {
    PATH("home", "directory above conf, else installation prefix",
         "Working directory; relative paths are below it."),
    PATH("tmpdir", "that of TMPDIR, or the system's",
         "Directory for temporary files."),
    IGNORED("concurrentinterpcreate", "Interpreters are made at any time."),
    IGNORED("mutexlocktrace", "See ns_info locks."),
    IGNORED("debug", "See logdebug."),
    IGNORED("hackcontenttype", "Types of texts always have a charset."),
    IGNORED("httpopencharset", "Replies say their charset."),
    IGNORED("defaultcharset", "See outputcharset."),
    IGNORED("logcolorize", "The system log has no colours."),
    IGNORED("logprefixcolor", "The system log has no colours."),
    IGNORED("logprefixintensity", "The system log has no colours."),
    LIST("preferredcharsets", "utf-8 iso-8859-1",
         "Charsets that ns_choosecharset prefers."),

    BOOL("dbcloseonexit", "false",
         "Close the database connections of nsdb at the end."),

    TEXT("smtphost", "value of mailhost", "Mail server of ns_sendmail."),
    TEXT("mailhost", "localhost", "Older name of smtphost."),
    TEXT("smtpport", "25", "Its port."),
    TEXT("smtptimeout", "60",
         "Limit for connecting to it, and for each read and write."),
    BOOL("smtplogmode", "false", "Log the dialogue instead of sending."),
    BOOL("smtpmsgid", "false", "Add a Message-ID if there is none."),
    TEXT("smtpmsgidhostname", "name of the machine",
         "Name in HELO and in message ids."),
    BOOL("smtpencodingmode", "false",
         "Encode subjects and bodies that are not ASCII."),
    TEXT("smtpencoding", "utf-8", "Encoding used then."),
    CHOICE("smtpauthmode", "PLAIN", "PLAIN LOGIN", "How to log in."),
    TEXT("smtpauthuser", "", "Log in, with the password."),
    TEXT("smtpauthpassword", "", "Password of that user."),
    END};

static const NsParameter threadParameters[] = {
    IGNORED("mutexmeter", "Locks are always metered: see ns_info locks."), END};

static const NsParameter serverParameters[] = {
    IGNORED("directoryfile", "See section ns/server/S/fastpath."),
    IGNORED("pageroot", "See pagedir in section ns/server/S/fastpath."),
    IGNORED("maxdropped", "See ns_server stats."),
    IGNORED("globalstats", "See ns_server stats."),
    IGNORED("urlstats", "See ns_server stats."),
    IGNORED("maxurlstats", "See ns_server stats."),
    END};

static const NsParameter adpParameters[] = {
    IGNORED("defaultextension", "Register the URLs with ns_register_adp."),
    IGNORED("defaultparser", "There is one kind of templates."), END};

static const NsParameter tclParameters[] = {
    IGNORED("autoclose", "Channels are closed after each request."),
    IGNORED("debug", "See ns_logctl."), END};

static const NsParameter plainParameters[] = {
    PATH("acmedir", "",
         "Directory of challenges of an ACME client, served below "
         "/.well-known/acme-challenge/."),
    LIST("onlypaths", "",
         "Paths that this driver answers, others get 404; empty: all."),
    END};

static const NsParameter nssockParameters[] = {
    IGNORED("timeout", "See recvwait, sendwait and keepwait."), END};

static const NsParameter nssslParameters[] = {
    BOOL("ocspstapling", "false",
         "Send clients the authority's statement about the certificate."),
    SPAN("ocspcheckinterval", "5m", 1000, NS_PARAM_NO_LIMIT,
         "How often to check whether that has to be renewed."),
    IGNORED("ocspstaplingverbose", "What fails is logged."),
    IGNORED("tlskeyscript", "Keys are read without a pass phrase."),
    IGNORED("tlskeylogfile", "Keys of connections are not written."),
    PATH("certificate", "",
         "PEM file with the certificate, its chain, and the private key."),
    TEXT("protocols", "!TLSv1.0 !TLSv1.1",
         "Protocols that are disabled; empty: as configured in the library."),
    TEXT("ciphers", "forward-secret AEAD suites",
         "Cipher suites up to TLS 1.2."),
    TEXT("ciphersuites",
         "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:"
         "TLS_CHACHA20_POLY1305_SHA256",
         "Cipher suites of TLS 1.3, in the server's order."),
    TEXT("groups", "X25519:prime256v1:secp384r1",
         "Groups of the key exchange."),
    PATH("vhostcertificates", "",
         "Directory of PEM files, each with certificate and key, for the "
         "names in them and those of the files."),
    SPAN("watchcertificates", "10s", 0, NS_PARAM_NO_LIMIT,
         "How often to check whether certificates have changed; 0 = never."),
    PATH("ticketkeyfile", "",
         "Secret from which the keys of session tickets are derived, in every "
         "process that has it."),
    SPAN("ticketkeyrotation", "12h", 1000, 7 * 24 * 3600000L,
         "How often these keys change."),
    PATH("key", "value of certificate", "PEM file with the private key."),
    BOOL("verify", "false", "Insist on a client certificate."),
    CHOICE("clientcertmode", "none", "none request require",
           "The same, under its newer name; request: ask for one, and leave "
           "the decision to scripts."),
    IGNORED("h3advertise", "HTTP/3 is not spoken."),
    IGNORED("h3persist", "HTTP/3 is not spoken."),
    PATH("clientcafile", "", "PEM file with CA certificates for clients."),
    PATH("clientcapath", "", "Directory with such certificates."),
    PATH("cafile", "", "Older name of clientcafile."),
    PATH("capath", "", "Older name of clientcapath."),
    END};

static const NsParameter nsstatsParameters[] = {
    READ("enabled", NS_PARAM_BOOL, "false", "Serve the monitoring page."),
    READ("url", NS_PARAM_STRING, "/nsstats.tcl",
         "Its URL, unless there is a file at that place; empty: only such a "
         "file."),
    READ("user", NS_PARAM_STRING, "",
         "Ask for this user, instead of answering only this machine."),
    READ("password", NS_PARAM_STRING, "", "Password of that user."),
    NUMBER("port", "0", 0, 65535,
           "Separate port, where clients on this machine need no password; 0 = "
           "none."),
    TEXT("address", "127.0.0.1", "Addresses of that port."),
    READ("actions", NS_PARAM_BOOL, "false",
         "Let users who gave the password cancel requests and release memory."),
    BOOL("metrics", "false", "Answer /metrics for a monitoring system."),
    READ("routes", NS_PARAM_BOOL, "false",
         "Figures for each route there; these are many series."),
    IGNORED("bglocks", "For another monitoring page."),
    END};

static const NsParameter nscpParameters[] = {
    TEXT("address", "127.0.0.1", "Address to listen on."),
    NUMBER("port", "2080", 1, 65535, "Port to listen on."),
    BOOL("echopasswd", "false", "Show passwords while they are typed."),
    BOOL("cpcmdlogging", "false", "Log each command."),
    BOOL("allowloopbackemptyuser", "false",
         "From this machine, the empty name needs no password."),
    BOOL("authorizeusers", "false",
         "Also admit users known to the server's authorization."),
    SPAN("logintimeout", "30s", 1, 3600000, "A login takes at most this long."),
    END};

static const NsParameter nscpUserParameters[] = {
    TEXT("user", "", "NAME:HASH, with a hash of ns_crypt; may be repeated."),
    END};

static const NsParameter nspermParameters[] = {
    BOOL("htaccess", "false", "Read .htaccess in directories of pages."),
    PATH("passwdfile", "modules/nsperm/passwd",
         "Passwords for these files; relative to home."),
    END};

static const NsParameter poolParameters[] = {
    TEXT("driver", "", "Its driver, by the name in ns/db/drivers."),
    TEXT("datasource", "", "The database, as the driver names it."),
    TEXT("user", "", "For the driver."),
    TEXT("password", "", "For the driver."),
    NUMBER("connections", "2", 0, INT32_MAX,
           "Maximum number of handles, and so of connections."),
    SPAN("maxidle", "5m", 0, NS_PARAM_NO_LIMIT,
         "A connection that has not been used for this long is closed; 0 = "
         "never."),
    SPAN("maxopen", "60m", 0, NS_PARAM_NO_LIMIT,
         "A connection that has been open for this long is closed; 0 = never."),
    SPAN("checkinterval", "5m", 1000, NS_PARAM_NO_LIMIT,
         "How often idle handles are checked for that."),
    SPAN("logminduration", "0ms", 0, NS_PARAM_NO_LIMIT,
         "With Debug(sql), faster statements are not logged."),
    BOOL("logsqlerrors", "false", "Log statements that fail."),
    IGNORED("extendedtableinfo", "The database has such information."),
    BOOL("verbose", "false", "Turn Debug(sql) on at the start."),
    END};

static const NsParameter databaseParameters[] = {
    TEXT("pools", "",
         "Pools that the server may use, separated by commas; * = all."),
    TEXT("defaultpool", "", "The one for ns_db gethandle without a name."),
    END};

static const NsParameter sessionParameters[] = {
    CHOICE("store", "memory", "memory redis database",
           "Where ns_session keeps values."),
    TEXT("pool", "", "Pool of databases or of Redis; empty: the default one."),
    TEXT("cookie", "session", "Name of the cookie."),
    TEXT("path", "/", "Its path."),
    TEXT("domain", "", "Its domain; empty: only the host itself."),
    CHOICE("samesite", "lax", "strict lax none",
           "Value of its SameSite attribute."),
    TEXT("secure", "auto",
         "Whether it is sent only over https; auto: if it was set there."),
    SPAN("cookieexpires", "0", 0, NS_PARAM_NO_LIMIT,
         "How long the browser keeps it; 0 = until it is closed."),
    SPAN("timeout", "2h", 1000, NS_PARAM_NO_LIMIT,
         "A session ends when it has not been used for this long."),
    SPAN("lifetime", "0", 0, NS_PARAM_NO_LIMIT,
         "A session ends this long after its start, used or not; 0 = never."),
    END};

static const NsParameter nscgiParameters[] = {
    TEXT("map", "",
         "METHOD URL ?PATH?: which requests run programs; may be repeated."),
    TEXT("interps", "",
         "Programs by extension: the name NAME of a section ns/interps/NAME."),
    TEXT("environment", "",
         "Variables of all scripts: the name NAME of a section "
         "ns/environment/NAME."),
    BOOL("systemenvironment", "false",
         "Scripts have the server's environment, too."),
    BOOL("gethostbyaddr", "false", "Look up names for REMOTE_HOST."),
    BOOL("allowstaticresources", "false",
         "Send files that cannot be executed."),
    NUMBER("limit", "0", 0, INT_MAX, "Scripts at a time; 0 = no limit."),
    SPAN("maxwait", "30s", 0, NS_PARAM_NO_LIMIT,
         "Longest wait for one of them to end."),
    LIMITED("maxinput", NS_PARAM_SIZE, "1MB", 0, NS_PARAM_NO_LIMIT,
            "Largest request body; 0 = no limit."),
    SPAN("timeout", "5m", 0, NS_PARAM_NO_LIMIT,
         "Longest silence of a script; 0 = no limit."),
    END};

static const NsParameter nsproxyParameters[] = {
    PATH("exec", "bin/nsproxy-helper", "Worker program; relative to home."),
    NUMBER("maxworkers", "8", 0, 10000,
           "Maximum number of workers of a pool; 0 = none."),
    NUMBER("maxworker", "8", 0, 10000, "Other name of maxworkers."),
    NUMBER("maxslaves", "8", 0, 10000, "Older name of maxworkers."),
    SPAN("gettimeout", "0", 0, NS_PARAM_NO_LIMIT,
         "Longest wait for a handle; 0 = no limit."),
    SPAN("evaltimeout", "0", 0, NS_PARAM_NO_LIMIT,
         "Longest run time of a script; 0 = no limit."),
    SPAN("sendtimeout", "5s", 0, NS_PARAM_NO_LIMIT,
         "Longest time to send a script."),
    SPAN("recvtimeout", "5s", 0, NS_PARAM_NO_LIMIT,
         "Longest time to receive a result."),
    SPAN("waittimeout", "1s", 0, NS_PARAM_NO_LIMIT,
         "How long to wait before each signal to a worker that is to end."),
    SPAN("idletimeout", "5m", 10000, NS_PARAM_NO_LIMIT,
         "A worker that has been idle for this long ends."),
    SPAN("logminduration", "1s", 0, NS_PARAM_NO_LIMIT,
         "Log scripts that take longer."),
    END};

static const NsParameter nsredisPoolParameters[] = {
    TEXT("host", "127.0.0.1", "Where Redis is."),
    NUMBER("port", "6379", 1, 65535, "Its port."),
    PATH("socket", "", "Its Unix-domain socket, instead of these two."),
    TEXT("user", "", "Log in as this user; empty: as the default one."),
    TEXT("password", "", "With this password; empty: do not log in."),
    PATH("passwordfile", "", "A file whose first line is the password."),
    NUMBER("database", "0", 0, INT32_MAX, "Number of the database."),
    BOOL("tls", "false", "Use TLS."),
    BOOL("tlsverify", "true", "Check the certificate and the name in it."),
    PATH("tlscafile", "", "Authorities for that; empty: the system's."),
    PATH("tlscertificate", "", "Certificate and key to present, in one file."),
    NUMBER("connections", "10", 1, 10000,
           "Maximum number of connections of the pool."),
    SPAN("timeout", "2s", 1, 3600000,
         "A command takes at most this long, including the wait for a "
         "connection."),
    SPAN("idletimeout", "5m", 0, NS_PARAM_NO_LIMIT,
         "A connection that has not been used for this long is closed; 0 = "
         "never."),
    SPAN("retrytime", "1s", 0, 3600000,
         "When Redis cannot be reached, commands fail at once for this long."),
    LIMITED("maxreply", NS_PARAM_SIZE, "64MB", 1024, INT32_MAX,
            "Longest reply to a command."),
    END};

static const NsParameter nsredisParameters[] = {
    TEXT("pools", "", "Names of further pools, each with a section."),
    TEXT("prefix",
         "nsd:", "Prefix of the names of the channels that announce flushes."),
    END};

static const NsParameterSection sections[] = {
    {"ns/parameters", "ns/parameters", "The process.", false, NULL},
    {"ns/reverseproxymode", "ns/reverseproxymode",
     "Proxies in front of the server.", false, NULL},
    {"ns/threads", "ns/threads", "All threads.", false, NULL},
    {"ns/servers", "ns/servers", "Virtual servers: name and description.", true,
     NULL},
    {"ns/modules", "ns/modules", "Modules of the process: name and file.", true,
     NULL},
    {"ns/fastpath", "ns/fastpath", "Static files of all servers.", false, NULL},
    {"ns/mimetypes", "ns/mimetypes",
     "Content types: .extension, `default` or `noextension`, and the type.",
     true, NULL},
    {"ns/charsets", "ns/charsets", "Charsets: name and Tcl encoding.", true,
     NULL},
    {"ns/encodings", "ns/encodings",
     "Charsets of files: .extension and charset.", true, NULL},
    {"ns/limits", "ns/limits", "Names of limits, and descriptions.", true,
     NULL},
    {"ns/limit/*", "ns/limit/NAME",
     "One of them, for the URLs that a server maps to it.", false, NULL},
    {"ns/logsinks", "ns/logsinks", "Names of log sinks, and descriptions.",
     true, NULL},
    {"ns/logformats", "ns/logformats",
     "Formats of log records: names, and templates.", true, NULL},
    {"ns/logsink/*", "ns/logsink/NAME",
     "One of them; its type has further parameters, see below.", false, NULL},
    {"logsink/?", "ns/logsink/NAME", NULL, true, "ns/logsink/*"},
    {"ns/db/drivers", "ns/db/drivers",
     "Database drivers: name and file (doc/database.md).", true, NULL},
    {"ns/db/driver/*", "ns/db/driver/NAME", "What one of them reads.", true,
     NULL},
    {"ns/db/pools", "ns/db/pools", "Database pools: name and description.",
     true, NULL},
    {"ns/db/pool/*", "ns/db/pool/P", "One of them.", false, NULL},
    {"ns/server/*", "ns/server/S", "A virtual server, with its default pool.",
     false, NULL},
    {"ns/server/*/modules", "ns/server/S/modules",
     "Its modules: name and file, or `tcl`.", true, NULL},
    {"ns/server/*/pools", "ns/server/S/pools",
     "Its further pools: name and description.", true, NULL},
    {"ns/server/*/pool/*", "ns/server/S/pool/P", "One of them.", false, NULL},
    {"ns/server/*/fastpath", "ns/server/S/fastpath", "Its static files.", false,
     NULL},
    {"ns/server/*/vhost", "ns/server/S/vhost", "Mass virtual hosting.", false,
     NULL},
    {"ns/server/*/tcl", "ns/server/S/tcl", "Its interpreters.", false, NULL},
    {"ns/server/*/adp", "ns/server/S/adp", "Its templates.", false, NULL},
    {"ns/server/*/adp/parsers", "ns/server/S/adp/parsers",
     "Of AOLserver, without effect: extensions of templates.", true, NULL},
    {"ns/interps/*", "ns/interps/NAME",
     "Programs by extension, for CGI: .extension and program.", true, NULL},
    {"ns/environment/*", "ns/environment/NAME",
     "Variables of the environment of CGI programs.", true, NULL},
    {"ns/server/*/db", "ns/server/S/db", "Its database pools.", false, NULL},
    {"ns/server/*/sessions", "ns/server/S/sessions",
     "Values that belong to a browser (ns_session).", false, NULL},
    {"ns/server/*/httpclient", "ns/server/S/httpclient",
     "Its requests to other servers.", false, NULL},
    {"ns/server/*/redirects", "ns/server/S/redirects",
     "Pages for statuses: status and local URL.", true, NULL},
    {"ns/server/*/limits", "ns/server/S/limits",
     "Requests under limits: name and METHOD URL.", true, NULL},
    {"module/nssock", "ns/server/S/module/nssock, ns/module/nssock",
     "The HTTP driver.", false, NULL},
    {"module/nssock/servers", "ns/module/nssock/servers",
     "Host names of a driver of all servers: server and Host value.", true,
     NULL},
    {"module/nsssl", "ns/server/S/module/nsssl, ns/module/nsssl",
     "The HTTPS driver.", false, NULL},
    {"module/nsssl/servers", "ns/module/nsssl/servers",
     "Host names of a driver of all servers: server and Host value.", true,
     NULL},
    {"module/nslog", "ns/server/S/module/nslog", "The access log.", false,
     NULL},
    {"module/nscp", "ns/server/S/module/nscp, ns/module/nscp",
     "The control port.", false, NULL},
    {"module/nscp/users", "ns/server/S/module/nscp/users",
     "Who may log in there.", false, NULL},
    {"module/nsperm", "ns/server/S/module/nsperm", "Permissions.", false, NULL},
    {"module/nscgi", "ns/server/S/module/nscgi", "CGI programs.", false, NULL},
    {"module/nsproxy", "ns/server/S/module/nsproxy, ns/module/nsproxy",
     "Scripts in worker processes.", false, NULL},
    {"module/nsredis", "ns/server/S/module/nsredis",
     "Redis, and its default pool.", false, NULL},
    {"module/nsredis/pool/*", "ns/server/S/module/nsredis/pool/P",
     "A further pool.", false, NULL},
    {"module/nsstats", "ns/module/nsstats", "Monitoring.", false, NULL},
};

static const struct {
    const char        *pattern;
    const NsParameter *rows;
} tables[] = {
    {"ns/parameters", processParameters},
    {"ns/threads", threadParameters},
    {"ns/server/*", serverParameters},
    {"ns/server/*/adp", adpParameters},
    {"ns/server/*/tcl", tclParameters},
    {"module/nssock", plainParameters},
    {"module/nssock", nssockParameters},
    {"module/nsssl", nssockParameters},
    {"ns/db/pool/*", poolParameters},
    {"ns/server/*/db", databaseParameters},
    {"ns/server/*/sessions", sessionParameters},
    {"module/nsssl", nssslParameters},
    {"module/nscp", nscpParameters},
    {"module/nscp/users", nscpUserParameters},
    {"module/nsperm", nspermParameters},
    {"module/nscgi", nscgiParameters},
    {"module/nsproxy", nsproxyParameters},
    {"module/nsredis", nsredisParameters},
    {"module/nsredis", nsredisPoolParameters},
    {"module/nsredis/pool/*", nsredisPoolParameters},
    {"module/nsstats", nsstatsParameters}};

void
NsParameterTableInit(void)
{
    NsParametersSetSections(sections, Ns_NrElements(sections));
    for (int i = 0; i < Ns_NrElements(tables); i++) {
        NsParametersRegister(tables[i].pattern, tables[i].rows, 0);
    }
}
