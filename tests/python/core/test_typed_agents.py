"""Agents of other types than strings: clients name them by values, and an enum's members are shown by
name."""

import asyncio
import importlib
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any
from uuid import UUID

import pytest

import mf
from mf.core.agent_names import agent_names, shown_agent
from mfidl.compiler import Exit, Targets, compile_files

SCHEMA = """module typed_agents;
enum Venue: u8 { xetra = 1, eurex = 2, name = 3 }
open enum Lang: i16 { none = 0, de = -49 }
agent venue: Venue;
agent lang: Lang;
agent shard: u32;
agent node: uuid;
agent text: string;
service Trading per venue { name() -> string; }
service Spoken per lang { name() -> string; }
service Sharded per shard { name() -> string; }
service Nodes per node { name() -> string; }
service Texts per text { name() -> string; }
service Single { name() -> string; }
"""
NODE = UUID(int=7)


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("typed")
    schema = folder / "typed_agents.mfidl"
    schema.write_text(SCHEMA)
    assert compile_files([str(schema)], [], Targets(python=str(folder))).exit is Exit.OK
    sys.path.insert(0, str(folder))
    yield importlib.import_module("typed_agents")
    sys.path.remove(str(folder))


def _offers(typed: Any) -> list[tuple[mf.Servant, Any]]:
    def servant(base: Any) -> mf.Servant:
        class Own(base):  # type: ignore[misc] # made at run time
            def name(self) -> str:
                return mf.current_call().agent

        return Own()

    venue, lang = typed.Venue, typed.Lang
    return [
        (servant(typed.TradingServant), venue.xetra),
        (servant(typed.TradingServant), "eurex"),
        (servant(typed.SpokenServant), lang.de),
        (servant(typed.SpokenServant), 7),
        (servant(typed.ShardedServant), 4_000_000_000),
        (servant(typed.NodesServant), NODE),
        (servant(typed.TextsServant), "1"),
    ]


def _over_light(typed: ModuleType, use: Callable[..., None]) -> None:
    light = mf.Light()
    for servant, agent in _offers(typed):
        light.offer(servant, agent=agent)
    use(mf.Client(light), light)


def _over_tcp(typed: ModuleType, use: Callable[..., None]) -> None:
    server = mf.Server()
    for servant, agent in _offers(typed):
        server.offer(servant, agent=agent)
    with server, mf.Client(server.address) as client:
        use(client, server.address)


@pytest.fixture(params=[_over_light, _over_tcp])
def over(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_a_client_names_an_agent_by_a_value_of_its_type(typed: Any, over: Any) -> None:
    def use(client: mf.Client, _: object) -> None:
        assert typed.TradingClient(client).at(typed.Venue.xetra).name() == "xetra"
        assert typed.TradingClient(client).at(typed.Venue.eurex).name() == "eurex"
        assert typed.SpokenClient(client).at(typed.Lang.de).name() == "de"
        assert typed.SpokenClient(client).at(typed.Lang(7)).name() == "7"
        assert typed.ShardedClient(client).at(4_000_000_000).name() == "4000000000"
        assert typed.NodesClient(client).at(NODE).name() == str(NODE)
        assert typed.TextsClient(client).at("1").name() == "1"

    over(typed, use)


def test_outcomes_stand_under_values_of_the_agents_type(typed: Any, over: Any) -> None:
    venue, lang = typed.Venue, typed.Lang

    def use(client: mf.Client, where: str | mf.Light) -> None:
        async def awaited() -> Any:
            async with mf.AsyncClient(where) as client:
                trading = typed.TradingAsyncClient(client).on([venue.eurex, venue.name_, venue.xetra])
                return await trading.name()

        trading = typed.TradingClient(client).on([venue.eurex, venue.name_, venue.xetra])
        for scattered in (trading.name(), asyncio.run(awaited())):
            assert list(scattered) == [venue.eurex, venue.name_, venue.xetra]
            assert all(type(each) is venue for each in scattered)
            assert scattered.ok == {venue.eurex: "eurex", venue.xetra: "xetra"}
            assert list(scattered.failed) == [venue.name_]
        assert typed.SpokenClient(client).on([lang.de, lang(7)]).name().ok == {lang.de: "de", lang(7): "7"}
        assert list(typed.ShardedClient(client).on([4_000_000_000]).name()) == [4_000_000_000]
        assert list(typed.NodesClient(client).on([NODE]).name()) == [NODE]
        assert list(typed.TextsClient(client).on(["1"]).name()) == ["1"]

    over(typed, use)


def test_errors_name_the_members_of_an_enum(typed: Any, over: Any) -> None:
    def use(client: mf.Client, _: object) -> None:
        with pytest.raises(mf.Error) as caught:
            typed.TradingClient(client).at(typed.Venue.name_).name()
        assert 'typed_agents.Trading for agent "name"; known agents: "xetra", "eurex"' in str(caught.value)

    over(typed, use)


def test_a_servant_is_offered_by_member_name_or_number(typed: Any) -> None:
    light, server = mf.Light(), mf.Server()
    servant = _offers(typed)[0][0]
    for hub in (light, server):
        hub.offer(servant, agent="xetra")
        for wrong in ("Xetra", "4", 4, "name_", "01"):
            with pytest.raises(ValueError, match=r"of type typed_agents\.Venue: not for"):
                hub.offer(servant, agent=wrong)
    for again in (typed.Venue.xetra, 1, "1", "xetra"):
        with pytest.raises(ValueError, match="is offered already for agent 'xetra'"):
            server.offer(servant, agent=again)
        light.offer(servant, agent=again)
        assert light.agents(typed.TRADING_SERVICE) == ["1"]
    light.withdraw(typed.TRADING_SERVICE, "xetra")
    assert light.agents(typed.TRADING_SERVICE) == []


def test_a_service_knows_the_names_of_its_agents(typed: Any) -> None:
    names = {"1": "xetra", "2": "eurex", "3": "name"}
    assert agent_names(typed.TRADING_SERVICE) == names
    assert agent_names(typed.SPOKEN_SERVICE) == {"0": "none", "-49": "de"}
    for service in (typed.SHARDED_SERVICE, typed.NODES_SERVICE, typed.TEXTS_SERVICE, typed.SINGLE_SERVICE):
        assert agent_names(service) == {}
    assert shown_agent(typed.TRADING_SERVICE, "2") == "eurex"
    assert shown_agent(typed.TRADING_SERVICE, "9") == "9"


def test_an_agent_that_the_callers_schema_lacks_keeps_its_text(typed: Any) -> None:
    both: mf.Scattered[str, int] = mf.Scattered({"1": mf.Outcome(1), "9": mf.Outcome(2)})

    keyed = both.keyed(lambda text: typed.Venue(int(text)))

    assert list(keyed) == [typed.Venue.xetra, "9"]
