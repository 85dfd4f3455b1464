"""F6. The data for the C++ templates: names, types, expressions and flags. No model, no decisions.

Each `doc` is a comment with a line feed at its end, or empty; each `attribute` and `old` is `[[deprecated]]`
with the space to its neighbour, or empty.
"""

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class FileView:
    """One generated file. `quieted` are the pragmas that switch off warnings in it, `version` the number of
    the compiler's version, for the one header of a module that compares it with the runtime's.
    """

    banner: str
    once: bool
    version: int | None
    includes: str
    namespace: str
    quieted: str


class Inner(NamedTuple):
    """A word of a class for a type that is declared within it."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class TextsView:
    """What the module says of its types: two literals, its types of tier custom, and the texts of the
    modules that it imports.
    """

    types: str
    annex: str
    customs: tuple["SchemaTypeView", ...]
    imports: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SchemaTypeView:
    """A type that values name where it is not known."""

    qualified: str
    full_name: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class ConstView:
    doc: str
    attribute: str
    type: str  # behind `inline`
    name: str
    initial: str


@dataclass(frozen=True, slots=True)
class AliasView:
    """An alias, or a struct whose C++ type is there already."""

    doc: str
    name: str
    attribute: str
    type: str
    form: str = "alias"


@dataclass(frozen=True, slots=True)
class MemberView:
    doc: str
    name: str
    wire_name: str
    value: str
    attribute: str


@dataclass(frozen=True, slots=True)
class EnumView:
    """An enum or flags. `open`: all numbers are valid."""

    doc: str
    name: str
    qualified: str
    base: str
    members: tuple[MemberView, ...]
    flags: bool
    open: bool
    form: str = "enum"


@dataclass(frozen=True, slots=True)
class FieldView:
    """`declaration` is the whole member without its semicolon, `type` is for any namespace."""

    doc: str
    name: str
    wire_name: str  # as the schema writes it: for paths in messages
    type: str
    declaration: str


class Pattern(NamedTuple):
    name: str
    steps: str


class Check(NamedTuple):
    """An expression that is empty or a violation of the field `name`; of a union only if `test` holds."""

    expression: str
    name: str
    test: str = ""


@dataclass(frozen=True, slots=True)
class ConstraintsView:
    """Of a method's request the `parameters` are those of a second function, to which the first forwards."""

    patterns: tuple[Pattern, ...] = ()
    checks: tuple[Check, ...] = ()
    parameters: str = ""
    forwarded: str = ""


class Table(NamedTuple):
    """A table of a graph: its name, and the type of its rows."""

    name: str
    type: str


class Slot(NamedTuple):
    """The place of a field in a memcpy layout; `at` is the offset behind a pointer, ` + 4` or empty."""

    name: str
    wire_name: str
    type: str
    offset: int
    at: str


class Gap(NamedTuple):
    at: str
    size: int


@dataclass(frozen=True, slots=True)
class MemcpyView:
    """`image`: its memory is its layout. `checked` slots have invalid bits, `padded` ones padding inside."""

    size: int
    align: int
    image: bool
    has_padding: bool
    slots: tuple[Slot, ...]
    checked: tuple[Slot, ...]
    limited: tuple[str, ...]  # the types of `checked`, each once
    padded: tuple[Slot, ...]
    gaps: tuple[Gap, ...]
    tier: str = "memcpy"


@dataclass(frozen=True, slots=True)
class FebirdView:
    min_size: int
    tier: str = "febird"


@dataclass(frozen=True, slots=True)
class ArchiveSlot:
    """A field of an archive. `coded` is the end of the runtime's function where the coding is not that of the
    type; `message`: it may come in pieces; `keyed`: a row with keys. The last four are those of alternatives.
    """

    number: int
    name: str
    wire_name: str
    coded: str
    linked: bool
    elements: str
    tags: tuple[int, ...]
    row: bool
    message: bool
    keyed: bool
    optional: bool
    optional_reference: bool
    default: str
    length: int  # of an array, else 0
    filled: str
    seen: str
    follows: str  # the condition that it comes next, as writers send it
    type: str = ""
    kind: str = ""
    emplace: str = ""
    boxed: bool = False


@dataclass(frozen=True, slots=True)
class ArchiveView:
    """The slots are in the order of their numbers; `singles` are no rows."""

    linked: bool
    slots: tuple[ArchiveSlot, ...]
    singles: tuple[ArchiveSlot, ...]
    arrays: bool
    tier: str = "archive"


@dataclass(frozen=True, slots=True)
class CustomView:
    """Custom<S>: the user's `codec` of the user's `type`, by their names."""

    codec: str
    type: str
    tier: str = "custom"


CodecView = MemcpyView | FebirdView | ArchiveView | CustomView


@dataclass(frozen=True, slots=True)
class StructView:
    """A struct or error, or the struct of a method's parameters or results. `comparison`: `all`, `equality`,
    `declared` (its members are not complete in the class) or `none`. `readable`: empty if readers take every
    value, else `layout` or `walked`: by `unsure` members, and by those that nest. `taken` and `kept` are the
    constructor of an error. `levelled`: it counts as a level of nesting.
    """

    doc: str
    name: str
    qualified: str
    full_name: str
    wire_name: str
    tier: str
    form: str
    fields: tuple[FieldView, ...]
    existing: str  # the C++ type that @cpp.type or @cpp.codec names
    unknown_fields: str  # the member of that name, of a struct of tier archive
    taken: str
    kept: str
    attribute: str
    comparison: str
    ordering: str
    compared: tuple[str, ...]
    printed: bool
    levelled: bool
    codec: CodecView
    readable: str
    unsure: tuple[FieldView, ...]
    nests: tuple[FieldView, ...]
    heap_of_new: int
    constraints: ConstraintsView
    tables: tuple[Table, ...]
    inner: tuple[Inner, ...]


