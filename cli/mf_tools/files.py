"""Files that commands make: new ones, whole or not at all."""

import os
from contextlib import suppress
from pathlib import Path

from mf_tools.guard import USAGE, CommandError


def new_file(path: str | Path, text: str | bytes, *, for_all: bool = False) -> None:
    """With mode 0600, or (`for_all`) 0644. Ends the command if there is one already."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags, 0o644 if for_all else 0o600)
    except FileExistsError:
        raise CommandError(f"'{path}' is there already: it is not overwritten", USAGE) from None
    try:
        with open(descriptor, "wb") as file:
            file.write(text.encode() if isinstance(text, str) else text)
            file.flush()
            os.fsync(descriptor)
    except BaseException:
        with suppress(OSError):
            os.unlink(path)
        raise
