"""F6. Views of methods: the description of each, and how it is called from a client and in a servant."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mfidl.emit.cpp.literals import chrono
from mfidl.emit.cpp.names import MethodNames, ServiceNames
from mfidl.emit.cpp.structs import Describer
from mfidl.emit.cpp.text import block, deprecation, doc, fill, initialised
from mfidl.emit.cpp.view import CheckView, ConstraintsView, FunctionView, MethodView
from mfidl.model import Method, Module, Service, Stream, Type, Value
from mfidl.plan.layout import size_and_align

_DEFAULT_BATCH = 128
_SERVANT = "Servant& servant"

_CALL_OPTIONS = "const mf::CallOptions& options"
_REPLICATED_OPTIONS = "const mf::ReplicatedOptions& options"
_VERSION = "const mf::Version& version"


@dataclass(frozen=True, slots=True)
class MethodMaker:
    """Makes the view of one method. `home` types are for its own namespace, others for anywhere."""

    describer: Describer
    module: Module
    service: Service
    service_names: ServiceNames
    method: Method
    names: MethodNames

    def view(self) -> MethodView:
        method, names = self.method, self.names
        errors = [self.describer.types.declared(each.full_name) for each in method.throws]
        call = self._call()
        alone = bool(method.streams) or method.replicated is not None
        many = () if alone else (self._batch(), self._bulk())
        if method.cached is not None:
            many = (self._forget(), self._cache(), *many)
        return MethodView(
            doc=self._doc(streams=False),
            handler_doc=self._doc(streams=True),
            name=names.description,
            function=names.function,
            request=self._qualified(names.request),
            result=self._result(""),
            errors=f"mf::ErrorList<{', '.join(errors)}>",
            request_tier=method.params.tier.value,
            result_tier=method.results.tier.value,
            elements=tuple(self._elements()),
            info=self._info(),
            local_invokes=() if alone else (self._local_invoke(),),
            invokes=self._invokes_of_kind(),
            checks=tuple(self._checks()),
            call=call,
            asynchronous=tuple(self._asynchronous()),
            many=many,
            scatters=() if alone else (self._scatter(), self._scatter_bulk()),
            handler=self._handler(),
            items_handlers=() if alone else (self._items_handler(),),
            async_handler=self._async_handler(),
            run=f"mf::{'replicated::refuse' if method.replicated else 'server::run'}"
            + ("_stream" if method.streams else ""),
            replicated=method.replicated is not None,
        )

    def _doc(self, streams: bool) -> tuple[str, ...]:
        return doc(self.method.doc, indent=2) + self._contract(streams)

    def _contract(self, streams: bool) -> tuple[str, ...]:
        """The schema's documentation of parameters, results and errors, for Doxygen. A stream is a parameter
        only of handlers.
        """
        method = self.method
        tags = [
            f"@param {name} {field.doc}"
            for field, name in zip(method.params.fields, self.names.params, strict=True)
            if field.doc
        ]
        if streams and method.param_stream is not None and method.param_stream.doc:
            tags.append(f"@param {self.names.reader} {method.param_stream.doc}")
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
        if name.startswith("::"):
            return name
        return f"::{self.describer.names.module(self.module.name).namespace}::{name}"

    def _result(self, home: str) -> str:
        if self.names.result is not None:
            return self.names.result if home else self._qualified(self.names.result)
        if self.method.single_result:
            return self.describer.types.spell(self.method.results.fields[0].spelled, home)
        return "void"

    def _checks(self) -> Iterator[CheckView]:
        """Checks of a single result, since Constraints check one in a struct, and of elements of streams."""
        codecs, method = self.describer.codecs, self.method
        if method.single_result:
            yield from _check(
                "result_violation", "Result", codecs.result_constraints(method.results.fields[0])
            )
        for stream, name, type_ in self._streams():
            yield from _check(f"{name}_violation", type_, codecs.element_constraints(stream))

    def _streams(self) -> Iterator[tuple[Stream, str, str]]:
        """Each stream, how functions are called that are about its elements, and the name of their type."""
        if self.method.param_stream is not None:
            yield self.method.param_stream, "param_element", "ParamElement"
        if self.method.result_stream is not None:
            yield self.method.result_stream, "result_element", "ResultElement"

    def _elements(self) -> Iterator[str]:
        for stream, _, name in self._streams():
            yield f"  using {name} = {self.describer.types.spell(stream.spelled)};"
        for stream, _, name in self._streams():
            fixed = size_and_align(stream.type, self.describer.program.declarations)
            tier = "febird" if fixed is None else "memcpy"
            yield f"  static constexpr mf::Tier k{name}Tier = mf::Tier::{tier};"
        if self.method.replicated is not None:
            pattern = "mf::replication::Pattern"
            yield f"  static constexpr {pattern} kPattern = {pattern}::{self.method.replicated};"

    def _info(self) -> str:
        method = self.method
        deadline = chrono(method.deadline_ns) if method.deadline_ns else "{}"
        items = [
            f'.name = "{method.name}"',
            f".index = {method.index}",
            f".idempotent = {_boolean(method.idempotent)}",
            f".oneway = {_boolean(method.oneway)}",
            f".deadline = {deadline}",
            f".batch_max = {method.batch_max or _DEFAULT_BATCH}",
        ]
        if method.streams:
            kinds = [name.partition("_")[0] for _, name, _ in self._streams()]
            items[-1] = f".streams = mf::Streams::{'both' if len(kinds) == 2 else f'{kinds[0]}s'}"
        if method.ordered:
            items.append(".ordered = true")
        if (cache := method.cached) is not None:
            ttl = chrono(cache.ttl_ns) if cache.ttl_ns else "{}"
            kept = f".entries = {cache.entries}U, .ttl = {ttl}, .max_bytes = {cache.max_bytes}U"
            items.append(f".cached = {{{kept}, .errors = {_boolean(cache.errors)}}}")
        return initialised("static constexpr mf::MethodInfo kInfo", items, indent=2)

    def _parameters(self, home: str, defaults: bool) -> list[str]:
        """The user's parameters; a default is possible only if all later ones have one."""
        given = self._without_default if defaults else len(self.names.params)
        return [
            self._parameter(field.spelled, name, home)
            + (self._default(field.default, field.type, home) if i >= given else "")
            for i, (field, name) in enumerate(zip(self.method.params.fields, self.names.params, strict=True))
        ]

    @property
    def _without_default(self) -> int:
        """How many parameters a caller must pass: all up to the last one without a default."""
        fields = self.method.params.fields
        count = len(fields)
        while count and fields[count - 1].default is not None:
            count -= 1
        return count

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
        floor = "replicated" if self.method.replicated else "client"
        head = f"return mf::{floor}::{function}<methods::{self.names.description}>("
        return fill(head, arguments, ");", indent=indent)

    def _call(self) -> FunctionView:
        declaration, definition = self._function(
            self.service_names.client,
            self._handle(),
            self.names.function,
            [*self._parameters(self._home, defaults=False), self._options],
            [*self._parameters(self._home, defaults=True), f"{self._options} = {{}}"],
            " const",
        )
        function = "stream" if self.method.streams else "call_cached" if self.method.cached else "call"
        body = self._runtime_call(function, ["target_", "options", *self.names.params])
        return FunctionView(declaration, definition, body)

    @property
    def _options(self) -> str:
        return _REPLICATED_OPTIONS if self.method.replicated else _CALL_OPTIONS

    def _forget(self) -> FunctionView:
        """The function that forgets the answer to one call."""
        declaration, definition = self._function(
            self.service_names.client,
            "void",
            self.names.forget,
            self._parameters(self._home, defaults=False),
            self._parameters(self._home, defaults=True),
            " const",
        )
        body = self._runtime_call("forget_cached", ["target_", *self.names.params])
        return FunctionView(declaration, definition, body)

    def _cache(self) -> FunctionView:
        declaration, definition = self._function(
            self.service_names.client, "mf::CallCache", self.names.cache, [], [], " const"
        )
        return FunctionView(declaration, definition, self._runtime_call("call_cache", ["target_"]))

    def _handle(self) -> str:
        """The type that a call of the client returns: the result, or the streams' reader and writer."""
        params, results = self._element(self.method.param_stream), self._element(self.method.result_stream)
        if params and results:
            return f"mf::DuplexStream<{params}, {results}>"
        if params:
            return f"mf::ClientStream<{params}, {self._result(self._home)}>"
        if self.method.replicated:
            return f"mf::Replicated<{self._result(self._home)}>"
        return f"mf::StreamReader<{results}>" if results else self._result(self._home)

    def _element(self, stream: Stream | None, home: str | None = None) -> str:
        if stream is None:
            return ""
        return self.describer.types.spell(stream.spelled, self._home if home is None else home)

    def _asynchronous(self) -> Iterator[str]:
        """A completion token is last, where no parameter with a default can follow. So there are two more
        overloads if some parameters have defaults: they omit all of these.
        """
        fields = self.method.params.fields
        for given in dict.fromkeys((self._without_default, len(fields))):
            for options in ((), (self._options,)):
                yield self._async(given, options)

    def _async(self, given: int, options: Sequence[str]) -> str:
        plain = self._parameters(self._home, defaults=False)[:given]
        passed = [
            name if i < given else self._argument(field.default, field.spelled, field.type)
            for i, (field, name) in enumerate(zip(self.method.params.fields, self.names.params, strict=True))
        ]
        old = deprecation(self.method.deprecated)
        head = fill(
            f"{old}auto {self.names.asynchronous}(",
            [*plain, *options, "Token&& token"],
            ") const {",
            indent=2,
        )
        head = head.lstrip().removesuffix(" {")
        said = "options" if options else "{}"
        function = (
            "start_stream" if self.method.streams else "start_cached" if self.method.cached else "start"
        )
        body = self._runtime_call(
            function, ["target_", said, "std::forward<Token>(token)", *passed], indent=4
        )
        return block(head, [body.lstrip()])

    def _argument(self, value: Value | None, spelled: Type, type_: Type) -> str:
        """A default as an argument of a template, which takes its type from it."""
        assert value is not None
        text = self.describer.literals.of(value, type_, self._home)
        written = self.describer.types.spell(spelled, self._home)
        return f"{written}{text}" if text.startswith("{") else f"{written}({text})"

    def _batch(self) -> FunctionView:
        return self._many(self.names.batch, "batch", "mf::BatchCall<{}>", "mf::BatchOptions")

    def _bulk(self) -> FunctionView:
        return self._many(self.names.bulk, "bulk", "mf::Outcomes<{}>", "mf::CallOptions")

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
        declaration, definition = self._function(
            self.service_names.scatter,
            f"mf::Scattered<{self._result(self._home)}>",
            self.names.function,
            [*self._parameters(self._home, defaults=False), _CALL_OPTIONS],
            [*self._parameters(self._home, defaults=True), f"{_CALL_OPTIONS} = {{}}"],
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
            [requests, _CALL_OPTIONS],
            [requests, f"{_CALL_OPTIONS} = {{}}"],
            " const",
        )
        return FunctionView(
            declaration, definition, self._runtime_call("bulk", ["target_", "options", "requests"])
        )

    def _handler(self) -> FunctionView:
        head = f"virtual {self._result(self._home)} {self.names.handler}("
        if self.method.replicated:
            parameters = [_VERSION, f"const {self.names.request}& request"]
        else:
            parameters = [*self._parameters(self._home, defaults=False), *self._ends(self._home, "&")]
        return FunctionView(fill(head, parameters, ") = 0;", indent=2))

    def _ends(self, home: str, by: str, names: tuple[str, str] | None = None) -> list[str]:
        """The parameters of a handler that are its ends of the streams, passed `by` reference or value."""
        method, (reader, writer) = self.method, names or (self.names.reader, self.names.writer)
        ends = []
        if method.param_stream is not None:
            ends.append(f"mf::StreamReader<{self._element(method.param_stream, home)}>{by} {reader}")
        if method.result_stream is not None:
            ends.append(f"mf::StreamWriter<{self._element(method.result_stream, home)}>{by} {writer}")
        return ends

    def _items_handler(self) -> FunctionView:
        requests = [f"std::span<const {self.names.request}> requests"]
        result = "void" if self.method.oneway else f"mf::Outcomes<{self._result(self._home)}>"
        declaration = fill(f"virtual {result} {self.names.items}(", requests, ");", indent=2)
        definition = fill(f"{result} {self.service_names.servant}::{self.names.items}(", requests, ") {")
        return FunctionView(declaration, definition)

    def _async_handler(self) -> FunctionView:
        parameters = [_VERSION] if self.method.replicated else []
        parameters += [f"{self.names.request} request", *self._ends(self._home, "")]
        if not self.method.oneway:
            parameters.append(f"mf::Responder<{self._result(self._home)}> responder")
        return FunctionView(fill(f"virtual void {self.names.handler}(", parameters, ") = 0;", indent=2))

    def _invokes_of_kind(self) -> tuple[FunctionView, ...]:
        if self.method.replicated:
            return self._applies()
        return self._stream_invokes() if self.method.streams else self._invokes()

    def _applies(self) -> tuple[FunctionView, ...]:
        """For a message of a group, of a plain and of an asynchronous servant."""
        plain = [_SERVANT, _VERSION, "const Request& request"]
        asynchronous = ["AsyncServant& servant", _VERSION, "Request&& request"]
        asynchronous.append(f"mf::Responder<{self._result('')}> responder")
        moved = "std::move(request)" if self.method.params.layout is None else "request"
        handler = self.names.handler
        return (
            self._invoke(self._result(""), "apply", plain, handler, ["version", "request"]),
            self._invoke("void", "apply", asynchronous, handler, ["version", moved, "std::move(responder)"]),
        )

    def _invokes(self) -> tuple[FunctionView, ...]:
        """For a call that came in a message, for all items of a message, and for an asynchronous servant."""
        result, names = self._result(""), self.names
        many = "void" if self.method.oneway else f"mf::Outcomes<{result}>"
        batch = [_SERVANT, "const Request* requests", "std::size_t count"]
        asynchronous, forwarded = self._asynchronous_invoke()
        return (
            self._invoke(result, "invoke", [_SERVANT, self._request_used], names.handler, self._requested),
            self._invoke(many, "invoke_batch", batch, names.items, ["{requests, count}"]),
            self._invoke("void", "invoke", asynchronous, names.handler, forwarded),
        )

    def _local_invoke(self) -> FunctionView:
        """For a call that stays in the process."""
        parameters = [_SERVANT, *self._parameters("", defaults=False)]
        return self._invoke(
            self._result(""), "invoke", parameters, self.names.handler, self.names.params
        )

    def _stream_invokes(self) -> tuple[FunctionView, ...]:
        ends = [
            each for each, known in (("reader", self.names.reader), ("writer", self.names.writer)) if known
        ]
        taken = ("reader", "writer")
        plain = [_SERVANT, self._request_used, *self._ends("", "&", taken)]
        asynchronous, forwarded = self._asynchronous_invoke(self._ends("", "", taken), ends)
        function = self.names.handler
        return (
            self._invoke(self._result(""), "invoke", plain, function, [*self._requested, *ends]),
            self._invoke("void", "invoke", asynchronous, function, forwarded),
        )

    def _asynchronous_invoke(
        self, ends: Sequence[str] = (), names: Sequence[str] = ()
    ) -> tuple[list[str], list[str]]:
        """Parameters, and what is passed on."""
        parameters = [
            "AsyncServant& servant",
            "Request&& request",
            *ends,
        ]
        forwarded = ["std::move(request)" if self.method.params.layout is None else "request"]
        forwarded += [f"std::move({each})" for each in names]
        if not self.method.oneway:
            parameters.append(f"mf::Responder<{self._result('')}> responder")
            forwarded.append("std::move(responder)")
        return parameters, forwarded

    @property
    def _request_used(self) -> str:
        return "const Request& request" if self.names.params else "const Request& /*request*/"

    @property
    def _requested(self) -> list[str]:
        return [f"request.{each}" for each in self.names.params]

    def _invoke(
        self,
        result: str,
        name: str,
        parameters: Sequence[str],
        function: str,
        arguments: Sequence[str],
    ) -> FunctionView:
        declared = [each.replace("/*request*/", "request") for each in parameters]
        return FunctionView(
            declaration=fill(f"static {result} {name}(", declared, ");", indent=2),
            definition=fill(f"{result} {self.names.description}::{name}(", parameters, ") {"),
            body=fill(f"return servant.{function}(", arguments, ");", indent=2),
        )


def _check(name: str, type_: str, constraints: ConstraintsView) -> Iterator[CheckView]:
    if constraints.statements:
        yield CheckView(name, type_, constraints)


def _boolean(value: bool) -> str:
    return "true" if value else "false"
