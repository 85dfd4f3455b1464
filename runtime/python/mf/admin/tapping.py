"""R6. One tap of a server: which calls it wants, and the queue of those that have ended.

The queue is bounded by count and by bytes: what finds no room is counted, and the next record that comes says
how many those were.
Threads: hooks are called where handlers run; the reader of the queue is one thread or task.
"""

from collections import deque
from random import random
from threading import Lock
from time import time_ns
from typing import Any

from mf.admin._generated.mf.admin import MOST_VALUE, Filter, Outcome, Tapped
from mf.codec.times import Duration, Timestamp
from mf.core.current import CurrentCall
from mf.core.error import Code, DeclaredError
from mf.core.gate import Gate
from mf.core.intercepted_servant import fields_of
from mf.core.intercepting import code_of
from mf.core.interceptor import CallEnd, CallKind, InterceptedCall
from mf.core.tap import Tap

MOST_QUEUED = 1024
MOST_QUEUED_BYTES = 8 << 20
"""Of parameters and results."""
_LONGEST_ERROR = 2000


class _Begun:
    """What is kept of a call while its handler runs: the parameters as they were, since a handler may change
    them."""

    __slots__ = ("at", "requests")

    def __init__(self, requests: list[bytes | None]) -> None:
        self.at = time_ns()
        self.requests = requests


class Tapping(Tap):
    """`gate` is opened when a record has come."""

    def __init__(self, what: Filter, gate: Gate) -> None:
        self._what = what
        self._lock = Lock()
        self._queue: deque[Tapped] = deque()
        self._bytes = 0
        self._dropped = 0
        self.gate = gate

    def covers(self, service: str, method: str) -> bool:
        return _fits(self._what.service, service) and _fits(self._what.method, method)

    def wants(self, call: CurrentCall) -> bool:
        what = self._what
        if what.sample < 1.0 and random() >= what.sample:
            return False
        peer = what.peer
        return _fits(what.agent, call.agent) and (
            not peer or _fits(peer, call.peer) or _fits(peer, call.identity.name)
        )

    def begin(self, call: InterceptedCall) -> None:
        method = call.info
        requests: list[bytes | None] = []
        if self._what.values:
            of = map(fields_of, call.arguments) if call.kind is CallKind.BULK else [call.arguments]
            requests = [_encoded(method.encode_request, *each) for each in of]
        call.notes[self] = _Begun(requests)

    def end(self, call: InterceptedCall, end: CallEnd) -> None:
        begun: _Begun = call.notes.pop(self)
        if call.kind is not CallKind.BULK:
            self._take(call, end, begun, 0, end.error, end.value)
            return
        for number in range(call.items):
            outcome = (
                end.outcomes[number] if end.outcomes is not None and number < len(end.outcomes) else None
            )
            error = end.error if outcome is None else outcome.error
            self._take(call, end, begun, number, error, None if outcome is None else outcome.value)

    def _take(
        self,
        call: InterceptedCall,
        end: CallEnd,
        begun: _Begun,
        number: int,
        error: BaseException | None,
        value: Any,
    ) -> None:
        code = Code.OK if error is None else code_of(error)
        if not _is_wanted(self._what.outcome, code):
            return
        with self._lock:
            if self._is_full(0):
                self._dropped += 1
                return
        method, identity = call.info, call.identity
        has_result = self._what.values and error is None and value is not None and not method.stream
        request = begun.requests[number] if number < len(begun.requests) else None
        result = _encoded(method.encode_result, value) if has_result else None
        withheld = [
            f"the {what} have more than {MOST_VALUE} bytes, or break the schema"
            for what, is_wanted, found in (
                ("parameters", self._what.values, request),
                ("results", has_result, result),
            )
            if is_wanted and found is None
        ]
        made = Tapped(
            service=call.service,
            method=call.method,
            agent=call.agent,
            peer=call.peer,
            identity="" if identity is None else identity.name,
            is_stream=method.stream,
            begun=Timestamp(begun.at),
            took=Duration(int(end.seconds * 1e9)),
            code=code,
            error=_text(error),
            request=request,
            result=result,
            request_size=end.request_bytes,
            result_size=end.reply_bytes,
            withheld="; ".join(withheld),
            forwarded=None,
            dropped=0,
        )
        size = len(made.request or b"") + len(made.result or b"")
        with self._lock:
            if self._is_full(size):
                self._dropped += 1
                return
            made.dropped, self._dropped = self._dropped, 0
            self._queue.append(made)
            self._bytes += size
        self.gate.open()

    def _is_full(self, size: int) -> bool:
        """Whether a record with so many bytes of values has no room. Under the lock."""
        return len(self._queue) >= MOST_QUEUED or self._bytes + size > MOST_QUEUED_BYTES

    def taken(self) -> list[Tapped]:
        """All records that have come."""
        with self._lock:
            found = list(self._queue)
            self._queue.clear()
            self._bytes = 0
        return found


def _fits(pattern: str, text: str) -> bool:
    if pattern.endswith("*"):
        return text.startswith(pattern[:-1])
    return not pattern or text == pattern


def _is_wanted(outcome: Outcome, code: Code) -> bool:
    kind = Outcome.ok if code is Code.OK else Outcome.declared if code is Code.DECLARED else Outcome.failed
    return outcome == Outcome.any or outcome == kind


def _encoded(encode: Any, *values: Any) -> bytes | None:
    """None for what is too large, or breaks the schema: the call itself ends with that."""
    try:
        data = bytes(encode(*values))
    except Exception:
        return None
    return data if len(data) <= MOST_VALUE else None


def _text(error: BaseException | None) -> str:
    if error is None:
        return ""
    text = f"{type(error).__name__}: {error}" if isinstance(error, DeclaredError) else str(error)
    return text[:_LONGEST_ERROR]
