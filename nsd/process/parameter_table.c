/*
 * parameter_table.c --
 *
 *      All sections, and the parameters that no room of the server owns: those
 *      of log sinks, of modules, and of the Tcl library.
 */

#include "process/parameter_table.h"
#include "process/parameters.h"

#define ANY NS_PARAM_NO_LIMIT

/*
 * The limit of what is kept in memory as a whole, or counted in an int.
 */
#define GIB (INT64_C(1) << 30)

/*
 * One row: key, default, (limits or choices,) sentence.  Limits of times are in
 * milliseconds.
 */
#define TEXT(key, text, sentence) \
    NS_LISTED(key, NS_PARAM_STRING, text, sentence)
#define BOOL(key, text, sentence) NS_LISTED(key, NS_PARAM_BOOL, text, sentence)
#define PATH(key, text, sentence) NS_LISTED(key, NS_PARAM_PATH, text, sentence)
#define LIST(key, text, sentence) NS_LISTED(key, NS_PARAM_LIST, text, sentence)
#define IGNORED NS_IGNORED
#define RANGE(key_, type_, text, min_, max_, sentence_) \
    {.key = key_, .type = type_, .defaultText = text, .min = min_, \
     .max = max_, .sentence = sentence_}
#define INTEGER(key, text, min, max, sentence) \
    RANGE(key, NS_PARAM_INT, text, min, max, sentence)
#define SIZE(key, text, min, max, sentence) \
    RANGE(key, NS_PARAM_SIZE, text, min, max, sentence)
#define TIME(key, text, min, max, sentence) \
    RANGE(key, NS_PARAM_TIME, text, min, max, sentence)
#define CHOICE(key_, text, words, sentence_) \
    {.key = key_, .type = NS_PARAM_CHOICE, .defaultText = text, \
     .choices = words, .sentence = sentence_}
#define END NS_PARAM_END

static const NsParameter processParameters[] = {
    PATH("home", "installation prefix",
         "Working directory; relative paths are below it."),
    TEXT("outputcharset", "iso-8859-1",
         "Charset that ns_encodingfortype and ns_choosecharset fall back to."),
    LIST("preferredcharsets", "utf-8 iso-8859-1",
         "Charsets that ns_choosecharset prefers."),

    IGNORED("smtphost", "For a mail client, which this server does not have."),
    IGNORED("mailhost", "For a mail client, which this server does not have."),
    IGNORED("smtpport", "For a mail client, which this server does not have."),
    IGNORED("smtptimeout", "For a mail client, which this server does not "
                           "have."),
    IGNORED("smtplogmode", "For a mail client, which this server does not "
                           "have."),
    IGNORED("smtpmsgid", "For a mail client, which this server does not have."),
    IGNORED("smtpmsgidhostname", "For a mail client, which this server does "
                                 "not have."),
    IGNORED("smtpencodingmode", "For a mail client, which this server does "
                                "not have."),
    IGNORED("smtpencoding", "For a mail client, which this server does not "
                            "have."),
    IGNORED("smtpauthmode", "For a mail client, which this server does not "
                            "have."),
    IGNORED("smtpauthuser", "For a mail client, which this server does not "
                            "have."),
    IGNORED("smtpauthpassword", "For a mail client, which this server does "
                                "not have."),
    END
};

static const NsParameter sinkParameters[] = {
    CHOICE("type", "file", "file stdout stderr syslog sqlite postgresql",
           "Where the records go."),
    LIST("streams", "",
         "Streams that the sink takes: system, access, audit, operation, or a "
         "module's."),
    PATH("file", "", "File of types file and sqlite."),
    TEXT("address", "", "Of type syslog: unix:PATH, udp:HOST:PORT, "
         "tcp:HOST:PORT."),
    TEXT("connection", "",
         "Of type postgresql: a connection string or URI of libpq."),
    TEXT("table", "log", "Of types sqlite and postgresql."),
    CHOICE("format", "native", "native common combined json",
           "Form of a record."),
    TEXT("minseverity", "all", "Lowest severity of system records."),
    LIST("ignore", "",
         "Kinds of events that are left out: of audit records, severities of "
         "system records, and what happened during requests."),
    TIME("slowthreshold", "0", 0, ANY,
         "Of stream operation: only requests that took at least this long."),
    INTEGER("sample", "1", 1, ANY, "Of stream operation: one request in this "
                                   "many."),
    BOOL("onlyerrors", "false",
         "Of stream operation: only requests with an error."),
    SIZE("maxmemory", "0", 0, ANY,
         "How far the sink may fall behind in bytes of logmemory; 0 = half of "
         "that. Its oldest records go to disk then."),
    SIZE("maxspill", "1GiB", 0, ANY,
         "Limit of the sink's records in logspilldir; 0 = none."),
    SIZE("buffersize", "64KiB", 0, GIB,
         "Bytes collected before a write; 0 = each record by itself."),
    TIME("buffertime", "0.1s, databases 5s", 0, ANY,
         "The oldest record waits no longer than this."),
    INTEGER("batchsize", "50", 1, 10000, "Rows of one insert into a database."),
    SIZE("rotatesize", "0", 0, ANY, "Roll when the file is larger; 0 = never."),
    INTEGER("rollhour", "", 0, 23, "Roll every day at this hour."),
    TEXT("rollfmt", "", "Suffix (strftime) of rolled files; empty: numbers."),
    INTEGER("maxbackup", "10", 1, 999, "Rolled files that are kept."),
    CHOICE("compress", "none", "none gzip",
           "Rolled files are compressed in the background."),
    TEXT("sync", "none",
         "When the file is synced to disk: none, batch, or an interval."),
    CHOICE("overflow", "dropnewest, audit block", "block dropnewest sample",
           "What happens to a record when the memory is full."),
    BOOL("required", "false",
         "Without the sink the server does not start; else records wait until "
         "its target can be opened."),
    END
};

