"""Offered agents and called agents match, whatever their type."""

from collections.abc import Callable
from enum import IntEnum
from typing import Any
from uuid import UUID

import pytest

import mf
from mf.core.agent import Agent, agent_text
from mf.core.error import Code, Execution
from mf.core.offered import offered_agent
from tests.python.conftest import Recorder
from tests.python.echo import ECHO_SERVICE, EchoClient, service


class Shard(IntEnum):
    SEVENTH = 7


A_UUID = UUID(int=7)
TEXTS: list[tuple[Agent, str]] = [
    ("books", "books"),
    (-7, "-7"),
    (Shard.SEVENTH, "7"),
    (A_UUID, "00000000-0000-0000-0000-000000000007"),
]


@pytest.mark.parametrize(("agent", "text"), TEXTS)
def test_an_agent_has_one_text(agent: Agent, text: str) -> None:
    assert agent_text(agent) == text


@pytest.mark.parametrize("agent", [True, None, 1.5, b"books"])
def test_what_is_no_agent_is_refused(agent: Any) -> None:
    with pytest.raises(TypeError, match="an agent is a str, an int or a UUID, not"):
        agent_text(agent)
    if agent is not None:
        with pytest.raises(TypeError):
            mf.Light().offer(Recorder(), agent=agent)
        with pytest.raises(TypeError):
            mf.Server().offer(Recorder(), agent=agent)


def _over_light(agents: list[Agent], use: Callable[[Any], None]) -> None:
    hub = mf.Light()
    for agent in agents:
        hub.offer(Recorder(), agent=agent)
    use(hub)


def _over_tcp(agents: list[Agent], use: Callable[[Any], None]) -> None:
    server = mf.Server()
    for agent in agents:
        server.offer(Recorder(), agent=agent)
    with server:
        use(server.address)


OVER = pytest.mark.parametrize("over", [_over_light, _over_tcp])


@OVER
@pytest.mark.parametrize(("agent", "text"), TEXTS)
def test_offer_at_and_on_agree(over: Callable[..., None], agent: Any, text: str) -> None:
    def use(where: Any) -> None:
        with mf.Client(where) as client:
            echo = EchoClient(client)
            assert echo.at(agent).twice(2) == 4
            assert echo.on([agent, text]).twice(2).ok == {text: 4}

    over([agent], use)


@OVER
def test_an_unknown_agent_among_thousands_is_answered_in_few_words(over: Callable[..., None]) -> None:
    def use(where: Any) -> None:
        with mf.Client(where) as client:
            echo = EchoClient(client)
            with pytest.raises(mf.Error) as raised:
                echo.at("y" * 5000).twice(1, options=mf.CallOptions(deadline=5))
            assert raised.value.code is Code.UNKNOWN_AGENT
            assert 'known agents: "shelf-of-a-long-name-0000", "shelf' in raised.value.message
            assert raised.value.message.endswith('-0007", … and 2,992 more')
            assert echo.at("shelf-of-a-long-name-2999").twice(2) == 4

    over([f"shelf-of-a-long-name-{i:04}" for i in range(3000)], use)


def test_an_unknown_service_among_many_is_answered_in_few_words() -> None:
    hub, server = mf.Light(), mf.Server()
    for i in range(20):

        class One(mf.Servant):
            mf_service = service(name=f"demo.Echo{i:02}")

        hub.offer(One(), agent="a")
        server.offer(One(), agent="a")
    with server:
        for where in (hub, server.address):
            with mf.Client(where) as client, pytest.raises(mf.Error) as raised:
                EchoClient(client).at("a").twice(1)
            assert raised.value.message.endswith("demo.Echo06, demo.Echo07, … and 12 more")


@OVER
def test_who_calls_what_is_no_text_is_told_before_anything_is_sent(over: Callable[..., None]) -> None:
    def use(where: Any) -> None:
        with mf.Client(where) as client:
            echo = EchoClient(client)
            huge: Any = 10**5000  # which Python does not write in decimal
            for refused in (
                lambda: echo.at("a\udcff"),
                lambda: echo.on(["a", "\udcff"]),
                lambda: echo.at(huge),
            ):
                with pytest.raises(mf.Error) as raised:
                    refused()
                error = raised.value
                assert (error.code, error.execution) == (Code.INVALID_ARGUMENT, Execution.NOT_EXECUTED)
            assert echo.at("?").twice(1) == 2

    over(["?"], use)


@pytest.mark.parametrize("size", [33_000, 70_000])
def test_an_agent_too_long_for_the_wire_is_refused_at_once_and_the_connection_stays(size: int) -> None:
    def use(where: Any) -> None:
        with mf.Client(where) as client:
            echo = EchoClient(client)
            with pytest.raises(mf.Error, match="at most 32,768 may go") as raised:
                echo.at("é" * (size // 2)).twice(1, options=mf.CallOptions(deadline=5))
            error = raised.value
            assert (error.code, error.execution) == (Code.MESSAGE_TOO_LARGE, Execution.NOT_EXECUTED)
            scattered = echo.on(["a", "x" * size]).twice(2)
            assert scattered.ok == {"a": 4}

    _over_tcp(["a"], use)


@OVER
def test_the_longest_agent_that_is_offered_can_be_called(over: Callable[..., None]) -> None:
    names = [ECHO_SERVICE.name, *(method.name for method in ECHO_SERVICE.methods)]
    longest = "x" * (32_768 - 16 - 2 - 2 - sum(2 + len(name) for name in names))

    def use(where: Any) -> None:
        with mf.Client(where) as client:
            assert EchoClient(client).at(longest).twice(2) == 4

    over([longest], use)
    for hub in (mf.Light(), mf.Server()):
        with pytest.raises(ValueError, match="go over the wire"):
            hub.offer(Recorder(), agent=longest + "x")
        with pytest.raises(ValueError, match="lone surrogate at 1"):
            hub.offer(Recorder(), agent="a\udcff")


RANK = "type demo.Rank enum i8 closed\n low -1\n mid 2\ntype demo.Zoo enum u8 open\n cat 0\n"


@pytest.mark.parametrize(
    ("kind", "fits", "does_not"),
    [
        ("u8", [0, 255, "7", Shard.SEVENTH], [256, -1, "300", "abc", "07", "+7", " 7", "1_0", "٣", A_UUID]),
        ("i64", [-(2**63), "-1"], [2**63, "-0", "9" * 5000]),
        ("uuid", [A_UUID, str(A_UUID)], [7, f"{{{A_UUID}}}", A_UUID.hex, "x", str(A_UUID)[:-1] + "A"]),
        ("demo.Rank", [-1, "2"], [0, 3, 300, "middle"]),
        ("demo.Zoo", [0, 255], [256, "dog"]),
        ("string", ["07", 300, A_UUID], []),
    ],
)
def test_an_agent_that_is_not_of_its_type_is_not_offered(
    kind: str, fits: list[Agent], does_not: list[Agent]
) -> None:
    info = service(f"service demo.Echo\n per shelf {kind}\n{RANK}")

    class Typed(Recorder):
        mf_service = info

    for agent in fits:
        assert offered_agent(info, agent) == agent_text(agent)
    for agent in does_not:
        for hub in (mf.Light(), mf.Server()):
            with pytest.raises(ValueError, match=f"demo.Echo is offered per shelf, of type {kind}: not for"):
                hub.offer(Typed(), agent=agent)
