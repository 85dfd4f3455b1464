"""F6. Names in proto files: those of the schema, but for what protobuf's scopes forbid.

Enum values share the scope around their enum, so each is called after it: `Rank_bm25`. What would collide
gets trailing underscores, as everywhere in generated code.
"""

from mfidl import model
from mfidl.emit.naming import Scope


def proto_path(module: model.Module) -> str:
    return module.path.removesuffix(".mfidl") + ".proto"


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
