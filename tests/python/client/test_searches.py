"""How long calls of both kinds search a server, and agents, with a test clock."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import pytest

import mf
from mf.core.error import Code, Execution
from mf.core.immediate import immediate
from mf.core.service import ServiceInfo
from mf.route import finder, routing
from mf.route.async_pool import AsyncPool
from mf.route.async_resolver import AsyncResolver
from mf.route.async_routing import AsyncRouting
from mf.route.blocking_pool import BlockingPool
from mf.route.blocking_routing import BlockingRouting
from mf.route.resolver import Instance, View
from tests.python.client.test_waiting import Clock, Story
from tests.python.echo import TWICE

SERVICE = ServiceInfo(name="a.S", agent="A", descriptor="", fingerprint=bytes(16), methods=())
BEGIN, DEADLINE = 1000.0, 1030.0
AWAY = View({}, reached=False, trouble="the controller is away")
NOBODY = View({})
GONE = View({"a": ()})
OFFERED = View({"a": (Instance("tcp://127.0.0.1:1"),)})


class AwaitedStory(AsyncResolver):
    """The same for a loop, which runs other tasks meanwhile."""

    def __init__(self, story: Story) -> None:
        self._story = story

    def view(self, service: str) -> View:
        return self._story.view(service)

    async def wait(self, service: str, old: View, timeout: float) -> View:
        await asyncio.sleep(0)
        return self._story.wait(service, old, timeout)

    def close(self) -> None:
        pass


@dataclass
class Look:
    """The result of a search, and its time."""

    agents: list[str] | None
    error: mf.Error | None
    at: float
    seen: set[tuple[str, str | None]]


Looking = Callable[..., Look]


@pytest.fixture(params=["blocking", "awaited"])
def look(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Looking:
    """Searches the agents of the service, or a route to one agent."""

    def looked(
        views: dict[float, View], *, to: str | None = None, seen: str | None = None, closed: bool = False
    ) -> Look:
        clock = Clock()
        for module in (finder, routing):
            monkeypatch.setattr(module, "monotonic", clock)
        story = Story(clock, views)
        agents: list[str] | None = None
        error: mf.Error | None = None
        router: BlockingRouting | AsyncRouting | None = None

        async def search() -> None:
            nonlocal agents, router
            if request.param == "blocking":
                blocking = router = BlockingRouting(story, BlockingPool())
                prepare(blocking)
                if to is None:
                    agents = immediate(blocking.agents(SERVICE, DEADLINE))
                else:
                    immediate(blocking.find(SERVICE, to, TWICE, DEADLINE))
            else:
                pool = AsyncPool(asyncio.get_running_loop())
                awaited = router = AsyncRouting(AwaitedStory(story), pool)
                prepare(awaited)
                if to is None:
                    agents = await awaited.agents(SERVICE, DEADLINE)
                else:
                    await awaited.find(SERVICE, to, TWICE, DEADLINE)

        def prepare(router: BlockingRouting | AsyncRouting) -> None:
            router.pool.closed = closed
            if seen is not None:
                router.seen.add((SERVICE.name, seen))

        try:
            asyncio.run(search())
        except mf.Error as failure:
            error = failure
            assert error.execution is Execution.NOT_EXECUTED
        assert router is not None
        return Look(agents, error, clock.now, router.seen)

    return looked


@pytest.mark.parametrize(
    ("views", "seen", "end", "message"),
    [
        (
            {BEGIN: AWAY},
            None,
            DEADLINE,
            'gave up at the deadline: nothing is known of a.S for agent "a": the controller is away',
        ),
        (
            {BEGIN: AWAY},
            "a",
            DEADLINE,
            'gave up at the deadline: nothing is known of a.S for agent "a": the controller is away',
        ),
        ({BEGIN: NOBODY}, None, BEGIN + 5, 'no server offers a.S for agent "a"'),
        ({BEGIN: NOBODY}, "b", BEGIN + 5, 'no server offers a.S for agent "a"'),
        ({BEGIN: GONE}, "a", BEGIN, 'no server offers a.S for agent "a"'),
        ({BEGIN: AWAY, BEGIN + 3: GONE}, "a", BEGIN + 3, 'no server offers a.S for agent "a"'),
        ({BEGIN: NOBODY, BEGIN + 2: AWAY, BEGIN + 4: NOBODY}, None, BEGIN + 9, "no server offers"),
    ],
    ids=["not known", "not known by now", "unknown", "another known", "gone", "found gone", "twice"],
)
def test_a_search_for_a_server_ends_when_the_rules_say(
    look: Looking, views: dict[float, View], seen: str | None, end: float, message: str
) -> None:
    found = look(views, to="a", seen=seen)

    assert found.at == pytest.approx(end)
    assert found.error is not None
    assert found.error.code is Code.UNAVAILABLE
    assert found.error.message.startswith(message)


def test_agents_are_waited_for_until_they_are_known(look: Looking) -> None:
    found = look({BEGIN: AWAY, BEGIN + 3: NOBODY, BEGIN + 7: OFFERED})

    assert (found.agents, found.error) == (["a"], None)
    assert found.at == pytest.approx(BEGIN + 7)
    assert found.seen == set()


def test_agents_whose_servers_have_gone_are_agents_that_nobody_waits_for(look: Looking) -> None:
    found = look({BEGIN: View({"a": (), "b": OFFERED.agents["a"]})})

    assert (found.agents, found.at) == (["a", "b"], BEGIN)
    assert found.seen == {("a.S", "a")}


@pytest.mark.parametrize(
    ("views", "end", "message"),
    [
        ({BEGIN: AWAY}, DEADLINE, "nothing is known of a.S: the controller is away"),
        ({BEGIN: NOBODY}, BEGIN + 5, "no server offers a.S"),
        ({BEGIN: AWAY, BEGIN + 20: NOBODY}, BEGIN + 25, "no server offers a.S"),
        ({BEGIN: AWAY, BEGIN + 28: NOBODY}, DEADLINE, "no server offers a.S"),
    ],
    ids=["not known", "none", "none, late", "none, too late"],
)
def test_a_search_for_agents_ends_when_the_rules_say(
    look: Looking, views: dict[float, View], end: float, message: str
) -> None:
    found = look(views)

    assert found.at == pytest.approx(end)
    assert found.error is not None
    assert (found.error.code, found.error.message) == (Code.UNAVAILABLE, message)


@pytest.mark.parametrize("to", [None, "a"])
def test_a_closed_client_looks_for_nobody(look: Looking, to: str | None) -> None:
    found = look({BEGIN: OFFERED}, to=to, closed=True)

    assert found.at == BEGIN
    assert found.error is not None
    assert (found.error.code, found.error.message) == (Code.CANCELLED, "the client was closed")
