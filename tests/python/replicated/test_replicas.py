"""Replicas and clients over real connections, through a controller, in this process."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import UUID

import pytest

import mf
from mf.replicated._generated.mf.replication import Peer, ReplicaAsyncClient
from mf.replicated.messages import Pattern
from mf.replicated.settings import ReplicaSettings
from tests.conftest import TypeCheck
from tests.python.certificates import Authority
from tests.python.conftest import eventually
from tests.python.controller.test_controller import Running, controller

__all__ = ["controller"]

NAMES = ["a", "b", "c"]
PATTERNS = [each.name for each in Pattern]
ALL = mf.ReplicatedOptions(require=mf.Require.ALL)


class Group:
    """Three replicas, each with a servant of its own."""

    def __init__(
        self, journal: ModuleType, pages: type[Any], controller: str, settings: ReplicaSettings | None = None
    ) -> None:
        self.controller = controller
        self.settings = settings
        self.pages: dict[str, Any] = {}
        self.replicas: dict[str, mf.Replica] = {}
        self._make = pages
        self.client = mf.Client(controller)
        self.journal = journal.JournalClient(self.client).at("s")
        for name in NAMES:
            self.start(name)
        for each in self.replicas.values():
            assert each.until_serving(30.0)

    def start(self, name: str) -> None:
        pages = self.pages[name] = self._make()
        replica = self.replicas[name] = mf.Replica(
            pages, self.controller, member=name, members=NAMES, agent="s", settings=self.settings
        )
        replica.start()

    def stop(self, name: str) -> None:
        self.replicas.pop(name).stop()

    def close(self) -> None:
        self.client.close()
        for name in list(self.replicas):
            self.stop(name)

    def leader(self) -> str:
        assert eventually(lambda: sum(each.leads for each in self.replicas.values()) == 1)
        return next(name for name, each in self.replicas.items() if each.leads)


@pytest.fixture
def group(journal: ModuleType, pages: type[Any], controller: Running) -> Iterator[Group]:
    made = Group(journal, pages, controller.address)
    yield made
    made.close()


def test_all_replicas_apply_the_messages_of_all_patterns_in_one_order(group: Group) -> None:
    ordered = [each for each in PATTERNS if each != "no_versioning"]

    results = [getattr(group.journal, name)(name, options=ALL) for name in ordered * 3]

    assert [each.applied for each in results] == [("a", "b", "c")] * len(results)
    assert [each.value for each in results] == list(range(1, len(results) + 1))
    counters = [each.version.counter for each in results]
    assert counters == list(range(counters[0], counters[0] + len(results)))
    assert {each.version.epoch for each in results} == {group.replicas[group.leader()].version.epoch}
    for pages in group.pages.values():
        assert pages.kept == ordered * 3
        assert pages.versions == [tuple(each.version) for each in results]


def test_without_versions_each_replica_applies_a_message_once(group: Group) -> None:
    results = [group.journal.no_versioning(str(i), options=ALL) for i in range(20)]

    assert {each.version for each in results} == {mf.Version(0, 0)}
    assert [pages.kept for pages in group.pages.values()] == [[str(i) for i in range(20)]] * 3


def test_many_callers_at_once_see_one_order(group: Group, journal: ModuleType) -> None:
    async def call_all() -> list[mf.Replicated[int]]:
        async with mf.AsyncClient(group.controller) as client:
            there = journal.JournalAsyncClient(client).at("s")
            calls = [getattr(there, PATTERNS[1 + i % 6])(f"{i}", options=ALL) for i in range(300)]
            results: list[mf.Replicated[int]] = await asyncio.gather(*calls)
            return results

    results = asyncio.run(call_all())

    assert sorted(each.version for each in results) == sorted({each.version for each in results})
    by_version = [str(i) for _, i in sorted((each.version, i) for i, each in enumerate(results))]
    assert [pages.kept for pages in group.pages.values()] == [by_version] * 3


def test_a_declared_error_is_raised_at_the_caller_and_a_bug_of_the_servant_is_a_failed_handler(
    group: Group, journal: ModuleType, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(journal.Full) as full:
        group.journal.one_hop_ack_client("too much")
    assert full.value.most == 3

    with pytest.raises(mf.Error) as failed:
        group.journal.one_hop("bug")
    assert failed.value.code is mf.Code.HANDLER_FAILED
    reference = failed.value.message.rpartition("with the reference ")[2]
    assert "a bug of the servant" not in failed.value.message
    assert len(reference) == 8
    assert eventually(
        lambda: any(
            f"reference={reference} " in line and "RuntimeError: a bug of the servant" in line
            for line in caplog.messages
        )
    )

    assert group.journal.one_hop("and on").value == 1


def test_a_replica_that_comes_back_catches_up_and_the_calls_go_on_meanwhile(group: Group) -> None:
    before = [group.journal.one_hop_ack_client(f"{i}", options=ALL) for i in range(10)]
    gone = next(name for name in NAMES if name != group.leader())
    group.stop(gone)

    meanwhile = [group.journal.one_hop_ack_client(f"{i}") for i in range(10, 20)]
    group.start(gone)
    assert group.replicas[gone].until_serving(30.0)
    after = group.journal.one_hop_ack_client("20", options=ALL)

    assert all(gone not in each.applied for each in meanwhile)
    assert after.version.counter == before[0].version.counter + 20
    assert group.pages[gone].kept == [f"{i}" for i in range(21)]


def test_another_replica_gives_out_the_versions_when_the_first_has_stopped(group: Group) -> None:
    first = group.journal.one_hop("first")
    group.stop(group.leader())

    second = group.journal.one_hop("second")

    assert second.version.epoch > first.version.epoch
    assert second.version.counter == first.version.counter + 1
    assert [pages.kept for name, pages in group.pages.items() if name in group.replicas] == [
        ["first", "second"]
    ] * 2


def test_what_the_logs_no_longer_keep_comes_as_a_snapshot_of_the_servant(
    journal: ModuleType, pages: type[Any], controller: Running
) -> None:
    with ExitStack() as stack:
        group = Group(journal, pages, controller.address, ReplicaSettings(most_entries=5))
        stack.callback(group.close)
        gone = next(name for name in NAMES if name != group.leader())
        group.stop(gone)
        for i in range(30):
            group.journal.one_hop(f"{i}")

        group.start(gone)
        assert group.replicas[gone].until_serving(30.0)

        assert group.pages[gone].kept == [f"{i}" for i in range(30)]


def test_a_state_above_16_mib_comes_in_parts(
    journal: ModuleType, pages: type[Any], controller: Running
) -> None:
    with ExitStack() as stack:
        group = Group(journal, pages, controller.address, ReplicaSettings(most_entries=2))
        stack.callback(group.close)
        gone = next(name for name in NAMES if name != group.leader())
        group.stop(gone)
        texts = [letter * (3 << 20) for letter in "abcdef"]
        for text in texts:
            group.journal.one_hop(text)

        group.start(gone)
        assert group.replicas[gone].until_serving(60.0)

        assert group.pages[gone].kept == texts


def test_a_replica_that_stops_within_its_own_on_apply_is_told_so_and_goes_on(group: Group) -> None:
    told: list[str] = []

    class Stops:
        """In the place of the servant's function."""

        def __init__(self, name: str) -> None:
            self.apply = group.pages[name].on_apply_one_hop
            self.name = name

        def __call__(self, version: mf.Version, request: Any) -> Any:
            try:
                group.replicas[self.name].stop()
            except mf.Error as error:
                told.append(error.message)
            return self.apply(version, request)

    for name, replica in group.replicas.items():
        replica._replica._applying._functions["one_hop"] = Stops(name)

    assert group.journal.one_hop("first", options=ALL).applied == ("a", "b", "c")
    assert group.journal.one_hop("second", options=ALL).applied == ("a", "b", "c")

    assert len(told) == 6
    assert set(told) == {
        "a replica cannot stop within its on_apply, for whose end it waits: stop it from elsewhere"
    }


