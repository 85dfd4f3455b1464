"""Calls that run where they were read have the same answers, states and lines in the log, natively and
purely."""

import gc
import sys
from collections.abc import Callable, Iterator
from time import sleep
from typing import Any

import pytest

import mf
from mf.core.current import current
from mf.core.error import Code
from mf.server import dispatch, server_io
from mf.server.dispatch import run, runner_of
from mf.testing import FakeClock
from tests.python.conftest import Recorder
from tests.python.echo import TWICE, EchoClient, Negative
from tests.python.native.plans import module, sessions_use

Ways = Callable[[mf.Servant], EchoClient]
SOON = mf.CallOptions(deadline=10)


@pytest.fixture(params=["pure", "native"])
def served(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ways]:
    """Offers a servant whose handlers run where requests are read."""
    native = runner_of(module())
    taken: set[str] = set()

    def runner(call: Any) -> None:
        taken.add(call.method)
        (native if request.param == "native" else run)(call)

    monkeypatch.setattr(server_io, "runner", lambda: runner)
    opened: list[Callable[[], Any]] = []

    def serve(servant: mf.Servant) -> EchoClient:
        server = mf.Server(options=mf.ServerOptions(drain_timeout=1.0, max_payload=1 << 16))
        server.offer(servant, agent="a", inline=True)
        server.start()
        client = mf.Client(server.address, mf.ClientOptions(max_payload=1 << 16))
        opened.extend((client.close, server.stop))
        return EchoClient(client).at("a")

    with sessions_use(request.param):
        yield serve
        assert taken  # so that the fixture had something to do
        for close in opened:
            close()


class Acting(Recorder):
    """Does for `twice(x)` what the test says."""

    def __init__(self, act: Callable[[int], Any]) -> None:
        super().__init__()
        self.act = act

    def twice(self, x: int) -> int:
        result: int = self.act(x)
        return result


def failing(raised: BaseException) -> Callable[[int], Any]:
    def act(_: int) -> Any:
        raise raised

    return act


def test_a_result_arrives(served: Ways) -> None:
    echo = served(Acting(lambda x: 2 * x))

    assert [echo.twice(x) for x in range(20)] == [2 * x for x in range(20)]
    assert echo.echo(b"bytes") == b"bytes"


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        (mf.Error(Code.OVERLOADED, "not today"), Code.OVERLOADED),
        (ValueError("a secret"), Code.HANDLER_FAILED),
        (SystemExit(3), Code.HANDLER_FAILED),
        (KeyboardInterrupt(), Code.HANDLER_FAILED),
    ],
)
def test_what_a_handler_raises_is_answered(served: Ways, raised: BaseException, code: Code) -> None:
    echo = served(Acting(failing(raised)))

    with pytest.raises(mf.Error) as failed:
        echo.twice(1, options=SOON)

    assert failed.value.code is code
    assert "a secret" not in str(failed.value)


def test_a_declared_error_arrives(served: Ways) -> None:
    echo = served(Acting(failing(Negative(-3))))

    with pytest.raises(Negative) as failed:
        echo.twice(1, options=SOON)

    assert failed.value == Negative(-3)


@pytest.mark.parametrize("result", ["no number", None, 1 << 40])
def test_a_result_that_is_none_is_a_failure_of_the_handler(served: Ways, result: Any) -> None:
    echo = served(Acting(lambda _: result))

    with pytest.raises(mf.Error) as failed:
        echo.twice(1, options=SOON)

    assert failed.value.code is Code.HANDLER_FAILED
    assert failed.value.message.startswith(
        ("the handler has failed", "the result is not what the schema says")
    )


def test_a_result_for_which_there_is_no_memory_is_a_failure_of_the_handler(served: Ways) -> None:
    class Endless(bytes):
        def __len__(self) -> int:
            raise MemoryError

    class Much(Recorder):
        def echo(self, data: bytes) -> bytes:
            return Endless() if data else b"well"

    echo = served(Much())

    with pytest.raises(mf.Error) as failed:
        echo.echo(b"1", options=SOON)

    assert failed.value.code is Code.HANDLER_FAILED
    assert echo.echo(b"", options=SOON) == b"well"


def test_a_reply_that_is_too_large_is_refused(served: Ways) -> None:
    class Much(Recorder):
        def echo(self, data: bytes) -> bytes:
            return data * 100_000

    echo = served(Much())

    with pytest.raises(mf.Error, match=r"the reply has 10000\d bytes") as failed:
        echo.echo(b"1", options=SOON)

    assert failed.value.code is Code.MESSAGE_TOO_LARGE
    assert echo.echo(b"", options=SOON) == b""


def test_a_deadline_that_passes_in_the_handler_ends_the_call(served: Ways) -> None:
    def act(x: int) -> int:
        sleep(0.05)
        return x

    echo = served(Acting(act))

    with pytest.raises(mf.DeadlineExceeded):
        echo.twice(1, options=mf.CallOptions(deadline=0.01))
    assert echo.twice(2, options=SOON) == 2


def test_the_handler_knows_its_call_and_leaves_it(served: Ways) -> None:
    seen: list[Any] = []

    def act(x: int) -> int:
        call = mf.current_call()
        call.set_reply_metadata("k", "v")
        seen.append((call.method, call.agent, call.metadata.get("given"), call.deadline_left > 0))
        return x

    echo = served(Acting(act))
    got: dict[str, str] = {}
    options = mf.CallOptions(deadline=10, metadata={"given": "yes"}, reply_metadata=got)

    assert echo.twice(5, options=options) == 5
    assert echo.twice(6, options=SOON) == 6
    assert seen == [("twice", "a", "yes", True), ("twice", "a", None, True)]
    assert got == {"k": "v"}
    assert current.get() is None


def test_a_handler_that_calls_another_one_is_answered_last(served: Ways) -> None:
    inner = served(Acting(lambda x: x + 1))
    outer = served(Acting(lambda x: inner.twice(x, options=SOON) * 10))

    assert outer.twice(1, options=SOON) == 20


def test_a_server_under_a_test_clock_goes_by_that_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    native = runner_of(module())
    monkeypatch.setattr(dispatch, "_runner", lambda: native)
    with FakeClock(1e9).installed():
        assert dispatch.runner() is run
    assert dispatch.runner() is native


@pytest.mark.usefixtures("served")
def test_calls_are_counted() -> None:
    servant = Acting(lambda x: x)
    server = mf.Server(options=mf.ServerOptions(drain_timeout=1.0))
    server.offer(servant, agent="a", inline=True)
    server.start()
    with mf.Client(server.address) as client:
        echo = EchoClient(client).at("a")
        for x in range(7):
            echo.twice(x)
    assert server.stats().executed == 7
    server.stop()


def test_no_reference_is_lost_or_kept(served: Ways) -> None:
    def act(x: int) -> int:
        if x % 3 == 0:
            raise Negative(x)
        return 1 << 40 if x % 3 == 1 else x

    echo = served(Acting(act))

    def calls(count: int) -> None:
        for x in range(count):
            try:
                echo.twice(x, options=SOON)
            except mf.MfError:
                continue

    shared = [None, True, False, Negative, TWICE, act, current]
    calls(300)
    gc.collect()
    before = [sys.getrefcount(each) for each in shared]
    calls(3_000)
    gc.collect()

    moved = [sys.getrefcount(each) - was for each, was in zip(shared, before, strict=True)]
    assert max(map(abs, moved)) < 700, moved  # some objects of other tests may go; each way has 1,000 calls
