"""F6. One proto file: syntax, package, imports, enums and messages of a module."""

from collections.abc import Iterator

from mfidl import model
from mfidl.emit.proto.message import Messages, comment
from mfidl.emit.proto.names import ModuleNames, package, proto_path
from mfidl.emit.proto.types import Closure


class ProtoFile:
    def __init__(
        self, program: model.Program, closure: Closure, module: model.Module, compiler_version: str
    ) -> None:
        self._program = program
        self._closure = closure
        self._module = module
        self._version = compiler_version
        self._names = {each.name: ModuleNames(each) for each in program.modules}
        self._messages = Messages(program, closure, self._names)
        self._inner: dict[str, list[model.Declaration]] = {}

    def text(self) -> str:
        declared = self._closure.of_module(self._module)
        lines = [
            f"// Made by mfidlc {self._version} from {self._module.path}. Change that file, not this one.",
            "// Archive bytes of these types are proto2 messages: docs/proto.md of MF/IDL says how.",
            *([""] if self._module.doc else []),
            *comment(self._module.doc),
            "",
            'syntax = "proto2";',
            "",
            f"package {package(self._module.name)};",
        ]
        imports = self._imports(declared)
        if imports:
            lines += ["", *(f'import "{path}";' for path in imports)]
        if not declared:
            lines += ["", "// No type of this module has the tier archive."]
        names, self._inner = self._names[self._module.name], {}
        for each in declared:
            self._inner.setdefault(names.holder(each.full_name), []).append(each)
        for each in self._inner.get("", ()):
            lines += ["", *self._declaration(each)]
            for graph in self._graphs(each):
                lines += ["", *graph]
        return "".join(f"{line}\n" for line in lines)

    def _imports(self, declared: list[model.Declaration]) -> list[str]:
        """Files of the types in the messages and in their graphs."""
        used = set()
        for each in declared:
            for name in self._used(each):
                home = self._program.owner(name)
                if home is not self._module and name in {d.full_name for d in self._closure.of_module(home)}:
                    used.add(proto_path(home))
        return sorted(used)

    def _used(self, each: model.Declaration) -> set[str]:
        names = set(self._closure.direct(each))
        if isinstance(each, model.Struct | model.Union):
            names |= set(model.graph_tables(self._program.declarations, each))
        return names

    def _declaration(self, each: model.Declaration) -> list[str]:
        match each:
            case model.Enum():
                return self._enum(each)
            case model.Struct():
                return self._messages.struct(each, map(self._declaration, self._within(each)))
            case model.Union():
                return self._messages.union(each, map(self._declaration, self._within(each)))
            case _:
                raise AssertionError("only enums, structs and unions have a place in a proto file")

    def _within(self, each: model.Declaration) -> list[model.Declaration]:
        return self._inner.get(each.full_name, [])

    def _graphs(self, each: model.Declaration) -> Iterator[list[str]]:
        """The messages of whole graphs with such roots, or with roots that are declared within it."""
        if isinstance(each, model.Struct | model.Union) and model.graph_tables(
            self._program.declarations, each
        ):
            name = self._names[self._module.name].added(f"{model.local_name(each).replace('.', '_')}Graph")
            yield self._messages.graph(each, name)
        for inner in self._within(each):
            yield from self._graphs(inner)

    def _enum(self, enum: model.Enum) -> list[str]:
        names = self._names[self._module.name]
        lines = [*comment(enum.doc), f"enum {names.name(enum.full_name)} {{"]
        if enum.deprecated is not None:
            lines.append("  option deprecated = true;")
        for member in enum.members:
            lines += [f"  {line}" for line in comment(member.doc)]
            option = " [deprecated = true]" if member.deprecated is not None else ""
            lines.append(f"  {names.member(member)} = {member.number}{option};")
        return [*lines, "}"]
