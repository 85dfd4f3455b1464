"""R0. The options of `Client` and `AsyncClient`: stated here alone, and handed on as they are."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from mf.core.clock import Clock
from mf.core.metadata import TOKEN_KEY, check_key
from mf.core.options import check_all_numbers, check_is
from mf.core.secret import Secret
from mf.core.tls import Tls

if TYPE_CHECKING:  # clients without interceptors do not load them
    from mf.core.interceptor import Interceptor

WAIT_FOR_SERVER = 5.0
DEAD_AFTER = 10.0
"""Seconds of silence, during which the server was pinged, that end a connection."""
DEFAULT_MAX_PAYLOAD = 1 << 24
RELOAD_INTERVAL = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientOptions:
    """Options of a client.

    Args:
        wait_for_server: Seconds that a call waits for a server of a service and agent that this client has
            never seen, counted from the controller's first answer. Defaults to 5.0.
        dead_after: Seconds of silence of a server with pending calls, which answers no ping either, after
            which its connection is given up and the calls on it end as UNKNOWN; 0: never. Defaults to 10.0.
        max_payload: Bytes of the largest accepted reply. Defaults to 16,777,216.
        tls: How servers, controllers and relays at TLS are verified, and what is shown to them. A client with
            it, or with a controller at mf+tls://, never uses an address in clear: to pass one together with
            `tls` is a ValueError, and one that a controller names is skipped, and logged once. Defaults to
            None.
        reload_interval: Seconds between two looks at the files of `tls`, while there are connections over
            TLS; those that were replaced are read again. Defaults to 30.0.
        trusted_users: User ids. A server that has registered a path of this host is called over it if its
            user is root, this process's own, or one of these, and no other user can replace the path; a
            client with TLS never does that. Defaults to none.
        authentication: Up to 16 KiB that are shown to each peer when a connection is made; `TopicAccess` and
            `PeerHello` contain them. Defaults to b"".
        credential: A token, as a Secret or as the path of a file that holds it. It is read again for each
            connection, and shown to servers, controllers and relays that were verified: over TLS, or at a
            path of this host that no user may have replaced but root, this process's own, and
            `trusted_users`. As with `tls`, no address in clear is used then. Defaults to None.
        forward_metadata: Keys that a handler's calls through this client forward from the call that is being
            handled, as is done with trace context. Defaults to none.
        clock: Monotonic seconds, by which cached results expire. Defaults to None: the system's.
        connect: What opens a stream to an address within a time, for tests; only blocking clients use it.
            Defaults to None: the system's sockets.
        interceptors: What is around all calls, the outermost first (docs/interceptors.md). Defaults to none.

    Raises:
        ValueError: an option does not fit.
        TypeError: an option that is a number is given as something else, or keys as one text.
    """

    wait_for_server: float = WAIT_FOR_SERVER
    dead_after: float = DEAD_AFTER
    max_payload: int = DEFAULT_MAX_PAYLOAD
    tls: Tls | None = None
    reload_interval: float = RELOAD_INTERVAL
    trusted_users: Iterable[int] = ()
    authentication: bytes = field(default=b"", repr=False)
    credential: Secret | str | None = None
    forward_metadata: Iterable[str] = ()
    clock: Clock | None = None
    connect: Callable[[str, float], Any] | None = None
    interceptors: Iterable["Interceptor"] = ()

    def __post_init__(self) -> None:
        check_all_numbers(self)
        check_interval(self.reload_interval)
        object.__setattr__(self, "interceptors", tuple(self.interceptors))
        object.__setattr__(self, "trusted_users", tuple(self.trusted_users))
        object.__setattr__(self, "forward_metadata", _forwarded(self.forward_metadata))


class ClientFields(TypedDict, total=False):
    """The fields of ClientOptions, as keyword arguments of clients. A test compares both lists."""

    wait_for_server: float
    dead_after: float
    max_payload: int
    tls: Tls | None
    reload_interval: float
    trusted_users: Iterable[int]
    authentication: bytes
    credential: Secret | str | None
    forward_metadata: Iterable[str]
    clock: Clock | None
    connect: Callable[[str, float], Any] | None
    interceptors: Iterable["Interceptor"]


def check_interval(seconds: float) -> None:
    if not seconds > 0:
        raise ValueError(f"reload_interval is {seconds}: give seconds above 0")


def _forwarded(keys: Iterable[str]) -> tuple[str, ...]:
    if isinstance(keys, str):
        raise TypeError(f"forward_metadata is a str: give keys, as in [{keys!r}]")
    forwarded = tuple(keys)
    for key in forwarded:
        check_key(key)
    if TOKEN_KEY in forwarded:
        raise ValueError(f"forward_metadata: {TOKEN_KEY} is a token, which never passes on by itself")
    return forwarded


DEFAULTS = ClientOptions()


def checked(options: ClientOptions, **changes: Unpack[ClientFields]) -> ClientOptions:
    """The options with these fields changed. Raises TypeError for what is no options of a client, such as a
    dict, and for a name that is none of its fields."""
    check_is(options, ClientOptions, "options", "wait_for_server=2.5")
    return replace(options, **changes) if changes else options