def test_a_call_that_not_enough_replicas_can_apply_ends_at_its_deadline_and_says_how_many_have(
    group: Group,
) -> None:
    group.stop(next(name for name in NAMES if name != group.leader()))

    with pytest.raises(mf.Error) as failed:
        group.journal.one_hop("x", options=mf.ReplicatedOptions(deadline=1.0, require=mf.Require.ALL))

    assert failed.value.code is mf.Code.DEADLINE_EXCEEDED
    assert failed.value.execution is mf.Execution.UNKNOWN
    assert "replicas are known to have applied it, 3 must" in failed.value.message


def test_a_replicated_call_without_time_is_applied_nowhere(group: Group) -> None:
    for _ in range(2):  # before the client has links to the replicas, and with them
        with pytest.raises(mf.Error) as late:
            group.journal.one_hop("x", options=mf.ReplicatedOptions(deadline=0))
        assert late.value.code is mf.Code.DEADLINE_EXCEEDED
        assert late.value.execution is mf.Execution.NOT_EXECUTED
        group.journal.one_hop("y", options=ALL)

    assert [page.texts() for page in group.pages.values()] == [["y", "y"]] * 3


def test_a_replicated_call_needs_an_agent_and_a_controller(group: Group, journal: ModuleType) -> None:
    with pytest.raises(mf.Error, match="name it by at"):
        journal.JournalClient(group.client).any().one_hop("x")
    with (
        mf.Client("tcp://127.0.0.1:1") as direct,
        pytest.raises(mf.Error, match="through the controller") as no,
    ):
        journal.JournalClient(direct).at("s").one_hop("x")
    assert no.value.execution is mf.Execution.NOT_EXECUTED


