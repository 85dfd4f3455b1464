"""Processes of nodes: within one, and over connections: order, flow control, what is lost and reported as
lost."""

import asyncio
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mf
from mf import flex
from mf.flex import outgoing
from mf.flex._generated.mf.flex import Message as Carried
from mf.flex._generated.mf.flex import Refused
from mf.flex.outgoing import Outgoing
from mf.testing.channel import new_name
from mf.testing.faults import Faults, Operation
from tests.python.flex.test_mailbox import until, waiting

LIMIT = 60.0  # of what surely comes


@pytest.fixture
def alone() -> Iterator[flex.Node]:
    with flex.Node() as node:
        yield node


class Pair:
    """Two nodes and a connection; `far` has no address of another node."""

    def __init__(self, patience: float = LIMIT) -> None:
        name = new_name()
        self.faults = Faults(name)
        self.far = flex.Node("", listen=f"memory:{name}")
        self.near = flex.Node(f"memory:{name}", listen=f"memory:{new_name()}", patience=patience)

    def close(self) -> None:
        self.near.close()
        self.far.close()


@pytest.fixture
def pair() -> Iterator[Pair]:
    made = Pair()
    yield made
    made.close()


@pytest.fixture
def hasty() -> Iterator[Pair]:
    """Gives up what cannot be reached after a moment."""
    made = Pair(patience=0.3)
    yield made
    made.close()


# What a send may say


def test_example_1_of_the_paper(alone: flex.Node) -> None:
    a, b = alone.process("A"), alone.process("B")
    a.send(dest="B", tag="input", data=[1, 2, 3, 4, 5])
    m = b.recv(src="A", tag="input")
    assert (m.src, m.dest, m.tag, m.data) == ("A", "B", "input", [1, 2, 3, 4, 5])
    b.send(dest="A")
    assert len(a.recv()) == 0  # an empty message


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"dest": ""},
        {"dest": 5},
        {"dest": "B", "src": "me"},
        {"dest": "x" * 512},
        {"dest": "é" * 256},
        {"dest": "\ud800"},
    ],
)
def test_dest_has_to_be_said_and_src_is_the_runtimes(alone: flex.Node, wrong: dict[str, Any]) -> None:
    with pytest.raises(mf.Error) as raised:
        alone.process().send(**wrong)
    assert raised.value.code is mf.Code.INVALID_ARGUMENT
    assert raised.value.execution is mf.Execution.NOT_EXECUTED


def test_options_take_no_name_from_attributes(alone: flex.Node) -> None:
    a, b = alone.process("A"), alone.process("B")
    a.send(flex.FAIL, 1.0, dest="B", timeout=5, when_full="x", self=1)
    message = b.recv(LIMIT, timeout=5, self=1)
    assert (message.timeout, message.when_full) == (5, "x")


def test_a_name_is_a_uuid_unless_it_is_wished_for(alone: flex.Node) -> None:
    first, second = alone.process(), alone.process()
    assert len({first.name, second.name}) == 2
    assert len(first.name) == 36
    with pytest.raises(mf.Error, match="has a process"):
        alone.process(first.name)
    for bad in ("", "a/b", "a*", "x" * 256):
        with pytest.raises(mf.Error, match="a name has 1 to 255 bytes"):
            alone.process(bad)


def test_what_was_sent_cannot_be_changed_any_more(alone: flex.Node) -> None:
    a, b = alone.process("A"), alone.process("B")
    data, array = [1, [2]], np.arange(3)
    a.send(dest="B", data=data, array=array)
    data.append(3)
    array[0] = 7
    message = b.recv(LIMIT)
    assert message.data == [1, [2]]
    assert message.array.tolist() == [0, 1, 2]


def test_a_message_that_is_too_large_is_refused(alone: flex.Node) -> None:
    with pytest.raises(mf.Error, match="send it in pieces") as raised:
        alone.process().send(dest="B", data=bytes(17 << 20))
    assert raised.value.code is mf.Code.MESSAGE_TOO_LARGE


def test_a_node_for_itself_knows_nobody_else(alone: flex.Node) -> None:
    with pytest.raises(mf.Error, match="has no other nodes to ask"):
        alone.process().send(dest="B")
    with pytest.raises(mf.Error, match="no process is in the group 'workers'"):
        alone.process().send(dest="workers/*")


