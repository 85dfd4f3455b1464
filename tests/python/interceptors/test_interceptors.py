# ruff: noqa: ARG001, ARG002, ARG005 - hooks have the parameters that interceptors get
"""Interceptors of clients, servers and light: their order, what they see, and what they may do."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

import mf
from mf.interceptors import Recorder
from tests.python.client.test_cached import IDS, NAMES
from tests.python.client.test_cached import Servant as Cached
from tests.python.conftest import AsyncRecorder, eventually
from tests.python.conftest import Recorder as Echo
from tests.python.echo import ECHO_SERVICE, TWICE, EchoAsyncClient, EchoClient, Negative, Number
from tests.python.flow import Wrong
from tests.python.interceptors.calling import WAYS, Around, Beginning, Instead, Noting, Way, ends

every_way = pytest.mark.parametrize("way", WAYS, ids=str)


def the_end(recorder: Recorder) -> mf.CallEnd:
    (only,) = recorder.wait_for(1)
    return only.end


def the_call(recorder: Recorder) -> mf.InterceptedCall:
    (only,) = recorder.wait_for(1)
    return only.call


@every_way
def test_the_first_one_given_is_the_outermost(way: Way) -> None:
    notes: list[str] = []
    with ends(
        way, [Noting("c1", notes), Noting("c2", notes)], [Noting("s1", notes), Noting("s2", notes)]
    ) as both:
        assert both.twice(21) == 42
        both.behind.wait_for(1)

    assert notes == [
        *("c1 begin", "c2 begin", "c1 in", "c2 in"),
        *("s1 begin", "s2 begin", "s1 in", "s2 in", "s2 out", "s1 out", "s2 end", "s1 end"),
        *("c2 out", "c1 out", "c2 end", "c1 end"),
    ]


@every_way
def test_both_sides_see_the_call_and_its_end(way: Way) -> None:
    with ends(way) as both:
        assert both.twice(21, mf.CallOptions(deadline=9.0, metadata={"tenant": "acme"})) == 42
        client, served = both.before.wait_for(1)[0], both.behind.wait_for(1)[0]

    for seen in (client, served):
        assert (seen.call.service, seen.call.method, seen.call.agent) == ("demo.Echo", "twice", "a")
        assert (seen.call.kind, seen.call.items, tuple(seen.call.arguments)) == (mf.CallKind.CALL, 1, (21,))
        assert seen.call.metadata == {"tenant": "acme"}
        assert 0 < seen.call.deadline_left < 9.5
        assert (seen.end.code, seen.end.error, seen.end.value) == (mf.Code.OK, None, 42)
        assert seen.end.attempts == 1
        assert seen.end.seconds > 0
    assert client.call.is_client
    assert client.call.identity is None
    assert not served.call.is_client
    assert served.call.identity is not None
    assert served.call.peer == served.end.peer
    if not way.is_light:
        assert client.end.peer
        assert (served.end.request_bytes, served.end.reply_bytes) == (4, 4)
        assert client.end.reply_bytes == 4
        assert client.end.request_bytes > 4  # with the metadata


@every_way
def test_a_declared_error_is_an_end(way: Way) -> None:
    with ends(way) as both:
        with pytest.raises(Negative):
            both.twice(-1)

        for side in (both.before, both.behind):
            assert the_end(side).code is mf.Code.DECLARED
            assert the_end(side).error == Negative(-1)


@every_way
def test_a_client_may_refuse_and_nothing_is_sent(way: Way) -> None:
    def refuse(call: mf.InterceptedCall) -> None:
        raise mf.Error(mf.Code.PERMISSION_DENIED, "not today", mf.Execution.NOT_EXECUTED)

    with ends(way, [Beginning(refuse)]) as both:
        with pytest.raises(mf.Error, match="not today"):
            both.twice(21)

        assert the_end(both.before).code is mf.Code.PERMISSION_DENIED
        assert both.behind.calls() == []


@every_way
@pytest.mark.parametrize("code", [mf.Code.UNAUTHENTICATED, mf.Code.OVERLOADED, mf.Code.PERMISSION_DENIED])
def test_a_server_may_refuse_and_the_caller_gets_it_as_it_is(way: Way, code: mf.Code) -> None:
    refused: list[str] = []

    def refuse(call: mf.InterceptedCall) -> None:
        refused.append(call.peer)
        raise mf.Error(code, "not today", mf.Execution.NOT_EXECUTED)

    with ends(way, server=[Beginning(refuse)]) as both:
        with pytest.raises(mf.Error, match="not today") as failed:
            both.twice(21)

        assert (failed.value.code, failed.value.execution) == (code, mf.Execution.NOT_EXECUTED)
        assert all(each.end.code is code for each in both.behind.wait_for(len(refused)))
        attempts = 1 if way.is_light or code is not mf.Code.OVERLOADED else 3
        assert len(refused) == attempts
        if not way.is_light:
            assert the_end(both.before).attempts == attempts


@every_way
def test_around_a_handler_it_may_refuse_before_going_on(way: Way) -> None:
    def refuse(call: mf.InterceptedCall) -> Any:
        raise mf.Error(mf.Code.UNAUTHENTICATED, "who are you?", mf.Execution.NOT_EXECUTED)

    with ends(way, server=[Instead(refuse)]) as both:
        with pytest.raises(mf.Error, match="who are you") as failed:
            both.twice(21)

        assert failed.value.code is mf.Code.UNAUTHENTICATED
        assert failed.value.execution is mf.Execution.NOT_EXECUTED


@every_way
def test_a_declared_error_may_refuse_too(way: Way) -> None:
    def refuse(call: mf.InterceptedCall) -> None:
        raise Negative(7)

    with ends(way, server=[Beginning(refuse)]) as both, pytest.raises(Negative) as failed:
        both.twice(21)

    assert failed.value == Negative(7)


@every_way
@pytest.mark.parametrize("at_server", [False, True])
def test_it_may_answer_without_going_on(way: Way, at_server: bool) -> None:
    answering = [Instead(lambda call: 7)]
    with ends(way, [] if at_server else answering, answering if at_server else []) as both:
        assert both.twice(21) == 7

        assert the_end(both.before).value == 7
        assert bool(both.behind.calls()) is at_server


@every_way
@pytest.mark.parametrize("at_server", [False, True])
def test_it_may_change_the_answer(way: Way, at_server: bool) -> None:
    changing = [Around(lambda call, value: value + 1)]
    with ends(way, [] if at_server else changing, changing if at_server else []) as both:
        assert both.twice(21) == 43


@every_way
def test_a_client_adds_metadata_and_takes_time_away(way: Way) -> None:
    def change(call: mf.InterceptedCall) -> None:
        call.metadata["tenant"] = "acme"
        call.deadline = min(call.deadline, call.deadline - call.deadline_left + 5.0)

    with ends(way, [Beginning(change)]) as both:
        assert both.twice(21) == 42

        assert the_call(both.behind).metadata == {"tenant": "acme"}
        assert the_call(both.behind).deadline_left < 6.0


@every_way
def test_a_bulk_is_one_call_with_an_outcome_for_each_item(way: Way) -> None:
    with ends(way) as both:
        outcomes = both.bulk([1, -1, 3])

        for side in (both.before, both.behind):
            (seen,) = side.wait_for(1)
            assert (seen.call.kind, seen.call.items) == (mf.CallKind.BULK, 3)
            assert [request.x for request in seen.call.arguments] == [1, -1, 3]
            assert (seen.end.code, seen.end.outcomes) == (mf.Code.OK, outcomes)
    assert outcomes == [mf.Outcome(2), mf.Outcome(error=Negative(-1)), mf.Outcome(6)]


@every_way
def test_a_batch_is_one_call_of_its_client_and_a_message_each_at_the_server(way: Way) -> None:
    with ends(way) as both:
        outcomes = both.batch([1, -1, 3, 4, 5])

        (seen,) = both.before.wait_for(1)
        assert (seen.call.kind, seen.call.items) == (mf.CallKind.BATCH, 5)
        assert seen.end.outcomes == outcomes
        messages = both.behind.wait_for(3)
        assert sorted(each.call.items for each in messages) == [1, 2, 2]
    assert [outcome.ok for outcome in outcomes] == [True, False, True, True, True]


@every_way
def test_single_items_may_be_answered_otherwise(way: Way) -> None:
    def change(call: mf.InterceptedCall, outcomes: list[mf.Outcome[int]]) -> Any:
        late = mf.Error(mf.Code.OVERLOADED, "one too many", mf.Execution.NOT_EXECUTED)
        return [*outcomes[:-1], mf.Outcome(error=late)]

    with ends(way, server=[Around(change)]) as both:
        outcomes = both.bulk([1, 2, 3])

    assert [outcome.ok for outcome in outcomes] == [True, True, False]
    error = outcomes[-1].error
    assert isinstance(error, mf.Error)
    assert error.code is mf.Code.OVERLOADED


@every_way
def test_a_scattered_call_is_one_with_an_outcome_for_each_agent(way: Way) -> None:
    with ends(way) as both:
        found = both.scattered(21)

        (seen,) = both.before.wait_for(1)
    assert found.ok == {"a": 42}
    assert seen.call.kind is mf.CallKind.SCATTERED
    assert seen.end.outcomes is not None
    assert [outcome.ok for outcome in seen.end.outcomes] == [True, False]


@every_way
def test_a_stream_of_results_ends_on_both_sides(way: Way) -> None:
    with ends(way) as both:
        assert both.count(5) == [1, 2, 3, 4, 5]

        for side in (both.before, both.behind):
            (seen,) = side.wait_for(1)
            assert (seen.call.kind, tuple(seen.call.arguments)) == (mf.CallKind.STREAM, (5,))
            assert (seen.end.code, seen.end.value) == (mf.Code.OK, None)
            assert side.open == 0


@every_way
def test_a_stream_of_parameters_ends_on_both_sides(way: Way) -> None:
    with ends(way) as both:
        assert both.total([1, 2, 3]) == 16

        for side in (both.before, both.behind):
            (seen,) = side.wait_for(1)
            assert (seen.call.kind, tuple(seen.call.arguments)) == (mf.CallKind.STREAM, (10,))
            assert (seen.end.code, seen.end.value) == (mf.Code.OK, 16)


@every_way
def test_a_stream_that_fails_ends_with_its_failure(way: Way) -> None:
    with ends(way) as both:
        with pytest.raises(Wrong):
            both.broken(3)

        for side in (both.before, both.behind):
            assert the_end(side).code is mf.Code.DECLARED
            assert isinstance(the_end(side).error, Wrong)


@every_way
def test_both_directions_end_on_both_sides(way: Way) -> None:
    with ends(way) as both:
        assert both.shout(["sea", "salt"]) == ["SEA", "SALT"]

        for side in (both.before, both.behind):
            assert the_end(side).code is mf.Code.OK


@every_way
def test_a_stream_that_is_given_up_ends_as_cancelled(way: Way) -> None:
    with ends(way) as both:
        assert both.first_of(1_000_000) == 1

        for side in (both.before, both.behind):
            assert the_end(side).code is mf.Code.CANCELLED
            assert side.open == 0


@every_way
def test_the_values_of_a_stream_may_be_changed_at_the_server(way: Way) -> None:
    async def more(values: Any) -> Any:
        async for value in values:
            yield value + 100

    def change(call: mf.InterceptedCall, values: Any) -> Any:
        return more(values) if way.handler_awaits else (value + 100 for value in values)

    with ends(way, server=[Around(change)]) as both:
        assert both.count(3) == [101, 102, 103]


@every_way
def test_a_stream_may_be_refused(way: Way) -> None:
    def refuse(call: mf.InterceptedCall) -> None:
        raise mf.Error(mf.Code.UNAUTHENTICATED, "not today", mf.Execution.NOT_EXECUTED)

    for sides in ({"client": [Beginning(refuse)]}, {"server": [Beginning(refuse)]}):
        with ends(way, **sides) as both:
            with pytest.raises(mf.Error, match="not today") as failed:
                both.count(3)

            assert failed.value.execution is mf.Execution.NOT_EXECUTED
            assert the_end(both.before).code is mf.Code.UNAUTHENTICATED


# Interceptors that misbehave


@every_way
@pytest.mark.parametrize("hook", ["begin", "around"])
def test_one_that_raises_at_the_server_fails_the_call_alone(way: Way, hook: str) -> None:
    def fail(call: mf.InterceptedCall, *_: Any) -> Any:
        if call.arguments[0] == 13:
            raise KeyError("a mistake")
        return 7

    broken = Beginning(fail) if hook == "begin" else Around(fail)
    with ends(way, server=[broken]) as both:
        with pytest.raises(mf.Error) as failed:
            both.twice(13)

        assert failed.value.code is mf.Code.HANDLER_FAILED
        assert ("KeyError" in failed.value.message) is way.is_light
        assert both.twice(1) == (2 if hook == "begin" else 7)
        assert both.behind.open == 0


@every_way
def test_one_that_raises_at_the_client_raises_to_its_caller(way: Way) -> None:
    def fail(call: mf.InterceptedCall) -> None:
        raise KeyError("a mistake")

    with ends(way, [Beginning(fail)]) as both:
        with pytest.raises(KeyError):
            both.twice(21)

        assert the_end(both.before).code is mf.Code.INTERNAL
        assert both.before.open == 0


@every_way
@pytest.mark.parametrize("at_server", [False, True])
def test_what_the_end_raises_changes_nothing(way: Way, at_server: bool) -> None:
    class Broken(mf.Interceptor):
        def end(self, call: mf.InterceptedCall, end: mf.CallEnd) -> None:
            raise KeyError("a mistake")

    broken = [Broken()]
    with ends(way, [] if at_server else broken, broken if at_server else []) as both:
        assert both.twice(21) == 42

        for side in (both.before, both.behind):
            assert the_end(side).code is mf.Code.OK


@every_way
def test_a_handler_cannot_be_run_twice(way: Way) -> None:
    class Twice(mf.Interceptor):
        def call(self, call: mf.InterceptedCall, proceed: Callable[[], Any]) -> Any:
            return proceed() + proceed()

        async def call_async(self, call: mf.InterceptedCall, proceed: Callable[[], Any]) -> Any:
            return await proceed() + await proceed()

    with ends(way, server=[Twice()]) as both:
        with pytest.raises(mf.HandlerFailed):
            both.twice(21)

        assert "runs once" in str(the_end(both.behind).error)


@every_way
def test_a_client_may_make_another_request(way: Way) -> None:
    class Twice(mf.Interceptor):
        def call(self, call: mf.InterceptedCall, proceed: Callable[[], Any]) -> Any:
            return proceed() + proceed()

        async def call_async(self, call: mf.InterceptedCall, proceed: Callable[[], Any]) -> Any:
            return await proceed() + await proceed()

    with ends(way, [Twice()]) as both:
        assert both.twice(21) == 84

        assert len(both.behind.wait_for(2)) == 2
        if not way.is_light:
            assert the_end(both.before).attempts == 2


def test_one_that_calls_its_own_client_is_not_around_that_call() -> None:
    class Asking(mf.Interceptor):
        client: mf.Client

        def call(self, call: mf.InterceptedCall, proceed: Callable[[], Any]) -> Any:
            return proceed() + EchoClient(self.client).at("a").twice(100)

    asking, recorder = Asking(), Recorder()
    light = mf.Light()
    light.offer(Echo(), "a")
    asking.client = mf.Client(light, interceptors=[recorder, asking])

    assert EchoClient(asking.client).at("a").twice(1) == 202
    assert len(recorder.calls()) == 1


def test_an_awaited_one_that_calls_its_own_client_is_not_around_that_call() -> None:
    class Asking(mf.Interceptor):
        client: mf.AsyncClient

        async def call_async(self, call: mf.InterceptedCall, proceed: Callable[[], Any]) -> Any:
            return await proceed() + await EchoAsyncClient(self.client).at("a").twice(100)

    async def main() -> int:
        asking.client = mf.AsyncClient(light, interceptors=[recorder, asking])
        return await EchoAsyncClient(asking.client).at("a").twice(1)

    asking, recorder = Asking(), Recorder()
    light = mf.Light()
    light.offer(Echo(), "a")

    assert asyncio.run(main()) == 202
    assert len(recorder.calls()) == 1


def test_the_calls_of_a_handler_in_light_are_intercepted() -> None:
    class Nested(Echo):
        def twice(self, x: int) -> int:
            return x if x > 1 else EchoClient(client).at("a").twice(x + 1)

    recorder = Recorder()
    light = mf.Light()
    light.offer(Nested(), "a")
    client = mf.Client(light, interceptors=[recorder])

    assert EchoClient(client).at("a").twice(0) == 2
    assert [each.call.arguments for each in recorder.calls()] == [(2,), (1,), (0,)]


def test_one_that_blocks_holds_up_its_own_call_alone() -> None:
    blocks = threading.Event()

    def block(call: mf.InterceptedCall) -> None:
        if call.arguments[0] == 13:
            blocks.wait(30)

    way = Way("tcp", caller_awaits=False, handler_awaits=False)
    with ends(way, server=[Beginning(block)], workers=2) as both:
        with pytest.raises(mf.Error) as failed:
            both.twice(13, mf.CallOptions(deadline=0.2))

        assert failed.value.code is mf.Code.DEADLINE_EXCEEDED
        assert both.twice(21) == 42
        blocks.set()
        assert eventually(lambda: both.behind.open == 0)


def test_a_call_whose_time_an_interceptor_has_used_up_is_not_sent() -> None:
    def use_up(call: mf.InterceptedCall) -> None:
        call.deadline = 0.0

    for way in WAYS:
        with ends(way, [Beginning(use_up)]) as both:
            with pytest.raises(mf.Error) as failed:
                both.twice(21)

            assert failed.value.code is mf.Code.DEADLINE_EXCEEDED
            assert failed.value.execution is mf.Execution.NOT_EXECUTED
            assert both.behind.calls() == []


# What is no interceptor


class OnlyBlocking(mf.Interceptor):
    def call(self, call: mf.InterceptedCall, proceed: Callable[[], Any]) -> Any:
        return proceed()


class OnlyAwaited(mf.Interceptor):
    async def call_async(self, call: mf.InterceptedCall, proceed: Callable[[], Any]) -> Any:
        return await proceed()


def test_one_for_the_other_kind_of_calls_is_refused() -> None:
    with pytest.raises(TypeError, match=r"OnlyAwaited has `call_async` and no `call`, which blocking"):
        mf.Client("tcp://127.0.0.1:1", interceptors=[OnlyAwaited()])
    with pytest.raises(TypeError, match="OnlyAwaited"):
        mf.Server(interceptors=[OnlyAwaited()])
    with pytest.raises(TypeError, match=r"OnlyBlocking has `call` and no `call_async`, which awaited"):
        mf.AsyncServer(interceptors=[OnlyBlocking()])
    light = mf.Light(interceptors=[OnlyAwaited()])
    with pytest.raises(TypeError, match="OnlyAwaited"):
        light.offer(Echo(), "a")


@pytest.mark.parametrize("wrong", [Recorder, "log", None])
def test_what_is_no_interceptor_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="is no mf"):
        mf.Client("tcp://127.0.0.1:1", interceptors=[wrong])


def test_a_hook_that_would_have_to_be_awaited_is_refused() -> None:
    class Awaited(mf.Interceptor):
        async def begin(self, call: mf.InterceptedCall) -> None:  # type: ignore[override]
            pass

    with pytest.raises(TypeError, match="`begin` of Awaited is `async def`"):
        mf.Server(interceptors=[Awaited()])


def test_a_client_with_an_interceptor_that_blocks_still_subscribes() -> None:
    """Its asynchronous side has none of them."""
    with mf.Client("tcp://127.0.0.1:1", interceptors=[OnlyBlocking()]) as client:
        _, behind = client.async_side().running()
        assert behind is not None


# Batches whose caller looks at them in other ways


def test_a_batch_ends_when_its_caller_learns_it() -> None:
    for look in (
        lambda batch: batch.wait(),
        lambda batch: eventually(batch.ready),
        lambda batch: batch.results(),
    ):
        way = Way("tcp", caller_awaits=False, handler_awaits=False)
        with ends(way) as both:
            both.echo(lambda e, look=look: look(e.twice_batch([Number(1), Number(2)])), lambda _: None)  # type: ignore[misc]

            assert the_end(both.before).outcomes == [mf.Outcome(2), mf.Outcome(4)]


def test_without_interceptors_nothing_is_around_a_call() -> None:
    light = mf.Light()

    assert type(mf.Client(light).target(ECHO_SERVICE)) is type(light.target(ECHO_SERVICE))


def test_an_answer_from_a_clients_cache_is_no_call() -> None:
    light = mf.Light()
    light.offer(Cached(), "people")
    recorder = Recorder()
    target = mf.Client(light, interceptors=[recorder]).target(IDS).at("people")

    assert [target.call_cached(NAMES, None, "tolstoy") for _ in range(3)] == [["tolstoy", "1"]] * 3
    assert len(recorder.calls()) == 1


def test_an_awaited_answer_from_a_clients_cache_is_no_call() -> None:
    async def main() -> None:
        target = mf.AsyncClient(light, interceptors=[recorder]).async_target(IDS).at("people")
        asked = (target.call_cached(NAMES, None, "tolstoy") for _ in range(3))
        assert await asyncio.gather(*asked) == [["tolstoy", "1"]] * 3

    light = mf.Light()
    light.offer(Cached(), "people")
    recorder = Recorder()
    asyncio.run(main())

    assert len(recorder.calls()) == 1


@every_way
def test_the_server_sees_how_a_one_way_call_has_ended(way: Way) -> None:
    def fail(call: mf.InterceptedCall, result: Any) -> Any:
        raise KeyError("a mistake")

    with ends(way, server=[Around(fail)]) as both:
        both.echo(lambda echo: echo.note(1), lambda echo: echo.note(1))

        assert the_end(both.behind).code is mf.Code.HANDLER_FAILED
        assert the_end(both.before).code is mf.Code.OK


@every_way
def test_what_a_handler_raises_is_its_failure_on_both_sides(way: Way) -> None:
    def fail(call: mf.InterceptedCall, result: Any) -> Any:
        raise KeyError("a mistake")

    with ends(way, server=[Around(fail)]) as both:
        with pytest.raises(mf.Error):
            both.twice(21)

        for side in (both.before, both.behind):
            assert the_end(side).code is mf.Code.HANDLER_FAILED


def test_a_replicated_call_is_one_of_its_caller() -> None:
    recorder = Recorder()
    light = mf.Light()
    light.offer(Echo(), "a")
    target = mf.Client(light, interceptors=[recorder]).target(ECHO_SERVICE).at("a")

    with pytest.raises(mf.Error, match="is replicated: call it through the controller"):
        target.replicate(TWICE, mf.ReplicatedOptions(deadline=1.0), 21)

    (seen,) = recorder.calls()
    assert (seen.call.kind, seen.call.arguments) == (mf.CallKind.REPLICATED, (21,))
    assert seen.end.code is mf.Code.UNKNOWN_METHOD


def test_an_awaited_replicated_call_is_one_of_its_caller() -> None:
    async def main() -> None:
        target = mf.AsyncClient(light, interceptors=[recorder]).async_target(ECHO_SERVICE).at("a")
        with pytest.raises(mf.Error, match="is replicated: call it through the controller"):
            await target.replicate(TWICE, None, 21)

    recorder = Recorder()
    light = mf.Light()
    light.offer(Echo(), "a")
    asyncio.run(main())

    assert [each.call.kind for each in recorder.calls()] == [mf.CallKind.REPLICATED]


class Never(mf.Interceptor):
    """Does not go on with some calls."""

    async def call_async(self, call: mf.InterceptedCall, proceed: Callable[[], Any]) -> Any:
        if call.arguments[0] == 13:
            await asyncio.Event().wait()
        return await proceed()


def test_one_that_never_goes_on_at_a_server_is_cancelled_at_the_deadline() -> None:
    for way in (way for way in WAYS if way.handler_awaits):
        with ends(way, server=[Never()]) as both:
            with pytest.raises(mf.Error) as failed:
                both.twice(13, mf.CallOptions(deadline=0.2))

            assert failed.value.code is mf.Code.DEADLINE_EXCEEDED
            assert both.twice(21) == 42
            assert eventually(lambda both=both: not both.behind.open)  # type: ignore[misc]
            late = both.behind.calls()[0].end
            assert late.code in (mf.Code.DEADLINE_EXCEEDED, mf.Code.CANCELLED)


def test_one_that_never_goes_on_at_a_client_ends_with_its_task() -> None:
    async def main() -> None:
        light = mf.Light()
        light.offer(AsyncRecorder(), "a")
        echo = EchoAsyncClient(mf.AsyncClient(light, interceptors=[recorder, Never()])).at("a")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await echo.twice(13)
        assert await echo.twice(21) == 42

    recorder = Recorder()
    asyncio.run(main())

    assert [each.end.code for each in recorder.calls()] == [mf.Code.CANCELLED, mf.Code.OK]
