"""F6. Message to model: the program that a descriptor was made of.

A message may be damaged: any error in it is a `DescriptorError`, and no other exception; undeclared names are
refused here. Spans need the text of the files, which a descriptor does not contain: they are restored for the
modules whose source is given, and are None for the others.
"""

from collections.abc import Iterable, Mapping

from google.protobuf.message import DecodeError

from mfidl import model
from mfidl.descriptor import descriptor_pb2 as pb
from mfidl.descriptor.entries import Entries, constraints, known
from mfidl.descriptor.errors import DescriptorError
from mfidl.descriptor.words import MODEL_SCALARS, MODEL_STRUCT_KINDS, MODEL_TIERS, from_int64
from mfidl.descriptor.write import FORMAT
from mfidl.source import SourceFile, Span

_Documented = (
    pb.Struct
    | pb.Union
    | pb.Enum
    | pb.EnumMember
    | pb.Flags
    | pb.FlagsMember
    | pb.Alias
    | pb.Const
    | pb.Agent
    | pb.Service
    | pb.Method
    | pb.Topic
    | pb.Field
)


def from_bytes(data: bytes, sources: Mapping[str, SourceFile] | None = None) -> model.Program:
    """The program in a binary descriptor. `sources`: the files of modules, by the module's name."""
    try:
        message = pb.Program.FromString(data)
    except DecodeError:
        raise DescriptorError("these bytes are not a descriptor") from None
    return from_message(message, sources)


def from_message(message: pb.Program, sources: Mapping[str, SourceFile] | None = None) -> model.Program:
    if message.format != FORMAT:
        raise DescriptorError(f"format {message.format} is unknown; this version reads {FORMAT}")
    entries = Entries(message)
    agents: dict[str, model.Agent] = {}
    services: dict[str, model.Service] = {}
    modules = []
    for each in message.modules:
        modules.append(_Reader(entries, agents, services, (sources or {}).get(each.name)).module(each))
    program = model.Program(tuple(modules))
    _check_names(program, entries)
    return program


