"""Replicas with an access file: which identities may be members, and which may call."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import mf
from mf.core.error import Code
from tests.python.conftest import eventually
from tests.python.controller.test_controller import Running, controller

__all__ = ["controller"]

OWN = f"uid:{os.geteuid()}"
ALL = mf.ReplicatedOptions(require=mf.Require.ALL)
SOON = mf.ReplicatedOptions(require=mf.Require.ALL, deadline=2.0)

Start = Callable[[str, str], mf.Replica]


@pytest.fixture
def start(pages: type[Any], controller: Running, tmp_path: Path) -> Iterator[Start]:
    """Starts the member of a group of two, with an access file of this text."""
    with ExitStack() as stack:

        def start(member: str, rules: str) -> mf.Replica:
            file = tmp_path / f"{member}.conf"
            file.write_text(rules)
            replica = mf.Replica(
                pages(),
                controller.address,
                member=member,
                members=["a", "b"],
                agent="s",
                listen=f"unix:{tmp_path}/{member}",
                access=str(file),
            )
            return stack.enter_context(replica)

        yield start


def journal_rules(service: str, *, members: str, calls: bool) -> str:
    lines = [f"allow {OWN} replicate {service}.{each}" for each in members]
    if calls:
        lines.append(f"allow {OWN} call {service}.* per s")
    return "\n".join(lines)


@pytest.fixture
def service(journal: ModuleType) -> str:
    name: str = journal.JOURNAL_SERVICE.name
    return name


def test_members_and_clients_that_the_file_allows_take_part(
    start: Start, service: str, journal: ModuleType, controller: Running
) -> None:
    rules = journal_rules(service, members="ab", calls=True)
    replicas = [start(each, rules) for each in "ab"]
    assert all(each.until_serving(30.0) for each in replicas)
    with mf.Client(controller.address) as client:
        result = journal.JournalClient(client).at("s").no_versioning("x", options=ALL)
    assert result.applied == ("a", "b")


def test_a_member_of_another_identity_is_refused(
    start: Start, service: str, caplog: pytest.LogCaptureFixture
) -> None:
    one = start("a", journal_rules(service, members="a", calls=True))
    start("b", journal_rules(service, members="ab", calls=True))
    assert eventually(lambda: "replica_denied" in caplog.text)
    assert f"identity={OWN} service={service} member=b line=0" in caplog.text
    assert not one.until_serving(0.5)


def test_a_replica_reads_its_file_again(
    start: Start, service: str, journal: ModuleType, controller: Running, tmp_path: Path
) -> None:
    rules = journal_rules(service, members="ab", calls=True)
    replicas = {each: start(each, rules) for each in "ab"}
    assert all(each.until_serving(30.0) for each in replicas.values())

    def replace(rules: str) -> None:
        for name, replica in replicas.items():
            (tmp_path / f"{name}.conf").write_text(rules)
            assert replica.reload()

    replace(journal_rules(service, members="ab", calls=False))
    with mf.Client(controller.address) as client, pytest.raises(mf.Error):
        journal.JournalClient(client).at("s").no_versioning("x", options=SOON)
    replace(rules)
    with mf.Client(controller.address) as client:
        result = journal.JournalClient(client).at("s").no_versioning("y", options=ALL)
    assert result.applied == ("a", "b")


def test_a_client_that_may_not_call_is_refused(
    start: Start, service: str, journal: ModuleType, controller: Running
) -> None:
    rules = f"deny anyone call {service}.no_versioning\n" + journal_rules(service, members="", calls=True)
    start("a", rules)
    start("b", rules)
    with mf.Client(controller.address) as client, pytest.raises(mf.Error) as refused:
        journal.JournalClient(client).at("s").no_versioning("x", options=SOON)
    assert refused.value.code is Code.PERMISSION_DENIED
