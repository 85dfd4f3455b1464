"""`mf_server.py`: one servant, run where the request was read, as quick handlers are."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

import mf
from pyrpc.commands import VALUE_SIZE, serve_until_stdin_ends

stubs = importlib.import_module("bench")  # generated when the bench runs
MAX_PAYLOAD = 1 << 25


class Servant(stubs.BenchServant):  # type: ignore[misc, name-defined]
    def next(self, x: int) -> int:
        return x + 1

    def look_up(self, id: int, name: str) -> int:  # noqa: A002 - the schema's name
        return id + len(name)

    def known(self, id: int, name: str) -> int:  # noqa: A002 - the schema's name
        return id + len(name)

    def echo(self, data: bytes) -> bytes:
        return data

    def echo_list(self, values: list[float]) -> list[float]:
        return values

    def echo_view(self, values: list[float]) -> list[float]:
        return values

    def scan(self, count: int) -> Iterator[bytes]:
        value = bytes(VALUE_SIZE)
        for _ in range(count):
            yield value

    def load(self, values: Iterator[bytes]) -> int:
        return sum(len(value) == VALUE_SIZE for value in values)

    def linger(self) -> Iterator[bool]:
        yield True

    def noticed(self) -> int:
        raise mf.Error(mf.Code.UNKNOWN_METHOD, "only the server in C++ measures this")


if __name__ == "__main__":
    server = mf.Server(max_payload=MAX_PAYLOAD, max_in_flight=1 << 17)
    server.offer(Servant(), inline=True)
    server.start()
    serve_until_stdin_ends(int(server.address.rpartition(":")[2]))
    server.stop()
