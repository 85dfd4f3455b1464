"""F3. Agents, services and their methods, topics."""

from dataclasses import dataclass, field

from mfidl.model.constraint import Constraint
from mfidl.model.declaration import Annotations, Struct, TargetNames
from mfidl.model.types import Named, Type
from mfidl.source import Span


@dataclass(frozen=True, slots=True, eq=False)
class Agent:
    """`agent collection: string;`: what several servers divide among them. The type is an integer, string,
    uuid, or enum.
    """

    name: str
    full_name: str
    type: Type
    spelled: Type
    doc: str = ""
    deprecated: str | None = None
    target_names: TargetNames = ()
    span: Span | None = field(default=None, repr=False)
    annotations: Annotations = ()


DEFAULT_CACHE_BYTES = 1 << 24


@dataclass(frozen=True, slots=True)
class Cache:
    """`@cached(entries = 10_000, ttl = 1h)`: how many results a client keeps, and for how long. `ttl_ns`
    None: until they are crowded out. `max_bytes` bounds requests and results together, as they are encoded.
    `errors`: declared errors are kept as results are.
    """

    entries: int
    ttl_ns: int | None = None
    max_bytes: int = DEFAULT_CACHE_BYTES
    errors: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """`stream<T>` as a parameter (`name` is its own) or as the result (`name` is `value`)."""

    name: str
    type: Type
    spelled: Type
    constraints: tuple[Constraint, ...] = ()  # of each element
    doc: str = ""
    span: Span | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Method:
    """One method. `index` is its place in the service, from 0; peers know it by its name.

    `params` and `results` are implicit structs, possibly without fields. A single unnamed result is the field
    `value` of `results`, and `single_result` is then true: generated functions return it bare. Named results,
    even one, have `single_result` false. A oneway method has no results and no throws, and no caller
    waits for it. `deadline_ns` is the default deadline of a call, `batch_max` the items per message of a
    message-level batch; None where the schema says nothing. The calls of one batch of an `ordered`
    method run one after the other. A stream is not part of `params` or `results`: it is `param_stream` or
    `result_stream`. `replicated` is the name of the replication pattern.
    """

    name: str
    full_name: str
    index: int
    params: Struct
    results: Struct
    single_result: bool
    throws: tuple[Named, ...] = ()
    oneway: bool = False
    idempotent: bool = False
    deadline_ns: int | None = None
    batch_max: int | None = None
    cached: Cache | None = None
    replicated: str | None = None
    param_stream: Stream | None = None
    result_stream: Stream | None = None
    ordered: bool = False
    was: tuple[str, ...] = ()
    doc: str = ""
    deprecated: str | None = None
    target_names: TargetNames = ()
    span: Span | None = field(default=None, repr=False)
    annotations: Annotations = ()

    @property
    def streams(self) -> tuple[Stream, ...]:
        """That of the parameters, then that of the results, as far as there are any."""
        return tuple(each for each in (self.param_stream, self.result_stream) if each is not None)


@dataclass(frozen=True, slots=True, eq=False)
class Service:
    """A service; `agent` is there when it is offered `per` agent.

    `extends` is the full name of the service that it extends. The methods of that one are then the first in
    `methods`, the same objects with the same indices, so that a server of this one serves that one, too.

    `descriptor` is the canonical text of all that decides its bytes, `fingerprint` the first 16 bytes of its
    SHA-256. `annex` has what of the schema is outside of that text: earlier names, defaults, constraints.
    """

    name: str
    full_name: str
    agent: Agent | None
    methods: tuple[Method, ...]
    doc: str = ""
    deprecated: str | None = None
    target_names: TargetNames = ()
    descriptor: str = ""
    fingerprint: bytes = b""
    annex: str = ""
    extends: str | None = None
    span: Span | None = field(default=None, repr=False)
    annotations: Annotations = ()

    @property
    def module(self) -> str:
        return self.full_name.rpartition(".")[0]

    @property
    def own_methods(self) -> tuple[Method, ...]:
        """Those that it declares itself."""
        return tuple(each for each in self.methods if self.declares(each))

    def declares(self, method: Method) -> bool:
        """Whether a method is declared here, and not in what is extended."""
        return self.extends is None or method.full_name == f"{self.full_name}.{method.name}"


OVERFLOWS = ("drop_oldest", "drop_newest", "block", "disconnect")
MOST_REPLAYED = 65_536


@dataclass(frozen=True, slots=True, eq=False)
class Topic:
    """`topic Additions per collection : Indexed;`: publish/subscribe of values of one type. `descriptor`,
    `fingerprint` and `annex` as in `Service`.

    `replay`: so many of the last messages of each agent are kept for later subscribers. `overflow`: what
    subscribers may let become of messages for which their queue has no room, in the order of the schema;
    a subscriber that does not choose gets `default_overflow`.
    """

    name: str
    full_name: str
    agent: Agent | None
    type: Named
    replay: int = 0
    overflow: tuple[str, ...] = OVERFLOWS
    doc: str = ""
    deprecated: str | None = None
    target_names: TargetNames = ()
    descriptor: str = ""
    fingerprint: bytes = b""
    annex: str = ""
    span: Span | None = field(default=None, repr=False)
    annotations: Annotations = ()

    @property
    def default_overflow(self) -> str:
        """That of a subscriber that names none."""
        return OVERFLOWS[0] if OVERFLOWS[0] in self.overflow else self.overflow[0]
