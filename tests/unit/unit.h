/* SPDX-License-Identifier: MPL-2.0
 * unit.h --
 *
 *      What unit tests include first.
 */

#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
