"""Which receiver of a mailbox gets a message: criteria, order, several receivers, bounds, callbacks."""

import asyncio
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mf
from mf.controller._generated.mf.controller import Key, KeyKind
from mf.flex.errors import NoMessage
from mf.flex.mailbox import OVERHEAD, Mailbox
from mf.flex.message import Message
from mf.flex.pattern import ANY, Pattern, pattern
from mf.flex.queue import Queue
from tests.python.flex.boxes import Owner, filled, parcel


def until(condition: Any) -> None:
    """Waits for it, within the time of a test."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def waiting(box: Mailbox) -> int:
    return len(box._waiters.all())


# Criteria


def test_without_criteria_messages_come_in_the_order_of_arrival() -> None:
    box = filled({"n": 1}, {"n": 2}, {"n": 3})
    assert [box.poll().n for _ in range(3)] == [1, 2, 3]


def test_what_does_not_match_stays_in_its_place() -> None:
    box = filled({"tag": "a", "n": 1}, {"tag": "b", "n": 2}, {"tag": "a", "n": 3})
    assert box.poll(tag="b").n == 2
    assert [box.poll().n, box.poll().n] == [1, 3]


def test_all_criteria_have_to_be_met_and_other_attributes_do_not_matter() -> None:
    box = filled({"src": "A", "tag": 1}, {"src": "C", "tag": 2}, {"src": "C", "tag": 1, "more": 5})
    assert box.poll(src="C", tag=1).more == 5
    with pytest.raises(NoMessage, match="nothing that matches src='C', tag=1 waits for 'B'"):
        box.poll(src="C", tag=1)


def test_criteria_may_stand_in_any_order() -> None:
    box = filled({"tag": "b", "src": "a"}, {"tag": "a", "src": "b", "n": 1}, {"tag": "a", "src": "a", "n": 2})
    assert box.poll(tag="a", src="a").n == 2
    assert box.poll(tag="a", src="b").n == 1
    assert box.poll(src="a", tag="b").tag == "b"


def test_an_attribute_that_a_message_does_not_have_matches_nothing() -> None:
    box = filled({"n": 1})
    assert not box.peek(tag=ANY)
    assert not box.peek(tag=None)
    assert not box.peek(tag=lambda _: True)


VALUES: list[Any] = [
    *(None, True, False, 0, 1, 1.0, 0.0, "1", b"1", "", [], [1], [1.0], {}, {"a": 1}, 1 << 63),
    *(mf.Timestamp(1), UUID(int=1), Key(KeyKind.topic, "x", ""), KeyKind.topic),
]


def test_a_value_is_matched_by_its_equal_of_the_same_kind_alone() -> None:
    box = filled(*({"v": value, "n": n} for n, value in enumerate(VALUES)))
    for n in random.Random(1).sample(range(len(VALUES)), len(VALUES)):
        message = box.poll(v=VALUES[n])
        assert message.n == n
        assert not box.peek(v=VALUES[n])


@pytest.mark.parametrize(
    ("kind", "expected"),
    [(int, [3, 4]), (bool, [1, 2]), (float, [5]), (str, [6]), (list, [7, 8]), (dict, [9]), (type(None), [0])],
)
def test_a_type_matches_its_values_and_a_bool_is_no_int(kind: type, expected: list[int]) -> None:
    values: list[Any] = [None, True, False, 1, 1 << 63, 1.0, "a", [1], [1, "a"], {}, b"b"]
    box = filled(*({"v": value, "n": n} for n, value in enumerate(values)))
    found = [box.poll(v=kind).n for _ in expected]
    assert found == expected
    assert not box.peek(v=kind)


def test_types_of_schemas_and_arrays_are_kinds() -> None:
    box = filled({"v": Key(KeyKind.topic, "x", "")}, {"v": KeyKind.service}, {"v": np.zeros(3)})
    assert box.poll(v=np.ndarray).v.shape == (3,)
    assert box.poll(v=KeyKind).v is KeyKind.service
    assert box.poll(v=Key).v.name == "x"


def test_a_function_decides_and_the_first_that_it_takes_comes() -> None:
    box = filled({"tag": 1}, {"tag": 42, "n": 1}, {"tag": 23, "n": 2})
    assert box.poll(tag=lambda tag: tag in (23, 42)).n == 1
    assert box.poll(tag=lambda tag: tag in (23, 42)).n == 2
    assert not box.peek(tag=lambda tag: tag in (23, 42))


def test_a_function_is_asked_once_for_each_value_however_many_messages_have_it() -> None:
    asked: list[Any] = []

    def none(tag: Any) -> bool:
        asked.append(tag)
        return False

    box = filled(*({"tag": n % 3, "src": "A"} for n in range(300)), {"tag": 7, "src": "C"})
    assert not box.peek(tag=none, src="A")
    assert sorted(asked) == [0, 1, 2]


def test_several_functions_have_to_agree() -> None:
    box = filled({"x": 1, "y": 5}, {"x": 2, "y": 6}, {"x": 2, "y": 5, "n": 1})
    assert box.poll(x=lambda x: x == 2, y=lambda y: y == 5).n == 1


def test_a_function_that_raises_raises_where_it_was_asked_and_the_messages_stay() -> None:
    box = filled({"tag": 1}, {"tag": 2})
    with pytest.raises(ZeroDivisionError):
        box.poll(tag=lambda tag: tag < 1 / 0)
    with pytest.raises(ZeroDivisionError):
        box.recv(5.0, tag=lambda tag: tag < 1 / 0)
    assert [box.poll().tag, box.poll().tag] == [1, 2]


def test_a_slow_function_holds_up_nobody_else() -> None:
    box = filled({"tag": 1})
    asked, go_on = threading.Event(), threading.Event()

    def slow(tag: int) -> bool:
        asked.set()
        assert go_on.wait(60)
        return tag == 2

    with ThreadPoolExecutor(1) as threads:
        slowly = threads.submit(box.recv, 60.0, tag=slow)
        assert asked.wait(60)
        assert box.put(parcel(tag=2, n=5))
        assert box.recv(60.0, tag=1).tag == 1
        go_on.set()
        assert slowly.result(60).n == 5


@pytest.mark.parametrize("criteria", [{"x": np.zeros(2)}, {"x": [np.zeros(2)]}, {"x": {1}}, {"x": object}])
def test_what_no_message_can_have_is_refused(criteria: dict[str, Any]) -> None:
    with pytest.raises(mf.Error) as raised:
        filled().poll(**criteria)
    assert raised.value.code is mf.Code.INVALID_ARGUMENT
    assert raised.value.message.startswith("x: ")


def test_peek_takes_nothing() -> None:
    box = filled({"tag": 1})
    assert [box.peek(tag=1), box.peek(), box.peek(tag=lambda _: True), len(box)] == [True, True, True, 1]


def test_the_index_finds_what_a_walk_would_find() -> None:
    """Against the paper's own way: from the first message to the last."""
    dice = random.Random(20_261_125)
    queue = Queue()
    plain: dict[int, Message] = {}
    asked: list[dict[str, Any]] = [
        {"src": "A"},
        {"src": "B", "tag": 1},
        {"tag": 2},
        {"tag": int},
        {},
        {"tag": ANY, "n": lambda n: n % 3 == 0},
        {"src": "A", "tag": lambda tag: tag != 1},
    ]

    def first(wanted: Pattern) -> int | None:
        if not wanted.tests:
            return queue.first(wanted)
        found = [
            number for number, _ in queue.candidates(wanted) if wanted.passes(queue.messages[number].message)
        ]
        return found[0] if found else None

    def walked(criteria: dict[str, Any]) -> int | None:
        def fits(message: Message, name: str, wanted: Any) -> bool:
            if name not in message:
                return False
            if wanted is ANY:
                return True
            return (
                type(message[name]) is int
                if wanted is int
                else bool(wanted(message[name]) if callable(wanted) else message[name] == wanted)
            )

        return next(
            (n for n, each in plain.items() if all(fits(each, name, w) for name, w in criteria.items())), None
        )

    for step in range(4000):
        if dice.random() < 0.5:
            values: dict[str, Any] = {"n": step % 7}
            if dice.random() < 0.8:
                values["tag"] = dice.choice([1, 2, 3, "x"])
            each = parcel(src=dice.choice("AB"), **values)
            plain[queue.put(each)] = each.message
        criteria = dice.choice(asked)
        found = first(pattern(criteria))
        assert found == walked(criteria)
        if found is not None and dice.random() < 0.9:
            assert queue.take(found) is not None
            del plain[found]
    assert len(plain) < 2000


