"""F6. The views of _methods.py, _client.py and _server.py."""

from dataclasses import dataclass

from mfidl.emit.naming import PYTHON_RESERVED, Scope
from mfidl.emit.python.codec import fields_text
from mfidl.emit.python.context import Context
from mfidl.emit.python.declarations import decorator, places, with_deprecation
from mfidl.emit.python.layout import bracket, docstring
from mfidl.emit.python.literals import constant_default, is_made_by_call, literal
from mfidl.emit.python.names import MethodNames, ServiceNames, written
from mfidl.emit.python.types import annotation
from mfidl.model import Method, Service, Struct, Tier


@dataclass(frozen=True, slots=True)
class CallView:
    """One generated function: everything up to the colon, its documentation, and its only line."""

    head: str
    doc: str
    body: str
    decorator: str = ""


@dataclass(frozen=True, slots=True)
class ClientView:
    name: str
    scatter: str
    constant: str
    doc: str
    agent: str  # name of the parameter of at(); "" without agent
    agents: str
    agent_type: str
    calls: tuple[CallView, ...]
    scatter_calls: tuple[CallView, ...]


@dataclass(frozen=True, slots=True)
class ServantMethodView:
    head: str
    doc: str
    batch_head: str
    batch_doc: str
    batch_body: str


@dataclass(frozen=True, slots=True)
class ServantView:
    name: str
    constant: str
    doc: str
    methods: tuple[ServantMethodView, ...]


@dataclass(frozen=True, slots=True)
class MethodView:
    constant: str
    types: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ServiceView:
    constant: str
    descriptor_name: str
    arguments: tuple[str, ...]
    descriptor: tuple[str, ...]
    methods: tuple[MethodView, ...]


def method_doc(context: Context, method: Method) -> str:
    """Its doc comment, and those of its parameters and results that have one."""
    doc = with_deprecation(method.doc, method.deprecated)
    parts = [
        f"{name}: {' '.join(each.doc.split())}"
        for struct in (method.params, method.results)
        for each, name in zip(struct.fields, context.attributes(struct), strict=True)
        if each.doc.strip()
    ]
    return "\n\n".join(part for part in (doc, "\n".join(parts)) if part)


