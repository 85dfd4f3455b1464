"""F6. The view of _client.py: a blocking and an awaited client for each service, and clients for calls to
several agents.

unary method     query, query_batch, query_bulk
cached           query_forget, query_cache besides, which nobody awaits
replicated       put: a result that names the version and the replicas
with streams     scan: a reader, a duplex stream, or, with a stream of parameters alone, a function that is
                 given what to iterate over
"""

from dataclasses import dataclass

from mfidl.emit.naming import PYTHON_RESERVED, Scope
from mfidl.emit.python.declarations import decorator, places
from mfidl.emit.python.layout import bracket, docstring
from mfidl.emit.python.literals import constant_default, is_made_by_call, literal
from mfidl.emit.python.names import MethodNames, written
from mfidl.emit.python.service_file import CallView, ServiceFile
from mfidl.emit.python.types import annotation
from mfidl.model import Method, Primitive, Scalar, Service, Stream, Struct

_OPTIONS = {"batch": "mf.BatchOptions", "replicate": "mf.ReplicatedOptions"}
_OTHER = "any other failure; see its `code` and `execution`."


@dataclass(frozen=True, slots=True)
class ClientView:
    """One of the two clients of a service. `source`: what gives its target, by the function `get`."""

    name: str
    bases: str
    scatter: str
    constant: str
    doc: str
    source: str
    get: str
    target: str
    scatter_target: str
    service: str
    agent: str  # name of the parameter of at(); "" without agent
    agents: str
    agent_type: str
    agent_enum: str  # the enum whose members the agents are; "" for other types
    calls: tuple[CallView, ...]
    scatter_calls: tuple[CallView, ...]


@dataclass(frozen=True, slots=True)
class _Form:
    """One form of a method: the function's name and result, and the target's function that it calls. `key`
    converts the texts of agents with outcomes to their type.
    """

    name: str
    result: str
    called: str
    awaited: bool = False
    key: str = ""


