"""Nodes with an access file: to which processes others may send, and under which names."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import mf
from mf import flex
from mf.core.error import Code, Execution
from tests.python.conftest import eventually

OWN = f"uid:{os.geteuid()}"
LIMIT = 60.0

Pair = tuple[flex.Node, flex.Node]


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Callable[[str], Pair]]:
    """Two nodes over a unix socket; the first has an access file."""
    nodes: list[flex.Node] = []

    def make(rules: str) -> Pair:
        file = tmp_path / "access.conf"
        file.write_text(rules)
        listen = f"unix:{tmp_path}/far"
        nodes.append(flex.Node("", listen=listen, access=str(file)))
        nodes.append(flex.Node(listen, listen=f"unix:{tmp_path}/near", patience=LIMIT))
        return nodes[0], nodes[1]

    yield make
    for each in reversed(nodes):
        each.close()


def failure_of(sender: flex.Process, dest: str) -> mf.Error:
    with pytest.raises(mf.Error) as raised:
        sender.send(dest=dest, tag="x").wait(LIMIT)
    assert raised.value.execution is Execution.NOT_EXECUTED
    return raised.value


def test_a_name_that_the_identity_may_have_sends_and_another_is_refused(pair: Callable[[str], Pair]) -> None:
    far, near = pair(f"allow {OWN} send B\nallow {OWN} register mf.flex.Mailbox per A\n")
    b = far.process("B")
    a, c = near.process("A"), near.process("C")
    a.send(dest="B", tag="first")
    assert b.recv(LIMIT).src == "A"

    refused = failure_of(c, "B")

    assert refused.code is Code.PERMISSION_DENIED
    assert f"{OWN} may not send as 'C'" in refused.message
    a.send(dest="B", tag="second")
    assert b.recv(LIMIT).tag == "second"
    assert len(b) == 0


def test_a_process_to_which_the_identity_may_not_send_is_denied(pair: Callable[[str], Pair]) -> None:
    far, near = pair(f"allow {OWN} send B\nallow {OWN} register mf.flex.Mailbox per *\n")
    other = far.process("other")

    refused = failure_of(near.process("A"), "other")

    assert refused.code is Code.PERMISSION_DENIED
    assert f"{OWN} may not send to 'other'" in refused.message
    assert len(other) == 0


def test_a_member_of_a_group_is_sent_to_by_its_own_name(pair: Callable[[str], Pair]) -> None:
    far, near = pair(f"allow {OWN} send B\nallow {OWN} register mf.flex.Mailbox per A\n")
    b = far.process("B", groups=["team"])
    other = far.process("other", groups=["team"])
    a = near.process("A")
    a.send(dest="team/B", tag="x")
    assert b.recv(LIMIT).src == "A"
    assert failure_of(a, "team/other").code is Code.PERMISSION_DENIED
    assert len(other) == 0


def test_a_node_reads_its_file_again(pair: Callable[[str], Pair], tmp_path: Path) -> None:
    rules = f"allow {OWN} register mf.flex.Mailbox per A\n"
    far, near = pair(rules + f"allow {OWN} send B\n")
    b, c, a = far.process("B"), far.process("C"), near.process("A")
    a.send(dest="B", tag="x")
    assert b.recv(LIMIT).tag == "x"
    assert failure_of(a, "C").code is Code.PERMISSION_DENIED

    (tmp_path / "access.conf").write_text(rules + f"allow {OWN} send C\n")
    assert far.reload()
    a.send(dest="C", tag="allowed")
    assert c.recv(LIMIT).tag == "allowed"
    assert eventually(lambda: is_denied(a, "B"))  # what the earlier connection carries may arrive

    (tmp_path / "access.conf").write_text("allow nonsense\n")
    assert not far.reload()
    a.send(dest="C", tag="still allowed")
    assert c.recv(LIMIT).tag == "still allowed"


def is_denied(sender: flex.Process, dest: str) -> bool:
    try:
        sender.send(dest=dest, tag="late").wait(0.5)
    except mf.Error as refused:
        return refused.code is Code.PERMISSION_DENIED
    return False


def test_processes_of_the_same_node_need_no_line(tmp_path: Path) -> None:
    file = tmp_path / "access.conf"
    file.write_text("")
    with flex.Node("", listen=f"unix:{tmp_path}/s", access=str(file)) as node:
        a, b = node.process("A"), node.process("B")
        a.send(dest="B", tag="x")
        assert b.recv(LIMIT).tag == "x"


def test_mistakes_in_the_file_are_named_at_the_start(tmp_path: Path) -> None:
    file = tmp_path / "access.conf"
    file.write_text("allow anyone sned B\n")
    for kind in (flex.Node, flex.AsyncNode):
        with pytest.raises(ValueError, match=r"access.conf:1: 'sned' is no action; did you mean 'send'\?"):
            kind("", access=str(file))