class ServiceFile:
    """Views of one file; its context decides what is imported."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def _names(self, service: Service) -> ServiceNames:
        return self._context.names.services[service.full_name]

    def _own(self, file: str, name: str) -> str:
        return self._context.imports.name(f"{self._context.package(self._context.module.name)}.{file}", name)

    def _result_type(self, method: Method, names: MethodNames) -> str:
        if names.result:
            return self._own("_types", names.result)
        if not method.results.fields:
            return "None"
        return annotation(self._context, method.results.fields[0].spelled)


class MethodsFile(ServiceFile):
    def services(self) -> list[ServiceView]:
        return [self._service(each) for each in self._context.module.services]

    def _service(self, service: Service) -> ServiceView:
        names = self._names(service)
        self._context.imports.name("typing", "Final")
        self._context.imports.name("mf.core.service", "ServiceInfo")
        constants = [each.constant for each in names.methods]
        agent = f'"{service.agent.name}"' if service.agent else "None"
        return ServiceView(
            constant=names.constant,
            descriptor_name=names.descriptor,
            arguments=(
                f'name="{service.full_name}"',
                f"agent={agent}",
                f"descriptor={names.descriptor}",
                f'fingerprint=bytes.fromhex("{service.fingerprint.hex()}")',
                bracket("methods=(", constants, ",)" if len(constants) == 1 else ")", 4),
            ),
            descriptor=tuple(service.descriptor.rstrip("\n").split("\n")),
            methods=tuple(
                self._method(at, method, own)
                for at, (method, own) in enumerate(zip(service.methods, names.methods, strict=True))
            ),
        )

    def _method(self, place: int, method: Method, names: MethodNames) -> MethodView:
        """`place`: among the methods that are generated, and so among the routes that a client binds."""
        context = self._context
        context.imports.name("mf.core.service", "Method")
        context.imports.name("mf.codec.method", "method")
        request = self._own("_types", names.request)
        arguments = [f'"{method.full_name}"', str(place), request]
        if method.params.fields:
            arguments.append(self._fields("params=", method.params))
        if method.results.fields:
            arguments.append(self._fields("results=", method.results))
        if names.result:
            arguments.append(f"result={self._own('_types', names.result)}")
        if names.servant_function != method.name:
            arguments.append(f'attribute="{names.servant_function}"')
        if names.servant_batch != f"{method.name}_batch":
            arguments.append(f'batch_attribute="{names.servant_batch}"')
        for what, struct in (("request", method.params), ("result", method.results)):
            if struct.tier is Tier.MEMCPY:
                arguments.append(f"{what}_encoding={context.imports.name('mf.core.service', 'MEMCPY')}")
        if method.throws:
            errors = [context.codec_name(each.full_name, "{}_CODEC") for each in method.throws]
            arguments.append(bracket("errors=(", errors, ",)" if len(errors) == 1 else ")", 4))
        arguments += self._options(method)
        types = f"{request}, {self._result_type(method, names)}"
        return MethodView(names.constant, types, tuple(arguments))

    def _options(self, method: Method) -> list[str]:
        options = []
        if method.idempotent:
            options.append("idempotent=True")
        if method.oneway:
            options.append("oneway=True")
        if self._context.facts.is_constrained(method.params):
            options.append("constrained=True")
        if method.deadline_ns is not None:
            options.append(f"deadline={method.deadline_ns / 1e9!r}")
        if method.batch_max is not None:
            options.append(f"batch_max={method.batch_max}")
        return options

    def _fields(self, before: str, struct: Struct) -> str:
        self._context.imports.name("mf.codec", "shape")
        return fields_text(self._context, struct.fields, self._context.attributes(struct), before)


class ClientFile(ServiceFile):
    def services(self) -> list[ClientView]:
        return [self._service(each) for each in self._context.module.services]

    def _service(self, service: Service) -> ClientView:
        context, names = self._context, self._names(service)
        context.imports.module("mf")
        context.imports.name("mf.core.target", "TargetSource")
        if service.agent:
            context.imports.name("mf.core.target", "Target")
            context.imports.name("collections.abc", "Iterable")
            context.imports.name("mf.core.target", "ScatterTarget")
        calls: list[CallView] = []
        scattered: list[CallView] = []
        for method, own in zip(service.methods, names.methods, strict=True):
            calls += self._calls(method, own)
            result = self._result_type(method, own)
            scattered += self._both(method, own, f"mf.Scattered[{result}]", " from each agent")
        agent = self._agent(service)
        constant = self._own("_methods", names.constant)
        doc = docstring(service.doc or f"Calls {service.full_name}.", 4)
        return ClientView(
            names.client,
            names.scatter,
            constant,
            doc,
            *agent,
            tuple(calls),
            tuple(scattered),
        )

    def _agent(self, service: Service) -> tuple[str, str, str]:
        """The parameters of at() and on(), and the type of an agent; its text is the runtime's business."""
        if service.agent is None:
            return "", "", ""
        scope = Scope(PYTHON_RESERVED, {"self", "int", "str"})
        one, all_ = (scope.take(f"{written(service.agent)}{plural}") for plural in ("", "s"))
        return one, all_, annotation(self._context, service.agent.spelled)

    def _calls(self, method: Method, names: MethodNames) -> list[CallView]:
        result = self._result_type(method, names)
        request = self._own("_types", names.request)
        method_name = self._own("_methods", names.constant)
        sequence = self._context.imports.name("collections.abc", "Sequence")
        requests = f"requests: {sequence}[{request}]"
        marked = decorator(self._context, method.deprecated).rstrip("\n")
        return [
            *self._both(method, names, result, ""),
            CallView(
                self._head(names.batch, [requests], "mf.BatchOptions", f"mf.BatchCall[{result}]"),
                docstring(f"Many calls of `{method.name}`, in as many messages as it takes.", 8),
                f"return self._target.batch({method_name}, requests, options)",
                marked,
            ),
            CallView(
                self._head(names.bulk, [requests], "mf.CallOptions", f"list[mf.Outcome[{result}]]"),
                docstring(f"Many calls of `{method.name}` in one message.", 8),
                f"return self._target.bulk({method_name}, requests, options)",
                marked,
            ),
        ]

    def _both(self, method: Method, names: MethodNames, result: str, whose: str) -> list[CallView]:
        """The blocking and the awaited form."""
        parameters = self._parameters(method.params)
        arguments = [self._own("_methods", names.constant), "options", *self._arguments(method.params)]
        back = "" if not method.results.fields and not whose else "return "
        marked = decorator(self._context, method.deprecated).rstrip("\n")
        return [
            CallView(
                self._head(names.function, parameters, "mf.CallOptions", result),
                docstring(method_doc(self._context, method), 8),
                bracket(f"{back}self._target.call(", arguments, ")", 8),
                marked,
            ),
            CallView(
                "async " + self._head(names.asynchronous, parameters, "mf.CallOptions", result, 6),
                docstring(f"Like `{names.function}`, awaited.", 8),
                bracket(f"{back}await self._target.call_async(", arguments, ")", 8),
                marked,
            ),
        ]

    def _head(self, name: str, parameters: list[str], options: str, result: str, extra: int = 0) -> str:
        star = () if "*" in parameters else ("*",)
        items = ["self", *parameters, *star, f"options: {options} | None = None"]
        flat = f"def {name}({', '.join(items)}) -> {result}:"
        if len(flat) + 4 + extra <= 110:
            return flat
        inner = ", ".join(items)
        if len(inner) + 8 <= 110:
            return f"def {name}(\n        {inner}\n    ) -> {result}:"
        lines = "".join(f"        {each},\n" for each in items)
        return f"def {name}(\n{lines}    ) -> {result}:"

    def _parameters(self, struct: Struct) -> list[str]:
        """Parameters that must be named stand behind a star."""
        placed = places(struct)
        items = []
        for at, (each, name) in enumerate(zip(struct.fields, self._context.attributes(struct), strict=True)):
            text = f"{name}: {annotation(self._context, each.spelled, given=True)}"
            if placed.left_out(at, each):
                text += " | None" * is_made_by_call(each)
                text += f" = {constant_default(self._context, each)}"
            if at == placed.named_from:
                items.append("*")
            items.append(text)
        return items

    def _arguments(self, struct: Struct) -> list[str]:
        items = []
        for each, name in zip(struct.fields, self._context.attributes(struct), strict=True):
            made = ""
            if each.default is not None and is_made_by_call(each):
                made = f"{literal(self._context, each.type, each.default)} if {name} is None else "
            items.append(made + name)
        return items