def test_looking_for_what_is_not_there_looks_at_no_message_that_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    box = filled(*({"src": "A" if n % 2 else "C", "tag": n % 2} for n in range(1000)))
    box.peek(src="A", tag=0)
    looked: list[Any] = []
    monkeypatch.setattr(Message, "__getitem__", lambda _, name: looked.append(name))
    for _ in range(100):
        assert not box.peek(src="A", tag=0)
    assert looked == []


def test_indexes_do_not_grow_with_what_was_taken() -> None:
    box = filled()
    box.peek(tag="never", src="A")
    for n in range(5000):
        box.put(parcel(tag=n))
        box.poll()
    assert sum(len(index.numbers) for index in box._queue._indexes.values()) < 300


# Waiting


def test_recv_waits_for_what_it_asks_for() -> None:
    box = Mailbox("B")
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(box.recv, 60.0, tag="b")
        until(lambda: waiting(box) == 1)
        box.put(parcel(tag="a"))
        box.put(parcel(tag="b", n=1))
        assert asked.result(60).n == 1
    assert len(box) == 1


def test_recv_gives_up_at_its_limit_and_says_what_else_waits() -> None:
    box = filled({"tag": 1})
    with pytest.raises(mf.Error, match=r"matches tag=2 came to 'B' within 0\.01 s; 1 others wait") as raised:
        box.recv(0.01, tag=2)
    assert raised.value.code is mf.Code.DEADLINE_EXCEEDED
    assert waiting(box) == 0


