/*
 * assert.h --
 *
 *      NsAssert stops a debug build at a broken promise between our own
 *      functions; release builds do not evaluate it.
 */

#ifndef NSD_BASE_ASSERT_H
#define NSD_BASE_ASSERT_H

#ifdef NS_DEBUG
# include <assert.h>
# define NsAssert(condition) assert(condition)
#else
# define NsAssert(condition) ((void) sizeof(condition))
#endif

#endif