def test_a_group_reaches_all_of_its_members_each_once(alone: flex.Node) -> None:
    a = alone.process("A")
    members = [alone.process(groups=["workers", "all"]) for _ in range(3)]
    sent = a.send(dest="workers/*", n=1)
    assert sent.copies == 3
    for each in members:
        assert each.recv(LIMIT).dest == "workers/*"
        assert len(each) == 0
    sent.wait(LIMIT)
    a.send(dest=f"workers/{members[0].name}", n=2)
    assert members[0].recv(LIMIT).n == 2


# Flow control within a node


def test_a_sender_waits_fails_or_drops_where_there_is_no_room(alone: flex.Node) -> None:
    a, b = alone.process("A"), alone.process("B", max_messages=4)
    a.send(dest="B", n=0)
    a.send(dest="B", n=1)
    refused = "no room for this message on the way to 'B': the mailbox of 'B' is full"
    with pytest.raises(mf.Error, match=refused) as raised:
        a.send(flex.FAIL, dest="B", n=2)
    assert raised.value.code is mf.Code.OVERLOADED
    assert a.send(flex.DROP, dest="B", n=3).dropped
    late = "no room for the message on the way to 'B' in time: the mailbox of 'B' is full"
    with pytest.raises(mf.Error, match=late) as raised:
        a.send(flex.BLOCK, 0.01, dest="B", n=4)
    assert raised.value.code is mf.Code.DEADLINE_EXCEEDED
    with ThreadPoolExecutor(1) as threads:
        blocked = threads.submit(a.send, None, LIMIT, dest="B", n=5)
        until(lambda: b._for_room)
        assert b.recv(LIMIT).n == 0
        assert not blocked.result(LIMIT).dropped
    assert [b.recv(LIMIT).n, b.recv(LIMIT).n] == [1, 5]


def test_a_process_says_by_itself_what_its_sends_do(alone: flex.Node) -> None:
    a, b = alone.process("A", when_full=flex.DROP), alone.process("B", max_messages=4)
    assert [a.send(dest="B", n=n).dropped for n in range(4)] == [False, False, True, True]
    assert len(b) == 2


def test_a_flood_of_one_sender_leaves_room_for_another(alone: flex.Node) -> None:
    flood, other, b = alone.process(), alone.process(), alone.process("B", max_messages=100)
    dropped = sum(flood.send(flex.DROP, dest="B", n=n).dropped for n in range(500))
    assert dropped == 453
    assert not other.send(flex.FAIL, dest="B", important=True).dropped
    assert b.recv(LIMIT, important=True).src == other.name


def test_five_nodes_that_flood_a_process_leave_room_for_a_sixth_and_are_notified(
    caplog: pytest.LogCaptureFixture,
) -> None:
    name = new_name()
    with ExitStack() as stack:
        far = stack.enter_context(flex.Node("", listen=f"memory:{name}"))
        b = far.process("B", max_messages=4096)

        def sender() -> flex.Process:
            node = flex.Node(f"memory:{name}", listen=f"memory:{new_name()}", patience=LIMIT)
            return stack.enter_context(node).process()

        floods = [sender() for _ in range(5)]
        for flood in floods:
            for n in range(3000):
                last = flood.send(dest="B", tag="unmatched", n=n)
        until(lambda: "is full" in late(last))
        assert late(last) == "its receiver has not taken the message within 0 s: the mailbox of 'B' is full"

        sixth = sender()
        for n in range(100):
            sixth.send(dest="B", tag="matching", n=n)
        assert [b.recv(LIMIT, tag="matching").n for _ in range(100)] == list(range(100))
        assert [each for each in caplog.messages if each.startswith("mailbox_full mailbox=B messages=")]

        for _ in range(5 * 3000):
            b.recv(LIMIT, tag="unmatched")
        last.wait(LIMIT)


def late(sent: flex.Sent) -> str:
    """The failure of waiting for a message that was not taken yet."""
    with pytest.raises(mf.Error) as raised:
        sent.wait(0)
    return raised.value.message


def test_a_sender_without_room_on_the_way_is_notified_that_the_mailbox_is_full(
    monkeypatch: pytest.MonkeyPatch, pair: Pair
) -> None:
    monkeypatch.setattr(outgoing, "WINDOW_MESSAGES", 20)
    a, b = pair.near.process("A"), pair.far.process("B", max_messages=4)
    for n in range(20):
        sent = a.send(dest="B", n=n)
    until(lambda: "is full" in late(sent))
    for options, text in (((flex.FAIL,), "this message on the way to 'B'"), ((flex.BLOCK, 0.0), "in time")):
        with pytest.raises(mf.Error, match=f"{text}: the mailbox of 'B' is full"):
            a.send(*options, dest="B")
    for n in range(20):
        assert b.recv(LIMIT).n == n
    sent.wait(LIMIT)
    a.send(flex.FAIL, dest="B")


