"""F6. Model to message. The same program gives the same bytes on every machine: no paths, times or maps."""

from collections.abc import Iterable

from mfidl import model
from mfidl.descriptor import descriptor_pb2 as pb
from mfidl.descriptor.tables import TypeTable, ValueTable, constraints
from mfidl.descriptor.words import to_int64
from mfidl.source import Span

FORMAT = 1


def to_message(program: model.Program) -> pb.Program:
    """All of the program."""
    return _Writer().write(program)


class _Writer:
    def __init__(self) -> None:
        self._message = pb.Program(format=FORMAT)
        self._types = TypeTable(self._message)
        self._values = ValueTable(self._message)

    def write(self, program: model.Program) -> pb.Program:
        for module in program.modules:
            self._message.modules.append(self._module(module))
        return self._message

    def _module(self, module: model.Module) -> pb.Module:
        return pb.Module(
            name=module.name,
            path=module.path,
            requested=module.requested,
            doc=module.doc,
            imports=[pb.Import(module=each.module, local_name=each.local_name) for each in module.imports],
            constants=[self._const(each) for each in module.constants],
            agents=[self._agent(each) for each in module.agents],
            declarations=[self._declaration(each) for each in module.declarations],
            services=[self._service(each) for each in module.services],
            topics=[self._topic(each) for each in module.topics],
            annotation_types=[self._struct(each) for each in module.annotation_types],
            annotations=self._own(module.annotations),
        )

    def _own(self, annotations: model.Annotations) -> list[int]:
        return [self._values.add(each) for each in annotations]

    def _declaration(self, declaration: model.Declaration) -> pb.Declaration:
        match declaration:
            case model.Struct():
                return pb.Declaration(struct=self._struct(declaration))
            case model.Union():
                return pb.Declaration(union=self._union(declaration))
            case model.Enum():
                return pb.Declaration(enum=self._enum(declaration))
            case model.Flags():
                return pb.Declaration(flags=self._flags(declaration))
            case model.Alias():
                return pb.Declaration(alias=self._alias(declaration))

    def _struct(self, struct: model.Struct) -> pb.Struct:
        message = pb.Struct(
            name=struct.name,
            full_name=struct.full_name,
            kind=struct.kind.name,
            fields=self._fields(struct.fields),
            doc=struct.doc,
            asked_tier=_tier(struct.asked_tier),
            cycle=sorted(struct.cycle),
            reserved=_reserved(struct.reserved),
            deprecated=struct.deprecated,
            target_names=_names(struct.target_names),
            plan=_plan(struct.plan),
            span=_span(struct.span),
            annotations=self._own(struct.annotations),
            within=struct.within,
        )
        if (cpp := struct.cpp_codec) is not None:
            message.cpp_codec.CopyFrom(pb.CppCodec(header=cpp.header, type=cpp.type, codec=cpp.codec))
        if (python := struct.python_codec) is not None:
            message.python_codec.CopyFrom(pb.PythonCodec(module=python.module, codec=python.codec))
        if (existing := struct.cpp_type) is not None:
            message.cpp_type.CopyFrom(pb.CppType(header=existing.header, type=existing.type))
        return message

    def _union(self, union: model.Union) -> pb.Union:
        return pb.Union(
            name=union.name,
            full_name=union.full_name,
            alternatives=self._fields(union.alternatives),
            doc=union.doc,
            asked_tier=_tier(union.asked_tier),
            cycle=sorted(union.cycle),
            reserved=_reserved(union.reserved),
            deprecated=union.deprecated,
            target_names=_names(union.target_names),
            plan=_plan(union.plan),
            span=_span(union.span),
            annotations=self._own(union.annotations),
            within=union.within,
        )

    def _fields(self, fields: Iterable[model.Field]) -> list[pb.Field]:
        return [self._field(each) for each in fields]

    def _field(self, field: model.Field) -> pb.Field:
        return pb.Field(
            name=field.name,
            type=self._types.add(field.type),
            spelled=self._types.add(field.spelled),
            doc=field.doc,
            default=None if field.default is None else self._values.add(field.default),
            constraints=constraints(field.constraints),
            number=field.number,
            was=field.was,
            deprecated=field.deprecated,
            target_names=_names(field.target_names),
            required=field.required,
            span=_span(field.span),
            annotations=self._own(field.annotations),
        )

    def _enum(self, enum: model.Enum) -> pb.Enum:
        return pb.Enum(
            name=enum.name,
            full_name=enum.full_name,
            base=enum.base.scalar.name,
            open=enum.open,
            members=[
                pb.EnumMember(
                    name=each.name,
                    number=to_int64(each.number),
                    doc=each.doc,
                    deprecated=each.deprecated,
                    target_names=_names(each.target_names),
                    span=_span(each.span),
                    annotations=self._own(each.annotations),
                )
                for each in enum.members
            ],
            doc=enum.doc,
            deprecated=enum.deprecated,
            target_names=_names(enum.target_names),
            span=_span(enum.span),
            annotations=self._own(enum.annotations),
            within=enum.within,
        )

    def _flags(self, flags: model.Flags) -> pb.Flags:
        return pb.Flags(
            name=flags.name,
            full_name=flags.full_name,
            base=flags.base.scalar.name,
            members=[
                pb.FlagsMember(
                    name=each.name,
                    bit=each.bit,
                    doc=each.doc,
                    deprecated=each.deprecated,
                    target_names=_names(each.target_names),
                    span=_span(each.span),
                    annotations=self._own(each.annotations),
                )
                for each in flags.members
            ],
            doc=flags.doc,
            deprecated=flags.deprecated,
            target_names=_names(flags.target_names),
            span=_span(flags.span),
            annotations=self._own(flags.annotations),
            within=flags.within,
        )

    def _alias(self, alias: model.Alias) -> pb.Alias:
        return pb.Alias(
            name=alias.name,
            full_name=alias.full_name,
            type=self._types.add(alias.type),
            spelled=self._types.add(alias.spelled),
            doc=alias.doc,
            constraints=constraints(alias.constraints),
            deprecated=alias.deprecated,
            target_names=_names(alias.target_names),
            cpp_view=alias.cpp_view,
            span=_span(alias.span),
            annotations=self._own(alias.annotations),
            within=alias.within,
        )

    def _const(self, const: model.Const) -> pb.Const:
        return pb.Const(
            name=const.name,
            full_name=const.full_name,
            type=self._types.add(const.type),
            spelled=self._types.add(const.spelled),
            value=self._values.add(const.value),
            doc=const.doc,
            deprecated=const.deprecated,
            target_names=_names(const.target_names),
            span=_span(const.span),
            annotations=self._own(const.annotations),
        )

    def _agent(self, agent: model.Agent) -> pb.Agent:
        return pb.Agent(
            name=agent.name,
            full_name=agent.full_name,
            type=self._types.add(agent.type),
            spelled=self._types.add(agent.spelled),
            doc=agent.doc,
            deprecated=agent.deprecated,
            target_names=_names(agent.target_names),
            span=_span(agent.span),
            annotations=self._own(agent.annotations),
        )

    def _service(self, service: model.Service) -> pb.Service:
        return pb.Service(
            name=service.name,
            full_name=service.full_name,
            agent=service.agent.full_name if service.agent is not None else "",
            methods=[self._method(each) for each in service.methods],
            doc=service.doc,
            deprecated=service.deprecated,
            target_names=_names(service.target_names),
            descriptor=service.descriptor,
            fingerprint=service.fingerprint,
            annex=service.annex,
            extends=service.extends or "",
            span=_span(service.span),
            annotations=self._own(service.annotations),
        )

    def _method(self, method: model.Method) -> pb.Method:
        message = pb.Method(
            name=method.name,
            full_name=method.full_name,
            index=method.index,
            params=self._struct(method.params),
            results=self._struct(method.results),
            single_result=method.single_result,
            throws=[each.full_name for each in method.throws],
            oneway=method.oneway,
            idempotent=method.idempotent,
            deadline_ns=method.deadline_ns,
            batch_max=method.batch_max,
            replicated=method.replicated,
            param_stream=self._stream(method.param_stream),
            result_stream=self._stream(method.result_stream),
            ordered=method.ordered,
            was=method.was,
            doc=method.doc,
            deprecated=method.deprecated,
            target_names=_names(method.target_names),
            span=_span(method.span),
            annotations=self._own(method.annotations),
        )
        if (cache := method.cached) is not None:
            message.cached.CopyFrom(
                pb.Cache(
                    entries=cache.entries,
                    ttl_ns=cache.ttl_ns,
                    max_bytes=cache.max_bytes,
                    errors=cache.errors,
                )
            )
        return message

    def _stream(self, stream: model.Stream | None) -> pb.Stream | None:
        if stream is None:
            return None
        return pb.Stream(
            name=stream.name,
            type=self._types.add(stream.type),
            spelled=self._types.add(stream.spelled),
            constraints=constraints(stream.constraints),
            doc=stream.doc,
            span=_span(stream.span),
        )

    def _topic(self, topic: model.Topic) -> pb.Topic:
        return pb.Topic(
            name=topic.name,
            full_name=topic.full_name,
            agent=topic.agent.full_name if topic.agent is not None else "",
            type=self._types.add(topic.type),
            replay=topic.replay,
            overflow=topic.overflow,
            doc=topic.doc,
            deprecated=topic.deprecated,
            target_names=_names(topic.target_names),
            descriptor=topic.descriptor,
            fingerprint=topic.fingerprint,
            annex=topic.annex,
            span=_span(topic.span),
            annotations=self._own(topic.annotations),
        )


