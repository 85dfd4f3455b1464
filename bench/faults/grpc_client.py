"""`grpc_client.py ADDRESS`: the load of load.py over grpcio. Several addresses, separated by commas, are
those of equivalent servers, which take turns."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from faults.load import Step, obey

grpc: Any = importlib.import_module("grpc")
pb: Any = importlib.import_module("bench_pb2")  # generated when the bench runs
rpcs: Any = importlib.import_module("bench_pb2_grpc")
_OPTIONS = [("grpc.lb_policy_name", "round_robin"), ("grpc.use_local_subchannel_pool", 1)]


def new_client() -> Step:
    places = ",".join(address.removeprefix("tcp://") for address in sys.argv[1].split(","))
    stub = rpcs.BenchStub(grpc.insecure_channel(f"ipv4:{places}", options=_OPTIONS))

    def step(deadline: float) -> str:
        try:
            answer = stub.Next(pb.Number(x=1), timeout=deadline)
        except grpc.RpcError as error:
            return f"{error.code().name}: {error.details()}"
        return "" if answer.x == 2 else "a wrong answer"

    return step


obey(new_client)
