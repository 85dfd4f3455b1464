"""A forked child has no replicas of its parent's: what it asks them ends at once, and the group goes on."""

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

import mf
from tests.python.controller.test_controller import Running, controller
from tests.python.forking import forked
from tests.python.replicated.test_replicas import ALL, Group

__all__ = ["controller"]

OF_PARENT = ("UNAVAILABLE", "the replica belongs to the parent process")


@pytest.fixture
def group(journal: ModuleType, pages: type[Any], controller: Running) -> Iterator[Group]:
    made = Group(journal, pages, controller.address)
    yield made
    made.close()


def test_a_replica_neither_leads_nor_serves_in_the_child_and_the_group_goes_on(group: Group) -> None:
    leader = group.replicas[group.leader()]
    group.journal.one_hop("before", options=ALL)

    assert forked(lambda: (leader.leads, leader.serves, leader.stuck)) == (False, False, OF_PARENT[1])
    assert forked(lambda: leader.until_serving(30.0)) == OF_PARENT
    assert forked(leader.start) == OF_PARENT
    assert forked(leader.stop) is None
    assert leader.leads
    group.journal.one_hop("after", options=ALL)
    assert [page.texts() for page in group.pages.values()] == [["before", "after"]] * 3


def test_a_replicated_call_of_the_child_is_a_call_like_any_other(group: Group) -> None:
    group.journal.one_hop("parent", options=ALL)

    assert forked(lambda: group.journal.one_hop("child", options=ALL).version.counter) == 2
    group.journal.one_hop("parent", options=ALL)
    assert [page.texts() for page in group.pages.values()] == [["parent", "child", "parent"]] * 3


def test_a_replica_that_the_parent_has_not_started_is_started_by_the_child(
    pages: type[Any], controller: Running
) -> None:
    replica = mf.Replica(pages(), controller.address, member="a", members=["a"], agent="s")

    def start() -> bool:
        with replica:
            return replica.until_serving(30.0)

    assert forked(start) is True
