"""Cached calls: over a connection and in light, blocking and awaited."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from types import SimpleNamespace
from typing import Any, ClassVar, Final, TypeVar, cast

import pytest

import mf
from mf.codec import shape as s
from mf.codec.codec import Codec
from mf.codec.method import method
from mf.core.cached import Caches
from mf.core.current import CurrentCall, enter, leave
from mf.core.error import Code
from mf.core.service import CacheInfo, Method, ServiceInfo
from mf.core.target import AsyncTarget, Target
from tests.python.conftest import eventually

T = TypeVar("T")
LONG = 20.0


@dataclass(slots=True)
class Request:
    name: str


class Unknown(mf.DeclaredError):
    def __init__(self, name: str = "") -> None:
        super().__init__(name)
        self.name = name


_UNKNOWN: Codec[Any, Any] = Codec(s.Struct("kept.Unknown", Unknown, lambda: (s.Field("name", s.STRING),)))


def _method(name: str, index: int, *, errors: bool) -> Method[Request, list[str]]:
    return method(
        f"kept.Ids.{name}",
        index,
        Request,
        params=lambda: (s.Field("name", s.STRING),),
        results=lambda: (s.Field("value", s.List(s.STRING)),),
        errors=(_UNKNOWN,),
        cached=CacheInfo(100, 60.0, 1 << 20, errors),
    )


NAMES: Final = _method("names", 0, errors=False)
KNOWN: Final = _method("known", 1, errors=True)
DESCRIPTOR = "service kept.Ids\n"
IDS: Final = ServiceInfo(
    name="kept.Ids",
    agent="collection",
    descriptor=DESCRIPTOR,
    fingerprint=sha256(DESCRIPTOR.encode()).digest()[:16],
    methods=(NAMES, KNOWN),
)


class Servant(mf.Servant):
    """`calls`: of its handlers, in order. `act` computes their results."""

    mf_service: ClassVar[ServiceInfo] = IDS

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.act: Callable[[str], list[str]] = lambda name: [name, str(len(self.calls))]

    def names(self, name: str) -> list[str]:
        self.calls.append(name)
        return self.act(name)

    known = names

    def names_items(self, requests: Any) -> Any:
        return mf.each(self.names, [(each.name,) for each in requests])


class AsyncServant(mf.AsyncServant):
    """The same for awaited handlers; `act` may block."""

    mf_service: ClassVar[ServiceInfo] = IDS

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.act: Callable[[str], list[str]] = lambda name: [name, str(len(self.calls))]

    async def names(self, name: str) -> list[str]:
        self.calls.append(name)
        return await asyncio.to_thread(self.act, name)

    known = names

    async def names_items(self, requests: Any) -> Any:
        return await mf.each_async(self.names, [(each.name,) for each in requests])


class Ids:
    """The actions of a caller, of either kind: threads call, or tasks of a loop, which are started from
    threads."""

    def __init__(self, target: Target | AsyncTarget, loop: asyncio.AbstractEventLoop | None) -> None:
        self.target = target
        self._loop = loop

    def _run(self, given: Any) -> Any:
        if self._loop is None:
            return given
        return asyncio.run_coroutine_threadsafe(given, self._loop).result(LONG)

    def at(self, agent: str) -> "Ids":
        return Ids(self.target.at(agent), self._loop)

    def call(
        self, name: str, options: mf.CallOptions | None = None, of: Method[Any, list[str]] = NAMES
    ) -> list[str]:
        return cast("list[str]", self._run(self.target.call_cached(of, options, name)))

    def bulk(self, name: str) -> None:
        self._run(self.target.bulk(NAMES, [Request(name)]))

    def scatter(self, name: str) -> None:
        self._run(self.target.on(["a"]).call(NAMES, None, name))

    def stats(self, of: Method[Any, Any] = NAMES) -> Any:
        return self.target.call_cache(of).stats()


class World:
    """`awaits`: the client is an asyncio client, on a loop that a thread of the test runs."""

    def __init__(self, way: str, *, awaits: bool) -> None:
        self.now = 1000.0
        self.loop: asyncio.AbstractEventLoop | None = None
        self.server: mf.Server | None = None
        kind = AsyncServant if awaits and way == "light" else Servant
        self.servant: Servant | AsyncServant = kind()
        self.others: Servant | AsyncServant = kind()
        where: Any
        if way == "light":
            where = mf.Light()
            where.offer(self.servant, agent="a")
            where.offer(self.others, agent="b")
        else:
            self.server = mf.Server(listen="tcp://127.0.0.1:0")
            self.server.offer(cast(Servant, self.servant), agent="a")
            self.server.offer(cast(Servant, self.others), agent="b")
            self.server.start()
            where = self.server.address
        self.client: mf.Client | mf.AsyncClient
        if awaits:
            self.loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self.loop.run_forever)
            self._thread.start()
            self.client = self.run(self._made(where))
        else:
            self.client = mf.Client(where, mf.ClientOptions(clock=lambda: self.now))
        self.ids = self.stub()

    async def _made(self, where: Any) -> mf.AsyncClient:
        return mf.AsyncClient(where, mf.ClientOptions(clock=lambda: self.now))

    def run(self, task: Coroutine[Any, Any, T]) -> T:
        """For an asyncio client: runs the task on its loop to the end."""
        assert self.loop is not None
        return asyncio.run_coroutine_threadsafe(task, self.loop).result(LONG)

    def stub(self) -> Ids:
        target: Target | AsyncTarget
        if isinstance(self.client, mf.AsyncClient):
            target = self.client.async_target(IDS)
        else:
            target = self.client.target(IDS)
        return Ids(target.at("a"), self.loop)

    def close_client(self) -> None:
        if isinstance(self.client, mf.AsyncClient):
            self.run(self.client.close())
        else:
            self.client.close()

    def close(self) -> None:
        self.close_client()
        if self.server is not None:
            self.server.stop()
        if self.loop is not None:
            self.run(self.loop.shutdown_default_executor())
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join(LONG)
            self.loop.close()


@pytest.fixture(params=["light", "tcp"])
def way(request: pytest.FixtureRequest) -> str:
    return cast(str, request.param)


@pytest.fixture(params=["blocking", "awaited"])
def world(way: str, request: pytest.FixtureRequest) -> Iterator[World]:
    made = World(way, awaits=request.param == "awaited")
    yield made
    made.close()


def test_a_repeated_call_makes_one_request(world: World) -> None:
    assert [world.ids.call("x") for _ in range(3)] == [["x", "1"]] * 3
    assert world.ids.call("y") == ["y", "2"]
    assert world.servant.calls == ["x", "y"]
    stats = world.ids.stats()
    assert (stats.hits, stats.misses, stats.entries, stats.evictions) == (2, 2, 2, 0)


def test_agents_are_kept_apart_and_stubs_of_one_client_are_not(world: World) -> None:
    world.ids.call("x")
    assert world.stub().call("x") == ["x", "1"]
    assert world.ids.at("b").call("x") == ["x", "1"]
    assert (world.servant.calls, world.others.calls) == (["x"], ["x"])


def test_a_result_is_the_callers_own(world: World) -> None:
    world.ids.call("x").append("mine")
    world.ids.call("x").append("mine, too")
    assert world.ids.call("x") == ["x", "1"]


def test_results_grow_old_by_the_clients_clock(world: World) -> None:
    world.ids.call("x")
    world.now += 59.0
    assert world.ids.call("x") == ["x", "1"]
    world.now += 1.0
    assert world.ids.call("x") == ["x", "2"]


def test_errors_are_kept_only_where_the_method_says_so(world: World) -> None:
    def refuse(name: str) -> list[str]:
        raise Unknown(name)

    world.servant.act = refuse
    for of, calls in ((NAMES, 3), (KNOWN, 1)):
        world.servant.calls.clear()
        for _ in range(3):
            with pytest.raises(Unknown) as raised:
                world.ids.call("x", of=of)
            assert raised.value.name == "x"
        assert len(world.servant.calls) == calls


def test_a_cached_call_without_time_makes_no_request(world: World) -> None:
    with pytest.raises(mf.Error) as late:
        world.ids.call("x", mf.CallOptions(deadline=0))
    assert (late.value.code, late.value.execution) == (Code.DEADLINE_EXCEEDED, mf.Execution.NOT_EXECUTED)
    assert world.servant.calls == []
    assert world.ids.call("x") == ["x", "1"]
    assert world.ids.call("x", mf.CallOptions(deadline=0)) == ["x", "1"]  # needs no time


def test_failures_are_never_kept(world: World) -> None:
    def fail(_: str) -> list[str]:
        raise KeyError("oops")

    world.servant.act = fail
    for _ in range(2):
        with pytest.raises(mf.Error, match="HANDLER_FAILED"):
            world.ids.call("x", of=KNOWN)
    assert len(world.servant.calls) == 2
    assert world.ids.stats(KNOWN).entries == 0


def test_one_call_an_agent_or_all_can_be_forgotten(world: World) -> None:
    def fill() -> None:
        for name in "xy":
            world.ids.call(name)
            world.ids.at("b").call(name)
        world.servant.calls.clear()
        world.others.calls.clear()

    for forget, a, b in (
        (lambda: world.ids.target.forget_cached(NAMES, "x"), ["x"], []),
        (world.ids.target.call_cache(NAMES).forget_agent, ["x", "y"], []),
        (world.ids.target.call_cache(NAMES).forget_all, ["x", "y"], ["x", "y"]),
    ):
        fill()
        forget()
        for name in "xy":
            world.ids.call(name)
            world.ids.at("b").call(name)
        assert (world.servant.calls, world.others.calls) == (a, b)


def test_a_call_with_metadata_goes_to_a_server(world: World) -> None:
    world.ids.call("x")
    world.ids.call("x", mf.CallOptions(metadata={"tenant": "a"}))
    world.ids.call("x", mf.CallOptions(reply_metadata={}))
    assert len(world.servant.calls) == 3
    assert world.ids.stats().hits == 0


@pytest.mark.parametrize("awaits", [False, True])
def test_calls_of_a_closed_client_end_as_those_of_others_do(awaits: bool) -> None:
    world = World("tcp", awaits=awaits)
    world.ids.call("x")
    world.close_client()
    with pytest.raises(mf.Error, match="CANCELLED"):
        world.ids.call("x")
    world.close()


def test_equal_calls_at_once_make_one_request(world: World) -> None:
    entered, go = threading.Event(), threading.Event()

    def wait(name: str) -> list[str]:
        entered.set()
        assert go.wait(LONG)
        return [name]

    world.servant.act = wait
    with ThreadPoolExecutor(8) as pool:
        calls = [pool.submit(world.ids.call, "x") for _ in range(8)]
        assert entered.wait(LONG)
        go.set()
        assert [call.result(LONG) for call in calls] == [["x"]] * 8
    assert world.servant.calls == ["x"]
    stats = world.ids.stats()
    assert (stats.hits, stats.misses) == (7, 1)


def _waiting(world: World) -> int:
    """How many calls wait for an equal one."""
    cache = world.client._caches.of(NAMES)._cache
    return sum(len(flight.waiters) for flight in cache._flights.values())


def test_who_waits_has_its_own_deadline_and_goes_on_when_the_leader_fails(world: World) -> None:
    entered, go = threading.Semaphore(0), threading.Event()
    failures = iter([True, False])

    def fail_once(name: str) -> list[str]:
        fails = next(failures)
        entered.release()
        assert go.wait(LONG)
        if fails:
            raise KeyError("oops")
        return [name]

    world.servant.act = fail_once
    with ThreadPoolExecutor(4) as pool:
        leader = pool.submit(world.ids.call, "x")
        assert entered.acquire(timeout=LONG)
        with pytest.raises(mf.Error) as raised:
            world.ids.call("x", mf.CallOptions(deadline=0.05))
        assert raised.value.code is Code.DEADLINE_EXCEEDED
        waiting = [pool.submit(world.ids.call, "x") for _ in range(3)]
        assert eventually(lambda: _waiting(world) == 3)
        go.set()
        with pytest.raises(mf.Error, match="HANDLER_FAILED"):
            leader.result(LONG)
        assert [call.result(LONG) for call in waiting] == [["x"]] * 3
    assert world.servant.calls == ["x", "x"]


def test_a_leader_that_is_cancelled_hands_over(way: str) -> None:
    world = World(way, awaits=True)
    entered, go = threading.Semaphore(0), threading.Event()

    def wait(name: str) -> list[str]:
        entered.release()
        assert go.wait(LONG)
        return [name]

    async def run() -> list[Any]:
        target = cast(AsyncTarget, world.ids.target)
        tasks = [asyncio.create_task(target.call_cached(NAMES, None, "x")) for _ in range(4)]
        await asyncio.to_thread(entered.acquire)
        assert _waiting(world) == 3
        tasks[0].cancel()  # the leader
        tasks[1].cancel()  # and one that waits
        await asyncio.wait(tasks[:2])
        go.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    world.servant.act = wait
    first, second, *others = world.run(run())
    assert isinstance(first, asyncio.CancelledError)
    assert isinstance(second, asyncio.CancelledError)
    assert others == [["x"], ["x"]]
    assert world.servant.calls == ["x", "x"]
    world.close()


def test_one_that_was_woken_to_lead_and_is_cancelled_then_hands_over(way: str) -> None:
    world = World(way, awaits=True)

    async def run() -> list[Any]:
        target = cast(AsyncTarget, world.ids.target)
        tasks = [asyncio.create_task(target.call_cached(NAMES, None, "x")) for _ in range(3)]
        await asyncio.sleep(0)
        assert _waiting(world) == 2
        tasks[0].cancel()
        while not tasks[0].done():
            await asyncio.sleep(0)
        tasks[1].cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    first, second, third = world.run(run())
    assert isinstance(first, asyncio.CancelledError)
    assert isinstance(second, asyncio.CancelledError)
    assert third[0] == "x"
    world.close()


def test_a_client_of_asyncio_starts_no_thread_for_cached_calls() -> None:
    world = World("tcp", awaits=True)

    async def run() -> None:
        target = cast(AsyncTarget, world.ids.target)
        await target.call(NAMES, None, "w")
        before = {thread for thread in threading.enumerate() if not thread.name.startswith("mf")}
        await asyncio.gather(*[target.call_cached(NAMES, None, "x") for _ in range(8)])
        assert {thread for thread in threading.enumerate() if not thread.name.startswith("mf")} == before

    world.run(run())
    assert world.servant.calls == ["w", "x"]
    world.close()


def test_stubs_made_of_a_light_itself_share_what_it_keeps() -> None:
    light, plain, awaited = mf.Light(), Servant(), AsyncServant()
    light.offer(awaited, agent="a")
    entered, go = threading.Event(), threading.Event()

    def wait(name: str) -> list[str]:
        entered.set()
        assert go.wait(LONG)
        return [name]

    awaited.act = wait

    async def run() -> list[str]:
        task = asyncio.create_task(light.async_target(IDS).at("a").call_cached(NAMES, None, "x"))
        await asyncio.to_thread(entered.wait, LONG)
        light.offer(plain, agent="a")
        blocking = light.target(IDS).at("a")
        # On the leader's thread it must not wait for it; on another one it does.
        assert blocking.call_cached(NAMES, None, "x") == ["x", "1"]
        other = asyncio.create_task(asyncio.to_thread(blocking.call_cached, NAMES, None, "x"))
        cache = light._caches.of(NAMES)._cache
        while not any(flight.waiters for flight in cache._flights.values()):
            await asyncio.sleep(0.001)
        go.set()
        assert await other == ["x"]
        return await task

    assert asyncio.run(run()) == ["x"]
    assert (awaited.calls, plain.calls) == (["x"], ["x"])


def test_what_is_forgotten_during_a_call_is_not_kept_by_it(world: World) -> None:
    entered, go = threading.Event(), threading.Event()

    def wait(name: str) -> list[str]:
        entered.set()
        assert go.wait(LONG)
        return [name]

    world.servant.act = wait
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(world.ids.call, "x")
        assert entered.wait(LONG)
        world.ids.target.forget_cached(NAMES, "x")
        go.set()
        assert call.result(LONG) == ["x"]
    world.ids.call("x")
    assert world.servant.calls == ["x", "x"]


def test_batches_and_scattered_calls_go_to_servers_and_keep_nothing(world: World) -> None:
    world.ids.call("x")
    world.ids.bulk("x")
    world.ids.scatter("x")
    assert world.servant.calls == ["x", "x", "x"]
    stats = world.ids.stats()
    assert (stats.hits, stats.misses, stats.entries) == (0, 1, 1)


def test_a_call_goes_to_a_server_if_the_call_around_it_passes_metadata_on() -> None:
    caches = Caches()
    assert caches.answers(None, ("tenant",))
    token = enter(cast(CurrentCall, SimpleNamespace(metadata={"tenant": "a", "traceparent": "b"})))
    try:
        assert not caches.answers(None, ("tenant",))
        assert caches.answers(None, ("other",))
        assert caches.answers(None, ())
    finally:
        leave(token)
    assert caches.answers(None, ("tenant",))
