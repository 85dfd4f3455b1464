"""F6. Names in proto files: those of the schema, except where protobuf's scopes forbid them.

Enum values share the scope around their enum, so each is called after it: `Rank_bm25`. What would collide
gets trailing underscores, as everywhere in generated code. The names that protobuf makes
itself, of the message behind a map and of a field in JSON, must be free too, or we give others; and a package
is one that protoc's C++ can open as a namespace, which protoc does not look after.
"""

from collections import Counter
from collections.abc import Iterable

from mfidl import model
from mfidl.emit.cpp.reserved import everywhere, outermost
from mfidl.emit.naming import Scope, by_depth, camel, flat_names
from mfidl.emit.proto.types import is_archive


def proto_path(module: model.Module) -> str:
    return module.path.removesuffix(".mfidl") + ".proto"


def package(module: str) -> str:
    """protoc renames messages and fields that C++ reserves, but not packages."""
    first, *rest = module.split(".")
    # Nothing in protobuf is found through `mf`, which our own modules begin with.
    head = first if first == "mf" else Scope(outermost()).take(first)
    return ".".join([head, *(part if part == "mf" else Scope(everywhere()).take(part) for part in rest)])


class ModuleNames:
    """Names of one package: messages and enums as in the schema, and what we add.

    What is declared within a struct or union that is a message is declared in that message; within another
    one, which the file does not have, it is called after both, `Outer_Inner`.
    """

    def __init__(self, module: model.Module) -> None:
        self._package = package(module.name)
        self._scope = Scope()
        self._inside: dict[str, Scope] = {}
        self._holders: dict[str, str] = {}
        self._paths: dict[str, str] = {}
        self._names: dict[str, str] = {}
        flat = flat_names(module, lambda each: each.name)
        messages = {model.local_name(each): each for each in module.declarations if is_archive(each)}
        for each in by_depth(module):
            holder = messages.get(each.within)
            scope, name = self._scope, flat[each.full_name]
            if holder is not None:
                scope, name = self._inside[holder.full_name], each.name
                self._holders[each.full_name] = holder.full_name
            name = self._names[each.full_name] = scope.take(name)
            path = name if holder is None else f"{self._paths[holder.full_name]}.{name}"
            self._paths[each.full_name] = path
            if isinstance(each, model.Struct | model.Union):
                inside = self._inside[each.full_name] = Scope()
                for field in model.members(each):
                    inside.take(field.name)
        self._members: dict[model.EnumMember, str] = {}
        for enum in module.enums:
            outside = self._inside.get(self._holders.get(enum.full_name, ""), self._scope)
            for member in enum.members:
                self._members[member] = outside.take(f"{self._names[enum.full_name]}_{member.name}")

    def reference(self, full_name: str) -> str:
        """A message or enum from anywhere: `.sf1.search.Hit`."""
        return f".{self._package}.{self._paths[full_name]}"

    def name(self, full_name: str) -> str:
        """Of a message or enum, where it is declared."""
        return self._names[full_name]

    def holder(self, full_name: str) -> str:
        """The full name of the type in whose message another one is; "" for none."""
        return self._holders.get(full_name, "")

    def inside(self, full_name: str) -> Scope:
        """The names in the message of a struct or union."""
        return self._inside[full_name]

    def member(self, member: model.EnumMember) -> str:
        return self._members[member]

    def added(self, wanted: str) -> str:
        return self._scope.take(wanted)


def entry_name(field: str) -> str:
    """protoc's name for the message of a map field."""
    return camel(field) + "Entry"


def json_names(fields: Iterable[str]) -> dict[str, str]:
    """Names for fields that protobuf would give the same name in JSON: their own names.

    protoc says nothing of them in proto2; Python's protobuf refuses to load the file.
    """
    made = {field: _json_name(field) for field in fields}
    times = Counter(made.values())
    return {field: field for field, name in made.items() if times[name] > 1 and name != field}


def _json_name(field: str) -> str:
    first, *others = field.split("_")
    return first + camel("_".join(others))
