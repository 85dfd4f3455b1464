"""R5. Calls over connections: selection of agents, retries, batches, scatter."""

from mf.client.client import Client
from mf.client.method import (
    AsyncTarget,
    BatchCall,
    ErrorCodec,
    Method,
    Scattered,
    ScatterTarget,
    ServiceInfo,
    Target,
)

__all__ = [
    "AsyncTarget",
    "BatchCall",
    "Client",
    "ErrorCodec",
    "Method",
    "ScatterTarget",
    "Scattered",
    "ServiceInfo",
    "Target",
]
