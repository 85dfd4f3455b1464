"""The way of an endpoint from its address to a bound service, step by step, without a socket: the test is the
driver, and its clock the time."""

from collections.abc import Callable
from typing import Any

import pytest

import mf
from mf.core.client_options import ClientOptions
from mf.core.error import Code, Error, Execution, not_executed
from mf.core.service import ServiceInfo
from mf.protocol.calls import Binding
from mf.route import finder as finder_file
from mf.route import routing as routing_file
from mf.route.finder import Endpoint, Finder, Search
from mf.route.finder_table import TABLE, UNDER_WAY, Event, Source, State, Step
from mf.route.resolver import Instance, View, Views
from mf.route.routing import Routing
from tests.python.echo import TWICE

SERVICE = ServiceInfo(name="a.S", agent="A", descriptor="", fingerprint=bytes(16), methods=())
ONE, OTHER = Instance("tcp://127.0.0.1:1"), Instance("tcp://127.0.0.1:2")
DEADLINE = 1030.0
AWAY = not_executed(Code.UNAVAILABLE, "no process listens there")
REFUSED = not_executed(Code.UNKNOWN_METHOD, "no such method")


class Link:
    """A connection, as far as the finder looks at it."""

    def __init__(self) -> None:
        self.usable = True
        self.failure: Error | None = None

    def goes_away(self) -> None:
        self.usable = False

    def breaks(self) -> None:
        self.usable = False
        self.failure = AWAY


class Pool:
    """Records when an address may be tried again, and the order of the endpoints: that of the source."""

    closed = False

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self.rests_until: dict[Instance, float] = {}
        self.silent: list[Instance] = []

    def ordered(self, endpoints: list[Endpoint]) -> list[Endpoint]:
        return list(endpoints)

    def patience(self, deadline: float) -> float:
        return min(deadline, self._now() + 0.25)

    def again_at(self, instance: Instance) -> float:
        return self.rests_until.get(instance, 0.0)

    def note_silent(self, instance: Instance) -> None:
        self.silent.append(instance)

    def usable(self, instance: Instance) -> None:  # noqa: ARG002 - it has no connections
        return None

    def is_untried(self, instance: Instance) -> bool:  # noqa: ARG002
        return True


class Said(Views):
    """What the test says."""

    def __init__(self) -> None:
        self.generation = 0
        self.now = View({}, reached=False, trouble="it has not answered")

    def view(self, service: str) -> View:  # noqa: ARG002 - of one service
        return self.now

    def close(self) -> None:
        pass

    def says(self, *instances: Instance) -> None:
        self.now = View({"a": instances})


class Rules(Routing[Any, Any]):
    """Nothing waits here: the test does."""

    async def news(self, service: ServiceInfo, old: View, timeout: float) -> None:
        raise NotImplementedError

    async def rest(self, service: ServiceInfo, until: float) -> None:
        raise NotImplementedError

    def in_turn(self, service: ServiceInfo, agent: str | None, deadline: float) -> Any:
        raise NotImplementedError


