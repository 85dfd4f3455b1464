"""One group with replicas in C++ and in Python, each with an access file: a process that is no member by it
takes no part, in whichever language it asks."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from importlib import import_module
from pathlib import Path

import pytest

import mf
from tests.interop.peers import BUILD, LANGUAGES, Process, Server
from tests.python.conftest import eventually
from tests.replicated.group import PROGRAMS, ROOT, journals

__all__ = ["journals"]

OWN = f"uid:{os.geteuid()}"
OPTIONS = mf.ReplicatedOptions(deadline=60.0, require=mf.Require.MAJORITY)


def rules(members: str) -> str:
    lines = [f"allow {OWN} replicate journal.Journal.{each}" for each in members]
    return "\n".join([*lines, f"allow {OWN} call journal.Journal.* per a", ""])


class Replicas:
    """Members that reach each other over unix sockets."""

    def __init__(self, folder: Path, stubs: Path, stack: ExitStack) -> None:
        self._folder, self._stubs, self._stack = folder, stubs, stack
        command = [str(BUILD / "mf-controller"), "--store", "memory:", "--listen", "tcp://127.0.0.1:0"]
        self.controller = Server(command, dict(os.environ), folder / "controller.stderr")
        stack.enter_context(closing(self.controller))

    def start(self, name: str, language: str, members: str, allowed: str) -> Process:
        """`allowed`: the members that its access file allows."""
        (self._folder / f"{name}.conf").write_text(rules(allowed))
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(map(str, (self._stubs, ROOT / "runtime/python"))),
            "MF_PEER_LISTEN": f"unix:{self._folder}/{name}",
            "MF_PEER_ACCESS": f"{self._folder}/{name}.conf",
        }
        program = {
            "cpp": [str(BUILD / "tests/replicated/replicated"), "replica"],
            "python": [sys.executable, str(PROGRAMS / "journal_replica.py")],
        }
        command = [*program[language], self.controller.address, name, ",".join(members), "16384"]
        made = Process(command, environment, self._folder / f"{name}.stderr")
        self._stack.enter_context(closing(made))
        assert made.line() == name
        return made


@pytest.fixture
def replicas(tmp_path: Path, journals: dict[str, Path]) -> Iterator[Replicas]:
    with ExitStack() as stack:
        yield Replicas(tmp_path, journals["journal"], stack)


def serves(replica: Process) -> bool:
    replica.tell("serves")
    answer: bool = json.loads(replica.line())
    return answer


def test_a_group_of_both_languages_serves_with_the_members_that_its_files_allow(
    replicas: Replicas, journals: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    members = [replicas.start("a", "cpp", "ab", "ab"), replicas.start("b", "python", "ab", "ab")]
    assert [serves(each) for each in members] == [True, True]
    monkeypatch.syspath_prepend(journals["journal"])
    with mf.Client(replicas.controller.address) as client:
        stub = import_module("journal").JournalClient(client).at("a")
        assert set(stub.one_hop("x", options=OPTIONS).applied) == {"a", "b"}
    assert not any("replica_denied" in each.said() for each in members)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_member_that_the_files_of_the_others_do_not_allow_reaches_none(
    replicas: Replicas, language: str
) -> None:
    stranger = replicas.start("c", language, "abc", "abc")
    members = [replicas.start("a", "cpp", "abc", "ab"), replicas.start("b", "python", "abc", "ab")]
    denied = f"identity={OWN} service=journal.Journal member=c line=0"
    for each in members:
        assert eventually(lambda: denied in each.said()), each.said()  # noqa: B023
    assert "replica_denied" not in stranger.said()
