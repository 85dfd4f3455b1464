"""R6. What a replica asks of its servant: messages are decoded, applied and answered here, and states kept
and restored.
"""

from collections.abc import Callable
from typing import Any

from mf.core.code_class import BY_HANDLER
from mf.core.error import Code, DeclaredError, Error, cut
from mf.core.identity import NO_IDENTITY
from mf.core.log import log_escaped_exception, log_failed_call
from mf.core.outcome import words_for, words_of
from mf.core.replicated import Version
from mf.core.service import BaseServant
from mf.protocol.adapted import Adapted
from mf.replicated.messages import Apply, Outcome, RestoreState, TakeSnapshot
from mf.replicated.schemas import Schemas

_SENT = BY_HANDLER | {Code.UNKNOWN_METHOD, Code.DECODE_ERROR}
"""Codes that the runtime gives a message before its function runs, or a servant gives its caller."""

Job = Apply | RestoreState | TakeSnapshot


class Applying:
    """A servant's functions by the names of their methods. Those of an AsyncServant give awaitables."""

    def __init__(self, servant: BaseServant, agent: str = "", *, error_texts: bool = False) -> None:
        """`agent`: for the log, as users write it. `error_texts`: see ServerOptions."""
        service = servant.mf_service
        self._service, self._agent = service.name, agent
        self._error_texts = error_texts
        self.schemas = Schemas(service)
        self._read: tuple[str, bytes, Adapted | None] = ("", b"", None)
        self._name = service.short_name
        self._methods = {method.name: method for method in service.methods if method.replicated is not None}
        self._functions: dict[str, Callable[..., Any]] = {
            name: getattr(servant, method.attribute) for name, method in self._methods.items()
        }
        self._snapshot = getattr(servant, "on_snapshot", None)
        self._restore = getattr(servant, "on_restore", None)
        if not self._methods:
            raise ValueError(f"{service.name} has no @replicated method")
        if (self._snapshot is None) != (self._restore is None):
            raise ValueError(f"{type(servant).__name__} needs on_snapshot and on_restore both, or neither")

    def is_ready(self, job: Job) -> bool:
        """Before it is done: False if the schema of its message is not known yet. Raises UnadaptableError."""
        if isinstance(job, Apply):
            if job.body.schema not in self.schemas.known:
                return False
            self._read = self.schemas.adapted(job.body)
        return True

    def _adapted(self, outcome: Outcome) -> Outcome:
        """In the schema of the message."""
        adapted = self._read[2]
        if adapted is None:
            return outcome
        try:
            return Outcome(*adapted.outcome(outcome.status, outcome.error, outcome.payload))
        except Error as lost:
            return Outcome(int(lost.code), 0, cut(lost.message))

    @property
    def can_snapshot(self) -> bool:
        return self._snapshot is not None

    def do(self, job: Job) -> Outcome:
        """By a servant of plain functions."""
        try:
            return self._outcome(job, self._begin(job))
        except Exception as raised:
            return self._failure(job, raised)

    async def do_async(self, job: Job) -> Outcome:
        """By a servant of `async def`."""
        try:
            return self._outcome(job, await self._begin(job))
        except Exception as raised:
            return self._failure(job, raised)

    def _begin(self, job: Job) -> Any:
        match job:
            case TakeSnapshot():
                assert self._snapshot is not None
                return self._snapshot()
            case RestoreState(snapshot):
                assert self._restore is not None
                return self._restore(snapshot)
            case Apply(version):
                name, payload, _ = self._read
                method = self._methods.get(name)
                if method is None:
                    raise Error(Code.UNKNOWN_METHOD, f"{self._name} has no replicated method {name!r}")
                request = method.request(*method.decode_request(payload))
                return self._functions[name](Version(version.epoch, version.counter), request)

    def _outcome(self, job: Job, result: Any) -> Outcome:
        match job:
            case TakeSnapshot():
                return Outcome(0, 0, bytes(result))
            case RestoreState():
                return Outcome()
            case Apply():
                encoded = self._methods[self._read[0]].encode_result(result)
                return self._adapted(Outcome(0, 0, bytes(encoded)))

    def _failure(self, job: Job, raised: Exception) -> Outcome:
        if isinstance(job, Apply) and isinstance(raised, DeclaredError):
            for at, codec in enumerate(self._methods[self._read[0]].errors):
                if type(raised) is codec.type:
                    return self._adapted(Outcome(int(Code.DECLARED), at, bytes(codec.encode(raised))))
        if isinstance(raised, Error) and raised.code in _SENT:
            return Outcome(int(raised.code), 0, cut(raised.message))
        if isinstance(job, Apply):
            return Outcome(int(Code.HANDLER_FAILED), 0, cut(self._text(job.body.method, raised)))
        where = f"{self._name}: its state"  # what is said of it does not leave the process
        log_escaped_exception(where, raised)
        return Outcome(int(Code.HANDLER_FAILED), 0, cut(f"{where}: {words_of(raised)}"))

    def _text(self, method: str, raised: Exception) -> str:
        """What the caller gets of an exception, which is logged."""
        reference = log_failed_call(raised, self._service, method, self._agent, "", NO_IDENTITY)
        return f"{self._name}.{method}: " + (words_of(raised) if self._error_texts else words_for(reference))
