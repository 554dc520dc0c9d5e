/* SPDX-License-Identifier: MPL-2.0
 * engine.h --
 *
 *      An engine that comes as one large source.
 */

const char *EngineName(const char *module);