@dataclass(frozen=True, slots=True)
class AlternativeView:
    """An alternative of a union: its names, its `type` in the class and `qualified`, and what is `given` to
    the variant for a parameter `value`.
    """

    doc: str
    old: str
    kind: str
    kind_attribute: str
    number: int
    number_size: int
    wire_name: str
    accessor: str
    make: str
    test: str
    set: str
    emplace: str
    type: str
    qualified: str
    boxed: bool
    given: str
    initial: str


@dataclass(frozen=True, slots=True)
class UnionView:
    """A class around a std::variant. A recursive one has its functions in the source file. `made` is the
    value of a new one, which holds `first`; `in_sequence`: the numbers are 1, 2, ...
    """

    doc: str
    name: str
    qualified: str
    wire_name: str
    tier: str
    attribute: str
    alternatives: tuple[AlternativeView, ...]
    first: AlternativeView
    made: str
    stored: str
    in_sequence: bool
    recursive: bool
    comparison: str
    ordering: str
    codec: FebirdView | ArchiveView
    readable: str
    unsure: tuple[AlternativeView, ...]
    nests: tuple[AlternativeView, ...]
    heap_of_new: int
    constraints: ConstraintsView
    tables: tuple[Table, ...]
    inner: tuple[Inner, ...]
    printed: bool = True
    existing: str = ""
    form: str = "union"


class Call(NamedTuple):
    """A function of a client, which calls a `function` of the runtime for the method."""

    result: str
    name: str
    declared: str  # parameters with their defaults
    parameters: str
    function: str
    arguments: str


class Started(NamedTuple):
    """An asynchronous function of a client."""

    name: str
    parameters: str
    function: str
    arguments: str


class Invoke(NamedTuple):
    """A function of a method's description that calls a servant."""

    result: str
    name: str
    declared: str
    parameters: str
    handler: str
    arguments: str


class StreamView(NamedTuple):
    name: str
    type: str
    tier: str


class CheckView(NamedTuple):
    """A function of a method's description that says what is wrong with a value of the `type`."""

    name: str
    type: str
    constraints: ConstraintsView


@dataclass(frozen=True, slots=True)
class CacheInfoView:
    """How answers to a method are cached. `ttl` is a duration, empty for no bound."""

    entries: int
    ttl: str
    max_bytes: int
    errors: bool


@dataclass(frozen=True, slots=True)
class MethodInfoView:
    """The constants of a method. `deadline` is a duration, empty without one; `streams` is a member of
    mf::Streams, empty without any; `batch_max` is 0 if nothing bounds its batches.
    """

    name: str
    index: int
    idempotent: bool
    oneway: bool
    deadline: str
    batch_max: int
    streams: str
    ordered: bool
    cached: CacheInfoView | None


@dataclass(frozen=True, slots=True)
class MethodView:
    """A method in all its forms. `scatters` are functions of clients, `items` is one of servants; a method
    with streams has neither, nor has a replicated one, which has a `pattern`. `_here`: in the namespace.
    """

    doc: str
    handler_doc: str
    old: str
    name: str  # of the description, in namespace methods
    function: str
    request: str
    request_here: str
    result: str
    result_here: str
    errors: str
    request_tier: str
    result_tier: str
    streams: tuple[StreamView, ...]
    pattern: str
    info: MethodInfoView
    invokes: tuple[Invoke, ...]
    checks: tuple[CheckView, ...]
    calls: tuple[Call, ...]
    asynchronous: tuple[Started, ...]
    scatters: tuple[Call, ...]
    handler: str
    taken: str
    async_taken: str
    items: str
    items_result: str
    run: str  # the runtime's function that a message is dispatched to


@dataclass(frozen=True, slots=True)
class AgentView:
    """How the agents of a service are named: `one` and `many` are parameters of at() and on(), `text` and
    `texts` what they become.
    """

    one: str
    many: str
    parameter: str
    type: str
    text: str
    texts: str


@dataclass(frozen=True, slots=True)
class TopicView:
    """A topic. `info`, `descriptor` and `annex` are constants of the source file; `agent` is the type of its
    agents, empty without any; `parted` as in ServiceView.
    """

    doc: str
    attribute: str
    full_name: str
    description: str
    publisher: str
    subscriber: str
    value: str
    agent: str
    info: str
    descriptor: str
    descriptor_text: str
    annex: str
    annex_text: str
    fingerprint: str
    parted: bool
    replay: int
    overflow: str
    default_overflow: str
    method_list: str = ""
    info_per_agent: bool = False


@dataclass(frozen=True, slots=True)
class ServiceView:
    """A service. `info`, `descriptor`, `annex`, `method_list` and `dispatch` lie in namespace methods;
    `parted`: its texts lack the types, which are in those of modules; `dispatched`: some method is no
    replicated one.
    """

    doc: str
    attribute: str
    full_name: str
    client: str
    scatter: str
    servant: str
    async_servant: str
    info: str
    info_per_agent: bool
    descriptor: str
    descriptor_text: str
    annex: str
    annex_text: str
    method_list: str
    method_names: tuple[str, ...]
    method_base: str  # of the descriptions
    fingerprint: str
    parted: bool
    agent: AgentView | None
    methods: tuple[MethodView, ...]
    own_methods: tuple[MethodView, ...]  # without those of the service that it extends
    extended: tuple[str, ...]  # what it extends, the nearest first: their `info`, qualified
    dispatch: str
    dispatched: bool
    replicated: bool  # some method is
    servant_bases: str
    async_servant_bases: str
    inner: tuple[Inner, ...]
