"""A peer: the same works over grpcio: a server with a pool of threads, a client that blocks, and futures for
many calls at once."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Semaphore
from typing import Any

from pyrpc.commands import serve_until_stdin_ends
from pyrpc.peers.works import AHEAD, check, main, obey, works

grpc: Any = importlib.import_module("grpc")
pb: Any = importlib.import_module("bench_pb2")  # generated when the bench runs
stubs: Any = importlib.import_module("bench_pb2_grpc")
_OPTIONS = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


class _Servant(stubs.BenchServicer):  # type: ignore[misc]
    def Next(self, request: Any, _: Any) -> Any:  # noqa: N802 - the names are those of the schema
        return pb.Number(x=request.x + 1)

    def LookUp(self, request: Any, _: Any) -> Any:  # noqa: N802
        return pb.Number(x=request.id + len(request.name))

    def LookUpAll(self, request: Any, _: Any) -> Any:  # noqa: N802
        return pb.Numbers(x=[item.id + len(item.name) for item in request.items])

    def Echo(self, request: Any, _: Any) -> Any:  # noqa: N802
        return pb.Blob(data=request.data)


def _serve() -> None:
    server = grpc.server(ThreadPoolExecutor(4), options=_OPTIONS)
    stubs.add_BenchServicer_to_server(_Servant(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    serve_until_stdin_ends(port)
    server.stop(None)


def _call(port: str) -> None:
    stub = stubs.BenchStub(grpc.insecure_channel(f"127.0.0.1:{port}", options=_OPTIONS))

    def many(names: Sequence[str]) -> None:
        free = Semaphore(AHEAD)
        calls = []
        for i, name in enumerate(names):
            free.acquire()
            future = stub.LookUp.future(pb.Item(id=i, name=name), timeout=30)
            future.add_done_callback(lambda _: free.release())
            calls.append(future)
        for i, future in enumerate(calls):
            check(future.result().x == i + 16)

    def look_up_all(names: Sequence[str]) -> Sequence[int]:
        items = [pb.Item(id=i, name=name) for i, name in enumerate(names)]
        found: Sequence[int] = stub.LookUpAll(pb.Items(items=items), timeout=30).x
        return found

    obey(
        works(
            lambda x: int(stub.Next(pb.Number(x=x), timeout=30).x),
            many,
            look_up_all,
            lambda data: len(stub.Echo(pb.Blob(data=data), timeout=30).data),
        )
    )


if __name__ == "__main__":
    main(_serve, _call)
