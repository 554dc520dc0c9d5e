/* SPDX-License-Identifier: MPL-2.0
 * connection.h --
 *
 *      What the server calls for the clients of the TLS driver.
 */

#ifndef NSSSL_CONNECTION_H
#define NSSSL_CONNECTION_H

#include "ns.h"

/*
 * Call once, before there are connections.
 */
void SslConnectionInit(void);

/*
 * Of the drivers whose argument is an SslHost.
 */
Ns_DriverAcceptProc   SslAccept;
Ns_DriverRecvProc     SslRecv;
Ns_DriverSendProc     SslSend;
Ns_DriverSendFileProc SslSendFile;
Ns_DriverKeepProc     SslKeep;
Ns_DriverCloseProc    SslClose;
Ns_DriverDetailsProc  SslDetails;
Ns_DriverSetupProc    SslIsShakingHands;
Ns_DriverProtocolProc SslProtocol;

#endif
