"""F6. The view of _server.py: two abstract bases for each service, with plain functions and with `async
def`."""

from dataclasses import dataclass

from mfidl.emit.python.layout import bracket, docstring
from mfidl.emit.python.names import MethodNames
from mfidl.emit.python.service_file import CallView, ServiceFile
from mfidl.emit.python.types import annotation
from mfidl.model import Method, Service

_OTHER = "fails the call with its code."


@dataclass(frozen=True, slots=True)
class ServantMethodView:
    """`items` is the function for all items of a message; a method with streams has none."""

    head: str
    doc: str
    items: CallView | None


@dataclass(frozen=True, slots=True)
class ServantView:
    """One of the two bases of a service."""

    name: str
    bases: str
    constant: str
    doc: str
    methods: tuple[ServantMethodView, ...]


class ServerFile(ServiceFile):
    def servants(self) -> list[ServantView]:
        return [view for each in self._context.module.services for view in self._service(each)]

    def _service(self, service: Service) -> list[ServantView]:
        context, names = self._context, self._names(service)
        context.imports.module("mf")
        context.imports.name("abc", "ABC")
        context.imports.name("typing", "ClassVar")
        constant = self._own("_methods", names.constant)
        plain = service.doc or f"Serves {service.full_name}."
        doc = f"Like `{names.servant}`, with `async def`: it runs on the serving asyncio loop."
        return [
            self._view(service, names.servant, constant, plain, awaited=False),
            self._view(service, names.async_servant, constant, doc, awaited=True),
        ]

    def _view(self, service: Service, name: str, constant: str, doc: str, *, awaited: bool) -> ServantView:
        methods = tuple(
            self._method(method, names, awaited=awaited)
            for method, names in zip(service.methods, self._names(service).methods, strict=True)
            if service.declares(method)
        )
        bases = ", ".join([self._base(service, awaited), *self._context.within(service.full_name)])
        return ServantView(name, bases, constant, docstring(doc, 4), methods)

    def _base(self, service: Service, awaited: bool) -> str:
        """The class of the servants of what it extends, or that of all servants."""
        context = self._context
        extended = next(context.program.extended(service), None)
        if extended is None:
            return context.imports.name("mf.core.service", "AsyncServant" if awaited else "Servant")
        names = context.facts.names(extended.module).services[extended.full_name]
        return context.foreign("_server", names.async_servant if awaited else names.servant, extended.module)

    def _method(self, method: Method, names: MethodNames, *, awaited: bool) -> ServantMethodView:
        context = self._context
        context.imports.name("abc", "abstractmethod")
        iterator = "AsyncIterator" if awaited else "Iterator"
        if method.replicated is not None:
            return self._applied(method, names, awaited=awaited)
        fields = zip(method.params.fields, context.attributes(method.params), strict=True)
        parameters = [f"{name}: {annotation(context, each.spelled)}" for each, name in fields]
        if method.param_stream is not None:
            outer = context.imports.name("collections.abc", iterator)
            parameters.append(f"{context.stream_name(method)}: {outer}[{self._element(method.param_stream)}]")
        result = self._result_type(method, names)
        coroutine = awaited
        if method.result_stream is not None:
            outer = context.imports.name("collections.abc", iterator)
            result, coroutine = f"{outer}[{self._element(method.result_stream)}]", False
        before = f"{'async ' * coroutine}def {names.servant_function}("
        return ServantMethodView(
            head=bracket(before, ["self", *parameters], f") -> {result}:", 4),
            doc=docstring(self._doc(method, _OTHER), 8),
            items=None if method.streams else self._items(method, names, awaited=awaited),
        )

    def _applied(self, method: Method, names: MethodNames, *, awaited: bool) -> ServantMethodView:
        """A replicated method: the function that is called for each message in the order of the versions."""
        request = self._request(names)
        parameters = ["self", "version: mf.Version", f"request: {request}"]
        before = f"{'async ' * awaited}def {names.servant_function}("
        return ServantMethodView(
            head=bracket(before, parameters, f") -> {self._result_type(method, names)}:", 4),
            doc=docstring(self._doc(method, _OTHER), 8),
            items=None,
        )

    def _items(self, method: Method, names: MethodNames, *, awaited: bool) -> CallView:
        sequence = self._context.imports.name("collections.abc", "Sequence")
        result = self._result_type(method, names)
        attributes = self._context.attributes(method.params)
        parts = ", ".join(f"each.{name}" for name in attributes)
        row = f"({parts},)" if len(attributes) == 1 else f"({parts})"
        outcome = "None" if method.oneway else f"list[mf.Outcome[{result}]]"
        function = f"self.{names.servant_function}"
        rows = f"({row} for {'each' if parts else '_'} in requests)"
        called = "mf.each("
        if awaited:
            called = "await mf.each_in_order(" if method.ordered else "await mf.each_async("
        parameters = ["self", f"requests: {sequence}[{self._request(names)}]"]
        before = f"{'async ' * awaited}def {names.servant_items}("
        return CallView(
            bracket(before, parameters, f") -> {outcome}:", 4),
            docstring(
                f"All items of a message with several items; here `{names.servant_function}` for each.", 8
            ),
            bracket(called if method.oneway else f"return {called}", [function, rows], ")", 8),
        )
