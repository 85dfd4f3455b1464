"""F6. From a type up to the methods and topics whose values can hold it: the closure of a change, as paths.

Posting <- list in field Hit.postings <- result of Index.query
"""

from collections import deque
from collections.abc import Iterator

from mfidl import model

# How many methods a finding names before it counts the rest.
SHOWN = 8


class Reach:
    """The shortest paths of one program, for each method, topic, and type that no other type holds."""

    def __init__(self, program: model.Program) -> None:
        self._holders: dict[str, list[tuple[str, str | None, str]]] = {}
        for module in program.modules:
            for declaration in module.declarations:
                self._declared(declaration)
            for service in module.services:
                self._service(service)
            for topic in module.topics:
                self._add(topic.type, f"topic {topic.full_name}", None, topic.full_name)

    def paths(self, full_name: str) -> tuple[str, ...]:
        """One line for each end that is reached, at most SHOWN, and a count of the others."""
        lines: dict[str, str] = {}
        queue = deque([(full_name, full_name.rpartition(".")[2])])
        seen = {full_name}
        while queue:
            at, line = queue.popleft()
            held = self._holders.get(at, ())
            if not held and at != full_name:
                lines[at] = line
            for words, holder, end in held:
                longer = f"{line} <- {words}"
                if holder is None:
                    lines.setdefault(end, longer)
                elif holder not in seen:
                    seen.add(holder)
                    queue.append((holder, longer))
        listed = [lines[end] for end in sorted(lines)]
        if len(listed) > SHOWN:
            listed[SHOWN:] = [f"and {len(listed) - SHOWN} more"]
        return tuple(listed)

    def above(self, full_name: str) -> set[str]:
        """The full names of all types that hold this one, itself included, and of the methods, services and
        topics that are reached.
        """
        found = {full_name}
        queue = [full_name]
        while queue:
            for _, holder, end in self._holders.get(queue.pop(), ()):
                name = end if holder is None else holder
                if name not in found:
                    found.add(name)
                    queue.append(name)
        return found

    def _declared(self, declaration: model.Declaration) -> None:
        match declaration:
            case model.Struct(fields=fields) | model.Union(alternatives=fields):
                for field in fields:
                    words = f"field {model.local_name(declaration)}.{field.name}"
                    self._add(field.type, words, declaration.full_name, "")
            case _:
                pass  # enums and flags hold nothing; aliases are expanded where they are used

    def _service(self, service: model.Service) -> None:
        if service.agent is not None:
            self._add(service.agent.type, f"agent of service {service.full_name}", None, service.full_name)
        for method in service.methods:
            name = f"{service.full_name}.{method.name}"
            end = name
            for field in method.params.fields:
                self._add(field.type, f"parameter `{field.name}` of {name}", None, end)
            for field in method.results.fields:
                words = "result" if method.single_result else f"result `{field.name}`"
                self._add(field.type, f"{words} of {name}", None, end)
            for stream in (method.param_stream, method.result_stream):
                if stream is not None:
                    self._add(stream.type, f"stream of {name}", None, end)
            for error in method.throws:
                self._add(error, f"error of {name}", None, end)

    def _add(self, type_: model.Type, words: str, holder: str | None, end: str) -> None:
        for name, through in named_in(type_):
            self._holders.setdefault(name, []).append((f"{through}{words}", holder, end))


def named_in(type_: model.Type) -> Iterator[tuple[str, str]]:
    """Every declared type in a type expression, with the containers around it: ("sf1.Hit", "list in ")."""
    match type_:
        case model.Named(full_name, _):
            yield full_name, ""
        case model.ListOf(element) | model.SetOf(element) | model.ArrayOf(element, _):
            word = {model.ListOf: "list", model.SetOf: "set", model.ArrayOf: "array"}[type(type_)]
            yield from ((name, f"{inner}{word} in ") for name, inner in named_in(element))
        case model.MapOf(key, value):
            yield from ((name, f"{inner}key of map in ") for name, inner in named_in(key))
            yield from ((name, f"{inner}map in ") for name, inner in named_in(value))
        case model.OptionalOf(element) | model.RefOf(element):
            yield from named_in(element)
        case _:
            return