def test_several_threads_get_each_message_once_and_those_of_a_sender_in_order() -> None:
    box = Mailbox("B")
    got: list[list[tuple[str, int]]] = [[] for _ in range(4)]

    def receive(mine: list[tuple[str, int]]) -> None:
        while True:
            message = box.recv(60.0, kind=lambda kind: kind in ("work", "end"))
            if message.kind == "end":
                return
            mine.append((message.src, message.n))

    with ThreadPoolExecutor(8) as threads:
        receivers = [threads.submit(receive, mine) for mine in got]
        senders = [
            threads.submit(lambda own: [box.put(parcel(src=own, kind="work", n=n)) for n in range(300)], src)
            for src in "abcd"
        ]
        for each in senders:
            each.result(60)
        for _ in receivers:
            box.put(parcel(kind="end"))
        for receiver in receivers:
            receiver.result(60)
    everything = [each for mine in got for each in mine]
    assert sorted(everything) == [(src, n) for src in "abcd" for n in range(300)]
    for mine in got:
        for src in "abcd":
            numbers = [n for each, n in mine if each == src]
            assert numbers == sorted(numbers)


def test_a_message_wakes_the_one_that_has_waited_longest() -> None:
    box = Mailbox("B")
    with ThreadPoolExecutor(3) as threads:
        asked = []
        for n in range(3):
            asked.append(threads.submit(box.recv, 60.0, tag=1))
            until(lambda n=n: waiting(box) == n + 1)
        for n in range(3):
            box.put(parcel(tag=1, n=n))
            assert asked[n].result(60).n == n


def test_closing_tells_those_who_wait_and_gives_back_what_nobody_took() -> None:
    box = filled({"n": 1}, {"n": 2})
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(box.recv, 60.0, tag="never")
        until(lambda: waiting(box) == 1)
        assert [each.message.n for each in box.close()] == [1, 2]
        with pytest.raises(mf.Error, match="the mailbox of 'B' is closed") as raised:
            asked.result(60)
    assert raised.value.code is mf.Code.CANCELLED
    with pytest.raises(mf.Error, match="is closed"):
        box.put(parcel())
    with pytest.raises(mf.Error, match="is closed"):
        box.poll()
    assert box.close() == []


def test_tasks_wait_as_threads_do() -> None:
    async def main() -> None:
        box = Mailbox("B")
        tasks = [asyncio.create_task(box.recv_async(60.0, tag=n)) for n in range(3)]
        await asyncio.sleep(0)
        for n in (2, 0, 1):
            box.put(parcel(tag=n))
        assert [message.tag for message in await asyncio.gather(*tasks)] == [0, 1, 2]
        with pytest.raises(mf.Error, match="came to 'B' within"):
            await box.recv_async(0.01)

    asyncio.run(main())


def test_a_task_that_is_cancelled_takes_nothing_and_the_next_one_gets_it() -> None:
    async def main() -> None:
        box = Mailbox("B")
        first = asyncio.create_task(box.recv_async(60.0, tag=1))
        await asyncio.sleep(0)
        second = asyncio.create_task(box.recv_async(60.0, tag=1))
        await asyncio.sleep(0)
        box.put(parcel(tag=1, n=7))  # it is for the first, which goes before it can take it
        first.cancel()
        assert (await second).n == 7
        assert first.cancelled()

    asyncio.run(main())


