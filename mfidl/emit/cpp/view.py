"""F6. The data for the C++ templates: names, types and code, ready to be placed. No model, no decisions."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FileView:
    """One generated file. `banner` are comments, `includes` the lines between it and the first namespace."""

    banner: tuple[str, ...]
    includes: tuple[str, ...]
    namespace: str
    opening: tuple[str, ...]  # behind the includes
    closing: tuple[str, ...]  # at the end


@dataclass(frozen=True, slots=True)
class TextsView:
    """What the module says of its types: two literals, and the texts of the modules that it imports."""

    types: str
    annex: str
    imports: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SchemaTypeView:
    """A type that values name where it is not known."""

    qualified: str
    full_name: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class ConstView:
    doc: tuple[str, ...]
    definition: str
    template: str = "cpp/types/const.j2"


@dataclass(frozen=True, slots=True)
class AliasView:
    doc: tuple[str, ...]
    name: str
    type: str
    attribute: str
    template: str = "cpp/types/alias.j2"


@dataclass(frozen=True, slots=True)
class MemberView:
    """A member of an enum; `initial` is its number."""

    doc: tuple[str, ...]
    name: str
    wire_name: str
    initial: str
    attribute: str = ""


@dataclass(frozen=True, slots=True)
class EnumView:
    """An enum or flags. `members_constant` lists its members; `printing` is the body of print_to()."""

    doc: tuple[str, ...]
    name: str
    qualified: str
    base: str
    members: tuple[MemberView, ...]
    members_constant: str
    printing: tuple[str, ...]
    traits_template: str
    template: str = "cpp/types/enum.j2"


@dataclass(frozen=True, slots=True)
class FieldView:
    """`declaration` is the whole member: type, name and initialiser."""

    doc: tuple[str, ...]
    name: str
    wire_name: str  # as the schema writes it: for paths in messages
    type: str  # qualified from the global namespace
    declaration: str


@dataclass(frozen=True, slots=True)
class StructView:
    """A struct or error, or the struct of a method's parameters or results."""

    doc: tuple[str, ...]
    name: str
    qualified: str
    full_name: str
    wire_name: str
    type_info: str
    fields: tuple[FieldView, ...]
    existing: str  # the C++ type that @cpp.type or @cpp.codec names
    unknown_fields: str  # the member of that name, of a struct of tier archive
    constructor: str  # of an error with fields
    attribute: str
    equality: str
    ordering: str  # its category
    orders: tuple[str, ...]  # statements of an ordering that is written out
    comparisons: tuple[str, ...]
    comparison_definition_template: str
    print_template: str
    codec: "CodecView"
    readable: "ReadableView"
    heap_of_new: int
    constraints: "ConstraintsView"
    constraints_template: str
    template: str
    tables: "TablesView | None"
    tables_template: str
    definition_template: str = "cpp/nothing.j2"
    inner: tuple[str, ...] = ()  # its words for types that are declared within it


@dataclass(frozen=True, slots=True)
class TablesView:
    """The tables of the graph with such a root: graph_tables(), which mf::Graph finds."""

    head: str
    constant: str


@dataclass(frozen=True, slots=True)
class AlternativeView:
    """An alternative of a union. `functions` are its members of the class, with or without their bodies."""

    doc: tuple[str, ...]
    kind: str
    kind_attribute: str
    number: int
    wire_name: str
    accessor: str
    test: str
    functions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnionView:
    """A union: a class around a std::variant. A recursive one has `special` members, and `definitions` of all
    its functions in the .cpp file.
    """

    doc: tuple[str, ...]
    name: str
    qualified: str
    type_info: str
    attribute: str
    wire_name: str
    alternatives: tuple[AlternativeView, ...]
    storage: str
    default_doc: str
    special: tuple[str, ...]
    kind: str
    visits: tuple[str, ...]
    ordering: str
    definitions: tuple[str, ...]
    codec: "FebirdView | ArchiveView"
    readable: "ReadableView"
    heap_of_new: int
    constraints: "ConstraintsView"
    constraints_template: str
    comparisons: tuple[str, ...]
    comparison_definition_template: str
    definition_template: str
    tables: "TablesView | None"
    tables_template: str
    print_template: str = "cpp/codec/union_print.j2"
    template: str = "cpp/types/union.j2"
    inner: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SlotView:
    """Where a field lies in a memcpy layout."""

    name: str
    offset: int


@dataclass(frozen=True, slots=True)
class MemcpyView:
    """Memcpy<S>. `functions` are whole: images of their memory clear padding, others move by slots."""

    size: int
    align: int
    all_bits_valid: str
    has_padding: str
    functions: tuple[str, ...]
    slots: tuple[SlotView, ...]
    size_assert: str
    asserts_template: str
    template: str = "cpp/codec/memcpy.j2"
    definition_template: str = "cpp/nothing.j2"