static const NsParameter nssslParameters[] = {
    PATH("certificate", "",
         "PEM file with the certificate, its chain, and the private key."),
    TEXT("protocols", "",
         "Protocols that are left out, such as !TLSv1.0."),
    TEXT("ciphers", "library's", "Cipher suites up to TLS 1.2."),
    TEXT("ciphersuites", "library's", "Cipher suites of TLS 1.3."),
    PATH("key", "value of certificate", "PEM file with the private key."),
    BOOL("verify", "false", "Insist on a client certificate."),
    CHOICE("clientcertmode", "none", "none require",
           "The same, under its newer name."),
    PATH("clientcafile", "",
         "PEM file with CA certificates for clients."),
    PATH("clientcapath", "", "Directory with such certificates."),
    PATH("cafile", "", "Older name of clientcafile."),
    PATH("capath", "", "Older name of clientcapath."),
    END
};

static const NsParameter nsstatsParameters[] = {
    BOOL("enabled", "false", "Serve the monitoring page."),
    TEXT("user", "",
         "Ask for this user, instead of allowing local clients only."),
    TEXT("password", "", "Password of that user."),
    BOOL("metrics", "false", "Answer /metrics for a monitoring system."),
    IGNORED("bglocks", "For another monitoring page."),
    END
};

static const NsParameterSection sections[] = {
    {"ns/parameters", "ns/parameters", "The process.", false},
    {"ns/threads", "ns/threads", "All threads.", false},
    {"ns/servers", "ns/servers",
     "Virtual servers: name and description.", true},
    {"ns/modules", "ns/modules",
     "Modules of the process: name and file.", true},
    {"ns/fastpath", "ns/fastpath", "Static files of all servers.", false},
    {"ns/mimetypes", "ns/mimetypes",
     "Content types: .extension, `default` or `noextension`, and the type.",
     true},
    {"ns/charsets", "ns/charsets", "Charsets: name and Tcl encoding.", true},
    {"ns/encodings", "ns/encodings",
     "Charsets of files: .extension and charset.", true},
    {"ns/limits", "ns/limits", "Names of limits, and descriptions.", true},
    {"ns/limit/*", "ns/limit/NAME", "One of them.", false},
    {"ns/logsinks", "ns/logsinks",
     "Names of log sinks, and descriptions.", true},
    {"ns/logsink/*", "ns/logsink/NAME", "One of them.", false},
    {"ns/server/*", "ns/server/S",
     "A virtual server, with its default pool.", false},
    {"ns/server/*/modules", "ns/server/S/modules",
     "Its modules: name and file, or `tcl`.", true},
    {"ns/server/*/pools", "ns/server/S/pools",
     "Its further pools: name and description.", true},
    {"ns/server/*/pool/*", "ns/server/S/pool/P", "One of them.", false},
    {"ns/server/*/fastpath", "ns/server/S/fastpath",
     "Its static files.", false},
    {"ns/server/*/vhost", "ns/server/S/vhost", "Mass virtual hosting.", false},
    {"ns/server/*/tcl", "ns/server/S/tcl", "Its interpreters.", false},
    {"ns/server/*/adp", "ns/server/S/adp", "Its templates.", false},
    {"ns/server/*/redirects", "ns/server/S/redirects",
     "Pages for statuses: status and local URL.", true},
    {"ns/server/*/limits", "ns/server/S/limits",
     "Requests under limits: name and METHOD URL.", true},
    {"module/nssock", "ns/server/S/module/nssock, ns/module/nssock",
     "The HTTP driver.", false},
    {"module/nssock/servers", "ns/module/nssock/servers",
     "Host names of a driver of all servers: server and Host value.", true},
    {"module/nsssl", "ns/server/S/module/nsssl, ns/module/nsssl",
     "The HTTPS driver.", false},
    {"module/nsssl/servers", "ns/module/nsssl/servers",
     "Host names of a driver of all servers: server and Host value.", true},
    {"module/nslog", "ns/server/S/module/nslog", "The access log.", false},
    {"module/nsstats", "ns/module/nsstats", "Monitoring.", false},
    {NULL, NULL, NULL, false}
};

static const struct {
    const char        *pattern;
    const NsParameter *rows;
} tables[] = {
    {"ns/parameters", processParameters},
    {"ns/logsink/*", sinkParameters},
    {"module/nsssl", nssslParameters},
    {"module/nsstats", nsstatsParameters}
};


void
NsParameterTableInit(void)
{
    NsParametersSetSections(sections);
    for (int i = 0; i < Ns_NrElements(tables); i++) {
        NsParametersRegister(tables[i].pattern, tables[i].rows, 0);
    }
}
