"""F6. Views of methods: the description of each, and how it is called from a client and in a servant."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mfidl.emit.cpp.literals import chrono
from mfidl.emit.cpp.names import MethodNames, ServiceNames
from mfidl.emit.cpp.structs import Describer
from mfidl.emit.cpp.text import deprecation, doc
from mfidl.emit.cpp.view import (
    CacheInfoView,
    Call,
    CheckView,
    Invoke,
    MethodInfoView,
    MethodView,
    Started,
    StreamView,
)
from mfidl.model import Cache, Method, Module, Service, Stream, Type, Value
from mfidl.plan.layout import size_and_align

_SERVANT = "Servant& servant"
_ASYNC = "AsyncServant& servant"
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
        method, names, home = self.method, self.names, self.module.name
        items = "" if self._alone else names.items
        return MethodView(
            doc=self._doc(streams=False),
            handler_doc=self._doc(streams=True),
            old=deprecation(method.deprecated),
            name=names.description,
            function=names.function,
            request=self._qualified(names.request),
            request_here=names.request,
            result=self._result(""),
            result_here=self._result(home),
            errors=", ".join(self.describer.types.declared(each.full_name) for each in method.throws),
            request_tier=method.params.tier.value,
            result_tier=method.results.tier.value,
            streams=tuple(self._stream_views()),
            pattern=str(method.replicated or ""),
            info=self._info(),
            invokes=tuple(self._invokes()),
            checks=tuple(self._checks()),
            calls=tuple(self._calls()),
            asynchronous=tuple(self._asynchronous()),
            scatters=() if self._alone else tuple(self._scatters()),
            handler=names.handler,
            taken=", ".join(self._handled()),
            async_taken=", ".join(self._async_handled()),
            items=items,
            items_result="void" if method.oneway else f"mf::Outcomes<{self._result(home)}>",
            run=f"mf::{'replicated::refuse' if method.replicated else 'server::run'}"
            + ("_stream" if method.streams else ""),
        )

    @property
    def _alone(self) -> bool:
        """Whether its calls are made one by one."""
        return bool(self.method.streams) or self.method.replicated is not None

    def _doc(self, streams: bool) -> str:
        return doc(self.method.doc, indent=2) + self._contract(streams)

    def _contract(self, streams: bool) -> str:
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
        return "".join(doc(" ".join(tag.split()), indent=2) for tag in tags)

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
        found = []
        if method.single_result:
            result = codecs.result_constraints(method.results.fields[0])
            found.append(CheckView("result_violation", "Result", result))
        for stream, name, type_ in self._streams():
            found.append(CheckView(f"{name}_violation", type_, codecs.element_constraints(stream)))
        return (each for each in found if each.constraints.checks)

    def _streams(self) -> Iterator[tuple[Stream, str, str]]:
        """Each stream, how functions are called that are about its elements, and the name of their type."""
        if self.method.param_stream is not None:
            yield self.method.param_stream, "param_element", "ParamElement"
        if self.method.result_stream is not None:
            yield self.method.result_stream, "result_element", "ResultElement"

    def _stream_views(self) -> Iterator[StreamView]:
        for stream, _, name in self._streams():
            fixed = size_and_align(stream.type, self.describer.program.declarations)
            tier = "febird" if fixed is None else "memcpy"
            yield StreamView(name, self.describer.types.spell(stream.spelled), tier)

    def _info(self) -> MethodInfoView:
        method, cache = self.method, self.method.cached
        kinds = [name.partition("_")[0] for _, name, _ in self._streams()]
        return MethodInfoView(
            name=method.name,
            index=method.index,
            idempotent=method.idempotent,
            oneway=method.oneway,
            deadline=_duration(method.deadline_ns),
            batch_max=0 if method.streams else method.batch_max or 0,
            streams="both" if len(kinds) == 2 else "".join(f"{kind}s" for kind in kinds),
            ordered=method.ordered,
            cached=None if cache is None else _cache_info(cache),
        )

    def _parameters(self, home: str, defaults: bool = False) -> list[str]:
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

    def _runtime(self, function: str) -> str:
        return f"mf::{'replicated' if self.method.replicated else 'client'}::{function}"

    def _calls(self) -> Iterator[Call]:
        """The functions of the client: the call itself comes first."""
        method, names = self.method, self.names
        function = "stream" if method.streams else "call_cached" if method.cached else "call"
        result, home = self._result(self._home), self._home
        yield self._call(self._handle(), names.function, function, self._options)
        if method.cached is not None:
            plain, declared = self._parameters(home), self._parameters(home, defaults=True)
            arguments = ", ".join(["target_", *names.params])
            forget, cache = self._runtime("forget_cached"), self._runtime("call_cache")
            yield Call("void", names.forget, ", ".join(declared), ", ".join(plain), forget, arguments)
            yield Call("mf::CallCache", names.cache, "", "", cache, "target_")
        if not self._alone:
            yield self._many(f"mf::BatchCall<{result}>", names.batch, "batch", "mf::BatchOptions")
            yield self._many(f"mf::Outcomes<{result}>", names.bulk, "bulk", "mf::CallOptions")

    def _scatters(self) -> Iterator[Call]:
        result = self._result(self._home)
        yield self._call(f"mf::Scattered<{result}>", self.names.function, "call", _CALL_OPTIONS)
        outcomes = f"mf::Scattered<mf::Outcomes<{result}>>"
        yield self._many(outcomes, self.names.bulk, "bulk", "mf::CallOptions")

    def _call(self, result: str, name: str, function: str, options: str) -> Call:
        home = self._home
        declared = ", ".join([*self._parameters(home, defaults=True), f"{options} = {{}}"])
        plain = ", ".join([*self._parameters(home), options])
        arguments = ", ".join(["target_", "options", *self.names.params])
        return Call(result, name, declared, plain, self._runtime(function), arguments)

    def _many(self, result: str, name: str, function: str, options: str) -> Call:
        plain = f"std::span<const {self.names.request}> requests, const {options}& options"
        return Call(
            result, name, f"{plain} = {{}}", plain, self._runtime(function), "target_, options, requests"
        )

    @property
    def _options(self) -> str:
        return _REPLICATED_OPTIONS if self.method.replicated else _CALL_OPTIONS

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

    def _asynchronous(self) -> Iterator[Started]:
        """A completion token is last, where no parameter with a default can follow. So there are two more
        overloads if some parameters have defaults: they omit all of these.
        """
        method, fields = self.method, self.method.params.fields
        function = "start_stream" if method.streams else "start_cached" if method.cached else "start"
        for given in dict.fromkeys((self._without_default, len(fields))):
            passed = [
                name if i < given else self._argument(field.default, field.spelled, field.type)
                for i, (field, name) in enumerate(zip(fields, self.names.params, strict=True))
            ]
            for options in ((), (self._options,)):
                parameters = [*self._parameters(self._home)[:given], *options, "Token&& token"]
                said = "options" if options else "{}"
                arguments = ["target_", said, "std::forward<Token>(token)", *passed]
                yield Started(
                    self.names.asynchronous,
                    ", ".join(parameters),
                    self._runtime(function),
                    ", ".join(arguments),
                )

    def _argument(self, value: Value | None, spelled: Type, type_: Type) -> str:
        """A default as an argument of a template, which takes its type from it."""
        assert value is not None
        text = self.describer.literals.of(value, type_, self._home)
        written = self.describer.types.spell(spelled, self._home)
        return f"{written}{text}" if text.startswith("{") else f"{written}({text})"

    def _handled(self) -> list[str]:
        """The parameters of a servant's function."""
        if self.method.replicated:
            return [_VERSION, f"const {self.names.request}& request"]
        return [*self._parameters(self._home), *self._ends(self._home, "&")]

    def _async_handled(self) -> list[str]:
        """The same of an asynchronous servant."""
        parameters = [_VERSION] if self.method.replicated else []
        parameters += [f"{self.names.request} request", *self._ends(self._home, "")]
        return parameters + self._responder(self._result(self._home))

    def _responder(self, result: str) -> list[str]:
        return [] if self.method.oneway else [f"mf::Responder<{result}> responder"]

    def _ends(self, home: str, by: str, names: tuple[str, str] | None = None) -> list[str]:
        """The parameters of a handler that are its ends of the streams, passed `by` reference or value."""
        method, (reader, writer) = self.method, names or (self.names.reader, self.names.writer)
        ends = []
        if method.param_stream is not None:
            ends.append(f"mf::StreamReader<{self._element(method.param_stream, home)}>{by} {reader}")
        if method.result_stream is not None:
            ends.append(f"mf::StreamWriter<{self._element(method.result_stream, home)}>{by} {writer}")
        return ends

    def _invokes(self) -> Iterator[Invoke]:
        """How a call reaches a plain servant, in the process and from a message, and an asynchronous one."""
        method, names = self.method, self.names
        result = "void" if self._result("") == "void" else "Result"
        moved = "std::move(request)" if method.params.layout is None else "request"
        answer = [] if method.oneway else ["std::move(responder)"]
        requested = [f"request.{each}" for each in names.params]
        request = "const Request& request"
        ends = [each for each, known in (("reader", names.reader), ("writer", names.writer)) if known]
        if method.replicated:
            yield self._invoke(result, "apply", [_SERVANT, _VERSION, request], ["version", "request"])
            taken = [_ASYNC, _VERSION, "Request&& request", *self._responder(result)]
            yield self._invoke("void", "apply", taken, ["version", moved, *answer])
            return
        if not method.streams:
            yield self._invoke(result, "invoke", [_SERVANT, *self._parameters("")], names.params)
        plain = [_SERVANT, request, *self._ends("", "&", ("reader", "writer"))]
        yield self._invoke(result, "invoke", plain, [*requested, *ends])
        if not method.streams:
            many = "void" if method.oneway else f"mf::Outcomes<{result}>"
            batch = [_SERVANT, "const Request* requests", "std::size_t count"]
            yield self._invoke(many, "invoke_batch", batch, ["{requests, count}"], names.items)
        taken = [_ASYNC, "Request&& request", *self._ends("", "", ("reader", "writer"))]
        passed = [moved, *(f"std::move({each})" for each in ends), *answer]
        yield self._invoke("void", "invoke", [*taken, *self._responder(result)], passed)

    def _invoke(
        self, result: str, name: str, parameters: Sequence[str], arguments: Sequence[str], handler: str = ""
    ) -> Invoke:
        declared, given = ", ".join(parameters), ", ".join(arguments)
        used = declared if "request" in given else declared.replace(" request,", " /*request*/,")
        if used.endswith("& request") and "request" not in given:
            used = used.removesuffix("request") + "/*request*/"
        return Invoke(result, name, declared, used, handler or self.names.handler, given)


def _duration(nanoseconds: int | None) -> str:
    """Empty for none."""
    return chrono(nanoseconds) if nanoseconds else ""


def _cache_info(cache: Cache) -> CacheInfoView:
    return CacheInfoView(cache.entries, _duration(cache.ttl_ns), cache.max_bytes, cache.errors)
