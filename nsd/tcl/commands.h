/* SPDX-License-Identifier: MPL-2.0
 * commands.h --
 *
 *      The families of commands: each adds its tables, before the first
 *      interpreter is made.
 */

#ifndef NSD_TCL_COMMANDS_H
#define NSD_TCL_COMMANDS_H

/*
 * Family X starts with NsXCmdInit.
 */
/* clang-format off */
#define NS_TCL_FAMILIES(FAMILY) \
    FAMILY(Aead) FAMILY(Crypto) FAMILY(EcKey) FAMILY(KeyDerive) \
    FAMILY(AsyncLogFile) \
    FAMILY(AtClose) FAMILY(Auth) FAMILY(Blueprint) FAMILY(Cache) \
    FAMILY(CacheUpdate) \
    FAMILY(Callback) FAMILY(Chan) FAMILY(Charset) FAMILY(Config) \
    FAMILY(Cbor) FAMILY(Csv) \
    FAMILY(Conn) FAMILY(ConnChan) FAMILY(Cookie) FAMILY(Digest) \
    FAMILY(Driver) FAMILY(Env) FAMILY(File) FAMILY(Filter) FAMILY(Form) \
    FAMILY(Html) FAMILY(Http) FAMILY(Image) FAMILY(Info) FAMILY(Ip) \
    FAMILY(Job) FAMILY(Json) FAMILY(KeyList) FAMILY(Lock) FAMILY(Log) \
    FAMILY(LogSink) FAMILY(Nsv) FAMILY(NsvDict) FAMILY(ParseArgs) \
    FAMILY(Process) \
    FAMILY(Return) FAMILY(Sched) FAMILY(Server) FAMILY(Set) FAMILY(Setting) \
    FAMILY(Sock) \
    FAMILY(SockCallback) FAMILY(Stream) FAMILY(Text) FAMILY(Thread) \
    FAMILY(Time) FAMILY(Url) FAMILY(UrlCode) FAMILY(UrlParse) \
    FAMILY(UrlSpace) FAMILY(Writer)
/* clang-format on */

/*
 * One that has a table of commands and nothing else to start; one that is a
 * single command with subcommands.
 */
#define NS_TCL_FAMILY(name, commands) \
    void Ns##name##CmdInit(void)      \
    {                                 \
        NsTclAddCommands(commands);   \
    }
#define NS_TCL_FAMILY_OF_ONE(name, ensemble) \
    void Ns##name##CmdInit(void)             \
    {                                        \
        NsTclAddEnsemble(ensemble);          \
    }

#define NS_TCL_DECLARE(name) void Ns##name##CmdInit(void);
NS_TCL_FAMILIES(NS_TCL_DECLARE)

#endif
