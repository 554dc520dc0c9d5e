/*
 * driver.h --
 *
 *      Drivers: threads that accept connections and read requests.
 *
 *      net does not know requests, only the procedure that takes them.
 */

#ifndef NSD_NET_DRIVER_H
#define NSD_NET_DRIVER_H

#include "net/sock.h"

/*
 * A request is complete, or has to be refused (messagePtr->refusal).  Runs in
 * the driver thread, or in a spooler thread for large bodies; must not wait.
 * The message is the procedure's from then on; the reply may be sent, and the
 * socket finished, inside the call (a direct answer).
 */
typedef void (NsReadyProc) (NsMessage *messagePtr);
void NsDriverSetReadyProc(NsReadyProc *proc);

/*
 * Bind, before anything is touched that a running server shares, the ports of
 * all drivers that the configuration names for the process and its servers
 * (only NULL: all of them): of modules that export Ns_ModuleListenPort.  They
 * do not listen yet.  The process ends if one cannot be bound.
 */
void NsDriversReserve(const char *only);

/*
 * Start all registered drivers: returns when each listens.  NS_ERROR when one
 * cannot; the reason is logged.
 */
Ns_ReturnCode NsDriversStart(void);

/*
 * True from NsDriversStop on: replies say `Connection: close`.  Any thread.
 */
bool NsDriversStopping(void);

/*
 * The request that was read just now has to wait for a thread.  If a driver
 * thread calls: it lets others run once before it looks for more, which would
 * only wait as well.
 */
void NsDriverYield(void);

/*
 * Stop accepting.  Requests in the making, and those that come within a moment
 * on connections that were accepted, are still handed over: Drain waits until
 * there can be no more of them (NS_OK), or until the deadline, an absolute time
 * (NS_TIMEOUT).  Wait ends driver, spooler and writer threads when their work
 * is done, or at the deadline.
 */
void NsDriversStop(void);
Ns_ReturnCode NsDriversDrain(const Ns_Time *deadlinePtr);
void NsDriversWait(const Ns_Time *deadlinePtr);

/*
 * Writer threads alone: stop when empty or at the deadline.
 */
void NsWritersStop(const Ns_Time *deadlinePtr);

/*
 * Results of `ns_driver info|names|threads|stats` and `ns_writer list`, as Tcl
 * lists appended to dsPtr; server NULL: all.  NsDriverHosts: the Host fields to
 * which a server answers at drivers that it shares, each once.
 */
void NsDriverInfo(Ns_DString *dsPtr, const char *server);
void NsDriverNames(Ns_DString *dsPtr);
void NsDriverThreads(Ns_DString *dsPtr);
void NsDriverStats(Ns_DString *dsPtr);
void NsDriverHosts(Ns_DString *dsPtr, const NsServer *serverPtr);
void NsWriterList(Ns_DString *dsPtr, const char *server, bool isLong);

/*
 * Append a dict per writer thread: module, thread, deliveries, queued and sent
 * (both in bytes).
 */
void NsWriterStats(Ns_DString *dsPtr);

/*
 * Query (value NULL) or set writersize, writerstreaming of the first driver
 * whose name starts with prefix.  NS_ERROR if there is none.
 */
Ns_ReturnCode NsWriterSize(const char *prefix, int64_t *newPtr, int64_t *valuePtr);
Ns_ReturnCode NsWriterStreaming(const char *prefix, bool *newPtr, bool *valuePtr);

/*
 * Uploads in progress: NS_OK and the two byte counts.
 */
Ns_ReturnCode NsUploadStats(const char *url, int64_t *receivedPtr,
                            int64_t *totalPtr);

#endif
