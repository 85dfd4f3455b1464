"""F8. The command line: one small module per command, loaded only when it is the one that runs.

Exit codes: 0 all is well, 1 errors in a schema, 2 wrong use of the command line, 3 a file could not be read
or written, 4 a generator or template failed, 70 an error of the compiler itself, 130 interrupted, 141 the
reader of the output has closed it.
"""

import gc
import sys


def main() -> None:
    """The entry point `mfidlc`."""
    # Most objects of the compiler live until it ends, so that early garbage collection would find nothing.
    gc.set_threshold(500_000, 20, 100)
    from mfidl.cli.guard import guarded, leave

    leave(guarded(sys.argv[1:]))