class _Reader:
    """Reads one module; `agents` and `services` are those of the modules before it."""

    def __init__(
        self,
        entries: Entries,
        agents: dict[str, model.Agent],
        services: dict[str, model.Service],
        source: SourceFile | None,
    ) -> None:
        self._entries = entries
        self._agents = agents
        self._services = services
        self._source = source

    def module(self, message: pb.Module) -> model.Module:
        agents = tuple(self._agent(each) for each in message.agents)
        self._agents.update((each.full_name, each) for each in agents)
        return model.Module(
            message.name,
            message.path,
            message.requested,
            message.doc,
            tuple(model.Import(each.module, each.local_name) for each in message.imports),
            tuple(self._const(each) for each in message.constants),
            agents,
            tuple(self._declaration(each) for each in message.declarations),
            tuple(self._service(each) for each in message.services),
            tuple(self._topic(each) for each in message.topics),
            tuple(self._struct(each) for each in message.annotation_types),
            self._own(message),
        )

    def _own(self, message: _Documented | pb.Module) -> model.Annotations:
        made = []
        for number in message.annotations:
            value = self._entries.value(number)
            if not isinstance(value, model.StructValue):
                raise DescriptorError(f"value {number} is an annotation, and no struct")
            made.append(value)
        return tuple(made)

    def _declaration(self, message: pb.Declaration) -> model.Declaration:
        match message.WhichOneof("kind"):
            case "struct":
                return self._struct(message.struct)
            case "union":
                return self._union(message.union)
            case "enum":
                return self._enum(message.enum)
            case "flags":
                return self._flags(message.flags)
            case "alias":
                return self._alias(message.alias)
            case _:
                raise DescriptorError("a declaration is of a kind that this version does not know")

    def _struct(self, message: pb.Struct) -> model.Struct:
        cpp, python, existing = message.cpp_codec, message.python_codec, message.cpp_type
        return model.Struct(
            message.name,
            message.full_name,
            known(MODEL_STRUCT_KINDS, message.kind, "kind of struct"),
            self._fields(message.fields),
            message.doc,
            asked_tier=_asked_tier(message.asked_tier),
            cycle=frozenset(message.cycle),
            reserved=_reserved(message.reserved),
            cpp_codec=model.CppCodec(cpp.header, cpp.type, cpp.codec)
            if message.HasField("cpp_codec")
            else None,
            python_codec=model.PythonCodec(python.module, python.codec)
            if message.HasField("python_codec")
            else None,
            cpp_type=model.CppType(existing.header, existing.type) if message.HasField("cpp_type") else None,
            deprecated=_deprecated(message),
            target_names=_names(message),
            plan=_plan(message.plan),
            span=self._span(message),
            annotations=self._own(message),
            within=message.within,
        )

    def _union(self, message: pb.Union) -> model.Union:
        return model.Union(
            message.name,
            message.full_name,
            self._fields(message.alternatives),
            message.doc,
            asked_tier=_asked_tier(message.asked_tier),
            cycle=frozenset(message.cycle),
            reserved=_reserved(message.reserved),
            deprecated=_deprecated(message),
            target_names=_names(message),
            plan=_plan(message.plan),
            span=self._span(message),
            annotations=self._own(message),
            within=message.within,
        )

    def _fields(self, messages: Iterable[pb.Field]) -> tuple[model.Field, ...]:
        return tuple(self._field(each) for each in messages)

    def _field(self, message: pb.Field) -> model.Field:
        return model.Field(
            message.name,
            self._entries.type(message.type),
            self._entries.type(message.spelled),
            message.doc,
            self._entries.value(message.default) if message.HasField("default") else None,
            constraints(message.constraints),
            message.number if message.HasField("number") else None,
            tuple(message.was),
            _deprecated(message),
            _names(message),
            message.required,
            self._span(message),
            self._own(message),
        )

    def _enum(self, message: pb.Enum) -> model.Enum:
        base = known(MODEL_SCALARS, message.base, "scalar")
        members = tuple(
            model.EnumMember(
                each.name,
                from_int64(each.number, base is model.Scalar.U64),
                each.doc,
                _deprecated(each),
                _names(each),
                self._span(each),
                self._own(each),
            )
            for each in message.members
        )
        return model.Enum(
            message.name,
            message.full_name,
            model.Primitive(base),
            message.open,
            members,
            message.doc,
            _deprecated(message),
            _names(message),
            self._span(message),
            self._own(message),
            within=message.within,
        )

    def _flags(self, message: pb.Flags) -> model.Flags:
        members = tuple(
            model.FlagsMember(
                each.name,
                each.bit,
                each.doc,
                _deprecated(each),
                _names(each),
                self._span(each),
                self._own(each),
            )
            for each in message.members
        )
        return model.Flags(
            message.name,
            message.full_name,
            model.Primitive(known(MODEL_SCALARS, message.base, "scalar")),
            members,
            message.doc,
            _deprecated(message),
            _names(message),
            self._span(message),
            self._own(message),
            within=message.within,
        )

    def _alias(self, message: pb.Alias) -> model.Alias:
        return model.Alias(
            message.name,
            message.full_name,
            self._entries.type(message.type),
            self._entries.type(message.spelled),
            message.doc,
            constraints(message.constraints),
            _deprecated(message),
            _names(message),
            message.cpp_view,
            self._span(message),
            self._own(message),
            within=message.within,
        )

    def _const(self, message: pb.Const) -> model.Const:
        return model.Const(
            message.name,
            message.full_name,
            self._entries.type(message.type),
            self._entries.type(message.spelled),
            self._entries.value(message.value),
            message.doc,
            _deprecated(message),
            _names(message),
            self._span(message),
            self._own(message),
        )

    def _agent(self, message: pb.Agent) -> model.Agent:
        return model.Agent(
            message.name,
            message.full_name,
            self._entries.type(message.type),
            self._entries.type(message.spelled),
            message.doc,
            _deprecated(message),
            _names(message),
            self._span(message),
            self._own(message),
        )

    def _service(self, message: pb.Service) -> model.Service:
        inherited = self._inherited(message)
        methods = [self._method(each) for each in message.methods[len(inherited) :]]
        made = model.Service(
            message.name,
            message.full_name,
            self._agent_named(message.agent),
            (*inherited, *methods),
            message.doc,
            _deprecated(message),
            _names(message),
            message.descriptor,
            message.fingerprint,
            message.annex,
            message.extends or None,
            self._span(message),
            self._own(message),
        )
        self._services[made.full_name] = made
        return made

    def _inherited(self, message: pb.Service) -> tuple[model.Method, ...]:
        """The methods of the service that it extends, which are the first of its own."""
        if not message.extends:
            return ()
        if message.extends not in self._services:
            raise DescriptorError(f"service `{message.extends}` is not declared before its use")
        methods = self._services[message.extends].methods
        first = message.methods[: len(methods)]
        if [each.full_name for each in methods] != [each.full_name for each in first]:
            raise DescriptorError(f"service `{message.full_name}` lacks methods of `{message.extends}`")
        return methods

    def _agent_named(self, full_name: str) -> model.Agent | None:
        if not full_name:
            return None
        if full_name not in self._agents:
            raise DescriptorError(f"agent `{full_name}` is not declared before its use")
        return self._agents[full_name]

    def _method(self, message: pb.Method) -> model.Method:
        return model.Method(
            message.name,
            message.full_name,
            message.index,
            self._struct(message.params),
            self._struct(message.results),
            message.single_result,
            tuple(model.Named(each, model.DeclKind.ERROR) for each in message.throws),
            message.oneway,
            message.idempotent,
            message.deadline_ns if message.HasField("deadline_ns") else None,
            message.batch_max if message.HasField("batch_max") else None,
            _cache(message.cached) if message.HasField("cached") else None,
            message.replicated if message.HasField("replicated") else None,
            self._stream(message.param_stream) if message.HasField("param_stream") else None,
            self._stream(message.result_stream) if message.HasField("result_stream") else None,
            message.ordered,
            tuple(message.was),
            message.doc,
            _deprecated(message),
            _names(message),
            self._span(message),
            self._own(message),
        )

    def _stream(self, message: pb.Stream) -> model.Stream:
        return model.Stream(
            message.name,
            self._entries.type(message.type),
            self._entries.type(message.spelled),
            constraints(message.constraints),
            message.doc,
            self._span(message),
        )

    def _topic(self, message: pb.Topic) -> model.Topic:
        type_ = self._entries.type(message.type)
        if not isinstance(type_, model.Named):
            raise DescriptorError(f"the type of topic `{message.full_name}` is not a declared one")
        overflow = tuple(message.overflow)
        if not overflow or len({*overflow}) < len(overflow) or not {*overflow} <= {*model.OVERFLOWS}:
            raise DescriptorError(f"topic `{message.full_name}` has overflow policies that are not ours")
        return model.Topic(
            message.name,
            message.full_name,
            self._agent_named(message.agent),
            type_,
            message.replay,
            overflow,
            message.doc,
            _deprecated(message),
            _names(message),
            message.descriptor,
            message.fingerprint,
            message.annex,
            self._span(message),
            self._own(message),
        )

    def _span(self, message: _Documented | pb.Stream) -> Span | None:
        if self._source is None or not message.HasField("span"):
            return None
        start, end = message.span.start, message.span.end
        if not start <= end <= len(self._source.text):
            raise DescriptorError(f"the span from {start} to {end} lies outside of `{self._source.name}`")
        return Span(self._source, start, end)


