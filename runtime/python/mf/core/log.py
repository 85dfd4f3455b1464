"""R0. One logger, "mf". `logging` is imported when the first line is written, since most programs write none.

Nothing here runs for each message. Names and texts of a peer are untrusted: use `quote`.
"""

import os
import sys
import threading
from functools import partial
from time import monotonic
from typing import Any

from mf.core.current import CurrentCall
from mf.core.error import HandlerFailed
from mf.core.identity import Identity
from mf.core.log_writer import LogWriter
from mf.core.metadata import trace_id_of
from mf.core.peers import peer_fields

_MAX_QUOTED = 200
_MAX_FIELD = 512
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-+_.:,/*@[]")
_MOST_CAUSES = 256
_LOG_EVERY = 10.0
"""Seconds between two lines about one cause."""
_MOST_WARNINGS = 10
_WHILE = 10.0
"""So many warnings of one kind are written within so many seconds."""
_SWEEP_EVERY = 1.0
_MOST_KINDS = 1024

_writer: LogWriter | None = None


def quote(text: str | bytes) -> str:
    """Text of a peer as a harmless, bounded part of a log line: escaped, and cut with the full length
    named."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "backslashreplace")
    shown = ascii(text[:_MAX_QUOTED])
    return shown if len(text) <= _MAX_QUOTED else f"{shown}… ({len(text)} characters)"


class Line(str):
    """A line of the log, with its event and fields for handlers that write it in another form."""

    __slots__ = ("event", "fields")

    event: str
    fields: dict[str, str]


def line(event: str, **fields: object) -> Line:
    """A line as C++ writes them: the event's name, and key=value fields, whose values may be a peer's."""
    texts = {key: str(value) for key, value in fields.items()}
    made = Line(" ".join([event, *(f"{key}={_field(text)}" for key, text in texts.items())]))
    made.event = event
    made.fields = {
        key: text if len(text) <= _MAX_FIELD else text[:_MAX_FIELD] + "…" for key, text in texts.items()
    }
    return made


def _field(text: str) -> str:
    if text and len(text) <= _MAX_FIELD and _PLAIN.issuperset(text):
        return text
    cut = text[:_MAX_FIELD]
    shown = cut.encode("unicode_escape").decode("ascii").replace('"', '\\"')
    return f'"{shown}"' if cut == text else f'"{shown}…"'


def warning(message: str, *arguments: Any, peer: str = "", identity: str = "") -> None:
    """Writes a warning. Only some of one kind about one peer (without a peer: of one text) are written within
    a period, and then one line counts those that were left out, so that no peer can fill a log. A peer is
    known by its identity, or else by its host."""
    import logging

    event = str(arguments[0]).partition(" ")[0] if message == "%s" and arguments else message
    about = (identity or host_of(peer)) if peer else str(arguments)
    may, over = _warnings.admits(event, about, bool(peer), monotonic())
    for left_event, host, count in over:
        left_out = line("warnings_left_out", of=left_event, host=host, count=count)
        _write(logging.WARNING, "%s", (left_out,))
    if may:
        _write(logging.WARNING, message, arguments)


def host_of(peer: str) -> str:
    """'tcp://10.0.0.7' of 'tcp://10.0.0.7:4711'; 'unix' of a peer at a path of this host."""
    return "unix" if peer.startswith("unix:") else peer.rpartition(":")[0]


def error(message: str, *arguments: Any, exc_info: BaseException | None = None) -> None:
    import logging

    _write(logging.ERROR, message, arguments, exc_info)


def _wants_errors() -> bool:
    import logging

    return logging.getLogger("mf").isEnabledFor(logging.ERROR)


def wants_info() -> bool:
    """Whether lines of level info are written: not unless the program has set up `logging`, which then is
    loaded."""
    logging = sys.modules.get("logging")
    return logging is not None and logging.getLogger("mf").isEnabledFor(logging.INFO)


def info(message: str, *arguments: Any) -> None:
    if wants_info():
        import logging

        _write(logging.INFO, message, arguments)


def log_failed_call(
    raised: BaseException,
    service: str,
    method: str,
    agent: str,
    peer: str,
    identity: Identity,
    trace_id: str = "",
) -> str:
    """Logs what the handler of a call has raised. Returns the reference of the line about it, which the
    caller gets in place of the text; empty if lines of level error are not written.

    A cause (which call, how, and in which line of the code) has its traceback logged once. What fails with
    each call would else cost more than the call, so later failures are counted, and logged in one line in ten
    seconds; until then they have the reference of the line before.
    """
    if not _wants_errors():
        return ""
    calls, is_new, reference = _failures.count(f"{service}.{method}", raised)
    if calls:
        said = line(
            "handler_failed",
            service=service,
            method=method,
            agent=agent,
            **peer_fields(peer, identity),
            trace_id=trace_id,
            reference=reference,
            calls=calls,
            what=_what(raised),
        )
        error("%s", said, exc_info=raised if is_new else None)
    return reference


def log_failure(failure: HandlerFailed, call: CurrentCall, identity: Identity | None = None) -> None:
    """Logs a failure of the handler of this call, once, and notes the reference in it. `identity`: to be
    shown in place of the caller's."""
    if failure.reference is not None:
        return
    failure.reference = log_failed_call(
        failure.raised or failure,
        call.service,
        call.method,
        call.agent,
        call.peer,
        identity or call.identity,
        trace_id_of(call.metadata),
    )


def log_escaped_exception(where: str, raised: BaseException) -> None:
    """Logs what a callback of the program, or a part of the runtime, has raised, and nothing else handles; as
    often as the failures of calls."""
    times, is_new, _ = _failures.count(where, raised)
    if times:
        said = line("exception_escaped", **{"from": where, "times": times, "what": _what(raised)})
        error("%s", said, exc_info=raised if is_new else None)


def _what(raised: BaseException) -> str:
    return f"{type(raised).__name__}: {raised}"


def _write(
    level: int, message: str, arguments: tuple[Any, ...], exc_info: BaseException | None = None
) -> None:
    """Writes on the thread of the log, so that no other thread waits for the reader of the log."""
    global _writer
    import logging

    logger = logging.getLogger("mf")
    if not logger.isEnabledFor(level):
        return
    if _writer is None or _writer.pid != os.getpid():
        _writer = LogWriter(_tell_left_out)
    _writer.write(partial(logger.log, exc_info=exc_info), level, message, *arguments)


def _tell_left_out(lines: int) -> None:
    warning("%s", line("lines_left_out", count=lines))


class _Warnings:
    """How many warnings of each kind were written in the last while; any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kinds: dict[tuple[str, str], _Kind] = {}
        self._swept = 0.0

    def admits(
        self, event: str, about: str, of_peer: bool, now: float
    ) -> tuple[bool, list[tuple[str, str, int]]]:
        """Whether a warning may be written, and what was left out in periods that are over."""
        with self._lock:
            over = self._sweep(now) if now - self._swept >= _SWEEP_EVERY else []
            kind = self._kinds.get((event, about))
            if kind is None:
                if len(self._kinds) >= _MOST_KINDS:
                    about = "others"
                kind = self._kinds.setdefault((event, about), _Kind(now, of_peer))
            elif now - kind.since >= _WHILE:
                if kind.left_out:
                    over.append((event, about if of_peer else "", kind.left_out))
                kind.since, kind.written, kind.left_out = now, 0, 0
            if kind.written < _MOST_WARNINGS:
                kind.written += 1
                return True, over
            kind.left_out += 1
            return False, over

    def _sweep(self, now: float) -> list[tuple[str, str, int]]:
        self._swept = now
        ended = [(key, kind) for key, kind in self._kinds.items() if now - kind.since >= _WHILE]
        for key, _ in ended:
            del self._kinds[key]
        return [
            (event, about if kind.of_peer else "", kind.left_out)
            for (event, about), kind in ended
            if kind.left_out
        ]


class _Kind:
    __slots__ = ("left_out", "of_peer", "since", "written")

    def __init__(self, now: float, of_peer: bool) -> None:
        self.since = now
        self.of_peer = of_peer
        self.written = 0
        self.left_out = 0


_warnings = _Warnings()


class _Failures:
    """How often each cause has failed since it was logged; any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[tuple[object, ...], _Cause] = {}

    def count(self, where: str, raised: BaseException) -> tuple[int, bool, str]:
        """How many failures a line is to be written about, 0: none; whether the cause is a new one; and the
        reference of its latest line."""
        at = raised.__traceback__
        while at is not None and at.tb_next is not None:
            at = at.tb_next
        place = (at.tb_frame.f_code.co_filename, at.tb_lineno) if at is not None else None
        now = monotonic()
        with self._lock:
            key = (where, type(raised), place)
            cause = self._known.get(key)
            if cause is None:
                if len(self._known) >= _MOST_CAUSES:
                    self._known.clear()
                cause = self._known[key] = _Cause(now)
                return 1, True, cause.reference
            cause.more += 1
            if now - cause.logged_at < _LOG_EVERY:
                return 0, False, cause.reference
            more, cause.more, cause.logged_at = cause.more, 0, now
            cause.reference = _new_reference()
            return more, False, cause.reference


class _Cause:
    __slots__ = ("logged_at", "more", "reference")

    def __init__(self, now: float) -> None:
        self.logged_at = now
        self.more = 0
        self.reference = _new_reference()


def _new_reference() -> str:
    """Eight hexadecimal digits: enough to find one line among those of a day, and short enough to be read
    out."""
    return os.urandom(4).hex()


_failures = _Failures()