# Bounds


def test_a_mailbox_takes_no_more_than_its_bounds_and_says_when_there_is_room() -> None:
    box = Mailbox("B", max_messages=4, max_bytes=1 << 20)
    assert [box.put(parcel(src=src)) for src in "aabbcd"] == [True, True, True, False, True, False]
    room = threading.Event()
    box.when_room(room.set)
    assert not room.is_set()
    box.poll()
    assert room.is_set()
    assert box.put(parcel(src="d"))


def test_one_sender_has_less_than_half_of_a_mailbox_so_that_a_flood_leaves_room() -> None:
    box = Mailbox("B", max_messages=100, max_bytes=1 << 20)
    flood = sum(box.put(parcel(src="flood")) for _ in range(1000))
    assert flood == 47
    assert box.put(parcel(src="other"))
    large = Mailbox("B", max_messages=100, max_bytes=10 * OVERHEAD)
    assert [large.put(parcel(src="a", size=3 * OVERHEAD)) for _ in range(2)] == [True, False]


def flooded(senders: int, **bounds: int) -> Mailbox:
    """A mailbox that so many senders have filled as far as they can, and from which nothing is taken."""
    box = Mailbox("B", **bounds)
    for sender in range(senders):
        while box.put(parcel(src=f"flood{sender}")):
            pass
    return box


def test_a_flooded_mailbox_has_room_for_a_sender_whose_messages_are_taken() -> None:
    box = flooded(40, max_messages=8192)
    for n in range(100):
        assert box.put(parcel(src="other", n=n))
        assert not box.put(parcel(src="flood0"))
        assert box.poll(src="other").n == n


def test_the_last_sixteenth_of_a_mailbox_is_for_small_messages_of_new_senders() -> None:
    box = flooded(40, max_messages=8192)
    assert 8192 - 8192 // 16 <= len(box) <= 8192 - 8192 // 16 + 40
    new = range(8192 - len(box))
    assert all(box.put(parcel(src=f"new{n}")) for n in new)
    assert not any(box.put(parcel(src=f"new{n}")) for n in new)
    assert not box.put(parcel(src="one more"))

    large = flooded(40, max_bytes=16 << 20)
    assert large.put(parcel(src="small", size=4096))
    assert not large.put(parcel(src="large", size=4097))


def test_a_mailbox_without_room_is_logged_once_in_a_while(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("mf.flex.mailbox.monotonic", lambda: now)
    box = flooded(2, max_messages=8)
    for _ in range(1000):
        box.put(parcel(src="flood0"))
    assert caplog.messages == ["mailbox_full mailbox=B messages=4 senders=1"]
    now += 10.0
    for _ in range(1000):
        box.put(parcel(src="flood0"))
    assert caplog.messages[1:] == ["mailbox_full mailbox=B messages=6 senders=2"]


def test_a_message_that_never_has_room_is_refused() -> None:
    box = Mailbox("B", max_bytes=1 << 20)
    with pytest.raises(mf.Error, match=r"'B' takes 524,288 of one sender") as raised:
        box.put(parcel(size=(1 << 19) + 1))
    assert raised.value.code is mf.Code.MESSAGE_TOO_LARGE


def test_who_sent_a_message_is_told_when_it_is_taken_and_not_before() -> None:
    owner = Owner()
    box = Mailbox("B")
    for n in range(3):
        box.put(parcel(owner=owner, sequence=n, n=n))
    assert owner.numbers == []
    box.poll(n=1)
    box.poll()
    assert owner.numbers == [1, 0]


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 400), st.booleans()), max_size=60))
def test_bounds_hold_whatever_comes_and_goes(steps: list[tuple[str, int, bool]]) -> None:
    box = Mailbox("B", max_messages=8, max_bytes=2000)
    for src, size, takes in steps:
        box.put(parcel(src=src, size=size))
        if takes and len(box):
            box.poll()
        assert box._bytes == sum(each.size for each in box._queue) <= 2000
        assert box._held == len(box) <= 8
        assert sum(messages for messages, _ in box._by_sender.values()) == len(box)


# Callbacks


def test_a_callback_is_called_with_every_message_that_matches_and_others_stay() -> None:
    box = filled({"tag": "log", "n": 0}, {"tag": "x"})
    got: list[int] = []
    with box.on_message(lambda message: got.append(message.n), tag="log") as registered:
        box.put(parcel(tag="log", n=1))
        box.put(parcel(tag="y"))
        box.put(parcel(tag="log", n=2))
        until(lambda: len(got) == 3)
    box.put(parcel(tag="log", n=3))
    assert got == [0, 1, 2]
    assert registered.calls == 3
    assert [box.poll().tag for _ in range(3)] == ["x", "y", "log"]