def _tier(tier: model.Tier | None) -> str | None:
    return None if tier is None else tier.name


def _reserved(reserved: model.Reserved) -> pb.Reserved | None:
    if not (reserved.numbers or reserved.names):
        return None
    ranges = [pb.NumberRange(first=first, last=last) for first, last in reserved.numbers]
    return pb.Reserved(numbers=ranges, names=reserved.names)


def _names(names: model.TargetNames) -> list[pb.TargetName]:
    return [pb.TargetName(target=target, name=name) for target, name in names]


def _plan(plan: model.StructPlan) -> pb.Plan:
    layout = plan.layout
    if layout is None:
        return pb.Plan(tier=plan.tier.name, reason=plan.reason)
    slots = [
        pb.Slot(name=each.name, offset=each.offset, size=each.size, align=each.align) for each in layout.slots
    ]
    padding = [pb.Padding(offset=each.offset, size=each.size) for each in layout.padding]
    image = pb.Layout(size=layout.size, align=layout.align, slots=slots, padding=padding)
    return pb.Plan(tier=plan.tier.name, reason=plan.reason, layout=image)


def _span(span: Span | None) -> pb.Span | None:
    if span is None:
        return None
    line, column = span.file.position(span.start)
    return pb.Span(start=span.start, end=span.end, line=line, column=column)
