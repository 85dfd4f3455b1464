"""F6. The views of _methods.py, _client.py and _server.py."""

from dataclasses import dataclass

from mfidl.emit.naming import PYTHON_RESERVED, Scope
from mfidl.emit.python.codec import plain_kind
from mfidl.emit.python.context import Context, attributes
from mfidl.emit.python.declarations import first_default
from mfidl.emit.python.layout import bracket, docstring
from mfidl.emit.python.literals import constant_default, is_made_by_call, literal
from mfidl.emit.python.names import MethodNames, ServiceNames
from mfidl.emit.python.types import annotation
from mfidl.model import Method, Named, Service, Struct, Tier


@dataclass(frozen=True, slots=True)
class CallView:
    """One generated function: everything up to the colon, its documentation, and its only line."""

    head: str
    doc: str
    body: str


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
        methods = bracket(
            "methods=(",
            constants[:1] if len(constants) == 1 else constants,
            ",)" if len(constants) == 1 else ")",
            4,
        )
        agent = f'"{service.agent.name}"' if service.agent else "None"
        descriptor = f"{names.constant.removesuffix('_SERVICE')}_DESCRIPTOR"
        return ServiceView(
            constant=names.constant,
            descriptor_name=descriptor,
            arguments=(
                f'name="{service.full_name}"',
                f"agent={agent}",
                f"descriptor={descriptor}",
                f'fingerprint=bytes.fromhex("{service.fingerprint.hex()}")',
                methods,
            ),
            descriptor=tuple(service.descriptor.rstrip("\n").split("\n")),
            methods=tuple(
                self._method(method, own) for method, own in zip(service.methods, names.methods, strict=True)
            ),
        )

    def _method(self, method: Method, names: MethodNames) -> MethodView:
        context = self._context
        context.imports.name("mf.core.service", "Method")
        request = self._own("_types", names.request)
        params = context.codec_name_of_part(method.params.full_name)
        results = context.codec_name_of_part(method.results.full_name)
        arguments = [
            f'name="{method.name}"',
            f"index={method.index}",
            f'attribute="{names.servant_function}"',
            f'batch_attribute="{names.servant_batch}"',
            f"request={request}",
            f"request_encoding={self._encoding(method.params)}",
            f"result_encoding={self._encoding(method.results)}",
            f"encode_request={self._encode_request(method, params, request)}",
            f"encode_requests={params}.encode_all",
            f"decode_request={params}.decode",
            f"decode_requests={params}.decode_all",
            f"encode_result={results}.encode",
            f"encode_results={results}.encode_all",
            f"decode_result={results}.decode",
            f"decode_results={results}.decode_all",
            f"decode_results_at={results}.decode_at",
        ]
        if method.throws:
            errors = [self._error(each) for each in method.throws]
            arguments.append(bracket("errors=(", errors, ",)" if len(errors) == 1 else ")", 4))
        if method.idempotent:
            arguments.append("idempotent=True")
        if method.oneway:
            arguments.append("oneway=True")
        if context.facts.is_constrained(method.params):
            arguments.append("constrained=True")
        if method.deadline_ns is not None:
            arguments.append(f"deadline={method.deadline_ns / 1e9!r}")
        if method.batch_max is not None:
            arguments.append(f"batch_max={method.batch_max}")
        return MethodView(names.constant, f"{request}, {self._result_type(method, names)}", tuple(arguments))

    def _encode_request(self, method: Method, params: str, request: str) -> str:
        if plain_kind(method.params):
            return f"{params}.encode_parts"
        return f"lambda *parts: {params}.encode({request}(*parts))"

    def _encoding(self, struct: Struct) -> str:
        return self._context.imports.name(
            "mf.core.service", "MEMCPY" if struct.tier is Tier.MEMCPY else "FEBIRD"
        )

    def _error(self, error: Named) -> str:
        name = self._context.type_name(error.full_name)
        codec = self._context.codec_name(error.full_name, "{}_CODEC")
        kind = self._context.imports.name("mf.core.service", "ErrorCodec")
        return f"{kind}({name}, encode={codec}.encode, decode={codec}.decode)"


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
        one, all_ = scope.take(service.agent.name), scope.take(f"{service.agent.name}s")
        return one, all_, annotation(self._context, service.agent.spelled)

    def _calls(self, method: Method, names: MethodNames) -> list[CallView]:
        result = self._result_type(method, names)
        request = self._own("_types", names.request)
        method_name = self._own("_methods", names.constant)
        sequence = self._context.imports.name("collections.abc", "Sequence")
        requests = f"requests: {sequence}[{request}]"
        return [
            *self._both(method, names, result, ""),
            CallView(
                self._head(names.batch, [requests], "mf.BatchOptions", f"mf.BatchCall[{result}]"),
                docstring(f"Many calls of `{method.name}`, in as many messages as it takes.", 8),
                f"return self._target.batch({method_name}, requests, options)",
            ),
            CallView(
                self._head(names.bulk, [requests], "mf.CallOptions", f"list[mf.Outcome[{result}]]"),
                docstring(f"Many calls of `{method.name}` in one message.", 8),
                f"return self._target.bulk({method_name}, requests, options)",
            ),
        ]

    def _both(self, method: Method, names: MethodNames, result: str, whose: str) -> list[CallView]:
        """The blocking and the awaited form."""
        parameters = self._parameters(method.params)
        arguments = [self._own("_methods", names.constant), "options", *self._arguments(method.params)]
        back = "" if not method.results.fields and not whose else "return "
        doc = docstring(method.doc, 8)
        return [
            CallView(
                self._head(names.function, parameters, "mf.CallOptions", result),
                doc,
                back + bracket("self._target.call(", arguments, ")", 8),
            ),
            CallView(
                "async " + self._head(names.asynchronous, parameters, "mf.CallOptions", result, 6),
                docstring(f"Like `{names.function}`, awaited.", 8),
                back + bracket("await self._target.call_async(", arguments, ")", 8),
            ),
        ]

    def _head(self, name: str, parameters: list[str], options: str, result: str, extra: int = 0) -> str:
        items = ["self", *parameters, "*", f"options: {options} | None = None"]
        flat = f"def {name}({', '.join(items)}) -> {result}:"
        if len(flat) + 4 + extra <= 110:
            return flat
        inner = ", ".join(items)
        if len(inner) + 8 <= 110:
            return f"def {name}(\n        {inner}\n    ) -> {result}:"
        lines = "".join(f"        {each},\n" for each in items)
        return f"def {name}(\n{lines}    ) -> {result}:"

    def _parameters(self, struct: Struct) -> list[str]:
        """A default stands in the signature where all parameters behind it have one too."""
        from_here = first_default(struct)
        items = []
        for at, (each, name) in enumerate(zip(struct.fields, attributes(struct), strict=True)):
            text = f"{name}: {annotation(self._context, each.spelled, given=True)}"
            if at >= from_here:
                text += " | None" * is_made_by_call(each)
                text += f" = {constant_default(self._context, each)}"
            items.append(text)
        return items

    def _arguments(self, struct: Struct) -> list[str]:
        from_here = first_default(struct)
        items = []
        for at, (each, name) in enumerate(zip(struct.fields, attributes(struct), strict=True)):
            made = ""
            if at >= from_here and each.default is not None and is_made_by_call(each):
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
        fields = zip(method.params.fields, attributes(method.params), strict=True)
        parameters = [f"{name}: {annotation(self._context, each.spelled)}" for each, name in fields]
        parts = ", ".join(f"each.{name}" for name in names.params)
        row = f"({parts},)" if len(names.params) == 1 else f"({parts})"
        outcome = "None" if method.oneway else f"list[mf.Outcome[{result}]]"
        function = f"self.{names.servant_function}"
        rows = f"({row} for {'each' if parts else '_'} in requests)"
        call = bracket("mf.each(", [function, rows], ")", 8)
        return ServantMethodView(
            head=bracket(f"def {names.servant_function}(", ["self", *parameters], f") -> {result}:", 4),
            doc=docstring(method.doc, 8),
            batch_head=bracket(
                f"def {names.servant_batch}(",
                ["self", f"requests: {sequence}[{request}]"],
                f") -> {outcome}:",
                4,
            ),
            batch_doc=docstring(
                f"All items of a message that has more than one; here `{names.servant_function}` for each.", 8
            ),
            batch_body=call if method.oneway else f"return {call}",
        )