def test_a_callback_that_raises_is_called_again_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    box = Mailbox("B")
    got: list[int] = []

    def fragile(message: Message) -> None:
        got.append(message.n)
        if message.n == 0:
            raise ValueError("no zeros")

    registered = box.on_message(fragile, n=ANY)
    for n in range(3):
        box.put(parcel(n=n))
    until(lambda: registered.calls == 3)
    assert (got, registered.raised) == ([0, 1, 2], 1)
    assert "no zeros" in caplog.text
    box.close()


def test_a_callback_gets_a_message_before_anybody_who_waits() -> None:
    box = Mailbox("B")
    got: list[int] = []
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(box.recv, 60.0)
        until(lambda: waiting(box) == 1)
        box.on_message(lambda message: got.append(message.n), tag="log")
        box.put(parcel(tag="log", n=1))
        box.put(parcel(tag="other", n=2))
        assert asked.result(60).n == 2
    until(lambda: got == [1])
    box.close()


def test_a_callback_by_function_gets_what_the_function_takes(caplog: pytest.LogCaptureFixture) -> None:
    box = filled({"n": 1}, {"n": 2})
    got: list[int] = []

    def odd(n: int) -> bool:
        if n == 4:
            raise ValueError("not four")
        return n % 2 == 1

    box.on_message(lambda message: got.append(message.n), n=odd)
    for n in (3, 4, 5):
        box.put(parcel(n=n))
    until(lambda: got == [1, 3, 5])
    assert [box.recv(60.0).n, box.recv(60.0).n] == [2, 4]
    assert "not four" in caplog.text
    box.close()


def test_what_a_callback_had_before_it_and_was_not_called_with_goes_back() -> None:
    box = Mailbox("B")
    called, go_on = threading.Event(), threading.Event()

    def slow(_: Message) -> None:
        called.set()
        assert go_on.wait(60)

    registered = box.on_message(slow, tag=1)
    box.put(parcel(tag=1, n=0))
    assert called.wait(60)
    box.put(parcel(tag=1, n=1))
    box.put(parcel(tag=1, n=2))
    registered.unregister()
    registered.unregister()
    go_on.set()
    assert [box.recv(60.0).n, box.recv(60.0).n] == [1, 2]
    assert registered.calls == 1
    box.close()


def test_no_message_is_lost_while_callbacks_come_and_go() -> None:
    box = Mailbox("B")
    got: list[int] = []

    def put() -> None:
        for n in range(2000):
            assert box.put(parcel(src=str(n % 5), tag=1, n=n))

    with ThreadPoolExecutor(1) as threads:
        putting = threads.submit(put)
        while not putting.done():
            with box.on_message(lambda message: got.append(message.n), tag=1):
                pass
        putting.result(60)
    box.on_message(lambda message: got.append(message.n), tag=1)
    until(lambda: len(got) == 2000)
    assert sorted(got) == list(range(2000))
    box.close()


def test_what_a_callback_was_not_called_with_is_given_back_on_closing_in_order() -> None:
    box = Mailbox("B")
    called, go_on = threading.Event(), threading.Event()

    def slow(_: Message) -> None:
        called.set()
        assert go_on.wait(60)

    box.on_message(slow, tag=1)
    for n in range(4):
        box.put(parcel(tag=1 if n != 2 else 2, n=n, sequence=n))
    assert called.wait(60)
    assert [each.message.n for each in box.close()] == [1, 2, 3]
    go_on.set()


def test_a_coroutine_function_is_awaited_on_the_loop_that_registered_it() -> None:
    async def main() -> None:
        box = Mailbox("B")
        done = asyncio.Event()
        threads: list[int] = []

        async def called(message: Message) -> None:
            threads.append(threading.get_ident())
            await asyncio.sleep(0)
            if message.n == 2:
                done.set()

        box.on_message(called, n=int)
        box.put(parcel(n=1))
        box.put(parcel(n=2))
        async with asyncio.timeout(60):
            await done.wait()
        assert threads == [threading.get_ident()] * 2
        box.close()

    asyncio.run(main())


def test_the_names_of_mpi_and_of_the_report_are_the_same_functions() -> None:
    assert Mailbox.recv_nb is Mailbox.poll
    assert Mailbox.regcb is Mailbox.on_message
