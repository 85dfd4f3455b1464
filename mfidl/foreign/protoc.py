"""F6. Runs protoc, which alone defines what a .proto file means: files in, a FileDescriptorSet out.

It is the named one, or the `protoc` of PATH, or that of the Python package grpcio-tools, which is run, too,
if the other one refuses the files. It has a deadline; its messages are shown at their places.
"""

import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.message import DecodeError

from mfidl.diagnostics import Diagnostics
from mfidl.foreign.places import Places
from mfidl.source import Span

_MESSAGE = re.compile(r"(?P<path>[^:\n]+):(?:(?P<line>\d+):(?P<column>\d+):)? (?P<text>.+)")
_MISSING = (
    "neither `protoc` in PATH nor the Python package grpcio-tools is there; install one of them: "
    "`apt-get install protobuf-compiler`, or `pip install grpcio-tools`"
)
_EDITIONS = "a newer protoc reads editions: `pip install grpcio-tools` brings one, or --protoc PATH names it"


@dataclass(frozen=True, slots=True)
class Protoc:
    """`path`: the program, or None for the one that is found. It is ended after some seconds."""

    path: str | None
    seconds: float


def seconds_for(files: int) -> float:
    """A minute, and a tenth of a second for each file: many times what protoc takes on a busy machine."""
    return 60 + files / 10


def descriptors(
    names: Sequence[str], folders: Sequence[str], protoc: Protoc, places: Places, diagnostics: Diagnostics
) -> FileDescriptorSet | None:
    """Those of the files, called as below their folders, and of all that they import, which come first."""
    commands = _commands(protoc.path)
    if not commands:
        diagnostics.error("E1001", None, reason=_MISSING)
        return None
    with tempfile.TemporaryDirectory(prefix="mfidlc-import-") as folder:
        out = Path(folder) / "set.pb"
        arguments = [f"-I{each or '.'}" for each in folders]
        arguments += ["--include_imports", "--include_source_info", f"--descriptor_set_out={out}", *names]
        for command in commands:
            run = _run([*command, *arguments], protoc.seconds, diagnostics)
            if run is None or run.returncode == 0:
                break
        if run is None:
            return None
        if run.returncode != 0:
            _report(run.stderr, places, diagnostics)
            return None
        try:
            return FileDescriptorSet.FromString(out.read_bytes())
        except (OSError, DecodeError) as error:
            reason = f"`{command[0]}` wrote no descriptors: {error}"
            diagnostics.error("E1001", None, reason=reason)
            return None


def _run(
    command: Sequence[str], seconds: float, diagnostics: Diagnostics
) -> "subprocess.CompletedProcess[str] | None":
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
        )
    except OSError as error:
        reason = f"`{command[0]}` cannot be started: {error.strerror or error}"
        diagnostics.error("E1001", None, reason=reason)
    except subprocess.TimeoutExpired:
        reason = f"`{command[0]}` did not end within {seconds:g} s"
        help_ = "--protoc-timeout SECONDS gives it more time"
        diagnostics.error("E1001", None, help=help_, reason=reason)
    return None


def _commands(protoc: str | None) -> list[list[str]]:
    """The one that is named, or those that are found: each refuses what is newer than itself, as editions, so
    that the next one is asked.
    """
    if protoc is not None:
        return [[protoc]]
    found = shutil.which("protoc")
    made = [] if found is None else [[found]]
    if importlib.util.find_spec("grpc_tools") is not None:
        made.append([sys.executable, "-m", "grpc_tools.protoc"])
    return made


def _report(text: str, places: Places, diagnostics: Diagnostics) -> None:
    """What protoc wrote to standard error: each line at its place, or at the begin of the file that it
    names; lines without either only if there are no others.
    """
    lines = [line for line in text.splitlines() if line.strip() and ": warning: " not in line]
    rest: list[str] = []
    for line in lines:
        found = _MESSAGE.fullmatch(line)
        if found is None:
            rest.append(line)
            continue
        place, message = None, found["text"]
        if found["line"] is not None:
            place = places.at(found["path"], int(found["line"]) - 1, int(found["column"]) - 1)
        elif (source := places.source(found["path"])).text:
            place = Span(source, 0, 0)
        if place is None and found["line"] is None:
            rest.append(line)
        else:
            is_edition = place is not None and place.text() == "edition"
            help_ = _EDITIONS if is_edition else None
            diagnostics.error("E1002", place, help=help_, message=line if place is None else message)
    if not diagnostics:
        for line in rest or ["it gave no reason"]:
            diagnostics.error("E1002", None, message=line)