class Scene:
    """A finder with its source, its pool, and a clock."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        for module in (finder_file, routing_file):
            monkeypatch.setattr(module, "monotonic", lambda: self.now)
        self.source = Said()
        self.pool = Pool(lambda: self.now)
        self.rules = Rules(self.source, self.pool, ClientOptions())
        self.finder: Finder = self.rules.finder(SERVICE, "a")

    def search(self) -> Search:
        return self.finder.search(TWICE, DEADLINE)

    def states(self) -> list[State]:
        return [each.state for each in self.finder.endpoints]

    def binding(self) -> Binding:
        binding = Binding(SERVICE.name, "a", 0, DEADLINE)
        binding.done = True
        return binding

    def bind(self, search: Search, link: Link) -> Step:
        """All that a driver reports of an attempt that succeeds."""
        search.fire(Event.CONNECTED)
        return search.bound(link, self.binding())  # type: ignore[arg-type]

    def bound(self) -> Link:
        """The first endpoint is bound."""
        link, search = Link(), self.search()
        assert search.next() is Step.CONNECT
        assert self.bind(search, link) is Step.READY
        return link


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch) -> Scene:
    return Scene(monkeypatch)


def test_a_server_is_resolved_connected_and_bound(scene: Scene) -> None:
    search = scene.search()
    assert search.next() is Step.REST
    assert scene.finder.source is Source.RESOLVING
    scene.source.says(ONE)
    assert search.next() is Step.CONNECT
    assert (scene.finder.source, search.endpoint.instance, search.until) == (Source.OFFERED, ONE, DEADLINE)
    assert scene.states() == [State.CONNECTING]
    search.fire(Event.CONNECTED)
    assert scene.states() == [State.BINDING]

    link = Link()
    assert search.bound(link, scene.binding()) is Step.READY  # type: ignore[arg-type]

    assert scene.states() == [State.BOUND]
    assert search.route.link is link
    assert search.only


def test_the_next_call_takes_the_route_that_is_there(scene: Scene) -> None:
    scene.source.says(ONE)
    link = scene.bound()
    search = scene.search()

    assert search.next() is Step.READY
    assert search.route.link is link


def test_a_server_with_another_schema_is_asked_for_it(scene: Scene) -> None:
    scene.source.says(ONE)
    search = scene.search()
    search.next()
    seen = []
    for event in (Event.CONNECTED, Event.DIFFERS, Event.DESCRIBED):
        search.fire(event)
        seen += scene.states()

    assert search.bound(Link(), scene.binding()) is Step.READY  # type: ignore[arg-type]
    assert seen == [State.BINDING, State.DESCRIBING, State.BINDING]


def test_a_refusal_ends_the_search_and_the_next_one_asks_again(scene: Scene) -> None:
    scene.source.says(ONE)
    search = scene.search()
    search.next()
    search.fire(Event.CONNECTED)
    with pytest.raises(mf.Error, match="no such method"):
        search.failed(REFUSED)
    assert scene.states() == [State.REFUSED]

    assert scene.search().next() is Step.CONNECT
    assert scene.states() == [State.CONNECTING]


def test_an_address_that_failed_cools_as_long_as_the_pool_says(scene: Scene) -> None:
    scene.source.says(ONE)
    search = scene.search()
    search.next()
    scene.pool.rests_until[ONE] = scene.now + 0.2
    assert search.failed(AWAY) is Step.REST
    assert scene.states() == [State.COOLING]
    assert 0 < search.pause <= 0.05

    scene.now += 0.1
    assert search.next() is Step.REST
    assert scene.states() == [State.COOLING]
    scene.now += 0.1
    assert search.next() is Step.CONNECT
    assert scene.states() == [State.CONNECTING]


def test_a_search_gives_up_at_its_deadline_with_the_reason(scene: Scene) -> None:
    scene.source.says(ONE)
    search = scene.search()
    search.next()
    search.failed(AWAY)
    scene.now = DEADLINE
    search.next()
    with pytest.raises(mf.Error, match="gave up at the deadline: no process listens there") as raised:
        search.failed(AWAY)
    assert (raised.value.code, raised.value.execution) == (Code.UNAVAILABLE, Execution.NOT_EXECUTED)


def test_one_that_binds_late_is_left_alone_while_there_is_another(scene: Scene) -> None:
    scene.source.says(ONE, OTHER)
    search = scene.search()
    assert search.next() is Step.CONNECT
    assert (search.endpoint.instance, search.until, search.begins) == (ONE, scene.now + 0.25, [ONE, OTHER])
    search.fire(Event.CONNECTED)
    scene.now += 0.25
    assert search.failed(not_executed(Code.UNAVAILABLE, "no reply within the deadline")) is Step.CONNECT
    assert (search.endpoint.instance, scene.pool.silent) == (OTHER, [ONE])

    assert scene.bind(search, Link()) is Step.READY
    assert scene.states() == [State.COOLING, State.BOUND]
    assert not search.only
    late = scene.search()
    assert late.next() is Step.CONNECT  # it may be tried again at once, and has bound by now
    assert scene.bind(late, Link()) is Step.READY
    assert scene.states() == [State.BOUND, State.BOUND]


def test_a_server_that_drains_gets_no_new_calls_and_is_connected_anew(scene: Scene) -> None:
    scene.source.says(ONE)
    scene.bound().goes_away()
    search = scene.search()

    assert search.next() is Step.CONNECT
    assert scene.states() == [State.CONNECTING]
    assert scene.finder.endpoints[0].route is None
    assert scene.bind(search, Link()) is Step.READY


def test_a_server_that_is_lost_comes_back(scene: Scene) -> None:
    scene.source.says(ONE)
    scene.bound().breaks()
    search = scene.search()
    assert search.next() is Step.CONNECT
    with pytest.raises(mf.Error, match="no process listens there"):
        search.failed(AWAY)  # it was seen before, so that no call waits for it
    assert scene.states() == [State.COOLING]
    later, back = scene.search(), Link()

    assert later.next() is Step.CONNECT
    assert scene.bind(later, back) is Step.READY
    assert later.route.link is back


def test_who_was_seen_and_is_gone_is_not_waited_for(scene: Scene) -> None:
    scene.source.says(ONE)
    scene.bound()
    scene.source.says()

    with pytest.raises(mf.Error, match=r'no server offers a\.S for agent "a"'):
        scene.search().next()
    assert scene.finder.source is Source.EMPTY


def test_an_endpoint_that_the_source_still_names_keeps_its_state(scene: Scene) -> None:
    scene.source.says(ONE)
    link = scene.bound()
    scene.source.says(ONE, OTHER)
    search = scene.search()

    assert search.next() is Step.READY
    assert search.route.link is link
    assert scene.states() == [State.BOUND, State.UNKNOWN]


def test_two_searches_share_an_attempt_and_only_its_owner_moves_the_endpoint(scene: Scene) -> None:
    scene.source.says(ONE)
    owner, joins = scene.search(), scene.search()
    assert owner.next() is Step.CONNECT
    assert joins.next() is Step.CONNECT
    assert scene.bind(joins, Link()) is Step.READY
    assert scene.states() == [State.CONNECTING]

    assert scene.bind(owner, Link()) is Step.READY
    assert scene.states() == [State.BOUND]


def test_an_interrupted_attempt_may_be_begun_by_the_next_search(scene: Scene) -> None:
    scene.source.says(ONE)
    search = scene.search()
    search.next()
    scene.pool.rests_until[ONE] = scene.now + 1  # since another service's attempt has failed there
    search.abandoned()

    assert scene.states() == [State.UNKNOWN]
    assert scene.search().next() is Step.CONNECT


def test_a_closed_client_finds_nobody(scene: Scene) -> None:
    scene.source.says(ONE)
    scene.pool.closed = True

    with pytest.raises(mf.Error, match="the client was closed"):
        scene.search().next()


@pytest.mark.parametrize("state", State)
def test_what_cannot_happen_in_a_state_is_an_error_of_the_caller(state: State) -> None:
    for event in set(Event) - set(TABLE[state]):
        endpoint = Endpoint("a", ONE)
        endpoint.state = state
        with pytest.raises(ValueError, match=f"{state.name} cannot be {event.name}"):
            endpoint.fire(event)
        assert endpoint.state is state


def test_every_state_is_reached_and_left_and_every_attempt_may_fail() -> None:
    reached = {after for row in TABLE.values() for after in row.values()}
    left: Callable[[State], bool] = lambda state: bool(TABLE[state])  # noqa: E731

    assert reached == set(State)
    assert all(map(left, State))
    for state in UNDER_WAY:
        assert (TABLE[state][Event.FAILED], TABLE[state][Event.REFUSED]) == (State.COOLING, State.REFUSED)
