"""F6. Views of services: descriptions, clients, servants, and how each method is called in all of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from mfidl.emit.cpp.names import MethodNames, ServiceNames
from mfidl.emit.cpp.structs import Describer
from mfidl.emit.cpp.text import block, deprecation, doc, fill, initialised
from mfidl.emit.cpp.view import ConstraintsView, FunctionView, MethodView, ServiceView, StructView
from mfidl.model import Method, Module, Service, Type, Value

_DEFAULT_BATCH = 128


def service_view(describer: Describer, service: Service, module: Module) -> ServiceView:
    names = describer.names.module(module.name).service(service)
    methods = tuple(
        _MethodMaker(describer, module, service, names, method, named).view()
        for method, named in zip(service.methods, names.methods, strict=True)
    )
    listed = _by_index(service)
    return ServiceView(
        doc=doc(service.doc),
        attribute=deprecation(service.deprecated),
        full_name=service.full_name,
        client=names.client,
        scatter=names.scatter,
        servant=names.servant,
        async_servant=names.async_servant,
        info=names.info,
        descriptor=names.descriptor,
        descriptor_text=service.descriptor,
        method_list=names.method_list,
        method_names=initialised(
            f"inline constexpr std::array<std::string_view, {len(listed)}> {names.method_list}",
            [f'"{name}"' for name in listed],
            middle=False,
        ),
        per_agent="true" if service.agent else "false",
        fingerprint=fill("    .fingerprint = {", [f"0x{byte:02x}" for byte in service.fingerprint], "},"),
        agent=names.agent,
        agents=names.agents,
        methods=methods,
        client_template="cpp/client/agents.j2" if service.agent else "cpp/client/single.j2",
        selection_template="cpp/client/selection.j2" if service.agent else "cpp/nothing.j2",
        scatter_template="cpp/client/scatter_source.j2" if service.agent else "cpp/nothing.j2",
        dispatch_template="cpp/server/dispatch.j2",
    )


def _by_index(service: Service) -> list[str]:
    """The names of the methods, also of those that are not generated: a name's place is its index."""
    opening = " method "
    return [line[len(opening) :] for line in service.descriptor.splitlines() if line.startswith(opening)]


def implicit_structs(describer: Describer, service: Service, module: Module) -> list[StructView]:
    """The structs of parameters and of several results, in the order of the methods."""
    names = describer.names.module(module.name).service(service)
    views = []
    for method, named in zip(service.methods, names.methods, strict=True):
        template = "cpp/types/struct.j2"
        views.append(describer.struct(method.params, named.request, named.params, module, template))
        if named.result is not None:
            views.append(describer.struct(method.results, named.result, named.results, module, template))
    return views


def method_types(service: Service) -> list[Type]:
    """All types that the signatures of a service name."""
    return [
        type_
        for method in service.methods
        for field in (*method.params.fields, *method.results.fields)
        for type_ in (field.spelled, field.type)
    ] + [error for method in service.methods for error in method.throws]


