"""Calls the functions of the native module while each of their allocations fails in turn, also in their first
use. Run as a process of its own, by `python -m tests.python.native.without_memory`, since what goes wrong
here ends it.
"""

from asyncio import CancelledError, new_event_loop
from asyncio.tasks import _enter_task
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from mf.core.current import current
from mf.core.outcome import Outcome
from mf.protocol.calls import Request
from tests.python.native.plans import module

Work = Callable[[], object]
ALLOCATIONS = 40
"""More than any of them needs."""
SLOTS = Outcome.__dict__["_value"], Outcome.__dict__["error"]
RUNNING, ENDED, CLOSED = object(), object(), object()


def fail(_: int) -> int:
    raise ValueError("x")


def served(function: Callable[[int], int], encode: Callable[[int], bytes]) -> Work:
    """`run` of a call by this handler."""
    lock = SimpleNamespace(acquire=lambda: True, release=lambda: None)
    session = SimpleNamespace(
        in_flight={70_000}, out=[], state=None, peer_max_payload=1 << 20, out_bytes=1000, queued=1000
    )
    connection = SimpleNamespace(lock=lock, session=session, calls={}, written=lambda: None)
    connection.reply = lambda *_: None
    method = SimpleNamespace(
        oneway=False, decode_request=lambda _: (5,), encode_result=encode, result_encoding=1
    )
    counters = SimpleNamespace(on_executed=lambda _: None)
    handler = SimpleNamespace(
        gate=None, watched=False, method=method, planned=1, function=function, counters=counters
    )
    call = SimpleNamespace(
        handler=handler,
        oneway=False,
        count=1,
        flags=1,
        state=RUNNING,
        deadline=float("inf"),
        payload=b"",
        connection=connection,
        id=70_000,
        route=3,
        reply_entries=None,
    )
    answer = lambda *_: None  # noqa: E731
    of_python = (answer, answer, answer, current, RUNNING, ENDED, CLOSED)
    return lambda: module().run(call, of_python)


def refuse(_: Any) -> None:
    raise RuntimeError("another task is running")


def awaited() -> Iterator[Callable[[], Work]]:
    """Of a waiter on a loop on which a task is running."""
    loop: Any = new_event_loop()
    task: Any = object()
    _enter_task(loop, task)

    def refused() -> Work:
        waiter = module().Waiter(loop)
        waiter.add_done_callback(refuse)
        return lambda: waiter.wake()

    def cancelled() -> Work:
        waiter = module().Waiter(loop)
        waiter.add_done_callback(refuse)

        def work() -> None:
            waiter.cancel("why")
            with suppress(CancelledError):
                waiter.result()

        return work

    yield refused
    yield cancelled


def works() -> Iterator[Callable[[], Work]]:
    """Each makes what one call needs, before memory is scarce."""
    native = module()
    replied: list[Any] = []
    asked: list[Any] = []
    for id_ in range(1000, 1005):
        native.append(replied, 6, 1, 0, id_, 0, 1, bytes(20))
        native.append(asked, 5, 1, 0, id_, 0, 1, bytes(20))
    replies, requests = bytearray(b"".join(replied)), bytearray(b"".join(asked))

    def reply() -> Work:
        by_id: dict[int, Any] = {}
        for id_ in range(1000, 1005):
            call = by_id[id_] = Request(1.0)
            call.count = 1
        return lambda: native.replies(replies, 0, len(replies), by_id, [])

    yield reply
    yield lambda: lambda: native.requests(requests, 0, len(requests), {0: fail}, set(), 100, [])
    yield lambda: lambda: native.append([], 6, 1, 0, 1 << 31, 0, 1, bytes(100))
    yield lambda: lambda: native.outcomes(Outcome, SLOTS, [object(), 1.5, "x", []] * 4)
    yield lambda: lambda: native.memory(100_000)
    yield lambda: lambda: native.memory(3 << 20)
    yield lambda: served(lambda x: x, lambda _: bytes(20))
    yield lambda: served(fail, lambda _: bytes(20))
    yield lambda: served(lambda x: x, lambda _: bytes(fail(0)))
    yield from awaited()


def main() -> None:
    api: Any = import_module("_testcapi")
    for make in works():
        failures = 0
        for at in range(ALLOCATIONS):
            work = make()
            api.set_nomemory(at, at + 1)
            try:
                work()
            except (MemoryError, SystemError):  # the latter where Python itself forgets its exception
                failures += 1
            finally:
                api.remove_mem_hooks()
        make()()
        assert 0 < failures < ALLOCATIONS, failures


if __name__ == "__main__":
    main()