def test_an_ordinary_server_serves_what_is_not_replicated_and_refuses_what_is(
    group: Group, journal: ModuleType
) -> None:
    group.journal.one_hop("text", options=ALL)
    with mf.Server(controller=group.controller, options=mf.ServerOptions(drain_timeout=1.0)) as server:
        server.offer(group.pages["a"], agent="s")

        assert group.journal.texts() == ["text"]
        plain = journal.JOURNAL_SERVICE.methods[PATTERNS.index("one_hop")]
        with pytest.raises(mf.Error, match="called through its replicas"):
            group.client.target(journal.JOURNAL_SERVICE).at("s").call(plain, None, "x")


def test_calls_of_a_client_that_is_closed_end_as_cancelled(group: Group, journal: ModuleType) -> None:
    async def close_meanwhile() -> mf.Error:
        client = mf.AsyncClient(group.controller)
        there = journal.JournalAsyncClient(client).at("s")
        await there.one_hop("x")
        group.stop(next(name for name in NAMES if name != group.leader()))
        call = asyncio.create_task(there.one_hop("y", options=ALL))
        await asyncio.sleep(0)
        await client.close()
        with pytest.raises(mf.Error) as failed:
            await call
        return failed.value

    assert asyncio.run(close_meanwhile()).code is mf.Code.CANCELLED


def test_replicas_speak_tls_with_each_other_and_with_clients(
    journal: ModuleType, pages: type[Any], controller: Running, tmp_path: Path
) -> None:
    authority = Authority(tmp_path)
    own = authority.issue(ca=authority.file)
    with ExitStack() as stack:
        for name in NAMES:
            replica = mf.Replica(
                pages(),
                controller.address,
                member=name,
                members=NAMES,
                agent="s",
                listen="tls://127.0.0.1:0",
                tls=own,
            )
            stack.enter_context(replica)
        client = stack.enter_context(mf.Client(controller.address, mf.ClientOptions(tls=own)))

        done = journal.JournalClient(client).at("s").one_hop("secret", options=ALL)

        assert done.applied == ("a", "b", "c")


