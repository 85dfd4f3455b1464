"""Many calls of one client at once, over real connections: none of them waits for ever, though no replica has
more than a window of them at a time."""

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import mf
from mf.replicated.messages import MOST_AHEAD
from tests.interop.peers import Process
from tests.python.controller.test_controller import Running, controller
from tests.python.replicated.test_replicas import NAMES, PATTERNS, Group, group

__all__ = ["controller", "group"]

ROOT = Path(__file__).parents[3]
PROGRAM = ROOT / "tests/python/replicated/programs/journal_replica.py"
PATIENT = mf.ReplicatedOptions(require=mf.Require.ALL, deadline=200.0)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("count", [MOST_AHEAD + 76, 5_000])
def test_all_of_many_calls_at_once_end_well(group: Group, journal: ModuleType, count: int) -> None:
    async def call_all() -> list[mf.Replicated[int]]:
        async with mf.AsyncClient(group.controller) as client:
            there = journal.JournalAsyncClient(client).at("s")
            calls = [getattr(there, PATTERNS[i % 7])(f"{i}", options=PATIENT) for i in range(count)]
            results: list[mf.Replicated[int]] = await asyncio.gather(*calls)
            return results

    results = asyncio.run(call_all())

    assert {each.applied for each in results} == {tuple(NAMES)}
    versions = [each.version for each in results if each.version != mf.Version(0, 0)]
    assert len(set(versions)) == len(versions)
    for pages in group.pages.values():
        assert sorted(pages.kept) == sorted(f"{i}" for i in range(count))


class Processes:
    """Three replicas, each a process."""

    def __init__(self, controller: str, stubs: Path, folder: Path, stack: ExitStack) -> None:
        path = os.pathsep.join(map(str, (stubs, ROOT / "runtime/python")))
        self._all: dict[str, Process] = {}
        for name in NAMES:
            command = [sys.executable, str(PROGRAM), controller, name, ",".join(NAMES), "16384"]
            made = Process(command, os.environ | {"PYTHONPATH": path}, folder / name)
            stack.callback(made.close)
            self._all[name] = made
        for name, process in self._all.items():
            assert process.line() == name
            assert self.ask(name, "serves") is True

    def ask(self, name: str, what: str) -> Any:
        self._all[name].tell(what)
        return json.loads(self._all[name].line())

    def leader(self) -> Process:
        return next(process for name, process in self._all.items() if self.ask(name, "leads"))


@pytest.fixture
def processes(controller: Running, journal_stubs: Path, tmp_path: Path) -> Iterator[Processes]:
    with ExitStack() as stack:
        yield Processes(controller.address, journal_stubs, tmp_path, stack)


@pytest.mark.timeout(300)
def test_the_queue_of_a_steady_client_is_empty_again_after_a_pause_of_the_leader(
    processes: Processes, controller: Running, journal: ModuleType
) -> None:
    texts: list[str] = []
    awaited: set[asyncio.Task[Any]] = set()
    wrong: list[BaseException] = []

    def ended(task: asyncio.Task[Any]) -> None:
        awaited.discard(task)
        if (failure := task.exception()) is not None:
            wrong.append(failure)

    async def call(there: Any, pause: float) -> None:
        texts.append(f"{len(texts)}")
        method = getattr(there, PATTERNS[len(texts) % 7])
        task = asyncio.create_task(method(texts[-1], options=PATIENT))
        awaited.add(task)
        task.add_done_callback(ended)
        await asyncio.sleep(pause)

    async def run() -> None:
        async with mf.AsyncClient(controller.address) as client:
            there = journal.JournalAsyncClient(client).at("a")
            await there.one_hop("first", options=PATIENT)
            leader = processes.leader()
            leader.freeze()
            while len(awaited) < MOST_AHEAD + 500:
                await call(there, 0.002)
            leader.thaw()
            while len(awaited) > 5:
                await call(there, 0.02)
            await asyncio.gather(*awaited)

    asyncio.run(run())

    assert wrong == []
    for name in NAMES:
        assert sorted(processes.ask(name, "texts")) == sorted(["first", *texts])
        assert processes.ask(name, "stuck") == ""
