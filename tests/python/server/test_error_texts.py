"""What the caller of a handler that has failed gets of the exception, and what the log has of it."""

import logging
import re
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import mf
from mf.codec import shape as s
from mf.core.error import Code, Execution
from mf.interceptors import Recorder as Calls
from mf.server import answers
from tests.python.conftest import AsyncRecorder, Recorder, eventually
from tests.python.echo import EchoClient, Number
from tests.python.flow import FlowClient
from tests.python.flowing import Awaiting, Plain
from tests.python.serving import AnyServant, server_of

SECRET = "/etc/mf/password of 10.0.0.7"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
HIDDEN = re.compile(
    "the handler has failed: the log of its server has the reason, with the reference ([0-9a-f]{8})"
)


def fails(*_: Any) -> Any:
    raise RuntimeError(SECRET)


class Failing(Recorder):
    def twice(self, x: int) -> int:
        return 2 * x if x == 0 else int(fails())


class FailingLater(AsyncRecorder):
    async def twice(self, x: int) -> int:
        return 2 * x if x == 0 else int(fails())


class OwnBatch(Failing):
    def twice_items(self, requests: Sequence[Number]) -> list[mf.Outcome[int]]:
        return mf.each(self.twice, ((each.x,) for each in requests))


class OwnBatchLater(FailingLater):
    async def twice_items(self, requests: Sequence[Number]) -> list[mf.Outcome[int]]:
        return await mf.each_async(self.twice, ((each.x,) for each in requests))


class WholeBatch(Failing):
    def twice_items(self, requests: Sequence[Number]) -> list[mf.Outcome[int]]:
        return [mf.Outcome(fails()) for _ in requests]


class FailingFlow(Plain):
    def count(self, to: int) -> Iterator[int]:
        yield to
        fails()

    def total(self, start: int, values: Iterator[int]) -> int:
        return start + int(fails(values))


class FailingFlowLater(Awaiting):
    async def count(self, to: int) -> AsyncIterator[int]:
        yield to
        fails()

    async def total(self, start: int, values: AsyncIterator[int]) -> int:
        return start + int(fails(values))


def one(client: mf.Client) -> mf.Error:
    with pytest.raises(mf.Error) as raised:
        EchoClient(client).at("a").twice(
            1, options=mf.CallOptions(metadata={"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"})
        )
    return raised.value


def item(outcomes: list[mf.Outcome[int]]) -> mf.Error:
    error = outcomes[1].error
    assert isinstance(error, mf.Error)
    return error


def of_bulk(client: mf.Client) -> mf.Error:
    return item(EchoClient(client).at("a").twice_bulk([Number(0), Number(1)]))


def of_whole(client: mf.Client) -> mf.Error:
    with pytest.raises(mf.Error) as raised:
        EchoClient(client).at("a").twice_bulk([Number(0), Number(1)])
    return raised.value


def of_batch(client: mf.Client) -> mf.Error:
    return item(EchoClient(client).at("a").twice_batch([Number(0), Number(1)]).results())


def of_reader(client: mf.Client) -> mf.Error:
    values = FlowClient(client).count(7)
    assert next(values) == 7
    with pytest.raises(mf.Error) as raised:
        next(values)
    return raised.value


def of_writer(client: mf.Client) -> mf.Error:
    with pytest.raises(mf.Error) as raised:
        FlowClient(client).total(0, iter([1, 2]))
    return raised.value


WAYS = [
    pytest.param(servant, call, agent, id=f"{servant.__name__}-{call.__name__}")
    for servants, calls, agent in (
        ((Failing, FailingLater), (one, of_bulk, of_batch), "a"),
        ((OwnBatch, OwnBatchLater), (of_bulk,), "a"),
        ((WholeBatch,), (of_whole,), "a"),
        ((FailingFlow, FailingFlowLater), (of_reader, of_writer), None),
    )
    for servant in servants
    for call in calls
]


