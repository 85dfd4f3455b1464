"""A client's knowledge of a service from the changes of a watch: no connection, no clock."""

from uuid import UUID

import pytest

import mf
from mf.controller._generated.mf.controller import Change, Gone, Key, KeyKind, Offer
from mf.controller._generated.mf.controller import Instance as Entry
from mf.controller.views import KEEP_OLD, Watched
from mf.route.resolver import Instance


def key(agent: str) -> Key:
    return Key(KeyKind.service, "demo.Echo", agent)


def entry(agent: str, number: int, *addresses: str, fingerprint: int = 0, weight: int = 0) -> Entry:
    offer = Offer(
        key(agent), list(addresses) or [f"tcp://h:{number}"], UUID(int=fingerprint), weight, {}, False
    )
    return Entry(offer, UUID(int=number), "a process", True)


def gone(agent: str, number: int) -> Gone:
    return Gone(key(agent), UUID(int=number))


def snapshot(run: int, revision: int, *put: Entry, begins: bool = True, more: bool = False) -> Change:
    return Change(run, revision, begins, more, list(put), [])


def delta(run: int, revision: int, *what: Entry | Gone) -> Change:
    put = [each for each in what if isinstance(each, Entry)]
    return Change(run, revision, False, False, put, [each for each in what if isinstance(each, Gone)])


def known(watched: Watched) -> dict[str, list[str]]:
    return {agent: [each.address for each in instances] for agent, instances in watched.view.agents.items()}


def test_nothing_is_known_before_the_first_snapshot_is_complete() -> None:
    watched = Watched()

    begun = watched.takes(snapshot(1, 7, entry("a", 1), more=True), 0.0)

    assert not begun
    assert known(watched) == {}
    assert (watched.run, watched.revision) == (0, 0)

    complete = watched.takes(snapshot(1, 7, entry("b", 2), begins=False), 0.0)

    assert complete
    assert (watched.run, watched.revision) == (1, 7)
    assert known(watched) == {"a": ["tcp://h:1"], "b": ["tcp://h:2"]}


def test_30_000_agents_come_in_parts_and_are_known_at_once_when_the_last_has_come() -> None:
    watched = Watched()

    for page in range(30):
        part = [entry(f"{page}-{number}", number) for number in range(1_000)]
        last = page == 29
        assert watched.takes(snapshot(1, 7, *part, begins=page == 0, more=not last), 0.0) == last
        assert len(watched.view.agents) == (30_000 if last else 0)

    assert watched.takes(delta(1, 8, gone("29-999", 999)), 0.0)
    assert len(watched.view.agents) == 29_999  # with so many, one without an instance is not remembered


def test_a_snapshot_that_was_cut_off_is_void() -> None:
    watched = Watched()
    watched.takes(snapshot(1, 7, entry("a", 1), more=True), 0.0)

    watched.begins()
    with pytest.raises(mf.Error, match="goes on from what this client does not know"):
        watched.takes(snapshot(1, 7, entry("b", 2), begins=False), 0.0)
    watched.takes(snapshot(1, 8, entry("b", 2)), 0.0)

    assert known(watched) == {"b": ["tcp://h:2"]}


def test_changes_add_replace_and_remove() -> None:
    watched = Watched()
    watched.takes(snapshot(1, 1, entry("a", 1), entry("a", 2)), 0.0)

    watched.takes(delta(1, 4, gone("a", 1), entry("a", 2, "tcp://h:22"), entry("b", 3)), 0.0)

    assert known(watched) == {"a": ["tcp://h:22"], "b": ["tcp://h:3"]}
    assert (watched.run, watched.revision) == (1, 4)


def test_an_agent_that_loses_its_last_instance_stays_known() -> None:
    watched = Watched()
    watched.takes(snapshot(1, 1, entry("a", 1)), 0.0)

    watched.takes(delta(1, 2, gone("a", 1)), 0.0)

    assert known(watched) == {"a": []}


def test_what_changes_nothing_here_is_no_news() -> None:
    watched = Watched()
    watched.takes(snapshot(1, 1, entry("a", 1)), 0.0)
    before = watched.view

    again = watched.takes(delta(1, 2, entry("a", 1)), 0.0)

    assert not again
    assert watched.view is before
    assert watched.revision == 2


def test_another_snapshot_of_the_same_run_replaces_what_was_known() -> None:
    watched = Watched()
    watched.takes(snapshot(1, 1, entry("a", 1), entry("b", 2)), 0.0)

    watched.takes(snapshot(1, 50, entry("b", 3)), 0.0)

    assert known(watched) == {"a": [], "b": ["tcp://h:3"]}
    assert not watched.old_until


def test_what_another_run_does_not_know_yet_is_kept_for_a_while() -> None:
    watched = Watched()
    watched.takes(snapshot(1, 9, entry("a", 1), entry("a", 2)), 0.0)

    watched.takes(snapshot(2, 1, entry("a", 2)), 100.0)

    assert known(watched) == {"a": ["tcp://h:2", "tcp://h:1"]}
    assert watched.old_until == 100.0 + KEEP_OLD
    assert not watched.forgets(100.0 + KEEP_OLD - 1)
    assert watched.forgets(100.0 + KEEP_OLD)
    assert known(watched) == {"a": ["tcp://h:2"]}
    assert not watched.old_until


def test_what_registers_again_and_goes_is_not_kept() -> None:
    watched = Watched()
    watched.takes(snapshot(1, 9, entry("a", 1), entry("a", 2)), 0.0)
    watched.takes(snapshot(2, 0), 100.0)

    watched.takes(delta(2, 1, entry("a", 1)), 101.0)
    watched.takes(delta(2, 2, gone("a", 1)), 102.0)

    assert known(watched) == {"a": ["tcp://h:2"]}


