"""F6. The views of _methods.py, _client.py, _server.py and _topics.py: the services, methods and topics of
the model, each with its names, types and values as the file that asks for them spells them.

A view is made for one file: what it names is imported there when its template asks.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from mfidl.emit.naming import PYTHON_RESERVED, Scope
from mfidl.emit.python.codec import field_shapes
from mfidl.emit.python.context import Context
from mfidl.emit.python.declarations import noted, places
from mfidl.emit.python.literals import constant_default, is_made_by_call, literal
from mfidl.emit.python.names import MethodNames, ServiceNames, TopicNames, written
from mfidl.emit.python.shapes import shape
from mfidl.emit.python.types import annotation
from mfidl.model import OVERFLOWS, Method, Primitive, Scalar, Service, Stream, Struct, Topic, Type
from mfidl.plan.layout import size_and_align
from mfidl.plan.spelling import signature


class _View:
    """Has what the model says, and more."""

    def __init__(self, context: Context, of: Service | Method | Topic) -> None:
        self._context = context
        self._of = of

    def __getattr__(self, name: str) -> Any:
        return getattr(self._of, name)

    def _own(self, file: str, name: str) -> str:
        return self._context.foreign(file, name, self._context.module.name)

    def _type(self, type_: Type) -> str:
        return annotation(self._context, type_)


class ServiceView(_View):
    """A service; for clients and servants there are two, one of them `awaited`."""

    def __init__(self, context: Context, service: Service, *, awaited: bool = False) -> None:
        super().__init__(context, service)
        self._service = service
        self.names: ServiceNames = context.names.services[service.full_name]
        self.awaited = awaited
        self.methods = [
            MethodView(context, service, method, names, awaited=awaited)
            for method, names in zip(service.methods, self.names.methods, strict=True)
        ]
        self.constants = [each.constant for each in self.names.methods]
        self.written = written(service)
        self.way, self.async_ = ("Async", "async ") if awaited else ("", "")
        self.client = self.names.async_client if awaited else self.names.client
        self.scatter = self.names.async_scatter if awaited else self.names.scatter
        self.servant = self.names.async_servant if awaited else self.names.servant

    @property
    def constant(self) -> str:
        return self._own("_methods", self.names.constant)

    @property
    def bases(self) -> list[str]:
        """Of its clients."""
        return self._context.within(self._service.full_name)

    @property
    def servant_bases(self) -> list[str]:
        """The class of the servants of what it extends, or that of all servants, and the one of its words."""
        context, extended = self._context, next(self._context.program.extended(self._service), None)
        if extended is None:
            base = context.imports.name("mf.core.service", f"{self.way}Servant")
        else:
            names = context.facts.names(extended.module).services[extended.full_name]
            name = names.async_servant if self.awaited else names.servant
            base = context.foreign("_server", name, extended.module)
        return [base, *self.bases]

    @cached_property
    def agent_names(self) -> list[str]:
        """The parameters of at() and on()."""
        assert self._service.agent is not None
        scope = Scope(PYTHON_RESERVED, {"self", "int", "str"})
        return [scope.take(f"{written(self._service.agent)}{plural}") for plural in ("", "s")]

    @cached_property
    def agent_type(self) -> str:
        assert self._service.agent is not None
        return self._type(self._service.agent.spelled)

    @property
    def agent_enum(self) -> str:
        """The enum whose members the agents are; "" for other types."""
        agent = self._service.agent
        return "" if agent is None or isinstance(agent.type, Primitive) else self._type(agent.type)

    @property
    def key(self) -> str:
        """What makes an agent of its text; "" if agents are texts."""
        match self._service.agent and self._service.agent.type:
            case None | Primitive(Scalar.STRING):
                return ""
            case Primitive(Scalar.UUID) as uuid:
                return self._type(uuid)
            case Primitive():
                return "int"
            case _:
                return "self._agent"


class MethodView(_View):
    def __init__(
        self, context: Context, service: Service, method: Method, names: MethodNames, *, awaited: bool
    ) -> None:
        super().__init__(context, method)
        self._method = method
        self._awaited = awaited
        self.names = names
        self.is_own = service.declares(method)
        self.has_items = not method.streams and method.replicated is None
        self.constrained = context.facts.is_constrained(method.params)
        self.deadline = None if method.deadline_ns is None else method.deadline_ns / 1e9
        self.ttl = (
            None if method.cached is None or method.cached.ttl_ns is None else method.cached.ttl_ns / 1e9
        )

    @property
    def constant(self) -> str:
        return self._own("_methods", self.names.constant)

    @cached_property
    def request(self) -> str:
        return self._context.foreign("_types", self.names.request, self.names.module)

    @cached_property
    def result(self) -> str:
        if self.names.result:
            return self._context.foreign("_types", self.names.result, self.names.module)
        fields = self._method.results.fields
        return self._type(fields[0].spelled) if fields else "None"

    @property
    def errors(self) -> list[str]:
        """The codecs of what it throws."""
        return [self._context.codec_name(each.full_name, "{}_CODEC") for each in self._method.throws]

    def shapes(self, struct: Struct) -> tuple[str, ...]:
        return field_shapes(self._context, struct)

    @property
    def elements(self) -> Iterator[tuple[str, str, bool]]:
        """Of each stream: whether of parameters or results, the shape, and whether that is of tier memcpy."""
        for what, stream in (("param", self._method.param_stream), ("result", self._method.result_stream)):
            if stream is not None:
                fixed = size_and_align(stream.type, self._context.program.declarations) is not None
                yield what, shape(self._context, stream.type, stream.constraints), fixed

    @property
    def sent(self) -> str:
        return self._element(self._method.param_stream)

    @property
    def received(self) -> str:
        return self._element(self._method.result_stream)

    def _element(self, stream: Stream | None) -> str:
        return "" if stream is None else self._type(stream.spelled)

    @property
    def stream(self) -> str:
        """The name of the parameter that is a stream."""
        return self._context.stream_name(self._method)

    # For callers

    @property
    def is_written(self) -> bool:
        """Whether only parameters are a stream: callers pass what to iterate over, and get the result."""
        return self._method.param_stream is not None and self._method.result_stream is None

    @cached_property
    def parameters(self) -> list[str]:
        """Those that must be named stand behind a star."""
        struct = self._method.params
        placed = places(struct, with_stream=self.is_written)
        items = ["self"]
        for at, (each, name) in enumerate(zip(struct.fields, self._context.attributes(struct), strict=True)):
            text = f"{name}: {annotation(self._context, each.spelled, given=True)}"
            if placed.left_out(at, each):
                text += " | None" * is_made_by_call(each)
                text += f" = {constant_default(self._context, each)}"
            if at == placed.named_from:
                items.append("*")
            items.append(text)
        if placed.named_from == len(struct.fields):
            items.append("*")
        if self.is_written:
            kinds = ("AsyncIterable", "Iterable") if self._awaited else ("Iterable",)
            outer = (self._context.imports.name("collections.abc", each) for each in kinds)
            items.append(f"{self.stream}: {' | '.join(f'{each}[{self.sent}]' for each in outer)}")
        return items

    @property
    def options_star(self) -> list[str]:
        """The text before a parameter that is always named."""
        return [] if "*" in self.parameters else ["*"]

    @cached_property
    def arguments(self) -> list[str]:
        """The parameters, for the runtime; a default that is mutable is made for each call."""
        items = []
        struct = self._method.params
        for each, name in zip(struct.fields, self._context.attributes(struct), strict=True):
            made = ""
            if each.default is not None and is_made_by_call(each):
                made = f"{literal(self._context, each.type, each.default)} if {name} is None else "
            items.append(made + name)
        return items

    # For servants

    @property
    def given(self) -> list[str]:
        """The parameters of a servant's function."""
        struct = self._method.params
        fields = zip(struct.fields, self._context.attributes(struct), strict=True)
        return ["self", *(f"{name}: {self._type(each.spelled)}" for each, name in fields)]

    @property
    def row(self) -> str:
        """The parameters of `each` request, as a tuple."""
        attributes = self._context.attributes(self._method.params)
        return ", ".join(f"each.{name}" for name in attributes) + "," * (len(attributes) == 1)

    # Documentation

    @cached_property
    def doc(self) -> str:
        return noted(self._method.doc, self._method.deprecated)

    @property
    def signature(self) -> str:
        """As the schema declares it, for what has no doc comment."""
        return signature(self._method, self._method.full_name.rsplit(".", 2)[0])

    @cached_property
    def members(self) -> list[tuple[str, str]]:
        """Parameters and results that have a doc comment, each with it in one line."""
        method, context = self._method, self._context
        told = [
            (name, each.doc)
            for struct in (method.params, method.results)
            for each, name in zip(struct.fields, context.attributes(struct), strict=True)
        ]
        if method.param_stream is not None:
            told.append((self.stream, method.param_stream.doc))
        return [(name, " ".join(doc.split())) for name, doc in told if doc.strip()]

    @property
    def raised(self) -> list[str]:
        return [self._context.error_line(each) for each in self._method.throws]


class TopicView(_View):
    def __init__(self, context: Context, topic: Topic) -> None:
        super().__init__(context, topic)
        self._topic = topic
        self.names: TopicNames = context.names.topics[topic.full_name]
        self.is_limited = topic.overflow != OVERFLOWS

    @cached_property
    def value(self) -> str:
        return self._type(self._topic.type)

    @property
    def codec(self) -> str:
        return self._context.codec_name(self._topic.type.full_name, "{}_CODEC")

    @cached_property
    def agent_type(self) -> str:
        assert self._topic.agent is not None
        return self._type(self._topic.agent.spelled)
