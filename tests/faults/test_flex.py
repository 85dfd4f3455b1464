"""Flexible processes under a real controller: found, followed, killed with messages in their mailboxes."""

import asyncio
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import mf
from mf import flex
from tests.interop.peers import Peers, Process
from tests.python.flex.test_mailbox import until

PROGRAM = Path(__file__).parent / "flex_receiver.py"
LIMIT = 60.0

Start = Callable[..., Process]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[Process] = []

    def begin(controller: str, name: str, *groups: str) -> Process:
        command = [sys.executable, str(PROGRAM), controller, name, *groups]
        process = Process(command, dict(os.environ), tmp_path / f"{name}{len(started)}.err")
        started.append(process)
        assert process.line() == "READY"
        return process

    yield begin
    for each in started:
        each.close()


def test_processes_find_each_other_by_name_and_by_group(peers: Peers, start: Start) -> None:
    controller = peers.controller().address
    with flex.Node(controller, patience=LIMIT) as node:
        me = node.process("me")
        for n in range(3):
            start(controller, f"w{n}", "workers")
        until(lambda: len(node.members("workers")) == 3)
        for n in range(3):
            me.send(dest=f"w{n}", n=n)
        sent = me.send(dest="workers/*", cmd="take", count=1)
        assert {me.recv(LIMIT, src=f"w{n}").taken[0] for n in range(3)} == {0, 1, 2}
        sent.wait(LIMIT)
        assert sent.copies == 3


def test_the_sender_is_told_what_a_killed_receiver_has_not_taken(peers: Peers, start: Start) -> None:
    controller = peers.controller().address
    with flex.Node(controller, patience=5.0) as node:
        me = node.process("me")
        victim = start(controller, "victim")
        sent = [me.send(dest="victim", n=n) for n in range(100)]
        me.send(dest="victim", cmd="take", count=40)
        assert me.recv(LIMIT, taken=list).taken == list(range(40))
        for each in sent[:40]:
            each.wait(LIMIT)

        victim.kill()

        until(lambda: all(each.done for each in sent))
        lost = me.undelivered()
        assert [each.messages[0].n for each in lost] == list(range(40, 100))
        assert {each.execution for each in lost} == {mf.Execution.UNKNOWN}


def test_a_name_is_followed_to_where_its_process_is_now(peers: Peers, start: Start) -> None:
    controller = peers.controller().address
    with flex.Node(controller, patience=LIMIT) as node:
        me = node.process("me")
        first = start(controller, "mover")
        me.send(dest="mover", n=1)
        me.send(dest="mover", cmd="take", count=1)
        assert me.recv(LIMIT, taken=[1]).src == "mover"
        me.send(dest="mover", cmd="leave")
        assert first.line() == "LEFT"

        start(controller, "mover")
        me.send(dest="mover", n=2)
        me.send(dest="mover", cmd="take", count=1)

        assert me.recv(LIMIT, taken=list).taken == [2]
        assert me.undelivered() == []


def test_who_takes_the_place_of_a_killed_process_gets_what_comes_then(peers: Peers, start: Start) -> None:
    controller = peers.controller().address
    with flex.Node(controller, patience=LIMIT) as node:
        me = node.process("me")
        victim = start(controller, "victim")
        lost = me.send(dest="victim", n=1)
        me.send(dest="victim", cmd="take", count=1)
        me.recv(LIMIT, taken=[1])
        lost = me.send(dest="victim", n=2)
        victim.kill()
        start(controller, "victim")
        with pytest.raises(flex.Undelivered, match="another process has the name now"):
            lost.wait(LIMIT)
        me.send(dest="victim", n=3)
        me.send(dest="victim", cmd="take", count=1)
        assert me.recv(LIMIT, taken=list).taken == [3]


def test_a_stopped_receiver_holds_up_its_own_messages_alone(peers: Peers, start: Start) -> None:
    controller = peers.controller().address
    with flex.Node(controller, patience=LIMIT) as node:
        me = node.process("me")
        stopped = start(controller, "stopped")
        start(controller, "other")
        stopped.freeze()
        for n in range(50):
            me.send(dest="stopped", n=n)
            me.send(dest="other", n=n)
        me.send(dest="other", cmd="take", count=50)
        assert me.recv(LIMIT, src="other").taken == list(range(50))
        stopped.thaw()
        me.send(dest="stopped", cmd="take", count=50)
        assert me.recv(LIMIT, src="stopped").taken == list(range(50))


def test_processes_that_know_each_other_go_on_without_the_controller(peers: Peers, start: Start) -> None:
    server = peers.controller()
    with flex.Node(server.address, patience=LIMIT) as node:
        me = node.process("me")
        start(server.address, "other")
        me.send(dest="other", n=1)
        me.send(dest="other", cmd="take", count=1)
        me.recv(LIMIT, taken=[1])
        server.kill()
        me.send(dest="other", n=2)
        me.send(dest="other", cmd="take", count=1)
        assert me.recv(LIMIT, taken=list).taken == [2]


def test_flexible_messages_go_through_a_relay(peers: Peers, start: Start) -> None:
    controller = peers.controller().address
    relay = peers.relay(controller, "--registrations")
    start(controller, "far")
    with flex.Node("relay://" + relay.address.partition("://")[2], patience=LIMIT) as node:
        me = node.process("me")
        me.send(dest="far", n=5)
        me.send(dest="far", cmd="take", count=1)
        assert me.recv(LIMIT, taken=list).taken == [5]


def test_nodes_of_asyncio_find_processes_and_groups_through_the_controller(
    peers: Peers, start: Start
) -> None:
    controller = peers.controller().address
    for n in range(2):
        start(controller, f"w{n}", "workers")

    async def main() -> None:
        async with flex.AsyncNode(controller, patience=LIMIT) as node:
            me = await node.process("me", groups=["workers"])
            async with asyncio.timeout(LIMIT):
                while len(await node.members_async("workers")) < 3:
                    await asyncio.sleep(0.01)
            sent = await me.send_async(dest="workers/*", n=7)
            assert sent.copies == 3
            assert (await me.recv_async(LIMIT, n=7)).src == "me"
            for n in range(2):
                await me.send_async(dest=f"w{n}", cmd="take", count=1)
                assert (await me.recv_async(LIMIT, src=f"w{n}")).taken == [7]
            await sent.wait_async(LIMIT)

    asyncio.run(main())


def test_two_processes_of_one_name_are_warned_of(
    peers: Peers, start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    controller = peers.controller().address
    start(controller, "twin")
    with flex.Node(controller, patience=LIMIT) as node:
        node.process("twin")
        until(lambda: "twin" in caplog.text)
    assert "the controller warns" in caplog.text
