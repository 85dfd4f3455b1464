"""R5. The names that generated code imports to describe and call methods."""

from mf.core.service import ErrorCodec, Method, ServiceInfo
from mf.core.target import BatchCall, Scattered, ScatterTarget, Target

__all__ = ["BatchCall", "ErrorCodec", "Method", "ScatterTarget", "Scattered", "ServiceInfo", "Target"]
