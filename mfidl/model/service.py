"""F3. Agents, services and methods."""

from dataclasses import dataclass, field

from mfidl.model.declaration import Struct
from mfidl.model.types import Named, Type
from mfidl.source import Span


@dataclass(frozen=True, slots=True, eq=False)
class Agent:
    """`agent collection: string;`: what several servers divide among them. The type is an integer, string, or
    enum.
    """

    name: str
    full_name: str
    type: Type
    spelled: Type
    doc: str = ""
    span: Span | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Method:
    """One method. `index` is its place in the service, from 0: the number on the wire.

    `params` and `results` are implicit structs, possibly without fields. A single unnamed result is the field
    `value` of `results`, and `single_result` is then true: generated functions return it bare. Named results,
    even one, have `single_result` false. A oneway method has no results and no throws, and nobody waits for
    it. `deadline_ns` is the default deadline of a call, `batch_max` the items per message of a message-level
    batch; None where the schema says nothing.
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
    doc: str = ""
    deprecated: str | None = None
    span: Span | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Service:
    """A service; `agent` is there when it is offered `per` agent.

    `descriptor` is the canonical text of all that decides its bytes, `fingerprint` the first 16 bytes of its
    SHA-256.
    """

    name: str
    full_name: str
    agent: Agent | None
    methods: tuple[Method, ...]
    doc: str = ""
    deprecated: str | None = None
    descriptor: str = ""
    fingerprint: bytes = b""
    span: Span | None = field(default=None, repr=False)
