"""R0. The descriptions of services in generated code: names, numbers, codecs. Client, server and light use
them.

Codecs: `encode_*` return the bytes of sections 4 and 5 of docs/protocol.md; they raise
Error(INVALID_ARGUMENT) for a value that the schema does not allow. `decode_*` take the whole payload (bytes
or bytearray, which they may keep), check that nothing is left over, and raise Error(DECODE_ERROR); their
results never depend on a lazy iterator that can still fail. `decode_results_at(payload, position, count)` is
the exception that MIXED replies need: it decodes `count` results from there on, and returns them and the
position after the last; more may follow.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from mf.core.error import DeclaredError
from mf.core.record import Record

Encoded = bytes | bytearray
Payload = bytes | bytearray | memoryview
Result = TypeVar("Result")
Request = TypeVar("Request")

MEMCPY = 1
FEBIRD = 2
DEFAULT_BATCH_MAX = 128

HEALTH = "mf.health.Health"
ADMIN = "mf.admin.Admin"
"""The services that a server has of itself."""


class ErrorCodec:
    """One entry of a method's `throws`: its class `type`, and what makes bytes of it (`encode`) and reads
    them (`decode`)."""

    __slots__ = ("decode", "encode", "type")

    def __init__(
        self,
        type: type[DeclaredError],  # noqa: A002 - it reads as `type=NoSuchCollection` in generated code
        *,
        encode: Callable[[Any], Encoded],
        decode: Callable[[Payload], DeclaredError],
    ) -> None:
        self.type = type
        self.encode = encode
        self.decode = decode


class ElementCodec(Record, Generic[Result]):
    """The values of one stream of a method. `encode` encodes one value, `encode_all` several consecutive
    ones; `decode_all` decodes `count` values, which must be the whole payload.
    """

    encoding: int
    encode: Callable[[Result], Encoded]
    encode_all: Callable[[Sequence[Result]], Encoded]
    decode_all: Callable[[Payload, int], list[Result]]
    arrayed: "Callable[[], ElementCodec[Any]] | None" = None
    """Makes one that decodes lists of numbers as arrays of numpy."""
    plain: "Callable[[], Callable[[Result], Any]] | None" = None
    """Makes a function that encodes plain values as fast as it is possible; for others it may return
    something that is no `bytes`, or raise anything. Then `encode` is called."""


class CacheInfo:
    """`@cached` of a method: how many entries a client keeps, and for how many seconds (None: until they are
    dropped for lack of room). `errors`: declared errors are kept, too.
    """

    __slots__ = ("entries", "errors", "max_bytes", "ttl")

    def __init__(self, entries: int, ttl: float | None, max_bytes: int, errors: bool) -> None:
        self.entries = entries
        self.ttl = ttl
        self.max_bytes = max_bytes
        self.errors = errors


class Method(Record, Generic[Request, Result]):
    """One method: all that the runtime needs to send, receive and dispatch it. Immutable by convention.

    `attribute` and `batch_attribute` are the servant's function names. `deadline`: seconds, or None. A
    request is a tuple of arguments for a single call, and an object of `request` (the dataclass of the
    parameters, its fields in order) in a batch. A method without result has the result None. `ordered`: the
    calls of one batch run one after another. `constrained`: a request of the right types may still violate
    the schema, which encoding it reports. `replicated`: the name of the pattern by which a message goes to
    all replicas; `attribute` is then the function that applies one. `param_element` and `result_element`: the
    values of its streams; with a result stream the method has no result, and with either it is a `stream`.
    `arrayed` makes what `with_arrays` returns.
    """

    name: str
    index: int
    attribute: str
    batch_attribute: str
    request: Callable[..., Request]
    request_encoding: int
    result_encoding: int
    encode_request: Callable[..., Encoded]
    encode_requests: Callable[[Sequence[Request]], Encoded]
    decode_request: Callable[[Payload], tuple[Any, ...]]
    decode_requests: Callable[[Payload, int], Iterable[tuple[Any, ...]]]
    encode_result: Callable[[Result], Encoded]
    encode_results: Callable[[Sequence[Result]], Encoded]
    decode_result: Callable[[Payload], Result]
    decode_results: Callable[[Payload, int], list[Result]]
    decode_results_at: Callable[[Payload, int, int], tuple[list[Result], int]]
    errors: tuple[ErrorCodec, ...] = ()
    idempotent: bool = False
    oneway: bool = False
    ordered: bool = False
    constrained: bool = False
    deadline: float | None = None
    batch_max: int = DEFAULT_BATCH_MAX
    cached: CacheInfo | None = None
    replicated: str | None = None
    param_element: ElementCodec[Any] | None = None
    result_element: ElementCodec[Any] | None = None
    arrayed: "Callable[[], Method[Any, Any]] | None" = None

    def with_arrays(self) -> "Method[Any, Any]":
        """The same, but lists of numbers are decoded as arrays of numpy. Raises ImportError if numpy is not
        installed."""
        return self if self.arrayed is None else self.arrayed()

    @property
    def error_types(self) -> tuple[type[DeclaredError], ...]:
        """Of its declared errors."""
        return tuple(codec.type for codec in self.errors)

    @property
    def stream(self) -> bool:
        """Whether a direction of it is a stream."""
        return self.param_element is not None or self.result_element is not None

    def __repr__(self) -> str:
        return f"Method({self.name!r}, index={self.index})"


class ServiceInfo(Record):
    """One service. `agent`: the name of the agent it is offered `per`, or None. `methods` in the schema's
    order. `annex`: the data outside of the fingerprint (docs/protocol.md, section 7a)."""

    name: str
    agent: str | None
    descriptor: str
    fingerprint: bytes
    methods: tuple[Method[Any, Any], ...]
    annex: str = ""

    @property
    def short_name(self) -> str:
        """The name without that of its module."""
        return self.name.rpartition(".")[2]

    def __repr__(self) -> str:
        return f"ServiceInfo({self.name!r})"


class BaseServant:
    """The common base of generated servants of both kinds: identifies their service.

    The `..._items` functions may be overridden, too; they get all items of a message with several items.
    """

    __slots__ = ("__weakref__",)

    mf_service: ClassVar[ServiceInfo]
    """Set only by the generated class."""
    mf_arrays: ClassVar[bool] = False
    """Whether lists of numbers in requests are arrays of numpy, which cannot be written to."""
    mf_decides: ClassVar[bool] = False
    """Whether the servant decides itself what its callers may do, and the access file and the `authorize` of
    its server are not asked."""


class Servant(BaseServant):
    """Base of generated servants that a Server runs. Override one plain function per method."""

    __slots__ = ()


class AsyncServant(BaseServant):
    """Base of generated servants that an AsyncServer runs. Override one `async def` per method; an async
    generator for one with a result stream."""

    __slots__ = ()


def generated_base(servant: BaseServant) -> type[BaseServant]:
    """The generated class from which a servant derives, which identifies its service."""
    given: object = servant
    if isinstance(given, type):
        name = given.__name__
        raise TypeError(f"{name} is a class, and an object of it is offered: {name}()")
    for base in type(servant).__mro__:
        if "mf_service" in base.__dict__:
            return base
    name = type(servant).__name__
    raise TypeError(
        f"{name} derives from no generated servant class: what is offered is an object of a class that"
        " derives from one, such as `class Desk(DeskServant)`"
    )


def services_of(servant: BaseServant) -> list[ServiceInfo]:
    """All services that a servant serves: its own, then those that this one extends, the nearest first. The
    methods of an extended service are the first of the extending one."""
    found = {servant.mf_service.name: servant.mf_service}
    for base in type(servant).__mro__:
        above = vars(base).get("mf_service")
        if isinstance(above, ServiceInfo):  # of topics it is a slot
            found.setdefault(above.name, above)
    return list(found.values())


_ASYNC = 0x80 | 0x200  # co_flags: the function is an `async def`, or an async generator


def is_async(function: Any) -> bool:
    """Whether calling it returns a coroutine or an async generator. Does not use `inspect`, which takes long
    to import."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return code is not None and bool(code.co_flags & _ASYNC)
