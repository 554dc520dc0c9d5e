/* SPDX-License-Identifier: MPL-2.0
 * db.h --
 *
 *      Private: another library has a header of this name.
 */

#define STORE_LIMIT 10
