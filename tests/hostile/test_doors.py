"""What an outsider may try: each attempt is refused with a reason at the client, and logged."""

import os
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

import pytest

import mf
from mf.controller._generated.mf.controller import (
    ControllerClient,
    Credential,
    Filter,
    Key,
    KeyKind,
    NotOwner,
    Offer,
)
from mf.protocol import frame
from mf.protocol.handshake import pack_bind
from mf.server import identity
from tests.hostile.attacker import Attacker
from tests.interop.peers import BUILD, Peers, Server
from tests.python.certificates import Authority
from tests.python.conftest import Recorder, eventually
from tests.python.echo import EchoClient

CONTROLLER = "mf.controller.Controller"
PERMISSION_DENIED, OVERLOADED = mf.Code.PERMISSION_DENIED, mf.Code.OVERLOADED
SOON = mf.CallOptions(deadline=20.0)
LITTLE = mf.CallOptions(deadline=20.0)


def at(address: str) -> str:
    """The server at the address of a controller or relay."""
    return "tcp://" + address.partition("://")[2]


def who(number: int, secret: int = 1) -> Credential:
    return Credential(UUID(int=number), UUID(int=secret))


def offer(name: str, agent: str = "", address: str = "tcp://127.0.0.1:1", weight: int = 1) -> Offer:
    return Offer(Key(KeyKind.service, name, agent), [address], UUID(int=0), weight, {}, False)


def refusal(error: pytest.ExceptionInfo[mf.Error]) -> tuple[mf.Code, str]:
    assert error.value.execution is mf.Execution.NOT_EXECUTED
    return error.value.code, error.value.message


# ---- relays


@pytest.fixture
def relay(peers: Peers) -> Iterator[Server]:
    controller = peers.controller().address
    with mf.Server(controller=controller) as server:
        server.offer(Recorder(), agent="a")
        with mf.Client(controller) as client:  # the server is registered when its first call ends
            assert EchoClient(client).at("a").twice(1, options=SOON) == 2
        yield peers.relay(controller)


@pytest.mark.parametrize("method", ["register", "update", "deregister", "lead", "list"])
def test_a_relay_binds_no_method_by_which_a_client_could_register(relay: Server, method: str) -> None:
    attacker = Attacker(relay.address)
    peer = attacker.greet()
    bind = pack_bind(attacker.fingerprint(CONTROLLER), CONTROLLER, "", (method,))
    peer.send(frame.pack(frame.BIND, bind))

    status, words = peer.next(frame.BOUND)

    assert (status, b"passes no registrations" in words) == (PERMISSION_DENIED, True)
    [line] = [line for line in relay.said().splitlines() if " relay_refused_a_binding " in line]
    assert peer.address in line
    attacker.close()


def test_a_client_of_a_relay_may_look_services_up_and_not_register_them(
    relay: Server,
) -> None:
    with mf.Client(at(relay.address)) as client:
        controller = ControllerClient(client)
        assert controller.status(options=SOON).processes == 1
        assert controller.client_id(options=SOON)
        found = controller.find(Filter(KeyKind.service, "demo.Echo", None), options=SOON)
        assert len(found.instances) == 1
        with pytest.raises(mf.Error) as refused:
            list(controller.register(who(7), "an intruder", [offer("demo.Echo", "a")], options=LITTLE))
        assert refusal(refused)[0] is PERMISSION_DENIED
        with pytest.raises(mf.Error) as refused:
            controller.deregister(who(7), options=LITTLE)
        assert refusal(refused)[0] is PERMISSION_DENIED
        assert controller.status(options=SOON).processes == 1
    said = relay.said()
    assert "relay_refused_a_call method=register" in said
    assert "relay_refused_a_call method=deregister" in said
    with mf.Client(relay.address) as client:
        assert EchoClient(client).at("a").twice(21, options=SOON) == 42


