"""The knowledge of clients that reach all servers through relays, and how they wait for changes."""

import asyncio
from collections.abc import Callable

import pytest

from mf.route.async_resolver import AsyncRelayedResolver, AsyncResolver, AsyncStaticResolver, News
from mf.route.resolver import Instance, RelayedResolver, Resolver, View, relay_addresses

RELAYS = relay_addresses("relay://1.2.3.4:5,relay://6.7.8.9:10")
PLACES = (Instance("tcp://1.2.3.4:5"), Instance("tcp://6.7.8.9:10"))
SERVER = (Instance("tcp://127.0.0.1:1"),)
NOBODY = View({}, reached=False, trouble="no relay answers")
OFFERED = View({"a": SERVER, "b": ()})
WHOLE = View({}, whole=SERVER)


def test_relays_are_reached_as_their_addresses_say() -> None:
    relays = relay_addresses("relay+tls://a.example:5,relay://6.7.8.9:10")
    resolver = RelayedResolver(Known(Told(WHOLE)), relays)
    assert resolver.view("demo.Echo").whole == (Instance("tls://a.example:5"), Instance("tcp://6.7.8.9:10"))
    with pytest.raises(ValueError, match="the addresses of relays start with relay://, not tls:"):
        relay_addresses("relay://a:1,tls://b:2")


class Told:
    """The known views, one after another: each wait returns the next one."""

    def __init__(self, *views: View) -> None:
        self.views = list(views)
        self.waits: list[tuple[str, View, float]] = []
        self.closed = False

    def next(self, service: str, old: View, timeout: float) -> View:
        self.waits.append((service, old, timeout))
        self.views.pop(0)
        return self.views[0]


class Known(Resolver):
    def __init__(self, told: Told) -> None:
        self._told = told
        self.generation = 3

    def view(self, service: str) -> View:  # noqa: ARG002
        return self._told.views[0]

    def wait(self, service: str, old: View, timeout: float) -> View:
        return self._told.next(service, old, timeout)

    def close(self) -> None:
        self._told.closed = True


class AwaitedKnown(AsyncResolver):
    def __init__(self, told: Told) -> None:
        self._told = told
        self.generation = 3

    def view(self, service: str) -> View:  # noqa: ARG002
        return self._told.views[0]

    async def wait(self, service: str, old: View, timeout: float) -> View:
        return self._told.next(service, old, timeout)

    def close(self) -> None:
        self._told.closed = True


Relayed = RelayedResolver | AsyncRelayedResolver


@pytest.fixture(params=["blocking", "awaited"])
def over(request: pytest.FixtureRequest) -> Callable[[Told], Relayed]:
    if request.param == "blocking":
        return lambda told: RelayedResolver(Known(told), RELAYS)
    return lambda told: AsyncRelayedResolver(AwaitedKnown(told), RELAYS)


def wait(resolver: Relayed, service: str, old: View, timeout: float) -> View:
    if isinstance(resolver, RelayedResolver):
        return resolver.wait(service, old, timeout)
    return asyncio.run(resolver.wait(service, old, timeout))


def test_relays_stand_where_agents_have_instances(over: Callable[[Told], Relayed]) -> None:
    told = Told(OFFERED, WHOLE, NOBODY)
    resolver = over(told)

    offered = resolver.view("a.S")
    assert (offered.agents, offered.whole, offered.reached) == ({"a": PLACES, "b": ()}, (), True)
    assert resolver.view("a.S") is offered
    told.views.pop(0)
    whole = resolver.view("a.S")
    assert (whole.agents, whole.whole, whole.reached) == ({}, PLACES, True)
    told.views.pop(0)
    nobody = resolver.view("a.S")
    assert (nobody.agents, nobody.whole) == ({}, ())
    assert (nobody.reached, nobody.trouble) == (False, "no relay answers")


def test_a_relay_is_an_instance_for_each_schema_with_the_weight_of_its_servers(
    over: Callable[[Told], Relayed],
) -> None:
    one, other = bytes(16), bytes([1]) * 16
    servers = [Instance(f"tcp://10.0.0.{n}:1", weight=n, fingerprint=one) for n in (1, 2)]
    same = over(Told(View({"a": tuple(servers)}))).view("a.S").agents["a"]
    assert same == tuple(Instance(place.address, fingerprint=one) for place in PLACES)
    servers.append(Instance("tcp://10.0.0.4:1", weight=4, fingerprint=other))
    several = over(Told(View({"a": tuple(servers)}))).view("a.S").agents["a"]
    assert several == tuple(
        Instance(place.address, weight, fingerprint=schema)
        for schema, weight in ((one, 3), (other, 4))
        for place in PLACES
    )


def test_who_waits_is_told_of_the_next_change(over: Callable[[Told], Relayed]) -> None:
    told = Told(NOBODY, OFFERED)
    resolver = over(told)
    old = resolver.view("a.S")

    new = wait(resolver, "a.S", old, 2.0)

    assert told.waits == [("a.S", NOBODY, 2.0)]
    assert new.agents["a"] == PLACES
    assert resolver.view("a.S") is new


def test_who_has_missed_a_change_does_not_wait_for_another(over: Callable[[Told], Relayed]) -> None:
    told = Told(NOBODY, OFFERED, WHOLE)
    resolver = over(told)
    old = resolver.view("a.S")
    told.views.pop(0)

    new = wait(resolver, "a.S", old, 2.0)

    assert told.waits == []
    assert new.agents["a"] == PLACES


def test_what_stands_behind_is_closed_too_and_counts_the_changes(over: Callable[[Told], Relayed]) -> None:
    told = Told(OFFERED)
    resolver = over(told)
    before = resolver.generation
    resolver.generation = 4
    resolver.close()

    assert (before, resolver.generation, told.closed) == (3, 4, True)


def test_those_who_wait_for_news_go_on_in_their_order_and_only_once() -> None:
    async def run() -> list[str]:
        news = News()
        went_on: list[str] = []

        async def one(name: str) -> None:
            await news.wait(60)
            went_on.append(name)

        tasks = [asyncio.create_task(one(name)) for name in "abcd"]
        await asyncio.sleep(0)
        tasks[1].cancel()
        await asyncio.sleep(0)
        news.tell()
        news.tell()
        await asyncio.gather(*tasks, return_exceptions=True)
        await news.wait(0)  # without news its timeout ends it
        return went_on

    assert asyncio.run(run()) == ["a", "c", "d"]


def test_a_closed_resolver_of_fixed_addresses_ends_all_waiting() -> None:
    async def run() -> View:
        resolver = AsyncStaticResolver(["tcp://127.0.0.1:1"])
        waiting = asyncio.create_task(resolver.wait("a.S", resolver.view("a.S"), 60))
        await asyncio.sleep(0)
        resolver.close()
        async with asyncio.timeout(20):
            return await waiting

    assert asyncio.run(run()).whole == SERVER