def test_messages_of_a_process_that_leaves_are_undelivered_and_its_sender_is_told(
    alone: flex.Node, caplog: pytest.LogCaptureFixture
) -> None:
    a, b = alone.process("A"), alone.process("B")
    sent = [a.send(dest="B", n=n) for n in range(3)]
    b.recv(LIMIT, n=1)
    b.leave()
    sent[1].wait(LIMIT)
    with pytest.raises(flex.Undelivered, match="has closed its mailbox without taking") as raised:
        sent[0].wait(LIMIT)
    assert raised.value.execution is mf.Execution.NOT_EXECUTED
    assert [each.messages[0].n for each in a.undelivered()] == [0, 2]
    assert a.undelivered() == []
    assert "was not delivered" in caplog.text
    with pytest.raises(mf.Error, match="has no other nodes to ask"):
        a.send(dest="B")


def test_a_process_that_has_left_sends_nothing(alone: flex.Node) -> None:
    a = alone.process("A")
    alone.process("B")
    a.leave()
    a.leave()
    with pytest.raises(mf.Error, match="the mailbox of 'A' is closed"):
        a.send(dest="B")
    assert "closed" in repr(a)
    assert alone.processes == ["B"]
    assert alone.process("A").name == "A"  # the name is free again


# Over connections


def test_messages_arrive_over_a_connection_in_the_order_in_which_they_were_sent(pair: Pair) -> None:
    a, b = pair.near.process("A"), pair.far.process("B")
    for n in range(2000):
        a.send(dest="B", n=n)
    assert [b.recv(LIMIT, src="A").n for _ in range(2000)] == list(range(2000))


def test_all_kinds_of_values_arrive(pair: Pair) -> None:
    a, b = pair.near.process("A"), pair.far.process("B")
    values = {"none": None, "list": [1, "a", 2.5], "map": {"k": [True]}, "time": mf.Timestamp(5), "b": b"\0"}
    a.send(dest="B", array=np.arange(200_000.0), **values)
    message = b.recv(LIMIT)
    assert {name: message[name] for name in values} == values
    assert message.array.sum() == np.arange(200_000.0).sum()


def test_several_processes_share_one_connection(pair: Pair) -> None:
    near = [pair.near.process(f"n{n}") for n in range(8)]
    far = [pair.far.process(f"f{n}") for n in range(8)]
    for each in near:
        for other in far:
            each.send(dest=other.name)
    for other in far:
        assert {other.recv(LIMIT).src for _ in near} == {each.name for each in near}
    assert pair.faults.seen(Operation.CONNECT) == 1


def test_waiting_for_a_message_to_be_taken(pair: Pair) -> None:
    a, b = pair.near.process("A"), pair.far.process("B")
    sent = a.send(dest="B", n=1)
    with pytest.raises(mf.Error, match="its receiver has not taken the message"):
        sent.wait(0.01)
    b.recv(LIMIT)
    sent.wait(LIMIT)
    assert repr(sent) == "<mf.flex.Sent: taken>"


def test_flow_control_reaches_a_sender_elsewhere(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outgoing, "WINDOW_MESSAGES", 10)
    a, b = pair.near.process("A"), pair.far.process("B", max_messages=4)
    for n in range(10):
        a.send(flex.FAIL, dest="B", n=n)
    with pytest.raises(mf.Error, match="no room"):
        a.send(flex.FAIL, dest="B", n=10)
    assert a.send(flex.DROP, dest="B", n=11).dropped
    until(lambda: len(b) == 2)  # half of what it has room for, as one sender may have
    with ThreadPoolExecutor(1) as threads:
        blocked = threads.submit(a.send, None, LIMIT, dest="B", n=12)
        got = [b.recv(LIMIT).n for _ in range(11)]
        blocked.result(LIMIT)
    assert got == [*range(10), 12]


def test_a_message_for_nobody_is_undelivered(hasty: Pair) -> None:
    a = hasty.near.process("A")
    hasty.far.process("B")
    sent = a.send(dest="nobody", n=1)
    with pytest.raises(flex.Undelivered) as raised:
        sent.wait(LIMIT)
    assert raised.value.code is mf.Code.UNKNOWN_AGENT
    assert raised.value.execution is mf.Execution.NOT_EXECUTED
    assert raised.value.messages[0].n == 1
    a.send(dest="B", n=2).done  # noqa: B018 - the way to others is as before
    assert [each.messages[0].n for each in a.undelivered()] == [1]


