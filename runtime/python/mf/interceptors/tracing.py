"""R1. Spans of OpenTelemetry for calls, and their context in metadata as W3C Trace Context. The API of
OpenTelemetry is imported when a Tracing is made, and by nothing else here.
"""

from typing import TYPE_CHECKING, Any

from mf.core.current import current
from mf.core.error import Code
from mf.core.generated import VERSION
from mf.core.interceptor import CallEnd, CallKind, InterceptedCall, Interceptor
from mf.core.metadata import TRACE_KEYS

if TYPE_CHECKING:
    from opentelemetry.trace import TracerProvider

_FAULTS_OF_CALLERS = frozenset(
    {
        Code.INVALID_ARGUMENT,
        Code.CANCELLED,
        Code.CONNECTION_LOST,
        Code.UNAUTHENTICATED,
        Code.PERMISSION_DENIED,
    }
)
"""They end a span of a server, and are no errors of it."""


class Tracing(Interceptor):
    """Makes a span for each call: of kind CLIENT at a client, whose context goes along in metadata, and of
    kind SERVER around a handler, whose parent is what came. The span of a handler is the current one while it
    runs, so that calls which it makes, through a client with this interceptor, are its children. Calls of a
    client without it pass on what came.

    `provider`: the tracer provider; None: the global one. Raises ImportError without `opentelemetry-api`.
    """

    def __init__(self, provider: "TracerProvider | None" = None) -> None:
        try:
            from opentelemetry import context, trace
            from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
        except ImportError as missing:
            text = "tracing needs the API of OpenTelemetry: pip install 'mf-runtime[tracing]'"
            raise ImportError(text) from missing
        self._context = context
        self._trace = trace
        self._propagator = TraceContextTextMapPropagator()
        self._tracer = trace.get_tracer("mf", VERSION, provider)

    def begin(self, call: InterceptedCall) -> None:
        kinds = self._trace.SpanKind
        parent = self._parent() if call.is_client else self._propagator.extract(call.metadata)
        span = self._tracer.start_span(
            f"{call.service}/{call.method}",
            context=parent,
            kind=kinds.CLIENT if call.is_client else kinds.SERVER,
            attributes=_attributes(call),
        )
        inside = self._trace.set_span_in_context(span, parent)
        token: Any = None
        if call.is_client:
            for key in TRACE_KEYS:
                call.metadata.pop(key, None)
            self._propagator.inject(call.metadata, context=inside)
        elif not (call.kind is CallKind.STREAM and call.peer == "light:"):
            # The values of a stream in light are made while its reader's own code runs, between them.
            token = self._context.attach(inside)
        call.notes[self] = span, token

    def end(self, call: InterceptedCall, end: CallEnd) -> None:
        span, token = call.notes.pop(self)
        if token is not None:
            self._context.detach(token)
        if span.is_recording():
            self._describe(span, call, end)
        span.end()

    def _parent(self) -> Any:
        """The current span's context; without one, what came with the call whose handler runs here."""
        if self._trace.get_current_span().get_span_context().is_valid:
            return None
        served = current.get()
        return None if served is None else self._propagator.extract(served.metadata)

    def _describe(self, span: Any, call: InterceptedCall, end: CallEnd) -> None:
        span.set_attribute("rpc.response.status_code", end.code.name)
        if call.is_client:
            span.set_attribute("mf.attempts", end.attempts)
            if end.peer:
                span.set_attribute("network.peer.address", end.peer)
        if end.request_bytes or end.reply_bytes:
            span.set_attribute("mf.request_bytes", end.request_bytes)
            span.set_attribute("mf.reply_bytes", end.reply_bytes)
        if end.outcomes is not None:
            span.set_attribute("mf.failed_items", sum(not outcome.ok for outcome in end.outcomes))
        if end.code in (Code.OK, Code.DECLARED) or (not call.is_client and end.code in _FAULTS_OF_CALLERS):
            return
        span.set_attribute("error.type", end.code.name)
        span.set_status(self._trace.StatusCode.ERROR, str(end.error))


def _attributes(call: InterceptedCall) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        "rpc.system.name": "mf",
        "rpc.method": f"{call.service}/{call.method}",
        "mf.kind": call.kind.name,
    }
    if call.agent:
        attributes["mf.agent"] = call.agent
    if call.items != 1:
        attributes["mf.items"] = call.items
    if call.peer:
        attributes["network.peer.address"] = call.peer
    return attributes
