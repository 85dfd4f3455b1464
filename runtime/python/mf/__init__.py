"""The MF/IDL runtime for Python: clients, servers and light calls for the code that `mfidlc` generates.

    client = mf.Client("mf://localhost:7400")    # a controller; or "tcp://…" of one server; or a Light
    hits = IndexClient(client).at("books").query(["the"])

    async with mf.AsyncClient("mf://localhost:7400") as client:    # the same for asyncio
        hits = await IndexAsyncClient(client).at("books").query(["the"])

    server = mf.Server(listen="tcp://127.0.0.1:0", controller="mf://localhost:7400")
    server.offer(MyIndex(), agent="books")
    server.run()

What is named here is public; the rest of the package is not. Failures are `mf.Error` with `code`,
`execution` and a message; errors that a schema declares are raised as their own types. All times are
seconds.
"""

from typing import TYPE_CHECKING

from mf.core.current import CurrentCall, current_call
from mf.core.error import Code, DeclaredError, Error, Execution, MfError
from mf.core.options import INFINITE, BatchOptions, CallOptions
from mf.core.outcome import Outcome, each, each_async, each_in_order
from mf.core.replicated import Replicated, ReplicatedOptions, Require, Version
from mf.core.service import AsyncServant, ErrorCodec, Method, Servant, ServiceInfo
from mf.core.stream import AsyncDuplexStream, AsyncStreamReader, DuplexStream, StreamReader
from mf.core.target import BatchCall, Scattered

if TYPE_CHECKING:
    from mf import client
    from mf.app.async_client import AsyncClient
    from mf.app.async_replica import AsyncReplica
    from mf.app.async_server import AsyncServer
    from mf.app.client import Client
    from mf.app.replica import Replica
    from mf.app.server import Server
    from mf.codec.decode_error import DecodeError
    from mf.codec.enums import OpenEnum
    from mf.codec.fault import Fault
    from mf.codec.flags import Flags
    from mf.codec.json import from_json, to_json
    from mf.codec.times import Duration, Timestamp
    from mf.codec.value import from_bytes, hash37, hash64, to_bytes
    from mf.codec.view import View, as_numpy, numpy_dtype, view
    from mf.core.cache import CacheStats
    from mf.core.cached import CallCache
    from mf.light import Light
    from mf.replicated.settings import ReplicaSettings
    from mf.server.admission import Limit
    from mf.server.async_lead import AsyncLead
    from mf.server.counters import MethodStats, ServerStats
    from mf.server.lead import Lead
    from mf.server.load import ConnectionStats
    from mf.topics._generated.mf.topics._types import Overflow, Why
    from mf.topics.hub import Topics
    from mf.topics.info import TopicInfo
    from mf.topics.message import TopicMessage
    from mf.topics.options import (
        AgentStats,
        Gap,
        PublisherStats,
        PublishOptions,
        SubscribeOptions,
        SubscriberStats,
        SubscriptionStats,
        TopicAccess,
        TopicAction,
        TopicsOptions,
    )
    from mf.transport.tls import Tls
    from mf.values.reader import ValueReader
    from mf.values.writer import ValueWriter

__all__ = [
    "INFINITE",
    "AgentStats",
    "AsyncClient",
    "AsyncDuplexStream",
    "AsyncLead",
    "AsyncReplica",
    "AsyncServant",
    "AsyncServer",
    "AsyncStreamReader",
    "BatchCall",
    "BatchOptions",
    "CacheStats",
    "CallCache",
    "CallOptions",
    "Client",
    "Code",
    "ConnectionStats",
    "CurrentCall",
    "DeclaredError",
    "DecodeError",
    "DuplexStream",
    "Duration",
    "Error",
    "ErrorCodec",
    "Execution",
    "Fault",
    "Flags",
    "Gap",
    "Lead",
    "Light",
    "Limit",
    "Method",
    "MethodStats",
    "MfError",
    "OpenEnum",
    "Outcome",
    "Overflow",
    "PublishOptions",
    "PublisherStats",
    "Replica",
    "ReplicaSettings",
    "Replicated",
    "ReplicatedOptions",
    "Require",
    "Scattered",
    "Servant",
    "Server",
    "ServerStats",
    "ServiceInfo",
    "StreamReader",
    "SubscribeOptions",
    "SubscriberStats",
    "SubscriptionStats",
    "Timestamp",
    "Tls",
    "TopicAccess",
    "TopicAction",
    "TopicInfo",
    "TopicMessage",
    "Topics",
    "TopicsOptions",
    "ValueReader",
    "ValueWriter",
    "Version",
    "View",
    "Why",
    "as_numpy",
    "client",
    "current_call",
    "each",
    "each_async",
    "each_in_order",
    "from_bytes",
    "from_json",
    "hash37",
    "hash64",
    "numpy_dtype",
    "to_bytes",
    "to_json",
    "view",
]


if not TYPE_CHECKING:
    # Programs are clients, or servers, or keep values and use no network: none should wait for the import of
    # what it does not use, and codecs alone bring neither sockets nor threads.
    _HOMES = {
        "AsyncClient": "mf.app.async_client",
        "AsyncLead": "mf.server.async_lead",
        "AsyncReplica": "mf.app.async_replica",
        "CacheStats": "mf.core.cache",
        "CallCache": "mf.core.cached",
        "Client": "mf.app.client",
        "DecodeError": "mf.codec.decode_error",
        "Duration": "mf.codec.times",
        "Fault": "mf.codec.fault",
        "Flags": "mf.codec.flags",
        "Lead": "mf.server.lead",
        "Light": "mf.light",
        "Limit": "mf.server.admission",
        "ConnectionStats": "mf.server.load",
        "MethodStats": "mf.server.counters",
        "OpenEnum": "mf.codec.enums",
        "AsyncServer": "mf.app.async_server",
        "Replica": "mf.app.replica",
        "ReplicaSettings": "mf.replicated.settings",
        "Server": "mf.app.server",
        "ServerStats": "mf.server.counters",
        "Timestamp": "mf.codec.times",
        "AgentStats": "mf.topics.options",
        "Gap": "mf.topics.options",
        "PublishOptions": "mf.topics.options",
        "PublisherStats": "mf.topics.options",
        "SubscribeOptions": "mf.topics.options",
        "SubscriberStats": "mf.topics.options",
        "SubscriptionStats": "mf.topics.options",
        "TopicAccess": "mf.topics.options",
        "TopicAction": "mf.topics.options",
        "TopicInfo": "mf.topics.info",
        "TopicMessage": "mf.topics.message",
        "Topics": "mf.topics.hub",
        "TopicsOptions": "mf.topics.options",
        "Overflow": "mf.topics._generated.mf.topics._types",
        "Why": "mf.topics._generated.mf.topics._types",
        "Tls": "mf.transport.tls",
        "ValueReader": "mf.values.reader",
        "ValueWriter": "mf.values.writer",
        "View": "mf.codec.view",
        "as_numpy": "mf.codec.view",
        "from_bytes": "mf.codec.value",
        "from_json": "mf.codec.json",
        "hash37": "mf.codec.value",
        "hash64": "mf.codec.value",
        "numpy_dtype": "mf.codec.view",
        "to_bytes": "mf.codec.value",
        "view": "mf.codec.view",
        "to_json": "mf.codec.json",
    }

    def __getattr__(name):
        from importlib import import_module

        if name == "client":
            return import_module("mf.client")
        home = _HOMES.get(name)
        if home is None:
            raise AttributeError(f"module 'mf' has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(home), name)
        return value
