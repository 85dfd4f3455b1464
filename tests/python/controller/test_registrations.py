"""The registration of servers: its owner, its content, its changes, and when it is made again."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest

import mf
from mf.codec.times import Duration
from mf.controller._generated.mf.controller import (
    ControllerClient,
    Credential,
    NotOwner,
)
from tests.python.client.test_calls import free_port
from tests.python.conftest import AsyncRecorder, Recorder, eventually
from tests.python.controller.test_controller import Running, controller
from tests.python.echo import EchoClient
from tests.python.serving import AnyServer, LoopServer

__all__ = ["controller"]

BOTH = pytest.mark.parametrize("kind", ["blocking", "asyncio"])


@contextmanager
def registered(kind: str, address: str, agent: str = "a", **options: Any) -> Iterator[AnyServer]:
    """A server with one offer, which starts to register."""
    server: AnyServer
    if kind == "asyncio":
        server = LoopServer(controller=address, options=mf.ServerOptions(drain_timeout=1.0))
        server.offer(AsyncRecorder(), agent=agent, **options)
    else:
        server = mf.Server(controller=address, options=mf.ServerOptions(drain_timeout=1.0))
        server.offer(Recorder(), agent=agent, **options)
    with server:
        yield server


def add(server: AnyServer, agent: str) -> None:
    """Adds an offer to a running server."""
    if isinstance(server, LoopServer):

        async def now() -> None:
            server.offer(AsyncRecorder(), agent=agent)

        server.on_loop(now())
    else:
        server.offer(Recorder(), agent=agent)


def agents(controller: Running) -> list[str]:
    return sorted(each.offer.key.agent for each in controller.servant.instances())


@BOTH
def test_a_stranger_with_the_right_nonce_changes_nothing_without_the_secret(
    controller: Running, kind: str
) -> None:
    with registered(kind, controller.address) as server:
        assert eventually(lambda: agents(controller) == ["a"])
        with mf.Client(controller.address.replace("mf:", "tcp:")) as client:
            stranger = Credential(UUID(bytes=server.nonce), UUID(int=5))
            stub = ControllerClient(client)
            for attempt in (
                lambda: stub.deregister(stranger),
                lambda: stub.update(stranger, [], []),
                lambda: list(stub.register(stranger, "stranger", [])),
            ):
                with pytest.raises(NotOwner):
                    attempt()
        assert agents(controller) == ["a"]


@BOTH
def test_each_server_has_a_secret_of_its_own_and_keeps_it(controller: Running, kind: str) -> None:
    with registered(kind, controller.address, "a"), registered(kind, controller.address, "b"):
        assert eventually(lambda: agents(controller) == ["a", "b"])
        controller.forget()
        assert eventually(lambda: agents(controller) == ["a", "b"])

    owners = controller.servant.owners
    secrets = {nonce: secret for nonce, secret, _ in owners}
    assert len(owners) == 4
    assert len(set(secrets.values())) == 2
    assert all(secrets[nonce] == secret for nonce, secret, _ in owners)


@BOTH
def test_an_offer_says_its_weight_its_labels_and_that_it_wants_to_be_alone(
    controller: Running, kind: str
) -> None:
    offered: dict[str, Any] = {"weight": 3, "labels": {"zone": "north"}, "alone": True}
    with registered(kind, controller.address, **offered):
        assert eventually(lambda: agents(controller) == ["a"])
        (instance,) = controller.servant.instances()

    assert (instance.offer.weight, instance.offer.labels, instance.offer.alone) == (
        3,
        {"zone": "north"},
        True,
    )
    assert instance.process  # the name of a program


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"weight": -1}, "weight is -1"),
        ({"weight": 1 << 32}, "weight is 4294967296"),
        ({"labels": {str(number): "" for number in range(17)}}, "at most 16 labels, not 17"),
        ({"labels": {"": ""}}, "a label has 1 to 64 bytes"),
        ({"labels": {"x" * 65: ""}}, "a label has 1 to 64 bytes"),
        ({"labels": {"x": "é" * 513}}, "its text at most 1024"),
    ],
)
def test_what_no_controller_takes_is_refused_when_it_is_offered(options: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        mf.Server().offer(Recorder(), agent="a", **options)


def test_an_agent_that_no_controller_takes_is_refused_where_one_is_told() -> None:
    with pytest.raises(ValueError, match="agents of at most 1024 bytes, not 1025"):
        mf.Server(controller="mf://127.0.0.1:1").offer(Recorder(), agent="x" * 1025)


@BOTH
def test_an_offer_that_is_made_later_is_told_as_a_change(controller: Running, kind: str) -> None:
    with registered(kind, controller.address, "a") as server:
        assert eventually(lambda: agents(controller) == ["a"])
        add(server, "b")
        assert eventually(lambda: agents(controller) == ["a", "b"])
        with mf.Client(controller.address) as client:
            assert EchoClient(client).at("b").twice(1) == 2

    assert len(controller.servant.owners) == 1
    assert controller.servant.updates == [(["b"], [])]


@BOTH
def test_a_server_says_in_time_that_it_lives(controller: Running, kind: str) -> None:
    with registered(kind, controller.address):
        assert eventually(lambda: controller.servant.signs_of_life >= 3)

    assert len(controller.servant.owners) == 1


@BOTH
def test_a_server_says_nothing_between_its_changes_while_its_lease_is_long(
    controller: Running, kind: str
) -> None:
    controller.servant._lease = Duration.from_seconds(3600)
    with registered(kind, controller.address, "0") as server:
        for number in range(1, 6):
            assert eventually(lambda: len(agents(controller)) == number)  # noqa: B023
            add(server, str(number))
        assert eventually(lambda: len(agents(controller)) == 6)

        assert controller.servant.updates == [([str(number)], []) for number in range(1, 6)]
        assert controller.servant.signs_of_life == 0


@BOTH
def test_a_server_that_is_not_registered_any_more_learns_it_from_its_sign_of_life(
    controller: Running, kind: str
) -> None:
    with registered(kind, controller.address):
        assert eventually(lambda: agents(controller) == ["a"])
        controller.servant.denies = 1
        assert eventually(lambda: len(controller.servant.owners) == 2)
        assert eventually(lambda: agents(controller) == ["a"])


@BOTH
@pytest.mark.parametrize("code", [mf.Code.OVERLOADED, mf.Code.INVALID_ARGUMENT])
def test_an_update_that_is_refused_ends_no_registration(
    controller: Running, kind: str, code: mf.Code, caplog: pytest.LogCaptureFixture
) -> None:
    with registered(kind, controller.address, "a") as server:
        assert eventually(lambda: agents(controller) == ["a"])
        controller.servant.refuses = {"b": code}
        add(server, "b")
        assert eventually(lambda: controller.servant.refusals >= 1)
        lived = controller.servant.signs_of_life
        assert eventually(lambda: controller.servant.signs_of_life >= lived + 2)
        add(server, "c")
        assert eventually(lambda: agents(controller) == ["a", "c"])
        with mf.Client(controller.address) as client:
            assert EchoClient(client).at("a").twice(1) == 2

    assert len(controller.servant.owners) == 1
    assert sum("no room for it" in each for each in caplog.messages) == 1


@BOTH
def test_a_sign_of_life_that_is_refused_ends_no_registration_and_is_given_again(
    controller: Running, kind: str
) -> None:
    with registered(kind, controller.address, "a"):
        assert eventually(lambda: agents(controller) == ["a"])
        controller.servant.refuses = {"": mf.Code.OVERLOADED}
        assert eventually(lambda: controller.servant.refusals >= 2)
        controller.servant.refuses = {}
        lived = controller.servant.signs_of_life
        assert eventually(lambda: controller.servant.signs_of_life >= lived + 2)

    assert len(controller.servant.owners) == 1


@BOTH
def test_servers_that_want_to_be_alone_and_are_not_are_named_in_the_log(
    controller: Running, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    def warned() -> list[str]:
        return [each.getMessage() for each in caplog.records if "alone" in each.getMessage()]

    with caplog.at_level(logging.WARNING, "mf"), registered(kind, controller.address, alone=True):
        assert eventually(lambda: agents(controller) == ["a"])
        with registered(kind, controller.address):
            assert eventually(lambda: len(warned()) == 2)

    text = "the controller warns: '2 processes offer demo.Echo, and one wants to be alone'"
    assert warned() == [text, text]


@BOTH
def test_a_server_leaves_when_it_stops(controller: Running, kind: str) -> None:
    with registered(kind, controller.address):
        assert eventually(lambda: agents(controller) == ["a"])
    assert eventually(lambda: agents(controller) == [])


@BOTH
def test_a_server_registers_with_each_of_its_controllers(kind: str) -> None:
    first, second = Running(), Running()
    with registered(kind, f"{first.address}, {second.address}"):
        assert eventually(lambda: agents(first) == agents(second) == ["a"])
        assert first.servant.owners == second.servant.owners
        first.stop()
        with mf.Client(f"{first.address},{second.address}") as client:
            assert EchoClient(client).at("a").twice(1) == 2
        first.start()
        assert eventually(lambda: agents(first) == ["a"])
    assert agents(first) == agents(second) == []
    first.stop()
    second.stop()


@BOTH
def test_a_controller_that_is_not_there_does_not_hold_up_the_others_nor_the_end(
    controller: Running, kind: str
) -> None:
    with registered(kind, f"mf://127.0.0.1:{free_port()},{controller.address}"):
        assert eventually(lambda: agents(controller) == ["a"])
    assert eventually(lambda: agents(controller) == [])


def test_a_blocking_server_has_one_thread_for_its_controllers_and_it_ends(controller: Running) -> None:
    def named(name: str) -> int:
        return sum(each.name == name for each in threading.enumerate())

    with registered("blocking", f"{controller.address},{controller.address}"):
        assert eventually(lambda: agents(controller) == ["a"])
        assert named("mf-registrar") == 1
    assert named("mf-registrar") == 0


@BOTH
def test_a_server_that_stops_tells_its_controller_unless_that_is_away(
    controller: Running, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    with registered(kind, controller.address):
        assert eventually(lambda: agents(controller) == ["a"])
    assert eventually(lambda: controller.servant.farewells == 1)

    with registered(kind, controller.address):
        assert eventually(lambda: agents(controller) == ["a"])
        servant = controller.servant
        controller.stop()
        assert eventually(lambda: any("trying on" in each.getMessage() for each in caplog.records))
    assert servant.farewells == 1
    controller.start()
