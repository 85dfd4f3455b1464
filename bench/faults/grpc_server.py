"""`grpc_server.py LISTEN`: server.cpp over grpcio; on SIGTERM it finishes the calls that it has begun."""

from __future__ import annotations

import importlib
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

grpc: Any = importlib.import_module("grpc")
pb: Any = importlib.import_module("bench_pb2")  # generated when the bench runs
rpcs: Any = importlib.import_module("bench_pb2_grpc")


class _Work(rpcs.BenchServicer):  # type: ignore[misc]
    def Next(self, request: Any, _: Any) -> Any:  # noqa: N802 - the name is that of the schema
        return pb.Number(x=request.x + 1)


told = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: told.set())
server = grpc.server(ThreadPoolExecutor(4))
rpcs.add_BenchServicer_to_server(_Work(), server)
port = server.add_insecure_port(sys.argv[1].removeprefix("tcp://"))
server.start()
print(f"tcp://127.0.0.1:{port}", flush=True)
told.wait()
server.stop(5).wait()
