"""The result of `explain` as data, which is shown as text and JSON. Sizes are bytes. `annotations` are the
schema's own, as they are written.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cost:
    """`most` None: without end."""

    fewest: int
    example: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Slot:
    """A scalar or an array in a memcpy layout, nested structs opened: `pos.x`. Padding has no name."""

    offset: int
    size: int
    align: int
    name: str | None
    type: str


@dataclass(frozen=True, slots=True)
class Order:
    fields: tuple[str, ...]
    size: int
    saved: int


@dataclass(frozen=True, slots=True)
class Layout:
    size: int
    align: int
    padding: int
    slots: tuple[Slot, ...]
    better_order: Order | None


@dataclass(frozen=True, slots=True)
class Check:
    """A constraint, and where it holds: `terms`, `terms[]`, `Profile.by_name[key]`."""

    place: str
    constraint: str


@dataclass(frozen=True, slots=True)
class FieldRow:
    """`cost` is of febird; None: not measurable."""

    name: str
    type: str
    number: int | None
    default: str | None
    checks: tuple[Check, ...]
    cost: Cost | None


@dataclass(frozen=True, slots=True)
class TierRow:
    """One tier. `cost` None: cannot be had, or not measurable; `about`: the example's bytes in archive.
    `path` leads to the field in the way.
    """

    tier: str
    chosen: bool
    possible: bool
    cost: Cost | None
    about: int | None
    reason: str | None
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TypeReport:
    """The report of a struct, an error, a union, or the parameters or results of a method. `path` are the
    fields to the one that prevents a faster tier; `bindings` are the user's own types and codecs for it;
    `cost` is in its own tier, and without one `problem` has the reason.
    """

    kind: str
    name: str
    full_name: str
    tier: str
    asked: bool
    why: str
    path: tuple[str, ...]
    bindings: tuple[str, ...]
    fields: tuple[FieldRow, ...]
    layout: Layout | None
    example: str | None
    problem: str | None
    cost: Cost | None
    tiers: tuple[TierRow, ...]
    used_by: tuple[str, ...]
    annotations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Member:
    """`number` of a flag: its bit."""

    name: str
    number: int


@dataclass(frozen=True, slots=True)
class NumberReport:
    """Of an enum or flags."""

    kind: str
    name: str
    full_name: str
    base: str
    open: bool
    members: tuple[Member, ...]
    memcpy: int
    febird: Cost
    annotations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AliasReport:
    kind: str
    name: str
    full_name: str
    type: str
    constraints: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Message:
    """A request or reply of one call. `frame`: header, payload and padding."""

    encoding: str
    body: TypeReport
    frame: Cost | None
    checks: tuple[Check, ...]
    stream: "StreamReport | None"


@dataclass(frozen=True, slots=True)
class StreamReport:
    """The stream after a message, element by element. `cost` is that of one."""

    type: str
    tier: str
    cost: Cost | None


@dataclass(frozen=True, slots=True)
class MethodReport:
    name: str
    full_name: str
    index: int
    signature: str
    oneway: bool
    idempotent: bool
    ordered: bool
    deadline_ns: int | None
    batch_max: int
    batch_frame: int | None
    cached: str | None
    replicated: str | None
    throws: tuple[str, ...]
    request: Message
    reply: Message | None
    annotations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ServiceReport:
    """`detailed`: one method was asked for, and its messages are shown as types are."""

    name: str
    full_name: str
    agent: str | None
    fingerprint: str
    methods: tuple[MethodReport, ...]
    extends: str | None = None
    detailed: bool = False
    annotations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TopicReport:
    name: str
    full_name: str
    agent: str | None
    fingerprint: str
    replay: int
    overflow: tuple[str, ...]
    type: str
    tier: str
    cost: Cost | None
    problem: str | None


TypeLike = TypeReport | NumberReport | AliasReport


@dataclass(frozen=True, slots=True)
class ModuleReport:
    name: str
    path: str
    types: tuple[TypeLike, ...]
    services: tuple[ServiceReport, ...]
    topics: tuple[TopicReport, ...]
