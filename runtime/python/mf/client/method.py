"""R5. The names that generated code imports to describe and call methods."""

from mf.core.service import ErrorCodec, Method, ServiceInfo
from mf.core.target import AsyncTarget, BatchCall, Scattered, ScatterTarget, Target

__all__ = [
    "AsyncTarget",
    "BatchCall",
    "ErrorCodec",
    "Method",
    "ScatterTarget",
    "Scattered",
    "ServiceInfo",
    "Target",
]
