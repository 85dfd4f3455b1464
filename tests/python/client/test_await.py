"""Calls from asyncio: no thread of ours, cancellation, deadlines, and blocking callers beside."""

import asyncio
import threading

import pytest

import mf
from mf.core.error import Code
from tests.python.conftest import Served, eventually
from tests.python.echo import Negative


def test_calls_are_awaited(served: Served) -> None:
    async def main() -> list[int]:
        echo = served.echo.at("b")
        return [await echo.twice_async(1), *await asyncio.gather(*(echo.twice_async(x) for x in range(500)))]

    assert asyncio.run(main()) == [2, *(2 * x for x in range(500))]


def test_failures_are_raised_where_they_are_awaited(served: Served) -> None:
    async def main() -> None:
        with pytest.raises(Negative):
            await served.echo.at("b").twice_async(-1)
        with pytest.raises(mf.Error, match="UNKNOWN_AGENT"):
            await served.echo.at("y").twice_async(1)

    asyncio.run(main())


def test_a_deadline_holds_while_the_loop_does_other_things(served: Served) -> None:
    async def main() -> Code:
        with pytest.raises(mf.Error) as raised:
            await served.echo.at("b").sleep_async(0.5, options=mf.CallOptions(deadline=0.05))
        return raised.value.code

    assert asyncio.run(main()) == Code.DEADLINE_EXCEEDED


def test_a_cancelled_task_cancels_its_call_and_the_next_works(served: Served) -> None:
    async def main() -> int:
        echo = served.echo.at("b")
        await echo.twice_async(0)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(echo.sleep_async(0.3), 0.02)
        return await echo.twice_async(4)

    assert asyncio.run(main()) == 8


def test_scatter_is_awaited(served: Served) -> None:
    async def main() -> mf.Scattered[str, int]:
        return await served.echo.on(["a", "y", "b"]).twice_async(3)

    scattered = asyncio.run(main())

    assert scattered.ok == {"a": 6, "b": 6}
    assert list(scattered.failed) == ["y"]


def test_several_loops_one_after_the_other(served: Served) -> None:
    async def main() -> int:
        return await served.echo.at("b").twice_async(4)

    assert [asyncio.run(main()) for _ in range(3)] == [8, 8, 8]


def test_blocking_callers_and_a_loop_share_a_connection(served: Served) -> None:
    wrong: list[int] = []

    def block() -> None:
        echo = served.echo.at("b")
        wrong.extend(x for x in range(300) if echo.twice(x) != 2 * x)

    async def main() -> list[int]:
        echo = served.echo.at("b")
        out = []
        for x in range(300):
            out.append(await echo.twice_async(x))
        return out

    threads = [threading.Thread(target=block) for _ in range(2)]
    for thread in threads:
        thread.start()
    awaited = asyncio.run(main())
    for thread in threads:
        thread.join()

    assert wrong == []
    assert awaited == [2 * x for x in range(300)]


def test_two_loops_on_two_threads_share_a_connection(served: Served) -> None:
    results: list[list[int]] = []

    async def main() -> list[int]:
        echo = served.echo.at("b")
        return [await echo.twice_async(x) for x in range(200)]

    threads = [threading.Thread(target=lambda: results.append(asyncio.run(main()))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)

    assert results == [[2 * x for x in range(200)]] * 2


def test_a_closed_client_ends_what_is_awaited(served: Served) -> None:
    async def main() -> Code:
        task = asyncio.ensure_future(served.echo.at("b").sleep_async(0.4))
        await asyncio.sleep(0.05)
        await asyncio.get_running_loop().run_in_executor(None, served.client.close)
        with pytest.raises(mf.Error) as raised:
            await asyncio.wait_for(task, 0.2)
        return raised.value.code

    assert asyncio.run(main()) == Code.CANCELLED


def test_one_way_calls_are_awaited_until_sent(served: Served) -> None:
    async def main() -> None:
        from tests.python.echo import NOTE

        for x in range(100):
            await served.echo.at("b")._target.call_async(NOTE, None, x)

    asyncio.run(main())

    assert eventually(lambda: served.servant.notes == list(range(100)))