@dataclass(frozen=True, slots=True)
class _MethodMaker:
    """Makes the view of one method. `home` types are for its own namespace, others for anywhere."""

    describer: Describer
    module: Module
    service: Service
    service_names: ServiceNames
    method: Method
    names: MethodNames

    def view(self) -> MethodView:
        method, names = self.method, self.names
        result_checks = self._result_checks()
        errors = [self.describer.types.declared(each.full_name) for each in method.throws]
        return MethodView(
            doc=doc(method.doc, indent=2) + self._contract(),
            name=names.description,
            function=names.function,
            servant=self._qualified(self.service_names.servant),
            async_servant=self._qualified(self.service_names.async_servant),
            request=self._qualified(names.request),
            result=self._result(""),
            errors=f"mf::ErrorList<{', '.join(errors)}>",
            request_tier=method.params.tier.value,
            result_tier=method.results.tier.value,
            info=self._info(),
            local_invoke=self._local_invoke(),
            invokes=self._invokes(),
            result_checks=result_checks,
            result_check_template="cpp/methods/result_check.j2"
            if result_checks.statements
            else "cpp/nothing.j2",
            call=self._call(),
            asynchronous=(self._async(()), self._async(("const mf::CallOptions& options",))),
            batch=self._many(names.batch, "batch", "mf::BatchCall<{}>", "mf::BatchOptions"),
            bulk=self._many(names.bulk, "bulk", "mf::Outcomes<{}>", "mf::CallOptions"),
            scatter=self._scatter(),
            scatter_bulk=self._scatter_bulk(),
            handler=self._handler(),
            batch_handler=self._batch_handler(),
            async_handler=self._async_handler(),
        )

    def _contract(self) -> tuple[str, ...]:
        """What the schema says of parameters, results and errors, in the words of Doxygen."""
        method = self.method
        tags = [
            f"@param {name} {field.doc}"
            for field, name in zip(method.params.fields, self.names.params, strict=True)
            if field.doc
        ]
        results = [
            each.doc if method.single_result else f"{name}: {each.doc}"
            for each, name in zip(method.results.fields, self.names.results, strict=True)
            if each.doc
        ]
        tags += [f"@return {'; '.join(' '.join(each.split()) for each in results)}"] if results else []
        for error in method.throws:
            first = next(iter(self.describer.program.struct(error).doc.splitlines()), "")
            name = self.describer.types.declared(error.full_name, self._home).removeprefix("::")
            tags.append(f"@throws {name} {first}".rstrip())
        return tuple(line for tag in tags for line in doc(" ".join(tag.split()), indent=2))

    @property
    def _home(self) -> str:
        return self.module.name

    def _qualified(self, name: str) -> str:
        return f"::{self.describer.names.module(self.module.name).namespace}::{name}"

    def _result(self, home: str) -> str:
        if self.names.result is not None:
            return self.names.result if home else self._qualified(self.names.result)
        if self.method.single_result:
            return self.describer.types.spell(self.method.results.fields[0].spelled, home)
        return "void"

    def _result_checks(self) -> ConstraintsView:
        """Of a bare result only: one in a struct is checked by its Constraints."""
        if not self.method.single_result:
            return ConstraintsView(())
        return self.describer.codecs.result_constraints(self.method.results.fields[0])

    def _info(self) -> str:
        method = self.method
        deadline = f"std::chrono::nanoseconds({method.deadline_ns})" if method.deadline_ns else "{}"
        items = [
            f'.name = "{method.name}"',
            f".index = {method.index}",
            f".idempotent = {_boolean(method.idempotent)}",
            f".oneway = {_boolean(method.oneway)}",
            f".deadline = {deadline}",
            f".batch_max = {method.batch_max or _DEFAULT_BATCH}",
        ]
        return initialised("static constexpr mf::MethodInfo kInfo", items, indent=2)

    def _parameters(self, home: str, defaults: bool) -> list[str]:
        """As the user sees them; a default may only stand where all that follow have one."""
        fields = self.method.params.fields
        with_default = len(fields)
        while defaults and with_default and fields[with_default - 1].default is not None:
            with_default -= 1
        return [
            self._parameter(field.spelled, name, home)
            + (self._default(field.default, field.type, home) if defaults and i >= with_default else "")
            for i, (field, name) in enumerate(zip(fields, self.names.params, strict=True))
        ]

    def _parameter(self, type_: Type, name: str, home: str) -> str:
        spelled = self.describer.types.spell(type_, home)
        return f"{spelled} {name}" if self.describer.types.by_value(type_) else f"const {spelled}& {name}"

    def _default(self, value: Value | None, type_: Type, home: str) -> str:
        assert value is not None
        return f" = {self.describer.literals.of(value, type_, home)}"

    def _function(
        self, owner: str, result: str, name: str, plain: Sequence[str], defaulted: Sequence[str], tail: str
    ) -> tuple[str, str]:
        old = deprecation(self.method.deprecated)
        declaration = fill(f"{old}{result} {name}(", defaulted, f"){tail};", indent=2)
        definition = fill(f"{result} {owner}::{name}(", plain, f"){tail} {{")
        return declaration, definition

    def _runtime_call(self, function: str, arguments: Sequence[str], indent: int = 2) -> str:
        head = f"return mf::client::{function}<methods::{self.names.description}>("
        return fill(head, arguments, ");", indent=indent)

    def _call(self) -> FunctionView:
        options = "const mf::CallOptions& options"
        declaration, definition = self._function(
            self.service_names.client,
            self._result(self._home),
            self.names.function,
            [*self._parameters(self._home, defaults=False), options],
            [*self._parameters(self._home, defaults=True), f"{options} = {{}}"],
            " const",
        )
        body = self._runtime_call("call", ["target_", "options", *self.names.params])
        return FunctionView(declaration, definition, body)

    def _async(self, options: Sequence[str]) -> str:
        parameters = [*self._parameters(self._home, defaults=False), *options, "Token&& token"]
        given = "options" if options else "{}"
        old = deprecation(self.method.deprecated)
        head = fill(f"{old}auto {self.names.asynchronous}(", parameters, ") const {", indent=2)
        head = head.lstrip().removesuffix(" {")
        body = self._runtime_call(
            "start", ["target_", given, "std::forward<Token>(token)", *self.names.params], indent=4
        )
        return block(head, [body.lstrip()])

    def _many(self, name: str, function: str, result: str, options: str) -> FunctionView:
        requests = f"std::span<const {self.names.request}> requests"
        declaration, definition = self._function(
            self.service_names.client,
            result.format(self._result(self._home)),
            name,
            [requests, f"const {options}& options"],
            [requests, f"const {options}& options = {{}}"],
            " const",
        )
        body = self._runtime_call(function, ["target_", "options", "requests"])
        return FunctionView(declaration, definition, body)

    def _scatter(self) -> FunctionView:
        options = "const mf::CallOptions& options"
        declaration, definition = self._function(
            self.service_names.scatter,
            f"mf::Scattered<{self._result(self._home)}>",
            self.names.function,
            [*self._parameters(self._home, defaults=False), options],
            [*self._parameters(self._home, defaults=True), f"{options} = {{}}"],
            " const",
        )
        body = self._runtime_call("call", ["target_", "options", *self.names.params])
        return FunctionView(declaration, definition, body)

    def _scatter_bulk(self) -> FunctionView:
        requests = f"std::span<const {self.names.request}> requests"
        declaration, definition = self._function(
            self.service_names.scatter,
            f"mf::Scattered<mf::Outcomes<{self._result(self._home)}>>",
            self.names.bulk,
            [requests, "const mf::CallOptions& options"],
            [requests, "const mf::CallOptions& options = {}"],
            " const",
        )
        return FunctionView(
            declaration, definition, self._runtime_call("bulk", ["target_", "options", "requests"])
        )

    def _handler(self) -> FunctionView:
        head = f"virtual {self._result(self._home)} {self.names.function}("
        return FunctionView(fill(head, self._parameters(self._home, defaults=False), ") = 0;", indent=2))

    def _batch_handler(self) -> FunctionView:
        requests = [f"std::span<const {self.names.request}> requests"]
        result = "void" if self.method.oneway else f"mf::Outcomes<{self._result(self._home)}>"
        declaration = fill(f"virtual {result} {self.names.batch}(", requests, ");", indent=2)
        definition = fill(f"{result} {self.service_names.servant}::{self.names.batch}(", requests, ") {")
        return FunctionView(declaration, definition)

    def _async_handler(self) -> FunctionView:
        parameters = [f"{self.names.request} request"]
        if not self.method.oneway:
            parameters.append(f"mf::Responder<{self._result(self._home)}> responder")
        return FunctionView(fill(f"virtual void {self.names.function}(", parameters, ") = 0;", indent=2))

    @property
    def _servant(self) -> str:
        return f"{self._qualified(self.service_names.servant)}& servant"

    def _local_invoke(self) -> FunctionView:
        arguments = [
            f"const {self.describer.types.spell(field.spelled)}& {name}"
            for field, name in zip(self.method.params.fields, self.names.params, strict=True)
        ]
        return self._invoke(
            self._result(""),
            "invoke",
            [self._servant, *arguments],
            self.names.function,
            self.names.params,
            "inline ",
        )

    def _invokes(self) -> tuple[FunctionView, ...]:
        async_servant = f"{self._qualified(self.service_names.async_servant)}& servant"
        result = self._result("")
        names = self.names
        request_used = "request" if names.params else "/*request*/"
        many = "void" if self.method.oneway else f"mf::Outcomes<{result}>"
        asynchronous = [async_servant, "Request&& request"]
        forwarded = ["std::move(request)" if self.method.params.layout is None else "request"]
        if not self.method.oneway:
            asynchronous.append(f"mf::Responder<{result}> responder")
            forwarded.append("std::move(responder)")
        return (
            self._invoke(
                result,
                "invoke",
                [self._servant, f"const Request& {request_used}"],
                names.function,
                [f"request.{each}" for each in names.params],
            ),
            self._invoke(
                many,
                "invoke_batch",
                [self._servant, "const Request* requests", "std::size_t count"],
                names.batch,
                ["{requests, count}"],
            ),
            self._invoke("void", "invoke", asynchronous, names.function, forwarded),
        )

    def _invoke(
        self,
        result: str,
        name: str,
        parameters: Sequence[str],
        function: str,
        arguments: Sequence[str],
        specifier: str = "",
    ) -> FunctionView:
        declared = [each.replace("/*request*/", "request") for each in parameters]
        return FunctionView(
            declaration=fill(f"static {result} {name}(", declared, ");", indent=2),
            definition=fill(f"{specifier}{result} {self.names.description}::{name}(", parameters, ") {"),
            body=fill(f"return servant.{function}(", arguments, ");", indent=2),
        )


def _boolean(value: bool) -> str:
    return "true" if value else "false"
