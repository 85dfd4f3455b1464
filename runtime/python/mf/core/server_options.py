"""R0. The options of `Server` and `AsyncServer`: stated here alone, and handed on as they are."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypedDict, Unpack

from mf.core.client_options import DEFAULT_MAX_PAYLOAD, RELOAD_INTERVAL, check_interval
from mf.core.identity import Identity
from mf.core.options import check_all_numbers, check_is, check_numbers
from mf.core.service import is_async
from mf.core.tls import Tls

if TYPE_CHECKING:  # servers without a monitor do not load it
    from mf.core.exposition import Exposition
    from mf.core.interceptor import Interceptor

DEFAULT_MAX_BINDINGS = 4_096
DEFAULT_MAX_STREAMS = 256
DEFAULT_STREAM_WINDOW = 16_384
SMALLEST_WINDOW = 1024
MAX_WINDOWS = 8 << 20
"""Bytes of all windows of a connection together."""


@dataclass(frozen=True, slots=True)
class Limit:
    """How many calls run at once, and how many wait. Others are refused at once as OVERLOADED, not executed.
    A message of a batch counts as one call, and a call with a stream counts while its handler runs
    (docs/servers.md).

    Args:
        concurrent: Calls that run at once, 1 or more.
        queued: Calls that may wait besides. Defaults to None: as many as may run.

    Raises:
        ValueError: `concurrent` is less than 1, or `queued` is negative.
    """

    concurrent: int
    queued: int | None = None

    def __post_init__(self) -> None:
        check_numbers(concurrent=self.concurrent, queued=self.queued)
        if self.concurrent < 1:
            raise ValueError(f"concurrent is {self.concurrent}: at least one call must be able to run")
        if self.queued is not None and self.queued < 0:
            raise ValueError(f"queued is {self.queued}: it cannot be negative")

    @property
    def room(self) -> int:
        """Calls that may wait."""
        return self.concurrent if self.queued is None else self.queued


class PeerHello(NamedTuple):
    """What a client says of itself when it connects, proved by nothing. `authentication`: the bytes of its
    option of this name. `name`: that of its process, if it has one. `peer`: its address."""

    authentication: bytes
    name: str
    peer: str

    def __repr__(self) -> str:
        return f"mf.PeerHello(authentication=…, name={self.name!r}, peer={self.peer!r})"


Authenticate = Callable[[PeerHello, Identity], bool]
Authorize = Callable[[Identity, str, str, str], bool]
Expose = Callable[["Exposition"], None]
NotReady = Callable[[], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """Options of a server.

    Args:
        advertise: The address under which clients of other hosts reach this server, if it is not the one at
            which it listens. Defaults to None.
        tls: For tls:// among the addresses where it listens. Defaults to None.
        open: An address beyond this host is refused unless the server learns which peers it has: by tls://
            with `tls.ca` or `token_keys`, by `authenticate` or by `authorize`. With `open` it is not, and
            every program that reaches the address may use the server. Defaults to False.
        controller_tls: How controllers at mf+tls:// are verified, and what is shown to them. Defaults to
            None.
        workers: Threads for handlers that are not inline; an AsyncServer has none. Defaults to 4.
        limit: How many calls of all clients run at once, and wait. Defaults to None: there is no limit.
        drain_timeout: Seconds that running calls have when the server stops, and on a connection that is not
            allowed any more. Defaults to 5.0.
        reload_interval: Seconds between two looks at the files of `tls` and `access`; those that were
            replaced are read again. Defaults to 30.0.
        max_payload: Bytes of the largest accepted request. Defaults to 16,777,216.
        max_in_flight: Unanswered requests of one connection. Defaults to 8,192.
        max_bindings: Services, by agent, that one connection has bound; more are refused with OVERLOADED.
            Defaults to 4,096.
        max_streams: Calls with streams that one connection has open; more are refused with OVERLOADED.
            Defaults to 256.
        stream_window: Bytes that a client may send on a stream before its handler has taken any; together the
            windows of a connection are at most 8 MiB. Defaults to 16,384.
        max_connections: Connections that are open at once; more are refused. Defaults to 16,384.
        max_connections_per_host: Those of one host; 0: no limit of its own. Defaults to 0.
        max_handshakes: Connections without a HELLO; one more ends the oldest of them. Defaults to 1,024.
        max_held_bytes: Bytes that all connections hold together, above which the one that holds the most is
            ended (docs/limits.md). Defaults to 536,870,912.
        access: The path of an access file, which says what each identity may call and subscribe to; what it
            does not allow is denied. Defaults to "": there is none.
        token_keys: The path of a file with the public keys of tokens. A client that shows one that is valid
            for `token_audience` has the identity "token:" and its subject, and one that shows another is
            refused. Defaults to "": tokens are not read.
        token_audience: What tokens must be for, as a service. Defaults to "".
        authenticate: Called as `authenticate(hello, identity)` once for each connection, before the server
            answers; False refuses the connection with UNAUTHENTICATED. It and `authorize` are called on the
            thread that does the IO, or on the loop, which they must not block. One that raises, or returns
            no bool, denies. Defaults to None: every peer is let in.
        authorize: Called as `authorize(identity, service, agent, method)` when a client binds a service, once
            for each method and agent on a connection, and once for each subscription to a topic, with the
            pattern of its agents and the method "subscribe"; False denies with PERMISSION_DENIED. With an
            access file both must allow. Defaults to None.
        monitor: HOST:PORT where GET /metrics, /livez and /readyz are answered over HTTP, to read alone; port
            0: the system chooses. Calls are measured only with it. Defaults to "": nowhere.
        monitor_open: Whether the monitor may listen beyond this host, where every program that reaches it may
            read it. Defaults to False.
        expose: Called as `expose(out)` on threads of the monitor, to add metrics to those of the server.
            Defaults to None.
        not_ready: Called on threads of the monitor; returns why this process should get no work, in one line,
            or "" (docs/observability.md). Defaults to None.
        error_texts: A handler that raises what is neither a declared error nor an mf.Error for its caller has
            failed: the log has the text (`handler_failed`), and the caller gets the reference of that line.
            With `error_texts` the caller gets the text, too, which may name files, hosts and values of this
            process. Defaults to False.
        interceptors: What is around all handlers, the outermost first (docs/interceptors.md). Defaults to
            none.

    Raises:
        ValueError: an option does not fit.
        TypeError: a function is `async def`, or an option that is a number is given as something else.
    """

    advertise: str | None = None
    tls: Tls | None = None
    open: bool = False
    controller_tls: Tls | None = None
    workers: int = 4
    limit: Limit | None = None
    drain_timeout: float = 5.0
    reload_interval: float = RELOAD_INTERVAL
    max_payload: int = DEFAULT_MAX_PAYLOAD
    max_in_flight: int = 8192
    max_bindings: int = DEFAULT_MAX_BINDINGS
    max_streams: int = DEFAULT_MAX_STREAMS
    stream_window: int = DEFAULT_STREAM_WINDOW
    max_connections: int = 16_384
    max_connections_per_host: int = 0
    max_handshakes: int = 1024
    max_held_bytes: int = 512 << 20
    access: str = ""
    token_keys: str = ""
    token_audience: str = ""
    authenticate: Authenticate | None = None
    authorize: Authorize | None = None
    monitor: str = ""
    monitor_open: bool = False
    expose: Expose | None = None
    not_ready: NotReady | None = None
    error_texts: bool = False
    interceptors: Iterable["Interceptor"] = ()

    def __post_init__(self) -> None:
        check_all_numbers(self)
        check_interval(self.reload_interval)
        object.__setattr__(self, "interceptors", tuple(self.interceptors))
        if self.workers < 1:
            raise ValueError(f"workers is {self.workers}: at least one thread is needed")
        if self.max_streams * self.stream_window > MAX_WINDOWS:
            text = f"max_streams {self.max_streams} of stream_window {self.stream_window} bytes each"
            raise ValueError(f"{text}: together they may take {MAX_WINDOWS:,} bytes")
        if self.stream_window < SMALLEST_WINDOW:
            text = f"stream_window is {self.stream_window}"
            raise ValueError(f"{text}: less than {SMALLEST_WINDOW} carry no value")
        if bool(self.token_keys) != bool(self.token_audience):
            text = "belong together: the keys, and what tokens must be for, as a service"
            raise ValueError(f"token_keys and token_audience {text}")
        for name in ("authenticate", "authorize", "expose", "not_ready"):
            if is_async(getattr(self, name)):
                raise TypeError(f"{name} is `async def`: give a function that returns its answer at once")


class ServerFields(TypedDict, total=False):
    """The fields of ServerOptions, as keyword arguments of servers. A test compares both lists."""

    advertise: str | None
    tls: Tls | None
    open: bool
    controller_tls: Tls | None
    workers: int
    limit: Limit | None
    drain_timeout: float
    reload_interval: float
    max_payload: int
    max_in_flight: int
    max_bindings: int
    max_streams: int
    stream_window: int
    max_connections: int
    max_connections_per_host: int
    max_handshakes: int
    max_held_bytes: int
    access: str
    token_keys: str
    token_audience: str
    authenticate: Authenticate | None
    authorize: Authorize | None
    monitor: str
    monitor_open: bool
    expose: Expose | None
    not_ready: NotReady | None
    error_texts: bool
    interceptors: Iterable["Interceptor"]


class OfferFields(TypedDict, total=False):
    """The keyword arguments of `offer`.

    `limits`: those of methods, by their names in the schema: {"look_up": mf.Limit(8)}. A controller passes to
    clients the relative capacity of the server (`weight`), shows `labels` to tools, and warns if another
    server offers the same although this one wants to be `alone`.
    """

    limits: Mapping[str, Limit] | None
    weight: int
    labels: Mapping[str, str] | None
    alone: bool


DEFAULTS = ServerOptions()


def checked(options: ServerOptions, **changes: Unpack[ServerFields]) -> ServerOptions:
    """The options with these fields changed. Raises TypeError for what is no options of a server, such as a
    dict, and for a name that is none of its fields."""
    check_is(options, ServerOptions, "options", "drain_timeout=2.5")
    return replace(options, **changes) if changes else options
