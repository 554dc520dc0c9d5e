/*
 * write.h --
 *
 *      Output of handlers; its functions are those of nsconn.h.
 */

#ifndef NSD_REQUEST_WRITE_H
#define NSD_REQUEST_WRITE_H

/*
 * Once, before any thread writes.
 */
void NsWriteInit(void);

#endif
