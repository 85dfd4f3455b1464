"""Replicated messages while processes are killed with SIGKILL under load: the versioning server, another
replica, the controller, a client. Each call ends once, what a majority has acknowledged is with all replicas,
in the order of its versions, and nothing was applied twice. Replicas and clients are in Python, in C++, or
mixed.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
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
IN_CPP = BUILD / "tests/replicated/replicated"
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
# The languages of the replicas, and of the client.
GROUPS = {
    "python": ("python", "python", "python", "python"),
    "cpp": ("cpp", "cpp", "cpp", "cpp"),
    "mixed": ("cpp", "python", "cpp", "python"),
    "mixed, called from cpp": ("python", "cpp", "python", "cpp"),
}


@dataclass
class Ended:
    """How a call has ended: with a version, or an error."""

    version: tuple[int, int] | None = None
    error: str = ""


class Group:
    """A controller and three replicas, each a process."""

    def __init__(self, folder: Path, stubs: Path, languages: tuple[str, str, str, str]) -> None:
        self._folder = folder
        path = os.pathsep.join(map(str, (stubs, ROOT / "runtime/python")))
        self._environment = os.environ | {"PYTHONPATH": path}
        self._languages = dict(zip(NAMES, languages, strict=False))
        self.client = languages[3]
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
        python = self._languages[name] == "python"
        command = [sys.executable, str(PROGRAM)] if python else [str(IN_CPP), "replica"]
        self.replicas[name] = self.process([*command, self.where, name, ",".join(NAMES)])
        self._silent.append(name)

    def process(self, command: list[str]) -> Process:
        made = Process(command, self._environment, self._errors())
        self._started.append(made)
        return made

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


@pytest.fixture(params=list(GROUPS.values()), ids=list(GROUPS))
def group(request: pytest.FixtureRequest, tmp_path: Path, journal_stubs: Path) -> Iterator[Group]:
    made = Group(tmp_path, journal_stubs, request.param)
    yield made
    made.close()


def load(group: Group, journal: ModuleType, harm: Callable[[], None]) -> dict[str, Ended]:
    """Calls of several callers, by all patterns, how each has ended; `harm` is done to them when a hundred
    have.
    """
    if group.client == "cpp":
        return load_from_cpp(group, harm)
    return asyncio.run(load_from_python(group, journal, harm))


def load_from_cpp(group: Group, harm: Callable[[], None]) -> dict[str, Ended]:
    client = group.process([str(IN_CPP), "client", group.where, str(CALLERS)])
    ended: dict[str, Ended] = {}

    def read() -> bool:
        line = json.loads(client.line())
        if "done" not in line:
            version = (line["epoch"], line["counter"]) if "epoch" in line else None
            ended[line["text"]] = Ended(version, line.get("error", ""))
        return "done" not in line

    while len(ended) < BEFORE:
        assert read()
    harm()
    enough = len(ended) + AFTER
    while len(ended) < enough:
        assert read()
    client.tell("stop")
    while read():
        pass
    return ended


async def load_from_python(group: Group, journal: ModuleType, harm: Callable[[], None]) -> dict[str, Ended]:
    ended: dict[str, Ended] = {}
    harmed = False

    async def call_on(caller: int, there: Any) -> None:
        number = 0
        while not harmed or len(ended) < enough:
            number += 1
            text = f"{caller}.{number}"
            pattern = PATTERNS[(caller + number) % len(PATTERNS)]
            try:
                ended[text] = Ended(tuple((await getattr(there, pattern)(text)).version))
            except mf.Error as failure:
                ended[text] = Ended(error=str(failure))

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


def check(group: Group, journal: ModuleType, ended: dict[str, Ended]) -> None:
    """What must hold when everything is there again, and all replicas have applied one more message, so that
    none is a little behind.
    """
    group.wait_for_all()
    with mf.Client(group.where) as client:
        options = mf.ReplicatedOptions(require=mf.Require.ALL)
        last = journal.JournalClient(client).at("a").one_hop("the last", options=options)
        ended["the last"] = Ended(tuple(last.version))
    acknowledged = {text: each.version for text, each in ended.items() if each.version is not None}
    assert len(acknowledged) == len(ended), [each.error for each in ended.values() if each.error]
    versions = list(acknowledged.values())
    assert len(set(versions)) == len(versions)
    in_order = [text for _, text in sorted((version, text) for text, version in acknowledged.items())]
    for name, texts in group.texts().items():
        assert len(set(texts)) == len(texts), f"{name} has applied something twice"
        assert [text for text in texts if text in acknowledged] == in_order


def test_all_calls_end_well_when_the_versioning_server_is_killed(group: Group, journal: ModuleType) -> None:
    leader = group.leader()

    ended = load(group, journal, group.replicas[leader].kill)
    group.start(leader)

    check(group, journal, ended)
    epochs = {each.version[0] for each in ended.values() if each.version is not None}
    assert len(epochs) >= 2


def test_all_calls_end_well_when_another_replica_is_killed_and_comes_back(
    group: Group, journal: ModuleType
) -> None:
    leader = group.leader()
    other = next(name for name in NAMES if name != leader)

    def kill_and_start() -> None:
        group.replicas[other].kill()
        group.start(other)

    ended = load(group, journal, kill_and_start)

    check(group, journal, ended)


def test_a_group_goes_on_while_the_controller_is_away(group: Group, journal: ModuleType) -> None:
    group.leader()

    ended = load(group, journal, group.controller.kill)
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
        ended = load(group, journal, dying.kill)
    finally:
        dying.kill()
        dying.communicate()

    check(group, journal, ended)
