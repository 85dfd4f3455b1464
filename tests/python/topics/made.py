"""The stubs of tests/topics/events.mfidl, made and imported once a process, and what tests of topics
share."""

import atexit
import importlib
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from mfidl.compiler import Exit, Targets, compile_files

SCHEMA = Path(__file__).parents[2] / "topics" / "events.mfidl"
PATIENCE = 20.0
"""Seconds: a bound that nothing reaches that goes well."""


def _make() -> Any:
    out = Path(tempfile.mkdtemp(prefix="mf-topics-"))
    atexit.register(shutil.rmtree, out, ignore_errors=True)
    outcome = compile_files([str(SCHEMA)], [], Targets(python=str(out)))
    assert outcome.exit is Exit.OK, outcome.diagnostics
    sys.path.insert(0, str(out))
    importlib.invalidate_caches()
    return importlib.import_module("events")


events: Any = _make()


def indexed(doc: int, title: str = "") -> Any:
    return events.Indexed(doc, title)


def docs(messages: Any) -> list[int]:
    return [message.value.doc for message in messages]


def taken(subscriber: Any, count: int) -> list[Any]:
    """So many messages, which must come."""
    return [subscriber.next(PATIENCE) for _ in range(count)]


def left(subscriber: Any) -> list[Any]:
    """All that is there now."""
    found = []
    while (message := subscriber.poll()) is not None:
        found.append(message)
    return found