class ServerFile(ServiceFile):
    def services(self) -> list[ServantView]:
        return [self._service(each) for each in self._context.module.services]

    def _service(self, service: Service) -> ServantView:
        context, names = self._context, self._names(service)
        context.imports.module("mf")
        context.imports.name("abc", "ABC")
        context.imports.name("mf.core.service", "Servant")
        context.imports.name("typing", "ClassVar")
        methods = tuple(
            self._method(method, own) for method, own in zip(service.methods, names.methods, strict=True)
        )
        doc = docstring(service.doc or f"Serves {service.full_name}.", 4)
        return ServantView(names.servant, self._own("_methods", names.constant), doc, methods)

    def _method(self, method: Method, names: MethodNames) -> ServantMethodView:
        self._context.imports.name("abc", "abstractmethod")
        sequence = self._context.imports.name("collections.abc", "Sequence")
        result = self._result_type(method, names)
        request = self._own("_types", names.request)
        fields = zip(method.params.fields, self._context.attributes(method.params), strict=True)
        parameters = [f"{name}: {annotation(self._context, each.spelled)}" for each, name in fields]
        attributes = self._context.attributes(method.params)
        parts = ", ".join(f"each.{name}" for name in attributes)
        row = f"({parts},)" if len(attributes) == 1 else f"({parts})"
        outcome = "None" if method.oneway else f"list[mf.Outcome[{result}]]"
        function = f"self.{names.servant_function}"
        rows = f"({row} for {'each' if parts else '_'} in requests)"
        call = bracket("mf.each(" if method.oneway else "return mf.each(", [function, rows], ")", 8)
        return ServantMethodView(
            head=bracket(f"def {names.servant_function}(", ["self", *parameters], f") -> {result}:", 4),
            doc=docstring(method_doc(self._context, method), 8),
            batch_head=bracket(
                f"def {names.servant_batch}(",
                ["self", f"requests: {sequence}[{request}]"],
                f") -> {outcome}:",
                4,
            ),
            batch_doc=docstring(
                f"All items of a message that has more than one; here `{names.servant_function}` for each.", 8
            ),
            batch_body=call,
        )
