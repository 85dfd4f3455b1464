"""Spans of OpenTelemetry, whose context travels in metadata: with their SDK, as programs use it."""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import mf
from mf.interceptors import Recorder as Calls
from mf.interceptors.tracing import Tracing
from tests.python.conftest import AsyncRecorder, Recorder
from tests.python.echo import EchoAsyncClient, EchoClient, Negative, Number
from tests.python.interceptors.calling import WAYS, Beginning, Way, ends
from tests.python.serving import server_of

sdk = pytest.importorskip(
    "opentelemetry.sdk.trace", reason="opentelemetry-sdk of packaging/pip-test.txt is not installed"
)
from opentelemetry.sdk.trace.export import SimpleSpanProcessor  # noqa: E402
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter  # noqa: E402
from opentelemetry.trace import SpanKind, StatusCode, get_current_span  # noqa: E402

every_way = pytest.mark.parametrize("way", WAYS, ids=str)


class Spans:
    """A provider, and what has ended of it."""

    def __init__(self) -> None:
        self._kept = InMemorySpanExporter()
        self.provider = sdk.TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self._kept))
        self.tracing = Tracing(self.provider)

    @property
    def ended(self) -> list[Any]:
        return list(self._kept.get_finished_spans())

    def of(self, kind: Any, name: str = "") -> list[Any]:
        return [span for span in self.ended if span.kind is kind and name in span.name]


@pytest.fixture
def spans() -> Iterator[Spans]:
    made = Spans()
    yield made
    assert not get_current_span().get_span_context().is_valid, "a span was left as the current one"


def is_child(span: Any, parent: Any) -> bool:
    return bool(
        span.parent is not None
        and span.parent.span_id == parent.context.span_id
        and span.context.trace_id == parent.context.trace_id
    )


def do_call(both: Any) -> None:
    assert both.twice(21) == 42


def do_bulk(both: Any) -> None:
    both.bulk([1, -1, 3])


def do_batch(both: Any) -> None:
    both.batch([1])


def do_scatter(both: Any) -> None:
    both.scattered(1)


def do_count(both: Any) -> None:
    assert both.count(3) == [1, 2, 3]


def do_total(both: Any) -> None:
    assert both.total([1, 2]) == 13


def do_shout(both: Any) -> None:
    assert both.shout(["a"]) == ["A"]


@every_way
@pytest.mark.parametrize("do", [do_call, do_bulk, do_batch, do_scatter, do_count, do_total, do_shout])
def test_the_span_of_a_handler_is_a_child_of_its_callers(
    way: Way, do: Callable[[Any], None], spans: Spans
) -> None:
    with ends(way, [spans.tracing], [spans.tracing]) as both:
        do(both)
        both.behind.wait_for(1)

    (client,), (server,) = spans.of(SpanKind.CLIENT), spans.of(SpanKind.SERVER)
    assert client.parent is None
    assert is_child(server, client)
    assert client.name == server.name
    assert client.attributes["rpc.response.status_code"] == "OK"
    assert client.status.status_code is not StatusCode.ERROR


@every_way
def test_calls_of_handlers_are_children_of_their_spans(way: Way, spans: Spans) -> None:
    """A caller, a handler that calls another server, and that one's handler: one trace of four spans."""
    target: list[str] = []

    class Nested(Recorder):
        def twice(self, x: int) -> int:
            with mf.Client(target[0], interceptors=[spans.tracing]) as client:
                return EchoClient(client).at("b").twice(x)

    class AsyncNested(AsyncRecorder):
        async def twice(self, x: int) -> int:
            async with mf.AsyncClient(target[0], interceptors=[spans.tracing]) as client:
                return await EchoAsyncClient(client).at("b").twice(x)

    nested = AsyncNested() if way.handler_awaits else Nested()
    behind = Calls()
    with server_of(Recorder(), agent="b", interceptors=[behind, spans.tracing]) as far:
        target.append(far.address)
        with ends(way, [spans.tracing], [spans.tracing], nested) as both:
            assert both.twice(21) == 42
            both.behind.wait_for(1)
            behind.wait_for(1)

    clients, servers = spans.of(SpanKind.CLIENT), spans.of(SpanKind.SERVER)
    assert (len(clients), len(servers)) == (2, 2)
    outer = next(span for span in clients if span.parent is None)
    inner = next(span for span in clients if span.parent is not None)
    near = next(span for span in servers if is_child(span, outer))
    assert is_child(inner, near)
    assert any(is_child(span, inner) for span in servers)


@every_way
def test_a_failure_is_an_error_and_a_declared_error_is_none(way: Way, spans: Spans) -> None:
    def fail(call: mf.InterceptedCall) -> None:
        if call.arguments == (13,):
            raise KeyError("a mistake")

    with ends(way, [spans.tracing], [spans.tracing, Beginning(fail)]) as both:
        with pytest.raises(Negative):
            both.twice(-1)
        with pytest.raises(mf.Error):
            both.twice(13)
        both.behind.wait_for(2)

    for kind in (SpanKind.CLIENT, SpanKind.SERVER):
        declared, failed = spans.of(kind)
        assert declared.attributes["rpc.response.status_code"] == "DECLARED"
        assert declared.status.status_code is StatusCode.UNSET
        assert failed.status.status_code is StatusCode.ERROR
        assert "error.type" in failed.attributes
    assert spans.of(SpanKind.CLIENT)[1].attributes["error.type"] == "HANDLER_FAILED"


