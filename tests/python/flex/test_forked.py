"""A forked child has no nodes of its parent's: what it does with them ends at once; the parent goes on."""

import asyncio
import os
import select
import signal
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

import mf
from mf import flex
from tests.python.flex.test_nodes import LIMIT
from tests.python.forking import forked
from tests.python.topics.made import PATIENCE


def _awaited(sent: flex.Sent) -> None:
    asyncio.run(sent.wait_async(LIMIT))


BOX = ("CONNECTION_LOST", "the mailbox of 'A' belongs to the parent process")


class Nodes:
    """`near` has the process A and is connected to `far`, which has B."""

    def __init__(self) -> None:
        self.far = flex.Node("")
        self.near = flex.Node(self.far.address)
        self.a = self.near.process("A", groups=["some"])
        self.b = self.far.process("B")

    def close(self) -> None:
        self.near.close()
        self.far.close()


@pytest.fixture
def nodes() -> Iterator[Nodes]:
    made = Nodes()
    yield made
    made.close()


@pytest.fixture
def alone() -> Iterator[flex.Process]:
    with flex.Node() as node:
        yield node.process("A")


def test_who_receives_fails_in_the_child_and_gets_the_message_in_the_parent(nodes: Nodes) -> None:
    nodes.a.send(dest="A", number=1)

    assert forked(lambda: nodes.a.recv(LIMIT, number=1)) == BOX
    assert forked(lambda: nodes.a.poll()) == BOX
    assert forked(lambda: asyncio.run(nodes.a.recv_async(LIMIT))) == BOX
    assert forked(lambda: nodes.a.on_message(print)) == BOX
    assert forked(lambda: len(nodes.a)) == 0
    assert nodes.a.recv(LIMIT)["number"] == 1


@pytest.mark.parametrize("dest", ["A", "B", "some/*"])
def test_who_sends_fails_in_the_child_and_not_in_the_parent(nodes: Nodes, dest: str) -> None:
    def send() -> None:
        nodes.a.send(dest=dest, number=2)

    assert forked(send) == ("UNAVAILABLE", "'A' belongs to the parent process")
    nodes.a.send(dest="B", number=3)
    assert nodes.b.recv(LIMIT, number=3)["number"] == 3


def test_what_was_sent_is_not_waited_for_in_the_child(nodes: Nodes) -> None:
    here = nodes.a.send(dest="A", number=1)
    there = nodes.a.send(dest="B", number=2)

    for sent in (here, there):
        lost = ("CONNECTION_LOST", "the message belongs to the parent process")
        assert forked(partial(sent.wait, LIMIT)) == lost
        assert forked(partial(_awaited, sent)) == lost
    nodes.a.recv(LIMIT)
    nodes.b.recv(LIMIT)
    here.wait(LIMIT)
    there.wait(LIMIT)


def test_what_was_taken_before_the_fork_is_known_in_the_child(nodes: Nodes) -> None:
    sent = nodes.a.send(dest="B", number=1)
    nodes.b.recv(LIMIT)
    sent.wait(LIMIT)

    assert forked(lambda: sent.wait(LIMIT)) is None


def test_a_node_makes_no_process_in_the_child_and_closes_without_a_word(nodes: Nodes) -> None:
    def close() -> int:
        nodes.near.close()
        nodes.a.leave()
        return len(nodes.near.processes)

    assert forked(lambda: nodes.near.process("C")) == (
        "UNAVAILABLE",
        "the node belongs to the parent process",
    )
    assert forked(close) == 0
    nodes.a.send(dest="B", number=4)
    assert nodes.b.recv(LIMIT)["number"] == 4


def test_a_standalone_node_is_inherited_neither(alone: flex.Process) -> None:
    alone.send(dest="A", number=1)

    assert forked(lambda: alone.recv(LIMIT)) == BOX
    assert alone.recv(LIMIT)["number"] == 1


def test_the_child_has_nodes_of_its_own(nodes: Nodes) -> None:
    def anew() -> int:
        with flex.Node(nodes.far.address) as node:
            process = node.process("C")
            process.send(dest="B", number=5).wait(LIMIT)
            return int(process.send(dest="C", number=6).copies)

    nodes.b.on_message(lambda _: None, number=5)
    assert forked(anew) == 1


def test_a_node_of_asyncio_ends_in_a_child_that_goes_on_with_its_loop(nodes: Nodes) -> None:
    async def main() -> Any:
        async with flex.AsyncNode(nodes.far.address) as node:
            process = await node.process("A2")
            sent = await process.send_async(dest="B", number=7)
            async with asyncio.TaskGroup() as group:
                waits = [
                    group.create_task(outcome(process.recv_async(LIMIT, number=8))),
                    group.create_task(outcome(sent.wait_async(LIMIT))),
                ]
                await asyncio.sleep(0.2)
                child = os.fork()
                if child:
                    await process.send_async(dest="A2", number=8)
                    await asyncio.to_thread(nodes.b.recv, LIMIT)
            found = [each.result() for each in waits]
            if not child:
                found.append(await outcome(process.send_async(dest="B", number=9)))
                os.write(childs, "\n".join(found).encode())
                os._exit(0)
            return child, found

    async def outcome(call: Any) -> str:
        try:
            await call
        except mf.Error as failure:
            return failure.code.name
        return "done"

    ours, childs = os.pipe()
    child, found = asyncio.run(main())
    try:
        assert select.select([ours], [], [], PATIENCE)[0], "the child hangs"
        ended = os.read(ours, 65_536).decode().splitlines()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)

    assert found == ["done", "done"]
    assert ended == ["CONNECTION_LOST", "CONNECTION_LOST", "UNAVAILABLE"]
