"""The processes of the interop suite, and an etcd for each test."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.etcd.cluster import Etcd
from tests.interop.peers import peers, stubs

__all__ = ["peers", "stubs"]


@pytest.fixture
def start_etcd(tmp_path: Path) -> Iterator[Callable[[int], Etcd]]:
    """Starts one of so many nodes."""
    started: list[Etcd] = []

    def start(count: int) -> Etcd:
        started.append(Etcd(tmp_path, count))
        return started[-1]

    yield start
    for each in started:
        each.close()
