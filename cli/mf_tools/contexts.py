"""Named contexts: an address, the certificates and the token for it. One file each, that only its user reads:

    $XDG_CONFIG_HOME/mf/contexts/NAME.json      ~/.config where that is not set
    $XDG_CONFIG_HOME/mf/contexts/NAME.token     a token that was read from standard input
    $XDG_CONFIG_HOME/mf/current                 the name of the context in use

A file is written beside its place and then takes it, so that a full disk leaves the old one.
"""

import json
import os
import re
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any, TypedDict

from mf_tools.guard import FILES, USAGE, CommandError

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}\Z")
_MOST_BYTES = 64 << 10


class Context(TypedDict, total=False):
    """Paths are absolute. `token`: the path of a file that holds one."""

    where: str
    ca: str
    crl: str
    certificate: str
    key: str
    server_name: str
    token: str


FIELDS = tuple(Context.__annotations__)


def folder() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME") or ""
    return (Path(base) if base.startswith("/") else Path.home() / ".config") / "mf"


def checked(name: str) -> str:
    if not _NAME.match(name):
        raise CommandError(f"'{name}' is no name of a context: letters, digits, '_', '-', '.'", USAGE)
    return name


def names() -> list[str]:
    with suppress(FileNotFoundError, NotADirectoryError):
        found = (each.name for each in (folder() / "contexts").iterdir())
        return sorted(each[:-5] for each in found if each.endswith(".json") and _NAME.match(each[:-5]))
    return []


def current() -> str:
    try:
        return _read(folder() / "current").strip()
    except FileNotFoundError:
        return ""


def load(name: str) -> Context:
    path = folder() / "contexts" / f"{checked(name)}.json"
    try:
        text = _read(path)
    except FileNotFoundError:
        from difflib import get_close_matches

        near = get_close_matches(name, names(), 1)
        hint = f"; did you mean '{near[0]}'?" if near else "; `mf context add` makes one"
        raise CommandError(f"there is no context '{name}'{hint}", USAGE) from None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not all(key in FIELDS and isinstance(found[key], str) for key in found):
        raise CommandError(f"'{path}' is no context: remove it, and add the context again", FILES)
    return Context(**found)  # type: ignore[typeddict-item] # checked above


def save(name: str, context: Context, token: str = "", *, replace: bool = False) -> None:
    """Of two processes that add the same name at once, one gets it. `token`: kept in a file of its own."""
    home = folder() / "contexts"
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = home / f"{checked(name)}.json"
    if token:
        context = {**context, "token": str(home / f"{name}.token")}
    data = json.dumps(context, indent=1) + "\n"
    try:
        if not replace:  # reserves the name
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "w") as new:
                new.write(data)
        if token:
            write_private(home / f"{name}.token", token + "\n")
        write_private(path, data)
    except FileExistsError:
        raise CommandError(
            f"there is a context '{name}' already; --replace puts this one in its place", USAGE
        ) from None
    except OSError:
        if not replace:
            with suppress(OSError):
                path.unlink()
        raise


def use(name: str) -> None:
    load(name)
    write_private(folder() / "current", name + "\n")


def remove(name: str) -> None:
    load(name)
    for end in ("json", "token"):
        with suppress(FileNotFoundError):
            (folder() / "contexts" / f"{name}.{end}").unlink()
    if current() == name:
        (folder() / "current").unlink()


def write_private(path: Path, text: str) -> None:
    """With mode 0600, whole or not at all."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with open(os.open(beside, flags, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


def _read(path: Path) -> str:
    """Refuses a file that others could have read or changed."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with open(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        mode = stat.S_IMODE(found.st_mode)
        if not stat.S_ISREG(found.st_mode) or found.st_uid not in (0, os.geteuid()):
            raise CommandError(f"'{path}' is no file of this user", FILES)
        if mode & 0o077:
            raise CommandError(f"'{path}': others may use it (mode {mode:04o}): chmod 600 it", FILES)
        return file.read(_MOST_BYTES).decode("utf-8", "replace")


def as_json(context: Context) -> dict[str, Any]:
    """Without secrets: a token is a path."""
    return dict(context)