def test_a_link_that_says_neither_a_member_nor_a_client_is_refused(group: Group) -> None:
    async def link(peer: Peer) -> mf.Error:
        async with mf.AsyncClient(group.controller) as client:
            there = ReplicaAsyncClient(client).at("journal.Journal|s|")
            with pytest.raises(mf.Error) as refused:
                await anext(there.link(peer))
            return refused.value

    for peer in (Peer(), Peer(member="a", client=UUID(int=1)), Peer(member="nobody")):
        assert asyncio.run(link(peer)).code is mf.Code.INVALID_ARGUMENT


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"member": "d", "members": NAMES}, "'d' is none of the members a, b, c"),
        ({"member": "a", "members": ["a", "a"]}, "a name of its own"),
    ],
    ids=["unknown", "twice"],
)
def test_members_that_do_not_fit_are_refused(pages: type[Any], arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        mf.Replica(pages(), "mf://127.0.0.1:1", agent="s", **arguments)


def test_the_servant_of_these_tests_has_the_types_that_its_schema_says(
    passes_mypy_strict: TypeCheck, journal_stubs: Path
) -> None:
    root = Path(__file__).parents[3]

    passes_mypy_strict(
        [root / "tests/python/replicated/programs/journal_replica.py"],
        [journal_stubs, root / "runtime/python"],
    )


def test_a_client_of_a_later_schema_sends_what_the_replicas_read(
    group: Group, later_journal: ModuleType
) -> None:
    later = later_journal.JournalClient(group.client).at("s")

    made = later.put(text="x", note="left out", options=ALL)

    assert (made.value, made.applied) == (1, ("a", "b", "c"))
    assert later.version_request("y", options=ALL).value == 2
    assert [pages.kept for pages in group.pages.values()] == [["x", "y"]] * 3


def test_an_error_of_the_replicas_is_raised_as_the_clients_schema_has_it(
    group: Group, later_journal: ModuleType
) -> None:
    later = later_journal.JournalClient(group.client).at("s")
    with pytest.raises(later_journal.Full) as raised:
        later.put(text="too much", options=ALL)
    assert (raised.value.most, raised.value.hint) == (3, "less")


def test_a_replicated_method_that_no_rule_allows_is_refused_in_words_and_nothing_is_sent(
    group: Group, later_journal: ModuleType
) -> None:
    later = later_journal.JournalClient(group.client).at("s")
    mismatch, unknown = mf.Code.SCHEMA_MISMATCH, mf.Code.UNKNOWN_METHOD
    for name, argument, code, words in (
        ("chain", 5, mismatch, "Journal.chain: parameter text: u32 here, string there"),
        ("more", "x", unknown, "Journal.more: method only here"),
    ):
        with pytest.raises(mf.Error) as raised:
            getattr(later, name)(argument)
        assert raised.value.code == code
        assert raised.value.message == f"the replicas of journal.Journal: {words}"
        assert raised.value.execution is mf.Execution.NOT_EXECUTED
    assert [pages.kept for pages in group.pages.values()] == [[]] * 3


def later_pages(later_journal: ModuleType) -> type[Any]:
    """The servant as a later program has it."""

    class Pages(later_journal.JournalServant):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self.kept: list[Any] = []

        def apply(self, version: mf.Version, request: Any) -> int:  # noqa: ARG002
            self.kept.append(request.text)
            return len(self.kept)

        on_apply_no_versioning = on_apply_version_request = on_apply_message_returns_version = apply
        on_apply_one_hop = on_apply_wait_for_version = on_apply_chain = on_apply_more = apply

        def on_apply_put(self, version: mf.Version, request: Any) -> int:  # noqa: ARG002
            if request.text == "too much":
                raise later_journal.Full(most=3, hint="x")
            self.kept.append(request.text)
            assert request.note == ""
            return len(self.kept)

    return Pages


def test_a_group_is_upgraded_one_by_one_while_clients_of_both_schemas_call(
    group: Group, journal: ModuleType, later_journal: ModuleType
) -> None:
    newer = mf.Client(group.controller)
    later = later_journal.JournalClient(newer).at("s")
    expected: list[str] = []

    def all_call(note: str) -> None:
        for each in range(3):
            expected.append(f"older {note} {each}")
            made = group.journal.one_hop_ack_client(expected[-1], options=ALL)
            assert made.value == len(expected)
            expected.append(f"newer {note} {each}")
            assert later.put(text=expected[-1], options=ALL).value == len(expected)
        with pytest.raises(journal.Full) as raised:
            group.journal.one_hop_ack_client("too much", options=ALL)
        assert raised.value.most == 3

    all_call("before")
    group._make = later_pages(later_journal)
    for name in NAMES:
        group.stop(name)
        group.start(name)
        assert group.replicas[name].until_serving(30.0)
        all_call(f"with a later {name}")
    newer.close()
    assert [pages.kept for pages in group.pages.values()] == [expected] * 3


def test_a_replica_that_cannot_apply_what_others_have_applied_takes_part_no_more(
    group: Group, later_journal: ModuleType
) -> None:
    group.journal.chain("not a number", options=ALL)
    group.stop("c")
    group._make = later_pages(later_journal)
    group.start("c")
    assert eventually(lambda: bool(group.replicas["c"].stuck))
    words = "Journal.chain: parameter text: string here, u32 there"
    assert group.replicas["c"].stuck == f"message 1 of its group: {words}"
    assert group.pages["c"].kept == []
    assert group.journal.one_hop("and on").value == 2
