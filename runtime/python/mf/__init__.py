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

from mf.core.current import CurrentCall as CurrentCall
from mf.core.current import current_call as current_call
from mf.core.error import Cancelled as Cancelled
from mf.core.error import Code as Code
from mf.core.error import ConnectionLost as ConnectionLost
from mf.core.error import DeadlineExceeded as DeadlineExceeded
from mf.core.error import DeclaredError as DeclaredError
from mf.core.error import Error as Error
from mf.core.error import Execution as Execution
from mf.core.error import HandlerFailed as HandlerFailed
from mf.core.error import Internal as Internal
from mf.core.error import InvalidArgument as InvalidArgument
from mf.core.error import MessageTooLarge as MessageTooLarge
from mf.core.error import MfError as MfError
from mf.core.error import Overloaded as Overloaded
from mf.core.error import PermissionDenied as PermissionDenied
from mf.core.error import ProtocolError as ProtocolError
from mf.core.error import SchemaMismatch as SchemaMismatch
from mf.core.error import ShuttingDown as ShuttingDown
from mf.core.error import Unauthenticated as Unauthenticated
from mf.core.error import Unavailable as Unavailable
from mf.core.error import UnknownAgent as UnknownAgent
from mf.core.error import UnknownMethod as UnknownMethod
from mf.core.error import UnknownService as UnknownService
from mf.core.options import INFINITE as INFINITE
from mf.core.options import BatchOptions as BatchOptions
from mf.core.options import CallOptions as CallOptions
from mf.core.outcome import Outcome as Outcome
from mf.core.outcome import each as each
from mf.core.outcome import each_async as each_async
from mf.core.outcome import each_in_order as each_in_order
from mf.core.replicated import Replicated as Replicated
from mf.core.replicated import ReplicatedOptions as ReplicatedOptions
from mf.core.replicated import Require as Require
from mf.core.replicated import Version as Version
from mf.core.service import AsyncServant as AsyncServant
from mf.core.service import ErrorCodec as ErrorCodec
from mf.core.service import Method as Method
from mf.core.service import Servant as Servant
from mf.core.service import ServiceInfo as ServiceInfo
from mf.core.stream import AsyncDuplexStream as AsyncDuplexStream
from mf.core.stream import AsyncStreamReader as AsyncStreamReader
from mf.core.stream import DuplexStream as DuplexStream
from mf.core.stream import StreamReader as StreamReader
from mf.core.target import BatchCall as BatchCall
from mf.core.target import Scattered as Scattered

if TYPE_CHECKING:
    from mf import admin as admin
    from mf import client as client
    from mf import config as config
    from mf import controller as controller
    from mf import described as described
    from mf import flex as flex
    from mf import health as health
    from mf import interceptors as interceptors
    from mf import native as native
    from mf import testing as testing
    from mf.client.async_client import AsyncClient as AsyncClient
    from mf.client.client import Client as Client
    from mf.codec import shape as shape
    from mf.codec.decode_error import DecodeError as DecodeError
    from mf.codec.enums import OpenEnum as OpenEnum
    from mf.codec.fault import Fault as Fault
    from mf.codec.flags import Flags as Flags
    from mf.codec.json import from_json as from_json
    from mf.codec.json import to_json as to_json
    from mf.codec.lookup import codec_of as codec_of
    from mf.codec.times import Duration as Duration
    from mf.codec.times import Timestamp as Timestamp
    from mf.codec.value import from_bytes as from_bytes
    from mf.codec.value import hash37 as hash37
    from mf.codec.value import hash64 as hash64
    from mf.codec.value import to_bytes as to_bytes
    from mf.codec.view import View as View
    from mf.codec.view import as_numpy as as_numpy
    from mf.codec.view import numpy_dtype as numpy_dtype
    from mf.codec.view import view as view
    from mf.core.cache import CacheStats as CacheStats
    from mf.core.cached import CallCache as CallCache
    from mf.core.client_options import ClientOptions as ClientOptions
    from mf.core.identity import Identity as Identity
    from mf.core.identity import IdentityKind as IdentityKind
    from mf.core.interceptor import CallEnd as CallEnd
    from mf.core.interceptor import CallKind as CallKind
    from mf.core.interceptor import InterceptedCall as InterceptedCall
    from mf.core.interceptor import Interceptor as Interceptor
    from mf.core.secret import Secret as Secret
    from mf.core.server_options import Limit as Limit
    from mf.core.server_options import PeerHello as PeerHello
    from mf.core.server_options import ServerOptions as ServerOptions
    from mf.core.tls import Tls as Tls
    from mf.light import Light as Light
    from mf.replicated.async_replica import AsyncReplica as AsyncReplica
    from mf.replicated.blocking_replica import Replica as Replica
    from mf.replicated.settings import ReplicaSettings as ReplicaSettings
    from mf.server.async_lead import AsyncLead as AsyncLead
    from mf.server.async_server import AsyncServer as AsyncServer
    from mf.server.base import CALLS_CUT as CALLS_CUT
    from mf.server.counters import MethodStats as MethodStats
    from mf.server.counters import ServerStats as ServerStats
    from mf.server.lead import Lead as Lead
    from mf.server.load import ConnectionStats as ConnectionStats
    from mf.server.server import Server as Server
    from mf.tokens.claims import TokenClaims as TokenClaims
    from mf.tokens.claims import TokenError as TokenError
    from mf.tokens.claims import TokenFault as TokenFault
    from mf.tokens.files import read_token as read_token
    from mf.tokens.keys import TokenKeys as TokenKeys
    from mf.tokens.keys import TokenSigner as TokenSigner
    from mf.topics._generated.mf.topics._types import Overflow as Overflow
    from mf.topics._generated.mf.topics._types import Why as Why
    from mf.topics.hub import Topics as Topics
    from mf.topics.info import TopicInfo as TopicInfo
    from mf.topics.message import TopicMessage as TopicMessage
    from mf.topics.options import (
        AgentStats as AgentStats,
    )
    from mf.topics.options import (
        Gap as Gap,
    )
    from mf.topics.options import (
        PublisherStats as PublisherStats,
    )
    from mf.topics.options import (
        PublishOptions as PublishOptions,
    )
    from mf.topics.options import (
        SubscribeOptions as SubscribeOptions,
    )
    from mf.topics.options import (
        SubscriberStats as SubscriberStats,
    )
    from mf.topics.options import (
        SubscriptionStats as SubscriptionStats,
    )
    from mf.topics.options import (
        TopicAccess as TopicAccess,
    )
    from mf.topics.options import (
        TopicAction as TopicAction,
    )
    from mf.topics.options import (
        TopicsOptions as TopicsOptions,
    )
    from mf.values.reader import ValueReader as ValueReader
    from mf.values.writer import ValueWriter as ValueWriter

