"""Windows, and values on their way into DATA frames and out of them."""

import random

import pytest

from mf.core.error import Code, Error, not_executed
from mf.core.server_options import MAX_WINDOWS
from mf.core.service import FEBIRD, Payload
from mf.protocol.events import DataReceived, MetadataOrFault
from mf.protocol.frame import DATA_LIMIT, frame_cost
from mf.protocol.stream import (
    LARGEST_WINDOW,
    MOST_VALUES,
    Incoming,
    Outgoing,
    ReceiveWindow,
    SendWindow,
    WindowBudget,
)

WINDOW = 16_384


def data(
    payload: Payload, count: int = 1, encoding: int = FEBIRD, metadata: MetadataOrFault = None
) -> DataReceived:
    return DataReceived(7, encoding, count, payload, frame_cost(len(payload)), metadata)


def incoming(max_payload: int = 1 << 20, *, metadata: bool = False) -> Incoming:
    return Incoming(WINDOW, FEBIRD, max_payload, metadata=metadata)


def test_credit_above_2_31_is_refused() -> None:
    window = SendWindow((1 << 31) - 2)

    assert window.add(1)
    assert not window.add(1)
    assert window.spend((1 << 31) - 1)
    assert not window.spend(1)


def test_credit_goes_back_when_half_of_a_window_was_taken() -> None:
    window, budget = ReceiveWindow(1000), WindowBudget(1, 1000, 1000)
    assert window.arrived(600)

    assert window.taken(400, budget) == 0
    assert window.taken(200, budget) == 600
    assert window.arrived(1000)
    assert not window.arrived(1)


def test_a_window_that_is_emptied_quickly_doubles_up_to_a_mebibyte_and_the_budget() -> None:
    window, budget = ReceiveWindow(WINDOW), WindowBudget(256, WINDOW)
    for _ in range(20):
        while window.arrived(1024):
            pass
        window.taken(window.window, budget)

    assert window.window == LARGEST_WINDOW
    assert budget.left == MAX_WINDOWS - 256 * WINDOW - (LARGEST_WINDOW - WINDOW)
    window.release(budget)
    assert budget.left == MAX_WINDOWS - 256 * WINDOW


def test_all_windows_of_a_connection_sum_to_eight_mebibytes() -> None:
    budget = WindowBudget(256, WINDOW)
    windows = [ReceiveWindow(WINDOW) for _ in range(256)]
    for _ in range(20):
        for window in windows:
            while window.arrived(4096):
                pass
            window.taken(window.window, budget)

    assert sum(window.window for window in windows) <= MAX_WINDOWS


def test_many_values_share_a_frame_of_at_most_64_kib() -> None:
    out = Outgoing(1 << 20)
    for _ in range(1000):
        out.add(bytes(100))

    payload, count = out.next_frame(1 << 20) or (b"", 0)

    assert count == DATA_LIMIT // 100
    assert len(payload) == count * 100
    assert len(out) == 1000 - count


def test_empty_values_are_bounded_by_the_count() -> None:
    out = Outgoing(1 << 20)
    for _ in range(70_000):
        out.add(b"")

    assert out.next_frame(16) == (b"", MOST_VALUES)
    assert out.next_frame(15) is None
    assert out.next_frame(16) == (b"", 70_000 - MOST_VALUES)
    assert out.next_frame(16) is None


@pytest.mark.parametrize("credit", range(200))
def test_a_piece_is_as_long_as_the_credit_is_enough_for(credit: int) -> None:
    out = Outgoing(1 << 20)
    out.add(bytes(1000))
    longest = max((size for size in range(1, 1000) if frame_cost(size) <= credit), default=0)

    assert out.next_frame(credit) == ((bytes(longest), 0) if longest else None)


def test_a_value_that_the_receiver_does_not_take_is_refused() -> None:
    with pytest.raises(Error) as refused:
        Outgoing(100).add(bytes(101))

    assert refused.value.code is Code.MESSAGE_TOO_LARGE


@pytest.mark.parametrize("seed", range(100))
def test_values_arrive_whole_and_in_order_whatever_the_credit(seed: int) -> None:
    draw = random.Random(seed)
    values = [draw.randbytes(draw.choice([0, 1, 7, 100, 5000, 70_000, 200_000])) for _ in range(20)]
    out, into, budget = Outgoing(1 << 20), incoming(), WindowBudget(1, WINDOW)
    window = SendWindow(WINDOW)
    for value in values:
        out.add(value)
    arrived: list[bytes] = []
    counts = 0
    for _ in range(10_000):
        sent = out.next_frame(window.credit)
        if sent is not None and draw.random() < 0.8:
            payload, count = sent
            assert window.spend(frame_cost(len(payload)))
            assert into.arrived(data(payload, count)) is None
            continue
        if sent is not None:  # it was not sent after all: as if it had been
            payload, count = sent
            window.spend(frame_cost(len(payload)))
            assert into.arrived(data(payload, count)) is None
        taken = into.take()
        if taken is None:
            if not len(out):
                break
            continue
        payload, count, cost = taken
        counts += count
        if count:
            arrived.append(bytes(payload))
        credit = into.window.taken(cost, budget)
        if credit:
            assert window.add(credit)

    assert b"".join(arrived) == b"".join(values)
    assert counts == len(values)
    assert into.ends_whole()


@pytest.mark.parametrize(
    ("frames", "code"),
    [
        ([data(b"", 0)], Code.PROTOCOL_ERROR),
        ([data(b"a", 0), data(b"bc", 2)], Code.PROTOCOL_ERROR),
        ([data(b"a", 0), data(b"", 1)], Code.PROTOCOL_ERROR),
        ([data(bytes(20_000))], Code.PROTOCOL_ERROR),
        ([data(b"a", metadata={})], Code.PROTOCOL_ERROR),
        ([data(b"a", encoding=1)], Code.DECODE_ERROR),
        ([data(bytes(600), 0), data(bytes(600), 0)], Code.MESSAGE_TOO_LARGE),
    ],
)
def test_what_ends_a_call(frames: list[DataReceived], code: Code) -> None:
    into = incoming(1000)

    errors = [into.arrived(frame) for frame in frames]

    assert [error and error.code for error in errors] == [None] * (len(frames) - 1) + [code]


def test_metadata_comes_with_the_first_frame_or_not_at_all() -> None:
    into = incoming(metadata=True)
    late = incoming(metadata=True)
    late.arrived(data(b"a"))

    assert into.arrived(data(b"a", metadata={"k": "v"})) is None
    fault = incoming(metadata=True).arrived(data(b"", 0, metadata=not_executed(Code.DECODE_ERROR, "x")))
    assert fault is not None
    assert fault.code is Code.DECODE_ERROR
    second = late.arrived(data(b"a", metadata={}))
    assert second is not None
    assert second.code is Code.PROTOCOL_ERROR
