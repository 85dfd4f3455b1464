"""Failures that are logged in words: an engine that refuses, other schemas, streams that do not exist."""

from collections.abc import Callable
from pathlib import Path

from tests.bridge.conftest import HERE, ROOT, Bridges
from tests.bridge.kafka import Kafka
from tests.bridge.nats import STREAM, Nats
from tests.conftest import TypeCheck
from tests.etcd.cluster import eventually
from tests.interop.peers import Process


def said(process: Process, words: str) -> Callable[[], bool]:
    return lambda: words in process.said()


def test_a_full_stream_holds_back_the_publisher_and_nothing_is_lost(bridges: Bridges, nats: Nats) -> None:
    nats.change_stream(max_msgs=10, discard="new")
    publisher = bridges.publisher()
    into = bridges.into(nats, publisher.address)
    assert publisher.ask("await 1")
    publisher.begin("publish books 0 3000 200")
    eventually(said(into, "stream ledgers_Entries: maximum messages exceeded"), "a full stream is logged")
    assert nats.count() == 10
    nats.change_stream(max_msgs=-1)
    assert publisher.end() == 3000
    subscriber = bridges.subscriber(bridges.out_of(nats).address)
    account = subscriber.ask("account 3000")
    assert (account["received"], account["missed"], account["in_order"]) == (3000, 0, True)
    assert into.said().count("maximum messages exceeded") == 1
    assert "appends_again" in into.said()


def test_what_a_broker_refuses_is_told_and_appended_in_order_later(bridges: Bridges, kafka: Kafka) -> None:
    publisher = bridges.publisher()
    into = bridges.into(kafka, publisher.address)
    assert publisher.ask("await 1")
    assert publisher.ask("publish books 0 100 20") == 100
    kafka.refuse(29, 3)  # TOPIC_AUTHORIZATION_FAILED
    assert publisher.ask("publish books 100 900 20") == 900
    subscriber = bridges.subscriber(bridges.out_of(kafka).address)
    account = subscriber.ask("account 1000")
    assert (account["received"], account["missed"], account["in_order"]) == (1000, 0, True)
    assert "Topic authorization failed" in into.said()


def test_a_message_that_is_too_large_for_the_engine_is_left_out_and_told(
    bridges: Bridges, nats: Nats
) -> None:
    publisher = bridges.publisher()
    into = bridges.into(nats, publisher.address)
    assert publisher.ask("await 1")
    publisher.ask("publish books 0 1 20")
    publisher.ask("publish books 1 1 2000000")
    publisher.ask("publish books 2 1 20")
    subscriber = bridges.subscriber(bridges.out_of(nats).address)
    assert subscriber.ask("first") == ["books", 1, 0, 0]
    assert subscriber.ask("first") == ["books", 3, 2, 1]  # one is missed before it
    assert "message_refused" in into.said()
    assert "sequence=2" in into.said()


def test_a_bridge_of_another_schema_refuses_its_subscribers_and_names_both(
    bridges: Bridges, nats: Nats, stubs: Path
) -> None:
    publisher = bridges.publisher()
    bridges.into(nats, publisher.address)
    assert publisher.ask("await 1")
    publisher.ask("publish books 0 1 20")
    out = bridges.out_of(nats, schema="later")
    for _ in range(2):  # one with which the schema is found, and a later one
        code, message = bridges.subscriber(out.address, schema="later").ask("failure")
        assert code == "SCHEMA_MISMATCH"
        assert f"record 1 of {STREAM} is of schema" in message
        where = f"{out.address}: "
        assert message.startswith(where)
        assert message.removeprefix(where) in out.said().replace('\\"', '"')
    assert "ledgers.Entries" in message
    assert (stubs / "later" / "entries.topic").is_file()


def test_a_subscriber_of_another_schema_is_told_how_it_differs(bridges: Bridges, nats: Nats) -> None:
    out = bridges.out_of(nats)
    code, message = bridges.subscriber(out.address, schema="later").ask("failure")
    assert code == "SCHEMA_MISMATCH"
    assert "Entry.number" in message


def test_a_bridge_that_begins_to_read_ends_the_one_that_reads_under_its_name(
    bridges: Bridges, nats: Nats
) -> None:
    first = bridges.out_of(nats)
    bridges.subscriber(first.address)
    eventually(lambda: len(nats.consumers()) == 1, "the first one reads")
    second = bridges.out_of(nats)
    bridges.subscriber(second.address)
    assert first.wait() == 1
    assert "another bridge reads stream ledgers_Entries under the same name" in first.said()
    assert len(nats.consumers()) == 1


def test_a_bridge_that_would_append_what_it_has_read_is_refused(bridges: Bridges, nats: Nats) -> None:
    out = bridges.out_of(nats)
    into = bridges.into(nats, out.address)
    eventually(said(into, "a loop of bridges"), "the loop is logged")


def test_what_a_bridge_cannot_begin_with_is_told(bridges: Bridges, nats: Nats, tmp_path: Path) -> None:
    missing = bridges.refused("in", nats.url, "--stream", "OTHER")
    assert missing.wait() == 1
    assert (
        "NATS has no stream OTHER: make it, with subject mf.ledgers.Entries, or say --create"
        in missing.said()
    )
    engine = bridges.refused("out", "amqp://127.0.0.1")
    assert engine.wait() == 1
    assert "names no engine" in engine.said()
    setting = bridges.refused("in", nats.url, "--set", "speed=high")
    assert setting.wait() == 1
    assert 'NATS has no setting "speed"' in setting.said()
    (tmp_path / "plain").mkdir()
    plain = Nats(tmp_path / "plain", "--debug")
    try:
        without = bridges.refused("in", plain.url)
        assert without.wait() == 1
        assert "has no JetStream" in without.said()
    finally:
        plain.close()


def test_a_stream_is_made_where_that_is_asked_for(bridges: Bridges, nats: Nats) -> None:
    publisher = bridges.publisher()
    bridges.into(nats, publisher.address, "--stream", "OTHER", "--subject", "other.subject", "--create")
    made = nats.ask("STREAM.INFO.OTHER")["config"]
    assert (made["subjects"], made["storage"]) == (["other.subject"], "file")


def test_the_programs_are_strictly_typed(stubs: Path, passes_mypy_strict: TypeCheck) -> None:
    programs = sorted((HERE / "programs").glob("*.py"))
    passes_mypy_strict(programs, [stubs / "ledger", ROOT / "runtime" / "python"])
