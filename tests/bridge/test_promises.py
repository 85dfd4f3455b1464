"""What a durable topic promises, on real engines: each message at least once in the engine and once at a
subscriber, in the order of its publisher, whichever process is killed; offsets that the engine keeps.
"""

import signal
import time

import pytest

from tests.bridge.conftest import Bridges, Engine
from tests.bridge.nats import Nats
from tests.etcd.cluster import eventually


def whole(count: int, publishers: int = 1) -> dict[str, object]:
    return {"received": count, "missed": 0, "in_order": True, "publishers": publishers}


def test_what_is_published_is_kept_for_subscribers_that_come_when_publishers_have_gone(
    bridges: Bridges, engine: Engine
) -> None:
    one, two = bridges.publisher(), bridges.publisher()
    into = bridges.into(engine, f"{one.address},{two.address}")
    assert one.ask("await 1")
    assert two.ask("await 1")
    one.begin("publish eu.books 0 500 20")
    two.begin("publish eu.books 0 700 20")
    assert one.ask("publish us.books 500 300 20") == 500
    out = bridges.out_of(engine)
    early = bridges.subscriber(out.address)
    assert early.ask("account 1500") == whole(1500, 2)
    assert (one.end(), two.end()) == (300, 700)
    for process in (into, one.process, two.process):
        process.kill()
    late = bridges.subscriber(bridges.out_of(engine, "--name", "another").address)
    assert late.ask("account 1500") == whole(1500, 2)


def test_an_engine_that_is_killed_in_the_middle_loses_nothing_and_messages_come_once(
    bridges: Bridges, engine: Engine
) -> None:
    publisher = bridges.publisher()
    bridges.into(engine, publisher.address)
    out = bridges.out_of(engine)
    subscriber = bridges.subscriber(out.address)
    assert publisher.ask("await 1")
    assert publisher.ask("publish books 0 2000 20") == 2000
    for turn in range(1, 4):
        publisher.begin(f"publish books {turn * 2000} 2000 20")
        engine.kill()
        engine.start()
        assert publisher.end() == 2000
    assert subscriber.ask("account 8000") == whole(8000)


def test_a_bridge_into_an_engine_that_is_killed_goes_on_where_it_was(
    bridges: Bridges, engine: Engine
) -> None:
    publisher = bridges.publisher()
    into = bridges.into(engine, publisher.address)
    subscriber = bridges.subscriber(bridges.out_of(engine).address)
    for turn in range(4):
        assert publisher.ask("await 1")
        publisher.begin(f"publish books {turn * 2000} 2000 20")
        if turn % 2 == 0:
            assert publisher.end() == 2000  # some of it may be on its way
        into.kill()
        into = bridges.into(engine, publisher.address)
        if turn % 2 == 1:
            assert publisher.end() == 2000
    assert subscriber.ask("account 8000") == whole(8000)
    if isinstance(engine, Nats):
        assert engine.count() == 8000  # it recognises what it has


def test_a_bridge_out_of_an_engine_that_is_killed_is_read_on_by_its_subscribers(
    bridges: Bridges, engine: Engine
) -> None:
    publisher = bridges.publisher()
    bridges.into(engine, publisher.address)
    out = bridges.out_of(engine)
    subscribers = [bridges.subscriber(out.address, ledgers) for ledgers in ("*", "eu.*")]
    assert publisher.ask("await 1")
    for turn in range(4):
        publisher.ask(f"publish eu.books {turn * 3000} 2000 20")
        publisher.begin(f"publish us.books {turn * 3000 + 2000} 1000 20")
        out.kill()
        out = bridges.out_of(engine, "--subscribers", "2", at=out.address)
        assert publisher.end() == 1000
        assert subscribers[0].ask(f"account {(turn + 1) * 3000}") == whole((turn + 1) * 3000)
        assert subscribers[1].ask(f"account {(turn + 1) * 2000}") == whole((turn + 1) * 2000)


def test_the_engine_keeps_how_far_a_bridge_has_read(bridges: Bridges, engine: Engine) -> None:
    publisher = bridges.publisher()
    bridges.into(engine, publisher.address)
    assert publisher.ask("await 1")
    out = bridges.out_of(engine, "--log-level", "debug")
    early = bridges.subscriber(out.address)
    publisher.ask("publish books 0 1000 20")
    assert early.ask("account 1000") == whole(1000)
    last = 1000 if isinstance(engine, Nats) else 999  # Kafka counts from 0
    eventually(lambda: f"offset={last}\n" in out.said(), "the offset of the last is kept")
    if isinstance(engine, Nats):
        assert list(engine.consumers().values()) == [1000]
    early.process.kill()
    out.kill()
    publisher.ask("publish books 1000 1 20")
    late = bridges.subscriber(bridges.out_of(engine).address)
    assert late.ask("first") == ["books", 1001, 1000, 0]


@pytest.mark.parametrize("killed", ["in", "out", "engine"])
def test_a_subscriber_that_was_frozen_gets_all_of_it(bridges: Bridges, nats: Nats, killed: str) -> None:
    publisher = bridges.publisher()
    into = bridges.into(nats, publisher.address)
    out = bridges.out_of(nats)
    subscriber = bridges.subscriber(out.address)
    assert publisher.ask("await 1")
    publisher.ask("publish books 0 100 20")
    assert subscriber.ask("account 100") == whole(100)
    subscriber.process.freeze()
    publisher.ask("publish books 100 900 4000")  # more than the window of a stream, so that some of it waits
    eventually(lambda: nats.count() == 1000, "all of it is in the engine")
    time.sleep(1)  # five times what a message needs to settle once it has left
    assert max(nats.consumers().values()) < 1000, "what waits for a subscriber is not done with"
    if killed == "in":
        into.kill()
        bridges.into(nats, publisher.address)
    elif killed == "out":
        out.kill()
        bridges.out_of(nats, at=out.address)
    else:
        nats.kill()
        nats.start()
    subscriber.process.thaw()
    assert subscriber.ask("account 1000") == whole(1000)


def test_bridges_that_get_sighup_go_on_and_stop_at_sigterm(bridges: Bridges, nats: Nats) -> None:
    publisher = bridges.publisher()
    into = bridges.into(nats, publisher.address)
    out = bridges.out_of(nats)
    subscriber = bridges.subscriber(out.address)
    assert publisher.ask("await 1")
    publisher.ask("publish books 0 100 20")
    assert subscriber.ask("account 100") == whole(100)
    for bridge, account in ((into, "appended=100"), (out, "published=100")):
        bridge.signal(signal.SIGHUP)
        bridge.signal(signal.SIGTERM)
        assert bridge.wait() == 0
        lines = bridge.said().splitlines()
        assert any(" info stopped" in line for line in lines)
        assert any(" bridge_ended " in line and account in line for line in lines)
