"""Looking up host names: failures are an OSError at once, and leave nothing behind."""

import asyncio
import socket
from threading import Event, Thread, current_thread
from typing import NoReturn

import pytest

from mf.transport.names import Found, addresses, found_within


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
        with pytest.raises(OSError, match="no thread for it"):
            look_up("localhost")
    assert look_up("localhost")


def test_who_blocks_waits_no_longer_than_he_says_and_all_share_one_look_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    go_on = Event()
    asked: list[str] = []
    ask = socket.getaddrinfo

    def silent(host: str, *arguments: object, **options: object) -> object:
        if host == "silent.test" and current_thread().name == "mf-lookup":
            asked.append(host)
            assert go_on.wait(30)
            host = "127.0.0.1"
        return ask(host, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", silent)
    for _ in range(3):
        with pytest.raises(OSError, match="cannot resolve the name: no answer in time"):
            found_within("silent.test", 80, 0.01)
    go_on.set()
    assert found_within("silent.test", 80, 20)[0][4] == ("127.0.0.1", 80)
    assert asked[0] == "silent.test"
    assert len(asked) <= 2  # the last may have come when the first had ended


def test_a_name_that_nobody_knows_is_refused_in_words_where_a_caller_blocks() -> None:
    with pytest.raises(OSError, match="cannot resolve the name: "):
        found_within("no-such-host.invalid", 80, 20)
