"""Fixtures of pytest, which finds them where this runtime is installed (docs/testing.md). They are for
blocking tests and for those of asyncio alike.

| fixture | is |
|---|---|
| `mf_clock` | a FakeClock, installed while the test runs: to be asked for before what makes clients |
| `mf_controller` | a FakeController; the servers that it has started on threads are stopped |
| `mf_recorder` | a Recorder |
| `mf_network` | a MemoryNetwork on `mf_clock` |
| `mf_run` | runs a coroutine on a loop of that network, whose time passes by itself |
"""

from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeVar

import pytest

from mf.testing.clock import FakeClock
from mf.testing.controller import FakeController
from mf.testing.loop import run
from mf.testing.network import MemoryNetwork
from mf.testing.script import Recorder

T = TypeVar("T")


@pytest.fixture
def mf_clock() -> Iterator[FakeClock]:
    with FakeClock().installed() as clock:
        yield clock


@pytest.fixture
def mf_controller() -> Iterator[FakeController]:
    with FakeController() as controller:
        yield controller


@pytest.fixture
def mf_recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def mf_network(mf_clock: FakeClock) -> MemoryNetwork:
    return MemoryNetwork(mf_clock)


@pytest.fixture
def mf_run(mf_network: MemoryNetwork) -> Callable[[Coroutine[Any, Any, T]], T]:
    def run_to_its_end(main: Coroutine[Any, Any, T]) -> T:
        return run(main, mf_network, install=False)

    return run_to_its_end