@pytest.mark.parametrize(("servant", "call", "agent"), WAYS)
def test_the_caller_gets_the_reference_of_the_line_and_not_the_text(
    servant: type[AnyServant],
    call: Callable[[mf.Client], mf.Error],
    agent: str | None,
    caplog: pytest.LogCaptureFixture,
) -> None:
    seen = Calls()
    with (
        server_of(servant(), agent=agent, interceptors=[seen]) as server,
        mf.Client(server.address) as client,
    ):
        failure = call(client)
        assert (failure.code, failure.execution) == (Code.HANDLER_FAILED, Execution.UNKNOWN)
        assert isinstance(failure, mf.HandlerFailed)
        found = HIDDEN.fullmatch(failure.message)
        assert found, failure.message
        [line] = [each for each in lines(caplog) if each.startswith("handler_failed ")]
        assert f"reference={found[1]} " in line
        assert f'what="RuntimeError: {SECRET}"' in line
        assert " peer=tcp://127.0.0.1:" in line
        assert f"trace_id={TRACE if call is one else chr(34) * 2} " in line
        [of_server] = seen.wait_for(1)
    error = of_server.end.error if of_server.end.outcomes is None else of_server.end.outcomes[1].error
    if call not in (of_bulk, of_batch) or servant in (OwnBatch, OwnBatchLater):
        assert SECRET in str(error), "interceptors of the server see what was raised"


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    assert eventually(lambda: any("handler_failed" in each for each in caplog.messages))
    return caplog.messages


@pytest.mark.parametrize(("servant", "call", "agent"), WAYS)
def test_a_server_that_sends_texts_sends_them(
    servant: type[AnyServant], call: Callable[[mf.Client], mf.Error], agent: str | None
) -> None:
    with server_of(servant(), agent=agent, error_texts=True) as server, mf.Client(server.address) as client:
        assert call(client).message == f"RuntimeError: {SECRET}"


@pytest.mark.parametrize("kind", [Failing, FailingLater])
def test_in_the_process_itself_the_text_is_given(kind: type[AnyServant]) -> None:
    light = mf.Light()
    light.offer(kind(), agent="a")
    client = mf.Client(light)
    assert one(client).message == f"RuntimeError: {SECRET}"
    assert of_bulk(client).message == f"RuntimeError: {SECRET}"


def test_what_a_handler_means_for_its_caller_is_sent() -> None:
    servant = Recorder()

    def act(_: int) -> int:
        raise mf.Error(Code.PERMISSION_DENIED, "not on Sundays")

    servant.act = act
    with (
        server_of(servant, agent="a") as server,
        mf.Client(server.address) as client,
        pytest.raises(mf.PermissionDenied, match="not on Sundays"),
    ):
        EchoClient(client).at("a").flaky(1)


def test_the_failure_of_a_nested_call_says_nothing_of_the_servers_behind() -> None:
    servant = Recorder()
    with mf.Client("tcp://127.0.0.1:9", wait_for_server=0.0) as behind:
        servant.act = lambda x: EchoClient(behind).at("a").twice(x, options=mf.CallOptions(deadline=0.2))
        with (
            server_of(servant, agent="a") as server,
            mf.Client(server.address) as client,
            pytest.raises(mf.Error) as raised,
        ):
            EchoClient(client).at("a").flaky(1)
    assert raised.value.code is Code.HANDLER_FAILED
    assert HIDDEN.fullmatch(raised.value.message)


def test_failures_of_one_cause_have_one_reference_until_the_next_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with server_of(Failing(), agent="a") as server, mf.Client(server.address) as client:
        messages = {one(client).message for _ in range(20)}
    assert len(messages) == 1
    assert len([each for each in lines(caplog) if each.startswith("handler_failed ")]) == 1


def test_without_a_line_there_is_no_reference(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, "mf")
    with server_of(Failing(), agent="a") as server, mf.Client(server.address) as client:
        assert one(client).message == "the handler has failed: the log of its server counts it"


class LeakyCodec:
    def encode(self, value: Any) -> bytes:
        return bytes(fails(value))

    def decode(self, data: bytes) -> bytes:
        return data


@pytest.mark.parametrize(
    ("element", "value", "sent"),
    [
        (s.Custom("texts.Leaky", "texts_leaky", "codec"), 1, "the log of its server counts it"),
        (s.U8, 256, "256"),
    ],
)
def test_what_a_codec_of_the_server_throws_stays_in_the_log(
    monkeypatch: pytest.MonkeyPatch, element: s.Shape, value: int, sent: str
) -> None:
    module = ModuleType("texts_leaky")
    module.codec = LeakyCodec()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "texts_leaky", module)
    monkeypatch.setattr(answers, "log_failure", lambda *_: None)
    with pytest.raises(mf.Error) as refused:
        mf.to_bytes([value], s.List(element))
    call: Any = SimpleNamespace(handler=SimpleNamespace(error_texts=False))

    failure = answers.bad_result(call, refused.value)

    assert SECRET not in failure.message
    assert sent in failure.message
