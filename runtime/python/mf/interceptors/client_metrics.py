"""R1. The metrics of a client's calls."""

from threading import Lock

from mf.core.error import Code, Error
from mf.core.exposition import Exposition, Kind
from mf.core.interceptor import CallEnd, CallKind, InterceptedCall, Interceptor
from mf.core.tally import CallFamilies, Tallies, Tally, expose_calls

MOST_METHODS = 2_048
"""Methods with series of their own; the calls of all others are counted as service and method "other"."""

_REPEATED = frozenset({CallKind.CALL, CallKind.BULK, CallKind.STREAM})
"""Calls of one request, unless it is repeated."""

_CALLS = CallFamilies(
    calls="mf_client_calls",
    calls_help="Calls that have ended, items of batches one by one.",
    duration="mf_client_call_duration_seconds",
    duration_help="From the begin of a call, or of a batch, to its end, repeats included.",
)


class ClientMetrics(Interceptor):
    """Counts the calls of the clients that it is given to, and how long they take, by service, method and
    code. Put it first, so that it measures what callers see, other interceptors included:

        metrics = ClientMetrics()
        client = mf.Client("mf://localhost:7400", interceptors=[metrics])
        server = mf.Server(monitor="127.0.0.1:9465", expose=metrics.expose)

    A program that is no server gives `expose` to an `mf.monitor.Door`. Any number of threads may use it.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._tallies = Tallies()
        self._methods: dict[tuple[str, str], _Counted] = {}
        self._others = _Counted(self._tallies.of("other", "other"))
        self._open = 0

    def begin(self, call: InterceptedCall) -> None:
        if call.is_client:
            with self._lock:
                self._open += 1

    def end(self, call: InterceptedCall, end: CallEnd) -> None:
        if not call.is_client:
            return
        counted = self._methods.get((call.service, call.method)) or self._counted(call)
        if end.outcomes is None:
            counted.calls.ended(end.code, call.items)
        for outcome in end.outcomes or ():
            counted.calls.ended(_code_of(outcome.error), 1)
        counted.calls.answered(end.seconds)
        with self._lock:
            self._open -= 1
            counted.attempts += end.attempts
            if call.kind in _REPEATED:
                counted.retries += max(end.attempts - 1, 0)

    def _counted(self, call: InterceptedCall) -> "_Counted":
        method = (call.service, call.method)
        with self._lock:
            if len(self._methods) >= MOST_METHODS and method not in self._methods:
                return self._others
            if method not in self._methods:
                self._methods[method] = _Counted(self._tallies.of(*method))
            return self._methods[method]

    def expose(self, out: Exposition) -> None:
        """Writes what docs/observability.md lists below mf_client."""
        expose_calls(out, self._tallies, _CALLS)
        with self._lock:
            numbers = [(*method, each.attempts, each.retries) for method, each in self._methods.items()]
            numbers.append(("other", "other", self._others.attempts, self._others.retries))
            is_open = self._open
        text = "Requests that were made for calls, repeats and hedges included."
        out.family("mf_client_attempts", Kind.COUNTER, text)
        for service, method, attempts, _ in numbers:
            if attempts:
                out.sample({"service": service, "method": method}, attempts)
        out.family("mf_client_retries", Kind.COUNTER, "Requests beyond the first one of a call.")
        for service, method, _, retries in numbers:
            if retries:
                out.sample({"service": service, "method": method}, retries)
        out.gauge("mf_client_open_calls", "Calls that have begun and not ended.", is_open)


class _Counted:
    """The calls of one method."""

    __slots__ = ("attempts", "calls", "retries")

    def __init__(self, calls: Tally) -> None:
        self.calls = calls
        self.attempts = 0
        self.retries = 0


def _code_of(error: BaseException | None) -> Code:
    if error is None:
        return Code.OK
    return error.code if isinstance(error, Error) else Code.DECLARED
