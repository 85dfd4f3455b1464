"""Replicated messages while processes are killed with SIGKILL under load: the versioning server, another
replica, the controller, a client. Each call ends once, what a majority has acknowledged is with all replicas,
in the order of its versions, and nothing was applied twice. Replicas and clients are in Python, in C++, or
mixed.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest

import mf
from tests.python.replicated.conftest import journal, journal_stubs
from tests.replicated.group import NAMES, Ended, Group, Kind, Load, check_order, journals

__all__ = ["journal", "journal_stubs", "journals"]

CALLERS = 8
BEFORE, AFTER = 100, 100
# The languages of the replicas, and of the client.
GROUPS = {
    "python": (("python", "python", "python"), "python"),
    "cpp": (("cpp", "cpp", "cpp"), "cpp"),
    "mixed": (("cpp", "python", "cpp"), "python"),
    "mixed, called from cpp": (("python", "cpp", "python"), "cpp"),
}


@pytest.fixture(params=list(GROUPS.values()), ids=list(GROUPS))
def languages(request: pytest.FixtureRequest) -> tuple[tuple[str, ...], str]:
    made: tuple[tuple[str, ...], str] = request.param
    return made


@pytest.fixture
def client(languages: tuple[tuple[str, ...], str]) -> Kind:
    return Kind(languages[1])


@pytest.fixture
def group(
    tmp_path: Path, journals: dict[str, Path], languages: tuple[tuple[str, ...], str]
) -> Iterator[Group]:
    with closing(Group(tmp_path, journals, languages[0])) as made:
        yield made


def load(group: Group, client: Kind, harm: Callable[[], None]) -> dict[str, Ended]:
    """How the calls of several callers have ended, of which a hundred have when `harm` is done to them."""
    calls = Load(group, client, CALLERS)
    calls.goes_on(BEFORE)
    harm()
    calls.goes_on(AFTER)
    return calls.stop()


def check(group: Group, journal: ModuleType, ended: dict[str, Ended]) -> None:
    """What must hold when everything is there again: the group goes on, too."""
    group.wait_for_all()
    with mf.Client(group.where) as calling:
        options = mf.ReplicatedOptions(require=mf.Require.ALL)
        last = journal.JournalClient(calling).at("a").one_hop("the last", options=options)
    check_order(group, ended | {"the last": Ended(tuple(last.version))})


def test_all_calls_end_well_when_the_versioning_server_is_killed(
    group: Group, client: Kind, journal: ModuleType
) -> None:
    leader = group.leader()

    ended = load(group, client, group.replicas[leader].kill)
    group.start(leader)

    check(group, journal, ended)
    epochs = {each.version[0] for each in ended.values() if each.version is not None}
    assert len(epochs) >= 2


def test_all_calls_end_well_when_another_replica_is_killed_and_comes_back(
    group: Group, client: Kind, journal: ModuleType
) -> None:
    leader = group.leader()
    other = next(name for name in NAMES if name != leader)

    def kill_and_start() -> None:
        group.replicas[other].kill()
        group.start(other)

    ended = load(group, client, kill_and_start)

    check(group, journal, ended)


def test_a_group_goes_on_while_the_controller_is_away(
    group: Group, client: Kind, journal: ModuleType
) -> None:
    group.leader()

    ended = load(group, client, group.controller.kill)
    group.start_controller()

    check(group, journal, ended)


def test_what_a_killed_client_had_under_way_holds_up_nobody(
    group: Group, client: Kind, journal: ModuleType
) -> None:
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
        env=group.environment("journal"),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert dying.stdout is not None
        assert dying.stdout.readline() == "begun\n"
        ended = load(group, client, dying.kill)
    finally:
        dying.kill()
        dying.communicate()

    check(group, journal, ended)