def _cache(message: pb.Cache) -> model.Cache:
    ttl_ns = message.ttl_ns if message.HasField("ttl_ns") else None
    return model.Cache(message.entries, ttl_ns, message.max_bytes, message.errors)


def _deprecated(message: _Documented) -> str | None:
    return message.deprecated if message.HasField("deprecated") else None


def _names(message: _Documented) -> model.TargetNames:
    return tuple((each.target, each.name) for each in message.target_names)


def _asked_tier(tier: int) -> model.Tier | None:
    return None if tier == pb.TIER_UNSPECIFIED else known(MODEL_TIERS, tier, "tier")


def _reserved(message: pb.Reserved) -> model.Reserved:
    return model.Reserved(tuple((each.first, each.last) for each in message.numbers), tuple(message.names))


def _plan(message: pb.Plan) -> model.StructPlan:
    layout = None
    if message.HasField("layout"):
        slots = tuple(
            model.FieldSlot(each.name, each.offset, each.size, each.align) for each in message.layout.slots
        )
        padding = tuple(model.Padding(each.offset, each.size) for each in message.layout.padding)
        layout = model.Layout(message.layout.size, message.layout.align, slots, padding)
    return model.StructPlan(known(MODEL_TIERS, message.tier, "tier"), message.reason, layout)


def _check_names(program: model.Program, entries: Entries) -> None:
    kinds: dict[str, model.DeclKind] = {}
    for module in program.modules:
        for each in module.declarations:
            if not isinstance(each, model.Alias):
                if each.full_name in kinds:
                    raise DescriptorError(f"`{each.full_name}` is declared twice")
                kinds[each.full_name] = each.reference.kind
    thrown = (
        error
        for module in program.modules
        for service in module.services
        for method in service.methods
        for error in method.throws
    )
    for name in (*entries.names(), *thrown):
        if kinds.get(name.full_name) is not name.kind:
            raise DescriptorError(f"{name.kind.value} `{name.full_name}` is not declared")
