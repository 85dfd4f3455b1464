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
from mfidl.emit.naming import Scope, camel


def proto_path(module: model.Module) -> str:
    return module.path.removesuffix(".mfidl") + ".proto"


def package(module: str) -> str:
    """protoc renames messages and fields that C++ reserves, but not packages."""
    first, *rest = module.split(".")
    # Nothing in protobuf is found through `mf`, which our own modules begin with.
    head = first if first == "mf" else Scope(outermost()).take(first)
    return ".".join([head, *(part if part == "mf" else Scope(everywhere()).take(part) for part in rest)])


def reference(full_name: str) -> str:
    """A message or enum from anywhere: `.sf1.search.Hit`."""
    module, _, name = full_name.rpartition(".")
    return f".{package(module)}.{name}"


class ModuleNames:
    """Names at the level of one package: messages and enums as in the schema, and what we add."""

    def __init__(self, module: model.Module) -> None:
        self._scope = Scope()
        for each in module.declarations:
            self._scope.take(each.name)
        self._members: dict[model.EnumMember, str] = {}
        for enum in module.enums:
            for member in enum.members:
                self._members[member] = self._scope.take(f"{enum.name}_{member.name}")

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