@dataclass(frozen=True, slots=True)
class FebirdView:
    """Febird<S>. The functions are in the .cpp file."""

    min_size: int
    declarations: tuple[str, ...]
    functions: tuple[str, ...]
    template: str = "cpp/codec/febird.j2"
    definition_template: str = "cpp/codec/febird_definition.j2"
    asserts_template: str = "cpp/nothing.j2"


@dataclass(frozen=True, slots=True)
class ArchiveView:
    """Archive<S>. `prefixed_template` is its form in tier febird, if it has one. `coded`: integers of it lie
    in another way than their types do.
    """

    linked: str
    declarations: tuple[str, ...]
    functions: tuple[str, ...]
    prefixed_template: str
    coded: bool
    template: str = "cpp/codec/archive.j2"
    definition_template: str = "cpp/codec/febird_definition.j2"
    asserts_template: str = "cpp/nothing.j2"


@dataclass(frozen=True, slots=True)
class CustomView:
    """Custom<S>: the user's `codec` of the user's `type`, by their names."""

    codec: str
    type: str
    template: str = "cpp/codec/custom.j2"
    definition_template: str = "cpp/nothing.j2"
    asserts_template: str = "cpp/nothing.j2"


CodecView = MemcpyView | FebirdView | ArchiveView | CustomView


@dataclass(frozen=True, slots=True)
class ReadableView:
    """Readable<S>, of types that can hold what readers refuse. `definition` is in the .cpp file."""

    declarations: tuple[str, ...] = ()
    definition: str = ""
    template: str = "cpp/nothing.j2"
    definition_template: str = "cpp/nothing.j2"


@dataclass(frozen=True, slots=True)
class ConstraintsView:
    """Constraints<S>. `statements` return at the first violation."""

    statements: tuple[str, ...]
    parameters: str = ""  # of a method: each by reference
    forward: str = ""  # of a method: the same out of its struct
    patterns: bool = False


@dataclass(frozen=True, slots=True)
class FunctionView:
    """`declaration` ends in a semicolon, `definition` in an opening brace; `body` stands behind it."""

    declaration: str
    definition: str = ""
    body: str = ""


@dataclass(frozen=True, slots=True)
class CheckView:
    """A function of a method's description that says what is wrong with a value of the `type`."""

    name: str
    type: str
    constraints: ConstraintsView


@dataclass(frozen=True, slots=True)
class MethodView:
    """A method in all its forms. `many` and `scatters` are functions of clients, `items_handlers` of
    servants; a method with streams has none of them, nor has a replicated one.
    """

    doc: tuple[str, ...]
    handler_doc: tuple[str, ...]
    name: str  # of the description, in namespace methods
    function: str
    request: str
    result: str
    errors: str
    request_tier: str
    result_tier: str
    elements: tuple[str, ...]  # of streams: their types and tiers
    info: str
    local_invokes: tuple[FunctionView, ...]  # from the description to a servant of the process
    invokes: tuple[FunctionView, ...]  # the same for what came in a message
    checks: tuple[CheckView, ...]
    call: FunctionView
    asynchronous: tuple[str, ...]
    many: tuple[FunctionView, ...]
    scatters: tuple[FunctionView, ...]
    handler: FunctionView
    items_handlers: tuple[FunctionView, ...]
    async_handler: FunctionView
    run: str  # the runtime's function that a message is dispatched to
    replicated: bool


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
    """A topic. `info`, `descriptor` and `annex` are constants of the source file; `agent`: lines of the
    description, none for a topic without agents.
    """

    doc: tuple[str, ...]
    full_name: str
    description: str
    publisher: str
    publisher_head: str
    subscriber: str
    subscriber_head: str
    publisher_base: str
    subscriber_base: str
    value: str
    agent: tuple[str, ...]
    info: str
    descriptor: str
    descriptor_text: str
    annex: str
    annex_text: str
    fingerprint: str
    per_agent: str
    replay: str
    overflow: str


@dataclass(frozen=True, slots=True)
class ServiceView:
    """A service. `info`, `descriptor`, `annex`, `method_list` and `dispatch` lie in namespace methods."""

    doc: tuple[str, ...]
    attribute: str
    full_name: str
    client: str
    scatter: str
    servant: str
    async_servant: str
    info: str
    descriptor: str
    descriptor_text: str
    annex: str
    annex_text: str
    method_list: str
    method_names: str
    method_base: str  # of the descriptions
    per_agent: str
    fingerprint: str
    agent: AgentView
    methods: tuple[MethodView, ...]
    own_methods: tuple[MethodView, ...]  # without those of the service that it extends
    extended: tuple[str, ...]  # what it extends, the nearest first: their `info`, qualified
    dispatch: str
    dispatch_servant: str  # its parameter
    replicated: bool  # some method is
    servant_bases: str
    async_servant_bases: str
    client_template: str
    selection_template: str
    scatter_template: str
    inner: tuple[str, ...]