class ClientFile(ServiceFile):
    def services(self) -> list[ClientView]:
        return [
            self._service(each, awaited=awaited)
            for each in self._context.module.services
            for awaited in (False, True)
        ]

    def _service(self, service: Service, *, awaited: bool) -> ClientView:
        context, names = self._context, self._names(service)
        context.imports.module("mf")
        prefix = "Async" if awaited else ""
        source = context.imports.name("mf.core.target", f"{prefix}TargetSource")
        target, scatter_target = f"{prefix}Target", f"{prefix}ScatterTarget"
        if service.agent:
            context.imports.name("mf.core.target", target)
            context.imports.name("mf.core.target", scatter_target)
            context.imports.name("collections.abc", "Iterable")
            context.imports.name("typing", "Self")
        calls: list[CallView] = []
        scattered: list[CallView] = []
        agent = self._agent(service)
        for method, own in zip(service.methods, names.methods, strict=True):
            if method.streams:
                calls.append(self._stream(method, own, awaited))
            elif method.replicated is not None:
                calls.append(self._replicated(method, own, awaited))
            else:
                calls.append(self._one(method, own, awaited))
                calls += [*self._cache(method, own), *self._many(method, own, awaited)]
                if service.agent:
                    scattered.append(self._scattered(method, own, agent[2], self._key(service), awaited))
        plain = service.doc or f"Calls {service.full_name}."
        doc = f"Like `{names.client}`, for asyncio." if awaited else plain
        return ClientView(
            names.async_client if awaited else names.client,
            "".join(f"({base})" for base in context.within(service.full_name)),
            names.async_scatter if awaited else names.scatter,
            self._own("_methods", names.constant),
            docstring(doc, 4),
            source,
            context.imports.name("mf.core.target", "async_target_of" if awaited else "target_of"),
            target,
            scatter_target,
            written(service),
            *agent,
            tuple(calls),
            tuple(scattered),
        )

    def _agent(self, service: Service) -> tuple[str, str, str, str]:
        """The parameters of at() and on(), the type of an agent, and its enum, if it is one. The runtime
        makes the agent's text.
        """
        if service.agent is None:
            return "", "", "", ""
        scope = Scope(PYTHON_RESERVED, {"self", "int", "str"})
        one, all_ = (scope.take(f"{written(service.agent)}{plural}") for plural in ("", "s"))
        type_ = annotation(self._context, service.agent.spelled)
        enum = (
            "" if isinstance(service.agent.type, Primitive) else annotation(self._context, service.agent.type)
        )
        return one, all_, type_, enum

    def _key(self, service: Service) -> str:
        """The conversion of a text to an agent; "" if agents are texts."""
        match service.agent and service.agent.type:
            case None | Primitive(Scalar.STRING):
                return ""
            case Primitive(Scalar.UUID) as uuid:
                return annotation(self._context, uuid)
            case Primitive():
                return "int"
            case _:
                return "self._agent"

    # Forms of a method without streams

    def _one(self, method: Method, names: MethodNames, awaited: bool) -> CallView:
        called = "call_cached" if method.cached else "call"
        form = _Form(names.function, self._result_type(method, names), called, awaited)
        return self._call(method, names, form, self._doc(method, _OTHER))

    def _replicated(self, method: Method, names: MethodNames, awaited: bool) -> CallView:
        result = f"mf.Replicated[{self._result_type(method, names)}]"
        form = _Form(names.function, result, "replicate", awaited)
        return self._call(method, names, form, self._doc(method, _OTHER))

    def _cache(self, method: Method, names: MethodNames) -> list[CallView]:
        """The additional functions of a cached method: forgetting one call, and the handle of the cache."""
        if method.cached is None:
            return []
        constant = self._own("_methods", names.constant)
        parameters = ["self", *self._parameters(method.params)]
        arguments = [constant, *self._arguments(method.params)]
        old = decorator(self._context, method.deprecated).rstrip("\n")
        return [
            CallView(
                self._definition(names.forget, parameters, "None", 0),
                docstring(f"Forgets the answer to this call of `{method.name}`, at this agent.", 8),
                bracket("self._target.forget_cached(", arguments, ")", 8),
                old,
            ),
            CallView(
                self._definition(names.cache, ["self"], "mf.CallCache", 0),
                docstring(f"The cached answers of `{method.name}`: statistics, and forgetting them.", 8),
                f"return self._target.call_cache({constant})",
                old,
            ),
        ]

    def _scattered(self, method: Method, names: MethodNames, agent: str, key: str, awaited: bool) -> CallView:
        """An outcome for each agent: failures of one agent are not raised."""
        result = f"mf.Scattered[{agent}, {self._result_type(method, names)}]"
        form = _Form(names.function, result, "call", awaited, key)
        return self._call(method, names, form, self._doc(method, ""))

    def _call(self, method: Method, names: MethodNames, form: _Form, doc: str) -> CallView:
        arguments = [self._own("_methods", names.constant), "options", *self._arguments(method.params)]
        return self._view(method, form, self._parameters(method.params), arguments, doc)

    def _many(self, method: Method, names: MethodNames, awaited: bool) -> list[CallView]:
        result = self._result_type(method, names)
        outcomes = f"list[mf.Outcome[{result}]]"
        sequence = self._context.imports.name("collections.abc", "Sequence")
        parameters = [f"requests: {sequence}[{self._request(names)}]"]
        arguments = [self._own("_methods", names.constant), "requests", "options"]
        batch = outcomes if awaited else f"mf.BatchCall[{result}]"
        forms = [
            (
                _Form(names.batch, batch, "batch", awaited),
                f"Many calls of `{method.name}` in as many messages as necessary.",
            ),
            (
                _Form(names.bulk, outcomes, "bulk", awaited),
                f"Many calls of `{method.name}` in one message.",
            ),
        ]
        return [self._view(method, form, parameters, arguments, doc) for form, doc in forms]

    # Forms of a method with streams

    def _stream(self, method: Method, names: MethodNames, awaited: bool) -> CallView:
        sent, received = method.param_stream, method.result_stream
        if received is None:
            assert sent is not None
            return self._written(method, names, sent, awaited)
        elements = ", ".join(self._element(each) for each in method.streams)
        kind, called = ("StreamReader", "read_stream") if sent is None else ("DuplexStream", "duplex_stream")
        prefix = "Async" if awaited else ""
        parameters = self._parameters(method.params)
        arguments = [self._own("_methods", names.constant), "options", *self._arguments(method.params)]
        form = _Form(names.function, f"mf.{prefix}{kind}[{elements}]", called)
        return self._view(method, form, parameters, arguments, self._doc(method, _OTHER))

    def _written(self, method: Method, names: MethodNames, sent: Stream, awaited: bool) -> CallView:
        """If only parameters are a stream: the caller passes an iterable, and gets the result."""
        name, element = self._context.stream_name(method), self._element(sent)
        iterable = f"{self._context.imports.name('collections.abc', 'Iterable')}[{element}]"
        if awaited:
            either = self._context.imports.name("collections.abc", "AsyncIterable")
            iterable = f"{either}[{element}] | {iterable}"
        arguments = [self._own("_methods", names.constant), "options", name, *self._arguments(method.params)]
        return self._view(
            method,
            _Form(names.function, self._result_type(method, names), "write_stream", awaited),
            [*self._parameters(method.params, with_stream=True), f"{name}: {iterable}"],
            arguments,
            self._doc(method, _OTHER),
        )

    # The text of a function

    def _view(
        self, method: Method, form: _Form, parameters: list[str], arguments: list[str], doc: str
    ) -> CallView:
        options = _OPTIONS.get(form.called, "mf.CallOptions")
        back = "" if form.result == "None" else "return "
        head = self._head(form.name, parameters, options, form.result, 6 if form.awaited else 0)
        before, after = f"{'await ' * form.awaited}self._target.{form.called}(", ")"
        if form.key:
            before, after = "(" * form.awaited + before, ")" * form.awaited + f").keyed({form.key})"
        return CallView(
            ("async " if form.awaited else "") + head,
            docstring(doc, 8),
            bracket(f"{back}{before}", arguments, after, 8),
            decorator(self._context, method.deprecated).rstrip("\n"),
        )

    def _head(self, name: str, parameters: list[str], options: str, result: str, extra: int) -> str:
        star = () if "*" in parameters else ("*",)
        items = ["self", *parameters, *star, f"options: {options} | None = None"]
        return self._definition(name, items, result, extra)

    def _definition(self, name: str, items: list[str], result: str, extra: int) -> str:
        """`extra`: characters in front of it."""
        flat = f"def {name}({', '.join(items)}) -> {result}:"
        if len(flat) + 4 + extra <= 110:
            return flat
        inner = ", ".join(items)
        if len(inner) + 8 <= 110:
            return f"def {name}(\n        {inner}\n    ) -> {result}:"
        lines = "".join(f"        {each},\n" for each in items)
        return f"def {name}(\n{lines}    ) -> {result}:"

    def _parameters(self, struct: Struct, *, with_stream: bool = False) -> list[str]:
        """Parameters that must be named stand behind a star. `with_stream`: one more will follow."""
        placed = places(struct, with_stream=with_stream)
        items = []
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
        return items

    def _arguments(self, struct: Struct) -> list[str]:
        items = []
        for each, name in zip(struct.fields, self._context.attributes(struct), strict=True):
            made = ""
            if each.default is not None and is_made_by_call(each):
                made = f"{literal(self._context, each.type, each.default)} if {name} is None else "
            items.append(made + name)
        return items
