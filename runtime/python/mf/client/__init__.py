"""R5. Calls over connections: selection of agents, retries, batches, scatter."""

from mf.client.client import Client
from mf.client.method import BatchCall, ErrorCodec, Method, Scattered, ScatterTarget, ServiceInfo, Target

__all__ = [
    "BatchCall",
    "Client",
    "ErrorCodec",
    "Method",
    "ScatterTarget",
    "Scattered",
    "ServiceInfo",
    "Target",
]