def test_what_was_kept_twice_is_kept_from_the_last_time_on() -> None:
    watched = Watched()
    watched.takes(snapshot(1, 9, entry("a", 1)), 0.0)
    watched.takes(snapshot(2, 1, entry("a", 2)), 100.0)

    watched.takes(snapshot(3, 1), 105.0)

    assert not watched.forgets(100.0 + KEEP_OLD)
    assert known(watched) == {"a": ["tcp://h:1", "tcp://h:2"]}


def test_a_change_of_a_run_that_is_not_known_is_refused_and_the_next_stream_begins_anew() -> None:
    watched = Watched()
    watched.takes(snapshot(1, 9, entry("a", 1)), 0.0)

    with pytest.raises(mf.Error, match="goes on from what this client does not know"):
        watched.takes(delta(2, 1, entry("b", 2)), 0.0)

    assert (watched.run, watched.revision) == (0, 0)
    assert known(watched) == {"a": ["tcp://h:1"]}


def test_who_takes_an_address_over_is_known_instead_of_who_was_there() -> None:
    watched = Watched()
    watched.takes(snapshot(1, 9, entry("a", 1, "tcp://h:1")), 0.0)

    watched.takes(snapshot(2, 1, entry("a", 2, "tcp://h:1")), 100.0)

    assert [each.nonce for each in watched.view.agents["a"]] == [UUID(int=2).bytes]


def test_a_trouble_is_told_once_and_ends_with_the_next_answer() -> None:
    watched = Watched()

    assert watched.lost("no")
    assert not watched.lost("no")
    assert watched.view.trouble == "no"
    assert watched.takes(snapshot(1, 1), 0.0)
    assert not watched.view.trouble


def test_agents_without_instances_are_not_remembered_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mf.controller.views._MAX_AGENTS", 3)
    watched = Watched()
    watched.takes(snapshot(1, 1, entry("a", 1)), 0.0)
    for number in range(2, 10):
        watched.takes(delta(1, 2 * number, entry(f"a{number}", number)), 0.0)
        watched.takes(delta(1, 2 * number + 1, gone(f"a{number}", number)), 0.0)

    assert len(watched.view.agents) <= 3
    assert known(watched)["a"] == ["tcp://h:1"]


@pytest.mark.parametrize(
    ("addresses", "network", "local"),
    [
        (["tcp://h:1", "unix:/s"], "tcp://h:1", "unix:/s"),
        (["unix:/s", "tcp://h:1", "tcp://h:2", "unix:/t"], "tcp://h:1", "unix:/s"),
        (["unix:/s"], "unix:/s", "unix:/s"),
        (["tls://h:1", "tcp://h:2", "unix:/s"], "tls://h:1", "unix:/s"),
        (["quic://h:1", "nonsense", "tcp://h:2"], "tcp://h:2", ""),
    ],
)
def test_of_the_addresses_of_an_instance_it_takes_one_of_each_kind(
    addresses: list[str], network: str, local: str
) -> None:
    watched = Watched()

    watched.takes(snapshot(1, 1, entry("a", 5, *addresses, fingerprint=6, weight=3)), 0.0)

    expected = Instance(network, 3, local, UUID(int=5).bytes, UUID(int=6).bytes)
    assert watched.view.agents["a"] == (expected,)


def test_an_instance_without_an_address_that_is_known_here_is_none() -> None:
    watched = Watched()

    watched.takes(snapshot(1, 1, entry("a", 1, "quic://h:1")), 0.0)

    assert not watched.view.agents.get("a")


def test_a_weight_of_nothing_is_one_and_no_fingerprint_is_none() -> None:
    watched = Watched()

    watched.takes(snapshot(1, 1, entry("a", 1)), 0.0)

    (instance,) = watched.view.agents["a"]
    assert instance.weight == 1
    assert instance.fingerprint == b""


@pytest.mark.parametrize(
    ("addresses", "network"),
    [
        (["tcp://h:1", "tls://h:2", "unix:/s"], "tls://h:2"),
        (["unix:/s", "tls://h:2"], "tls://h:2"),
        (["tcp://h:1", "unix:/s"], ""),
        (["unix:/s"], ""),
    ],
)
def test_over_tls_neither_addresses_in_clear_nor_paths_are_used(addresses: list[str], network: str) -> None:
    watched = Watched(over_tls=True)

    watched.takes(snapshot(1, 1, entry("a", 5, *addresses)), 0.0)

    assert [(each.address, each.local) for each in watched.view.agents.get("a", ())] == (
        [(network, "")] if network else []
    )
    assert list(watched.skipped) == ([] if network else addresses)


def test_a_weight_from_a_controller_is_bounded() -> None:
    watched = Watched()

    watched.takes(snapshot(1, 1, entry("a", 1, weight=4_000_000_000)), 0.0)

    assert [each.weight for each in watched.view.agents["a"]] == [1000]


def test_an_address_that_cannot_be_read_is_skipped_and_named() -> None:
    watched = Watched()

    watched.takes(snapshot(1, 1, entry("a", 1, "tls://127.0.0.1\0.example:1", "tcp://h:2")), 0.0)
    watched.takes(delta(1, 2, entry("a", 2, "tcp://a..example:1")), 0.0)

    assert known(watched) == {"a": ["tcp://h:2"]}
    assert list(watched.unreadable) == ["tls://127.0.0.1\0.example:1", "tcp://a..example:1"]
    assert "a host has only letters" in watched.unreadable["tls://127.0.0.1\0.example:1"]
