"""Looking up hosts' names for asyncio: what goes wrong is an OSError at once, and leaves nothing behind."""

import asyncio
from threading import Thread
from typing import NoReturn

import pytest

from mf.transport.async_names import Found, addresses


def look_up(host: str) -> Found:
    async def run() -> Found:
        return await asyncio.wait_for(addresses(host, 80), 20)

    return asyncio.run(run())


def test_a_name_that_none_can_be_is_refused_in_words() -> None:
    with pytest.raises(OSError, match="no host can have this name"):
        look_up("a" * 64 + ".test")


def test_a_thread_that_cannot_be_started_fails_one_look_up_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_: Thread) -> NoReturn:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(Thread, "start", refuse)
        with pytest.raises(OSError, match="no thread for the look-up"):
            look_up("localhost")
    assert look_up("localhost")
