"""Agents that are offered and agents that are called meet, whatever they are made of."""

from collections.abc import Callable
from enum import IntEnum
from typing import Any
from uuid import UUID

import pytest

import mf
from mf.core.agent import Agent, agent_text
from tests.python.conftest import Recorder
from tests.python.echo import EchoClient


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


def _over_light(agent: Agent, use: Callable[[Any], None]) -> None:
    hub = mf.Light()
    hub.offer(Recorder(), agent=agent)
    use(hub)


def _over_tcp(agent: Agent, use: Callable[[Any], None]) -> None:
    server = mf.Server()
    server.offer(Recorder(), agent=agent)
    with server:
        use(server.address)


@pytest.mark.parametrize("over", [_over_light, _over_tcp])
@pytest.mark.parametrize(("agent", "text"), TEXTS)
def test_offer_at_and_on_agree(over: Callable[..., None], agent: Any, text: str) -> None:
    def use(where: Any) -> None:
        with mf.Client(where) as client:
            echo = EchoClient(client)
            assert echo.at(agent).twice(2) == 4
            assert echo.on([agent, text]).twice(2).ok() == {text: 4}

    over(agent, use)
