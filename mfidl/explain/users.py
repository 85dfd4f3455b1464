"""The holders of a type, and the methods and topics that send it."""

from mfidl import model
from mfidl.explain.closure import members, reached

_MOST = 12


class Users:
    def __init__(self, program: model.Program) -> None:
        self._program = program
        self._holders: dict[str, list[str]] = {}
        self._senders: dict[str, list[str]] = {}
        for module in program.modules:
            for declaration in module.declarations:
                for field in members(declaration):
                    self._note(self._holders, field.type, f"{declaration.name}.{field.name}")
            for service in module.services:
                self._service(service)
            for topic in module.topics:
                self._reach([topic.type], f"topic {topic.name}")

    def of(self, full_name: str) -> tuple[str, ...]:
        """`Hit.where`, then `Index.query reply`, at most a dozen."""
        found = self._holders.get(full_name, []) + self._senders.get(full_name, [])
        return tuple(found) if len(found) <= _MOST else (*found[:_MOST], f"{len(found) - _MOST} more")

    def _service(self, service: model.Service) -> None:
        for method in service.methods:
            name = f"{service.name}.{method.name}"
            streamed = [each.type for each in (method.param_stream,) if each is not None]
            self._reach([*(f.type for f in method.params.fields), *streamed], f"{name} request")
            streamed = [each.type for each in (method.result_stream,) if each is not None]
            self._reach([*(f.type for f in method.results.fields), *streamed], f"{name} reply")
            self._reach(list(method.throws), f"{name} throws")

    def _reach(self, types: list[model.Type] | list[model.Named], user: str) -> None:
        for declaration in reached(self._program, types):
            self._senders.setdefault(declaration.full_name, []).append(user)

    def _note(self, table: dict[str, list[str]], type_: model.Type, user: str) -> None:
        for name in dict.fromkeys(model.names_in([type_])):
            table.setdefault(name, []).append(user)