@contextmanager
def garbage() -> Iterator[str]:
    """A listener that answers each connection with the banner of another protocol; gives its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        over = threading.Event()

        def greet() -> None:
            while not over.is_set():
                try:
                    connected, _ = listener.accept()
                except OSError:
                    return
                connected.sendall(b"SECRET-BANNER 1.0 of a service that nobody outside should know of\r\n")
                held.append(connected)

        held: list[socket.socket] = []
        thread = threading.Thread(target=greet)
        thread.start()
        yield f"tcp://127.0.0.1:{listener.getsockname()[1]}"
        over.set()
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
        for each in held:
            each.close()


def test_a_server_that_breaks_the_protocol_fails_its_calls_and_its_bytes_are_not_passed_on(
    peers: Peers,
) -> None:
    controller = peers.controller().address
    relay = peers.relay(controller)
    with garbage() as address, mf.Server(controller=controller) as server, mf.Client(at(controller)) as asks:
        server.offer(Recorder(), agent="a")
        standing = ControllerClient(asks).register(who(7), "garbage", [offer("demo.Other", "b", address)])
        next(standing)
        attacker = Attacker(relay.address)
        peer = attacker.greet()
        peer.send(frame.pack(frame.BIND, pack_bind(bytes(16), "demo.Other", "b", ("m",)), route=0))
        status, words = peer.next(frame.BOUND)
        assert status == mf.Code.UNAVAILABLE, words
        assert b"SECRET" not in words
        assert b"53 45 43" not in words
        assert b"a server was not reached" in words
        assert address.encode() not in words
        # The connection goes on, with its other services.
        bind = pack_bind(attacker.fingerprint("demo.Echo"), "demo.Echo", "a", ("twice",))
        peer.send(frame.pack(frame.BIND, bind, route=8))
        assert peer.next(frame.BOUND)[0] == 0
        attacker.close()
        standing.cancel()
    assert "relay_server_broke_the_protocol" in relay.said()


# ---- addresses in clear


def test_a_client_of_a_controller_over_tls_uses_no_address_in_clear(
    peers: Peers, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    authority = Authority(tmp_path)
    shown = authority.issue()
    shows = ("--certificate", shown.certificate, "--key", shown.key)
    address = peers.controller_at("tls://127.0.0.1:0", *shows).address
    rightful, intruder = Recorder(), Recorder()
    with (
        mf.Server(
            "tls://127.0.0.1:0", address, mf.ServerOptions(tls=shown, controller_tls=authority.accepted)
        ) as server,
        mf.Server("tcp://127.0.0.1:0", address, mf.ServerOptions(controller_tls=authority.accepted)) as other,
        mf.Client(address, mf.ClientOptions(tls=authority.accepted)) as client,
    ):
        other.offer(intruder, agent="a", weight=1000)
        server.offer(rightful, agent="a")
        echo = EchoClient(client).at("a")
        assert eventually(lambda: "address_in_clear" in caplog.text or echo.twice(1) != 2)
        for number in range(100):
            echo.flaky(number, options=SOON)
    assert (rightful.calls, intruder.calls) == (100, 0)
    assert caplog.text.count("address_in_clear ") == 1


def test_the_error_names_the_address_in_clear_where_there_is_no_other(peers: Peers, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    shown = authority.issue()
    shows = ("--certificate", shown.certificate, "--key", shown.key)
    address = peers.controller_at("tls://127.0.0.1:0", *shows).address
    relay = peers.relay(address, "--ca", authority.file)
    with mf.Server(
        "tcp://127.0.0.1:0", address, mf.ServerOptions(controller_tls=authority.accepted)
    ) as server:
        server.offer(Recorder(), agent="a")
        with mf.Client(relay.address) as client, pytest.raises(mf.Error, match="no address in clear"):
            EchoClient(client).at("a").twice(1, options=LITTLE)
        with mf.Client(address, mf.ClientOptions(tls=authority.accepted)) as client, pytest.raises(mf.Error):
            EchoClient(client).at("a").twice(1, options=LITTLE)
    assert "address_in_clear" in relay.said()


# ---- the controller


@pytest.fixture
def controller(peers: Peers) -> Server:
    return peers.controller_at("tcp://127.0.0.1:0", "--offers-per-host", "50", "--max-connections", "40")


def test_only_a_process_that_offers_a_service_leads_it(controller: Server) -> None:
    with mf.Client(at(controller.address)) as client:
        stub = ControllerClient(client)
        standing = stub.register(who(7), "an intruder", [offer("demo.Other")])
        next(standing)
        with pytest.raises(mf.Error) as refused:
            next(stub.lead(who(7), Key(KeyKind.service, "demo.Echo", "a"), options=LITTLE))
        assert refusal(refused) == (
            PERMISSION_DENIED,
            'only a process that offers demo.Echo for agent "a" may lead it',
        )
        assert next(stub.lead(who(7), Key(KeyKind.service, "demo.Other", ""), options=SOON)).epoch
        standing.cancel()
    assert "lead_refused name=demo.Echo" in controller.said()


def test_a_process_takes_its_nonce_back_from_another_one(controller: Server) -> None:
    rightful = identity.draw()
    nonce = UUID(bytes=rightful.nonce)
    with mf.Client(at(controller.address)) as client, mf.Client(at(controller.address)) as own:
        squatter = ControllerClient(client).register(
            Credential(nonce, UUID(int=666)), "a squatter", [offer("demo.Echo", "a")]
        )
        next(squatter)
        standing = ControllerClient(own).register(
            Credential(nonce, UUID(bytes=rightful.secret)), "the process", [offer("demo.Echo", "b")]
        )
        next(standing)
        found = ControllerClient(own).find(Filter(KeyKind.service, "demo.Echo", None), options=SOON)
        assert [each.offer.key.agent for each in found.instances] == ["b"]
        with pytest.raises(NotOwner):
            next(
                ControllerClient(client).register(
                    Credential(nonce, UUID(int=666)), "a squatter", [offer("demo.Echo", "a")]
                )
            )
        standing.cancel()
    assert "nonce_taken_back" in controller.said()


def test_the_offers_of_a_host_are_limited_over_all_its_connections(controller: Server) -> None:
    with mf.Client(at(controller.address)) as one, mf.Client(at(controller.address)) as other:
        first = ControllerClient(one).register(who(1), "p", [offer("a.B", str(n)) for n in range(40)])
        next(first)
        with pytest.raises(mf.Error) as refused:
            next(ControllerClient(other).register(who(2), "p", [offer("a.C", str(n)) for n in range(11)]))
        assert refusal(refused) == (OVERLOADED, "the controller takes at most 50 offers from one host")
        first.cancel()
    assert "at most 50 offers from one host" in controller.said()


def test_a_weight_above_the_largest_is_refused(controller: Server) -> None:
    with mf.Client(at(controller.address)) as client:
        with pytest.raises(mf.Error) as refused:
            next(ControllerClient(client).register(who(1), "p", [offer("a.B", weight=4_000_000_000)]))
        assert refusal(refused) == (
            mf.Code.INVALID_ARGUMENT,
            "the weight of an offer is at most 1000, not 4000000000",
        )
    with pytest.raises(ValueError, match="from 0 to 1,000"):
        mf.Server().offer(Recorder(), agent="a", weight=1001)
    assert "the weight of an offer" in controller.said()


def test_idle_connections_are_ended_for_those_of_other_hosts(controller: Server) -> None:
    attacker = Attacker(controller.address)
    idle = [attacker.greet(host="127.0.0.2") for _ in range(40)]
    for _ in range(5):
        with mf.Client(at(controller.address)) as client:
            assert ControllerClient(client).status(options=SOON).processes == 0
    assert sum(" limit=max_connections " in line for line in controller.said().splitlines()) >= 1
    assert idle[0].was_cut()
    attacker.close()


def test_hundreds_of_bad_connections_write_at_most_a_hundred_lines(controller: Server) -> None:
    attacker = Attacker(controller.address)
    for _ in range(300):
        peer = attacker.connect()
        peer.send(b"\xff" * 64)
        assert peer.was_cut()
        peer.close()
    attacker.close()
    with mf.Client(at(controller.address)) as client:
        assert ControllerClient(client).status(options=SOON).processes == 0
    lines = controller.said().splitlines()
    assert 10 <= sum(" warning connection_broken " in line for line in lines) <= 100, lines


# ---- programs


@pytest.mark.parametrize("program", ["controller", "relay"])
def test_sighup_kills_nobody(peers: Peers, program: str) -> None:
    controller = peers.controller()
    victim = controller if program == "controller" else peers.relay(controller.address)
    for _ in range(3):
        victim.signal(signal.SIGHUP)
    victim.signal(signal.SIGTERM)
    assert victim.wait() == 0
    if program == "controller":  # the relay of these tests logs warnings alone
        assert " info draining" in victim.said()


def started(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(BUILD / "mf-controller"), "--listen", "tcp://127.0.0.1:0", "--store", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_a_pipe_in_the_place_of_the_registry_does_not_block_the_start(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "registry")
    done = started(tmp_path)
    assert done.returncode == 1
    assert "registry is no regular file: move it away" in done.stderr


def test_a_registry_of_a_gibibyte_is_refused_and_not_read(tmp_path: Path) -> None:
    with (tmp_path / "registry").open("wb") as file:
        file.truncate(1 << 30)
    done = started(tmp_path)
    assert done.returncode == 1
    assert "registry is larger than any that a controller writes" in done.stderr


def test_a_store_whose_folder_is_removed_says_so_and_is_written_again(peers: Peers, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    controller = peers.controller_at("tcp://127.0.0.1:0", store=str(folder))
    with mf.Client(at(controller.address)) as client:
        stub = ControllerClient(client)
        assert stub.status(options=SOON).store.ok
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
        gone = stub.status(options=SOON).store
        assert (gone.ok, "was removed" in gone.reason) == (False, True)
        assert eventually(lambda: stub.status(options=SOON).store.ok)
    assert (folder / "registry").exists()
    assert "store_degraded" in controller.said()
    assert "store_recovered" in controller.said()
