"""F6. The common part of _methods.py, _client.py and _server.py: names, types of results, documentation."""

from dataclasses import dataclass

from mfidl.emit.python.context import Context
from mfidl.emit.python.declarations import with_deprecation
from mfidl.emit.python.names import MethodNames, ServiceNames
from mfidl.emit.python.types import annotation
from mfidl.model import Method, Service, Stream


@dataclass(frozen=True, slots=True)
class CallView:
    """One generated function: everything up to the colon, its documentation, and its only line."""

    head: str
    doc: str
    body: str
    decorator: str = ""


class ServiceFile:
    """Views of one file; its context decides what is imported."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def _names(self, service: Service) -> ServiceNames:
        return self._context.names.services[service.full_name]

    def _own(self, file: str, name: str) -> str:
        return self._context.imports.name(f"{self._context.package(self._context.module.name)}.{file}", name)

    def _request(self, names: MethodNames) -> str:
        return self._context.foreign("_types", names.request, names.module)

    def _result_type(self, method: Method, names: MethodNames) -> str:
        if names.result:
            return self._context.foreign("_types", names.result, names.module)
        if not method.results.fields:
            return "None"
        return annotation(self._context, method.results.fields[0].spelled)

    def _element(self, stream: Stream) -> str:
        return annotation(self._context, stream.spelled)

    def _doc(self, method: Method, other: str) -> str:
        """The doc comment, those of parameters and results that have one, and what is raised, if the method
        throws: `other` says what an mf.Error means here, "" that nothing is raised.
        """
        context = self._context
        told = [
            (name, each.doc)
            for struct in (method.params, method.results)
            for each, name in zip(struct.fields, context.attributes(struct), strict=True)
        ]
        if method.param_stream is not None:
            told.append((context.stream_name(method), method.param_stream.doc))
        members = "\n".join(f"{name}: {' '.join(doc.split())}" for name, doc in told if doc.strip())
        own, raised = with_deprecation(method.doc, method.deprecated), ""
        if method.throws and other:
            lines = [*map(context.error_line, method.throws), f"mf.Error: {other}"]
            raised = "\n".join(["Raises:", *(f"    {line}" for line in lines)])
            own = own or f"`{method.name}` of {method.full_name.rpartition('.')[0]}."
        return "\n\n".join(part for part in (own, members, raised) if part)
