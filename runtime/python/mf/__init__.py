"""The MF/IDL runtime for Python: clients, servers and light calls for the code that `mfidlc` generates."""

from mf import client
from mf.core.error import Code, DeclaredError, Error, Execution
from mf.core.options import INFINITE, BatchOptions, CallOptions
from mf.core.outcome import Outcome, each
from mf.core.service import ErrorCodec, Method, Servant, ServiceInfo
from mf.core.target import BatchCall, Scattered

__all__ = [
    "INFINITE",
    "BatchCall",
    "BatchOptions",
    "CallOptions",
    "Code",
    "DeclaredError",
    "Error",
    "ErrorCodec",
    "Execution",
    "Method",
    "Outcome",
    "Scattered",
    "Servant",
    "ServiceInfo",
    "client",
    "each",
]