__all__: list[str]

if not TYPE_CHECKING:
    # Programs are clients, or servers, or keep values and use no network: none should wait for the import of
    # what it does not use, and codecs alone bring neither sockets nor threads. A test compares these with the
    # imports above.
    _HOMES = {
        "mf.client.async_client": ("AsyncClient",),
        "mf.replicated.async_replica": ("AsyncReplica",),
        "mf.server.async_server": ("AsyncServer",),
        "mf.client.client": ("Client",),
        "mf.replicated.blocking_replica": ("Replica",),
        "mf.server.server": ("Server",),
        "mf.codec.decode_error": ("DecodeError",),
        "mf.codec.enums": ("OpenEnum",),
        "mf.codec.fault": ("Fault",),
        "mf.codec.flags": ("Flags",),
        "mf.codec.json": ("from_json", "to_json"),
        "mf.codec.lookup": ("codec_of",),
        "mf.codec.times": ("Duration", "Timestamp"),
        "mf.codec.value": ("from_bytes", "hash37", "hash64", "to_bytes"),
        "mf.codec.view": ("View", "as_numpy", "numpy_dtype", "view"),
        "mf.core.cache": ("CacheStats",),
        "mf.core.cached": ("CallCache",),
        "mf.core.client_options": ("ClientOptions",),
        "mf.core.identity": ("Identity", "IdentityKind"),
        "mf.core.interceptor": ("CallEnd", "CallKind", "InterceptedCall", "Interceptor"),
        "mf.light": ("Light",),
        "mf.replicated.settings": ("ReplicaSettings",),
        "mf.core.secret": ("Secret",),
        "mf.core.server_options": ("Limit", "PeerHello", "ServerOptions"),
        "mf.server.async_lead": ("AsyncLead",),
        "mf.server.base": ("CALLS_CUT",),
        "mf.server.counters": ("MethodStats", "ServerStats"),
        "mf.server.lead": ("Lead",),
        "mf.server.load": ("ConnectionStats",),
        "mf.tokens.claims": ("TokenClaims", "TokenError", "TokenFault"),
        "mf.tokens.files": ("read_token",),
        "mf.tokens.keys": ("TokenKeys", "TokenSigner"),
        "mf.topics._generated.mf.topics._types": ("Overflow", "Why"),
        "mf.topics.hub": ("Topics",),
        "mf.topics.info": ("TopicInfo",),
        "mf.topics.message": ("TopicMessage",),
        "mf.topics.options": (
            "AgentStats",
            "Gap",
            "PublishOptions",
            "PublisherStats",
            "SubscribeOptions",
            "SubscriberStats",
            "SubscriptionStats",
            "TopicAccess",
            "TopicAction",
            "TopicsOptions",
        ),
        "mf.core.tls": ("Tls",),
        "mf.values.reader": ("ValueReader",),
        "mf.values.writer": ("ValueWriter",),
    }
    _HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
    _AT_ONCE = [
        name for name, value in globals().items() if getattr(value, "__module__", "").startswith("mf.")
    ]
    _PACKAGES = (
        *("admin", "client", "config", "controller", "described"),
        *("flex", "health", "interceptors", "native", "testing"),
    )
    _MODULES = {"shape": "mf.codec.shape"} | {name: f"mf.{name}" for name in _PACKAGES}
    __all__ = sorted(["INFINITE", *_MODULES, *_AT_ONCE, *_HOME_OF])

    def __dir__():
        return [*__all__, *(name for name in globals() if name.startswith("__"))]

    def __getattr__(name):
        from importlib import import_module

        if name in _MODULES:
            return import_module(_MODULES[name])
        home = _HOME_OF.get(name)
        if home is None:
            text = f"module 'mf' has no attribute {name!r}"
            raise AttributeError(text, name=name, obj=import_module(__name__))  # so that Python suggests one
        value = globals()[name] = getattr(import_module(home), name)
        return value
