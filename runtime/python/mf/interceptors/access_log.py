"""R1. A line of the log for each call."""

from collections.abc import Callable

from mf.core.interceptor import CallEnd, InterceptedCall, Interceptor
from mf.core.log import Line, info, line

_MICRO = 1e6


class AccessLog(Interceptor):
    """Writes a line for each call when it has ended, of level info to the logger `mf`, or by `write`, which
    gets the line (its `fields`, too) on the call's own thread and must not block it. `failures_only`: calls
    that were answered get none; a declared error is an answer.

        call service=calls.Index method=look_up agent=books code=OK us=412 peer=tcp://127.0.0.1:40312
        identity=anonymous items=1 attempts=1 request_bytes=9 reply_bytes=4

    At a client there is no identity, and the peer is the server of the latest attempt.
    """

    def __init__(self, write: Callable[[Line], None] | None = None, *, failures_only: bool = False) -> None:
        self._write = write
        self._failures_only = failures_only

    def end(self, call: InterceptedCall, end: CallEnd) -> None:
        if self._failures_only and end.code <= 1 and not _has_failed_items(end):
            return
        fields = {
            "service": call.service,
            "method": call.method,
            "agent": call.agent,
            "code": end.code.name,
            "us": round(end.seconds * _MICRO),
            "peer": end.peer or call.peer,
            "identity": call.identity,
            "items": call.items,
            "failed_items": None if end.outcomes is None else sum(not each.ok for each in end.outcomes),
            "attempts": end.attempts,
            "request_bytes": end.request_bytes,
            "reply_bytes": end.reply_bytes,
        }
        for absent in [name for name, value in fields.items() if value is None]:
            del fields[absent]
        said = line("call", **fields)
        if self._write is None:
            info("%s", said)
        else:
            self._write(said)


def _has_failed_items(end: CallEnd) -> bool:
    return any(not outcome.ok for outcome in end.outcomes or ())
