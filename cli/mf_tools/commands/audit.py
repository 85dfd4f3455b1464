"""`mf audit`: what a report of a fault should come with."""

import json
import os
import platform
import re
import tarfile
from collections.abc import Callable
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from time import time
from typing import Any

import click

from mf_tools import __version__
from mf_tools.connect import Place, placed
from mf_tools.files import new_file
from mf_tools.guard import USAGE, CommandError
from mf_tools.output import emit, line
from mf_tools.redacting import Redacted
from mf_tools.registry import entries
from mf_tools.scrape import endpoint, fetched

_WITHIN = 2.0
_MOST_TAIL = 1 << 20
_MOST_FILE = 1 << 20


@click.group()
def command() -> None:
    """Gather what a report of a fault should come with."""


@command.command(short_help="Write what a report of a fault needs.")
@click.argument("out", type=click.Path(dir_okay=False))
@click.option(
    "--log", "logs", multiple=True, type=click.Path(dir_okay=False), help="A log, of which the end comes."
)
@click.option(
    "--config",
    "configs",
    multiple=True,
    type=click.Path(dir_okay=False),
    help="A configuration or access file.",
)
@click.option("--monitor", "monitors", multiple=True, metavar="HOST:PORT", help="A monitor.")
@click.option("--keep-names", is_flag=True, help="Do not replace hosts, users and identities by numbers.")
@placed
def gather(
    place: Place,
    out: str,
    logs: tuple[str, ...],
    configs: tuple[str, ...],
    monitors: tuple[str, ...],
    keep_names: bool,
) -> None:
    """Write OUT, a .tar.gz of what is registered, the controller's status, metrics, configurations and the
    ends of logs. Secrets are left out, and names of hosts, addresses, users and identities are numbers, the
    same everywhere.

    A part that cannot be had is named in it with the reason. Look into it before you send it.
    """
    where = place.context.get("where", "")
    if not (where or logs or configs or monitors):
        raise CommandError("there is nothing to gather: give --where, --log, --config or --monitor", USAGE)
    if os.path.lexists(out):
        raise CommandError(f"'{out}' is there already: it is not overwritten", USAGE)
    places = [endpoint(each) for each in monitors]
    redacted = Redacted(keep_names=keep_names)
    bundle = _Bundle(redacted)
    bundle.add("tool.json", _tool)
    if where:
        bundle.add("registry.json", _registry, place)
        bundle.add("status.json", _status, place)
    for host, port in places:
        bundle.add(f"metrics-{len(bundle.names)}.txt", fetched, host, port)
    for path in configs:
        bundle.add(f"config-{len(bundle.names)}.txt", _file, path)
    for path in logs:
        bundle.add(f"log-{len(bundle.names)}.txt", _tail, path)
    new_file(out, bundle.packed())
    if place.json:
        emit({"file": out, "parts": bundle.names, "missing": bundle.missing})
        return
    line(f"{out}: {', '.join(bundle.names)}")
    for name, why in bundle.missing.items():
        line(f"without {name}: {why}")


class _Bundle:
    """The parts, by the names that they have in the archive."""

    def __init__(self, redacted: Redacted) -> None:
        self._redacted = redacted
        self._parts: dict[str, str] = {}
        self.missing: dict[str, str] = {}

    @property
    def names(self) -> list[str]:
        return [*self._parts, *self.missing]

    def add(self, name: str, made: Callable[..., str], *of: Any) -> None:
        import mf

        try:
            self._parts[name] = self._redacted.text(made(*of))
        except (OSError, mf.Error, mf.DecodeError, CommandError) as failed:
            said = getattr(failed, "line", "") or str(failed)
            self.missing[name] = self._redacted.text(said)

    def packed(self) -> bytes:
        made = BytesIO()
        with tarfile.open(fileobj=made, mode="w:gz") as archive:
            for name, text in {**self._parts, "missing.json": json.dumps(self.missing, indent=1)}.items():
                data = text.encode()
                entry = tarfile.TarInfo(f"mf-audit/{name}")
                entry.size, entry.mtime, entry.mode = len(data), int(time()), 0o600
                archive.addfile(entry, BytesIO(data))
        return made.getvalue()


def _tool() -> str:
    made = {
        "mfidl-tools": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "gathered": datetime.now(UTC).isoformat(timespec="seconds"),
        "environment": sorted(name for name in os.environ if name.startswith("MF_")),
    }
    return json.dumps(made, indent=1)


def _registry(place: Place) -> str:
    return json.dumps([each.as_json() for each in entries(place, _WITHIN)], indent=1)


def _status(place: Place) -> str:
    import mf

    with place.controller() as controller:
        status: Any = controller.status(options=mf.CallOptions(deadline=_WITHIN))
    figures = ("run", "revision", "processes", "offers", "watches")
    made: dict[str, Any] = {name: getattr(status, name) for name in figures}
    made["store"] = {
        "name": status.store.name.split(":")[0],
        "ok": status.store.ok,
        "reason": status.store.reason,
    }
    return json.dumps(made, indent=1)


def _file(path: str) -> str:
    data = Path(path).read_bytes()[: _MOST_FILE + 1]
    if len(data) > _MOST_FILE:
        raise CommandError(f"'{path}' has more than {_MOST_FILE >> 20} MiB: that is no configuration")
    if re.search(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----", data):
        raise CommandError(f"'{path}' is a private key, which never goes into a bundle")
    return data.decode("utf-8", "replace")


def _tail(path: str) -> str:
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _MOST_TAIL))
        data = file.read(_MOST_TAIL)
    text = data.decode("utf-8", "replace")
    return text if size <= _MOST_TAIL else text.partition("\n")[2]
