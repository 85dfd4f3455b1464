"""Replicated messages while processes are killed with SIGKILL under load: the versioning server, another
replica, the controller, a client. Each call ends once, what a majority has acknowledged is with all replicas,
in the order of its versions, and nothing was applied twice.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import mf
from tests.interop.peers import BUILD, Process, Server, free_port
from tests.python.replicated.conftest import journal, journal_stubs

__all__ = ["journal", "journal_stubs"]

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "tests/python/replicated/programs/journal_replica.py"
NAMES = ["a", "b", "c"]
PATTERNS = [
    "version_request",
    "message_returns_version",
    "one_hop",
    "one_hop_ack_client",
    "wait_for_version",
    "chain",
]
CALLERS = 8
BEFORE, AFTER = 100, 100


class Group:
    """A controller and three replicas, each a process."""

    def __init__(self, folder: Path, stubs: Path) -> None:
        self._folder = folder
        path = os.pathsep.join(map(str, (stubs, ROOT / "runtime/python")))
        self._environment = os.environ | {"PYTHONPATH": path}
        self._started: list[Process] = []
        self.port = free_port()
        self.where = f"mf://127.0.0.1:{self.port}"
        self.start_controller()
        self.replicas: dict[str, Process] = {}
        self._silent: list[str] = []
        for name in NAMES:
            self.start(name)
        self.wait_for_all()

    def start_controller(self) -> None:
        command = [str(BUILD / "mf-controller"), "--store", str(self._folder / "store"), "--listen"]
        listen = f"tcp://127.0.0.1:{self.port}"
        self.controller = Server([*command, listen], self._environment, self._errors())
        self._started.append(self.controller)

    def start(self, name: str) -> None:
        command = [sys.executable, str(PROGRAM), self.where, name, ",".join(NAMES)]
        replica = self.replicas[name] = Process(command, self._environment, self._errors())
        self._started.append(replica)
        self._silent.append(name)

    def wait_for_all(self) -> None:
        """Until each has caught up with who gives out the versions."""
        while self._silent:
            name = self._silent.pop()
            assert self.replicas[name].line() == name
        for replica in self.replicas.values():
            assert self.ask(replica, "serves") is True

    def leader(self) -> str:
        self.wait_for_all()
        return next(name for name, each in self.replicas.items() if self.ask(each, "leads"))

    def ask(self, replica: Process, what: str) -> Any:
        replica.tell(what)
        return json.loads(replica.line())

    def texts(self) -> dict[str, list[str]]:
        return {name: self.ask(replica, "texts") for name, replica in self.replicas.items()}

    def close(self) -> None:
        for each in reversed(self._started):
            each.close()

    def _errors(self) -> Path:
        return self._folder / f"errors{len(self._started)}"


@pytest.fixture
def group(tmp_path: Path, journal_stubs: Path) -> Iterator[Group]:
    made = Group(tmp_path, journal_stubs)
    yield made
    made.close()


async def load(
    group: Group, journal: ModuleType, harm: Callable[[], None]
) -> dict[str, mf.Replicated[int] | mf.Error]:
    """Calls of several callers, by all patterns, how each has ended; `harm` is done to them when a hundred
    have.
    """
    ended: dict[str, mf.Replicated[int] | mf.Error] = {}
    harmed = False

    async def call_on(caller: int, there: Any) -> None:
        number = 0
        while not harmed or len(ended) < enough:
            number += 1
            text = f"{caller}.{number}"
            pattern = PATTERNS[(caller + number) % len(PATTERNS)]
            try:
                ended[text] = await getattr(there, pattern)(text)
            except mf.Error as failure:
                ended[text] = failure

    async with mf.AsyncClient(group.where) as client:
        enough = BEFORE
        there = journal.JournalAsyncClient(client).at("a")
        tasks = [asyncio.create_task(call_on(each, there)) for each in range(CALLERS)]
        while len(ended) < BEFORE:
            await asyncio.sleep(0.01)
        harm()  # in this thread: a process dies with the thread that has started it
        enough = len(ended) + AFTER
        harmed = True
        await asyncio.gather(*tasks)
    return ended


def check(group: Group, journal: ModuleType, ended: dict[str, mf.Replicated[int] | mf.Error]) -> None:
    """What must hold when everything is there again, and all replicas have applied one more message, so that
    none is a little behind.
    """
    group.wait_for_all()
    with mf.Client(group.where) as client:
        options = mf.ReplicatedOptions(require=mf.Require.ALL)
        ended["the last"] = journal.JournalClient(client).at("a").one_hop("the last", options=options)
    acknowledged = {text: each for text, each in ended.items() if isinstance(each, mf.Replicated)}
    assert len(acknowledged) == len(ended), [each for each in ended.values() if isinstance(each, mf.Error)]
    versions = [each.version for each in acknowledged.values()]
    assert len(set(versions)) == len(versions)
    held = group.texts()
    for name, texts in held.items():
        assert len(set(texts)) == len(texts), f"{name} has applied something twice"
        in_order = [text for _, text in sorted((each.version, text) for text, each in acknowledged.items())]
        assert [text for text in texts if text in acknowledged] == in_order


def test_all_calls_end_well_when_the_versioning_server_is_killed(group: Group, journal: ModuleType) -> None:
    leader = group.leader()

    ended = asyncio.run(load(group, journal, group.replicas[leader].kill))
    group.start(leader)

    check(group, journal, ended)
    epochs = {each.version.epoch for each in ended.values() if isinstance(each, mf.Replicated)}
    assert len(epochs) >= 2


def test_all_calls_end_well_when_another_replica_is_killed_and_comes_back(
    group: Group, journal: ModuleType
) -> None:
    leader = group.leader()
    other = next(name for name in NAMES if name != leader)

    def kill_and_start() -> None:
        group.replicas[other].kill()
        group.start(other)

    ended = asyncio.run(load(group, journal, kill_and_start))

    check(group, journal, ended)


def test_a_group_goes_on_while_the_controller_is_away(group: Group, journal: ModuleType) -> None:
    group.leader()

    ended = asyncio.run(load(group, journal, group.controller.kill))
    group.start_controller()

    check(group, journal, ended)


def test_what_a_killed_client_had_under_way_holds_up_nobody(group: Group, journal: ModuleType) -> None:
    script = """
import asyncio, sys, mf
from journal import JournalAsyncClient
async def main():
    async with mf.AsyncClient(sys.argv[1]) as client:
        there = JournalAsyncClient(client).at("a")
        print("begun", flush=True)
        number = 0
        while True:
            number += 8
            calls = (there.version_request(f"gone.{number + i}") for i in range(8))
            await asyncio.gather(*calls)
asyncio.run(main())
"""
    group.leader()
    dying = subprocess.Popen(
        [sys.executable, "-c", script, group.where],
        env=group._environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert dying.stdout is not None
        assert dying.stdout.readline() == "begun\n"
        ended = asyncio.run(load(group, journal, dying.kill))
    finally:
        dying.kill()
        dying.communicate()

    check(group, journal, ended)