def test_a_message_for_a_process_that_comes_in_time_is_delivered(pair: Pair) -> None:
    a = pair.near.process("A")
    sent = a.send(dest="B", n=1)
    b = pair.far.process("B")
    assert b.recv(LIMIT).n == 1
    sent.wait(LIMIT)


def test_the_sender_learns_which_messages_a_process_that_leaves_has_not_taken(pair: Pair) -> None:
    told: list[flex.Undelivered] = []
    a = pair.near.process("A", on_undelivered=told.append)
    b = pair.far.process("B")
    sent = [a.send(dest="B", n=n) for n in range(5)]
    until(lambda: len(b) == 5)
    b.recv(LIMIT, n=2)
    b.recv(LIMIT, n=0)
    b.leave()
    until(lambda: all(each.done for each in sent))
    assert [each.messages[0].n for each in told] == [1, 3, 4]
    assert {each.execution for each in told} == {mf.Execution.NOT_EXECUTED}
    sent[2].wait(LIMIT)


def test_a_way_that_has_ended_is_replaced_also_before_it_is_forgotten(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = pair.near.process("A"), pair.far.process("B")
    way = a._office.way("B")
    assert isinstance(way, Outgoing)
    monkeypatch.setattr(way, "_ended", lambda _: None)  # the loop has no time for it
    a.send(dest="B", n=1)
    assert b.recv(LIMIT).n == 1
    b.leave()
    until(lambda: way.closed)
    again = pair.far.process("B")
    a.send(dest="B", n=2)
    assert again.recv(LIMIT).n == 2


def test_another_process_of_the_name_gets_what_is_sent_from_then_on(pair: Pair) -> None:
    a, b = pair.near.process("A"), pair.far.process("B")
    a.send(dest="B", n=1)
    until(lambda: len(b) == 1)
    b.leave()
    again = pair.far.process("B")
    a.send(dest="B", n=2)
    assert again.recv(LIMIT).n == 2
    until(lambda: a._undelivered)
    assert [each.messages[0].n for each in a.undelivered()] == [1]


@pytest.mark.parametrize("operation", [Operation.WRITE, Operation.READ])
@pytest.mark.parametrize("nth", [1, 2, 5, 20])
def test_a_connection_that_breaks_loses_and_doubles_nothing(
    pair: Pair, operation: Operation, nth: int
) -> None:
    a, b = pair.near.process("A"), pair.far.process("B")
    pair.faults.cut(operation, nth)
    got: list[int] = []
    with ThreadPoolExecutor(1) as threads:
        receiving = threads.submit(lambda: got.extend(b.recv(LIMIT).n for _ in range(500)))
        sent = [a.send(dest="B", n=n, filling=bytes(200)) for n in range(500)]
        receiving.result(LIMIT)
    for each in sent:
        each.wait(LIMIT)
    assert got == list(range(500))
    assert len(b) == 0


def test_a_malformed_message_is_refused_alone(pair: Pair) -> None:
    a, b = pair.near.process("A"), pair.far.process("B")
    good = a.send(dest="B", n=1)
    way = a._office.way("B")
    assert isinstance(way, Outgoing)
    bad = flex.Sent(1)
    reported: list[mf.Error] = []
    message = Carried(0, "A", "B", b"\xff\xff", [])
    assert way.submit(outgoing.Outbound(message, bad, lambda _, error: reported.append(error)))
    a.send(dest="B", n=2)
    assert [b.recv(LIMIT).n, b.recv(LIMIT).n] == [1, 2]
    good.wait(LIMIT)
    until(lambda: reported)
    assert reported[0].code is mf.Code.DECODE_ERROR


def test_a_message_that_the_receiver_never_has_room_for_is_undelivered(pair: Pair) -> None:
    a = pair.near.process("A")
    b = pair.far.process("B", max_bytes=10_000)
    large = a.send(dest="B", data=bytes(9000))
    a.send(dest="B", n=2)
    with pytest.raises(flex.Undelivered, match="of one sender") as raised:
        large.wait(LIMIT)
    assert raised.value.code is mf.Code.MESSAGE_TOO_LARGE
    assert b.recv(LIMIT).n == 2


def test_a_node_that_closes_lets_what_it_has_sent_arrive(pair: Pair) -> None:
    a, b = pair.near.process("A"), pair.far.process("B")
    sent = [a.send(dest="B", n=n) for n in range(200)]
    pair.near.close(LIMIT)
    pair.near.close()
    assert [b.recv(LIMIT).n for _ in range(200)] == list(range(200))
    with pytest.raises(flex.Undelivered, match="has come to its mailbox, and may be taken yet") as raised:
        sent[-1].wait(LIMIT)
    assert raised.value.execution is mf.Execution.UNKNOWN
    assert a.undelivered() == []
    with pytest.raises(mf.Error, match="is closed"):
        pair.near.process("C")


def test_what_does_not_arrive_before_a_node_closes_is_undelivered(pair: Pair) -> None:
    a = pair.near.process("A")
    sent = a.send(dest="nobody", n=1)
    pair.near.close(0.01)
    with pytest.raises(flex.Undelivered, match="the node was closed") as raised:
        sent.wait(LIMIT)
    assert raised.value.execution is mf.Execution.NOT_EXECUTED


def test_callbacks_are_called_with_messages_of_other_nodes(pair: Pair) -> None:
    a, b = pair.near.process("A"), pair.far.process("B")
    got: list[int] = []
    ready = threading.Event()

    def called(message: flex.Message) -> None:
        got.append(message.n)
        if len(got) == 3:
            ready.set()

    b.on_message(called, tag="log")
    for n in range(3):
        a.send(dest="B", tag="log", n=n)
    assert ready.wait(LIMIT)
    assert got == [0, 1, 2]


# asyncio


def test_nodes_of_asyncio_speak_with_each_other() -> None:
    async def main() -> None:
        name = new_name()
        async with (
            flex.AsyncNode("", listen=f"memory:{name}") as far,
            flex.AsyncNode(f"memory:{name}", listen=f"memory:{new_name()}") as near,
        ):
            a, b = await near.process("A"), await far.process("B")
            receiving = asyncio.create_task(b.recv_async(LIMIT, tag=2))
            sent = [await a.send_async(dest="B", tag=n) for n in range(3)]
            assert (await receiving).tag == 2
            await sent[2].wait_async(LIMIT)
            with pytest.raises(mf.Error, match="not taken the message"):
                await sent[0].wait_async(0.01)
            await b.leave_async()
            with pytest.raises(flex.Undelivered):
                await sent[0].wait_async(LIMIT)

    asyncio.run(main())


def test_what_would_hold_up_the_loop_of_its_own_node_is_refused() -> None:
    async def main() -> None:
        async with flex.AsyncNode("", listen=f"memory:{new_name()}") as node:
            a, b = await node.process("A"), await node.process("B", max_messages=2)
            a.send(dest="B", n=0)
            with pytest.raises(mf.Error, match="await the function that ends in `_async`") as raised:
                a.send(dest="B", n=1)
            assert raised.value.code is mf.Code.INVALID_ARGUMENT
            assert b.recv().n == 0  # it is there already
            with pytest.raises(mf.Error, match="hold up the loop"):
                b.recv()

    asyncio.run(main())


def test_a_task_waits_for_room_and_threads_and_tasks_may_mix() -> None:
    async def main() -> None:
        async with flex.AsyncNode() as node:
            a, b = await node.process("A"), await node.process("B", max_messages=4)
            await a.send_async(dest="B", n=0)
            await a.send_async(dest="B", n=1)
            with pytest.raises(mf.Error, match="in time"):
                await a.send_async(flex.BLOCK, 0.01, dest="B", n=9)
            blocked = asyncio.create_task(a.send_async(None, LIMIT, dest="B", n=2))
            await asyncio.sleep(0)
            assert not blocked.done()
            got = [(await asyncio.to_thread(b.recv, LIMIT)).n for _ in range(3)]
            assert got == [0, 1, 2]
            assert not (await blocked).dropped
            assert waiting(b) == 0

    asyncio.run(main())


@pytest.mark.parametrize(("code", "expected"), [(999, mf.Code.INTERNAL), (13, mf.Code.MESSAGE_TOO_LARGE)])
def test_a_refusal_of_a_code_that_this_runtime_does_not_know_is_one(code: int, expected: mf.Code) -> None:
    error = outgoing._refusal(Refused(1, code, "of a later version"))
    assert (error.code, error.execution) == (expected, mf.Execution.NOT_EXECUTED)


def test_the_program_of_the_page_prints_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[3] / "docs" / "flexible.md").read_text("utf-8")
    program = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    printed = re.search(r"It prints:\n\n```\n(.*?)```", page, re.DOTALL)
    assert program is not None
    assert printed is not None
    exec(program.group(1), {})
    assert capsys.readouterr().out == printed.group(1)
