"""A batch that several threads read, and one that is polled many times."""

import threading

from mf.client.message_batch import Message
from tests.python.conftest import Served, eventually
from tests.python.echo import ECHO_SERVICE, SLEEP, TWICE, Number, Seconds


def test_no_thread_misses_outcomes_that_another_one_decodes(served: Served) -> None:
    batch = served.client.target(ECHO_SERVICE).at("b").batch(TWICE, [Number(x) for x in range(3)])
    assert eventually(batch.ready)
    decoding, go_on = threading.Event(), threading.Event()
    outcomes = Message.outcomes

    def slowly(message: Message[int]) -> object:
        decoding.set()
        go_on.wait(20)
        return outcomes(message)

    found: list[object] = []
    Message.outcomes = slowly  # type: ignore[method-assign,assignment]
    try:
        first = threading.Thread(target=batch.partial)
        first.start()
        assert decoding.wait(20)
        second = threading.Thread(target=lambda: found.append(batch.results()))
        second.start()
        go_on.set()
        first.join()
        second.join()
    finally:
        Message.outcomes = outcomes  # type: ignore[method-assign]
    [results] = found
    assert isinstance(results, list)
    assert [each.value() for each in results] == [0, 2, 4]


def test_polling_a_batch_leaves_no_callbacks_behind(served: Served) -> None:
    batch = served.client.target(ECHO_SERVICE).at("b").batch(SLEEP, [Seconds(0.3)])
    for _ in range(50):
        batch.wait(0.001)
    assert len(batch._wakers) <= 1  # type: ignore[attr-defined]
    assert [each.value() for each in batch.results()] == [0.3]
