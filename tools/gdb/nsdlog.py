# SPDX-License-Identifier: MPL-2.0
# nsdlog.py --
#
#       Gives gdb the command nsd-log, which prints the log records that a server had
#       in its memory: of a core file, or of a process that gdb is attached to.
#
#       gdb -x tools/gdb/nsdlog.py nsd/nsd CORE
#       (gdb) nsd-log ?--stream NAME? ?--severity NAME? ?--slow SECONDS?
#
#       The lines are those of `nsd --logs`, because that prints them: from a copy of the
#       memory, by the program that gdb is looking at.

import os
import subprocess
import tempfile

import gdb


class NsdLog(gdb.Command):
    """Print the records in the log memory of an nsd.

nsd-log ?--stream NAME? ?--severity NAME? ?--slow SECONDS?"""

    def __init__(self):
        super().__init__("nsd-log", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        options = gdb.string_to_argv(argument)
        if "--follow" in options:
            raise gdb.GdbError("nsd-log: nothing can follow while the process stands")
        program = gdb.current_progspace().filename
        if program is None:
            raise gdb.GdbError("nsd-log: no program; use the command `file`")
        with tempfile.NamedTemporaryFile(prefix="nsd-log-") as copy:
            copy.write(log_memory())
            copy.flush()
            result = subprocess.run([program, "--logs", copy.name, *options],
                                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE)
        if result.returncode != 0:
            raise gdb.GdbError(result.stderr.decode("utf-8", "replace").strip())
        gdb.write(result.stdout.decode("utf-8", "replace"))


def log_memory():
    """The bytes of the mapping, or of its file where a core does not have them."""
    ring = log_ring()
    if int(ring) == 0:
        raise gdb.GdbError("nsd-log: the process has no log memory; "
                           "is asynclogwriter on?")
    try:
        header = ring["headerPtr"]
        return bytes(gdb.selected_inferior().read_memory(int(header), int(header["bytes"])))
    except gdb.MemoryError:
        pass
    if int(ring["path"]) == 0:
        raise gdb.GdbError("nsd-log: the core file does not have the log memory")
    path = ring["path"].string()
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise gdb.GdbError("nsd-log: the core file does not have the log memory, and "
                           "'%s' cannot be read: %s" % (path, os.strerror(error.errno)))


def log_ring():
    for symbol in gdb.lookup_static_symbols("ring", gdb.SYMBOL_VAR_DOMAIN):
        if symbol.symtab.filename.endswith("log/ring/lane.c"):
            return symbol.value()
    raise gdb.GdbError("nsd-log: no symbols of an nsd here")


NsdLog()