@every_way
def test_a_stream_that_is_given_up_ends_its_spans(way: Way, spans: Spans) -> None:
    with ends(way, [spans.tracing], [spans.tracing]) as both:
        assert both.first_of(1_000_000) == 1

    assert [len(spans.of(kind)) for kind in (SpanKind.CLIENT, SpanKind.SERVER)] == [1, 1]


def test_the_current_span_of_the_program_is_the_parent(spans: Spans) -> None:
    light = mf.Light()
    light.offer(Recorder(), "a")
    tracer = spans.provider.get_tracer("test")

    with tracer.start_as_current_span("work"):
        EchoClient(mf.Client(light, interceptors=[spans.tracing])).at("a").twice(1)

    call, work = spans.ended
    assert is_child(call, work)


def test_a_batch_has_one_span_and_each_message_its_own(spans: Spans) -> None:
    way = Way("tcp", caller_awaits=False, handler_awaits=False)
    with ends(way, [spans.tracing], [spans.tracing]) as both:
        both.batch([1, -1, 3, 4, 5])
        both.behind.wait_for(3)

    (client,) = spans.of(SpanKind.CLIENT)
    assert client.attributes["mf.items"] == 5
    assert client.attributes["mf.failed_items"] == 1
    assert all(is_child(span, client) for span in spans.of(SpanKind.SERVER))
    assert len(spans.of(SpanKind.SERVER)) == 3


def test_what_came_passes_on_without_the_interceptor(spans: Spans) -> None:
    seen: list[dict[str, str]] = []

    class Nested(Recorder):
        def twice(self, x: int) -> int:
            seen.append(dict(mf.current_call().metadata))
            return x if x > 1 else EchoClient(inner).at("a").twice(x + 2)

    light = mf.Light()
    light.offer(Nested(), "a")
    inner = mf.Client(light)

    EchoClient(mf.Client(light, interceptors=[spans.tracing])).at("a").twice(0)

    (client,) = spans.of(SpanKind.CLIENT)
    assert seen[0] == seen[1]
    assert format(client.context.trace_id, "032x") in seen[0]["traceparent"]


@pytest.mark.parametrize("sent", ["", "00-nothing", "00-" + "0" * 32 + "-" + "0" * 16 + "-01", "\n" * 500])
def test_a_context_that_is_none_begins_a_trace(sent: str, spans: Spans) -> None:
    with (
        server_of(Recorder(), agent="a", interceptors=[spans.tracing]) as server,
        mf.Client(server.address) as client,
    ):
        options = mf.CallOptions(metadata={"traceparent": sent, "tracestate": sent})
        assert EchoClient(client).at("a").twice(21, options=options) == 42
        assert EchoClient(client).at("a").twice_bulk([Number(1)], options=options) == [mf.Outcome(2)]

    assert all(span.parent is None for span in spans.ended)


def test_spans_that_are_not_sampled_pass_that_on() -> None:
    from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

    kept = InMemorySpanExporter()
    provider = sdk.TracerProvider(sampler=ALWAYS_OFF)
    provider.add_span_processor(SimpleSpanProcessor(kept))
    tracing, calls = Tracing(provider), Calls()
    light = mf.Light(interceptors=[calls, tracing])
    light.offer(Recorder(), "a")

    EchoClient(mf.Client(light, interceptors=[tracing])).at("a").twice(1)

    flags = calls.calls()[0].call.metadata["traceparent"].rpartition("-")[2]
    assert int(flags, 16) & 1 == 0
    assert kept.get_finished_spans() == ()


def test_tasks_at_once_have_their_own_spans(spans: Spans) -> None:
    async def main() -> None:
        light = mf.Light(interceptors=[spans.tracing])
        light.offer(AsyncRecorder(), "a")
        echo = EchoAsyncClient(mf.AsyncClient(light, interceptors=[spans.tracing])).at("a")
        await asyncio.gather(*(echo.twice(x) for x in range(20)))

    asyncio.run(main())

    clients = {span.context.span_id for span in spans.of(SpanKind.CLIENT)}
    assert len(clients) == 20
    assert {span.parent.span_id for span in spans.of(SpanKind.SERVER)} == clients


def test_nothing_else_loads_opentelemetry() -> None:
    program = "import sys, mf, mf.interceptors; sys.exit('opentelemetry' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False, timeout=60).returncode == 0


def test_without_opentelemetry_it_says_what_is_missing() -> None:
    program = (
        "import sys; sys.modules['opentelemetry'] = None\n"
        "from mf.interceptors.tracing import Tracing\n"
        "try: Tracing()\n"
        "except ImportError as missing: print(missing)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "tracing needs the API of OpenTelemetry: pip install 'mf-runtime[tracing]'\n"
