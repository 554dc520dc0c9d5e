/* SPDX-License-Identifier: MPL-2.0
 * tlskept.h --
 *
 *      Settings of TLS clients, as the library has them once the files with
 *      certificates are read: connections with equal settings share them.
 *
 *      Reading the authorities of a system takes longer than a handshake.  A
 *      file that has changed is read again.
 */

#ifndef NSD_NET_TLSKEPT_H
#define NSD_NET_TLSKEPT_H

#include "net/tlsclient.h"
#include "nsstring.h"

#include <openssl/ssl.h>
#include <sys/stat.h>

#define NS_TLS_KEPT_MAX 32 /* The least recently used one goes. */

/*
 * What a context is made of, its files as they are before they are read.
 */
enum { NS_TLS_CA_FILE, NS_TLS_CA_PATH, NS_TLS_CERTIFICATE, NS_TLS_KEY };
#define NS_TLS_FILES 4

typedef struct NsTlsSetting {
    Ns_DString  key;
    Ns_Time     now;
    bool        exists[NS_TLS_FILES];
    struct stat status[NS_TLS_FILES];
} NsTlsSetting;

void NsTlsSettingInit(NsTlsSetting *settingPtr, const NsTlsClientSpec *specPtr);
void NsTlsSettingFree(NsTlsSetting *settingPtr);

/*
 * Whether connections look themselves at what is wrong with a certificate: only
 * they may share a context that asks them.
 */
bool NsTlsSettingJudges(const NsTlsClientSpec *specPtr);

/*
 * Call once, at the start of the room.
 */
void NsTlsKeptInit(void);

/*
 * The context of a setting, with a reference for the caller; NULL: there is
 * none for these files.
 */
SSL_CTX *NsTlsKeptFind(const NsTlsSetting *settingPtr);

/*
 * Keep one, with a reference of our own, unless a file was changed a moment
 * before it was read, and may have been changed again since.
 */
void NsTlsKeptAdd(const NsTlsSetting *settingPtr, SSL_CTX *ctx);

#endif
