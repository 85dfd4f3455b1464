"""F6. What every view of one module asks: names of types wherever they are declared, and facts about structs.

A `Context` belongs to one generated file: it also collects that file's imports. Names from other modules that
are taken here get a trailing underscore.
"""

from dataclasses import dataclass, field
from functools import cached_property

from mfidl.emit.output import EmitOptions
from mfidl.emit.python.facts import Facts
from mfidl.emit.python.imports import Imports
from mfidl.emit.python.names import ModuleNames, field_names, package_name
from mfidl.model import Module, Program, Struct


@dataclass
class Context:
    facts: Facts
    module: Module
    options: EmitOptions
    file: str  # "_types", "_codec", ...: what is declared in it needs no import
    imports: Imports = field(default_factory=Imports)
    _foreign: dict[tuple[str, str], str] = field(default_factory=dict)

    @property
    def program(self) -> Program:
        return self.facts.program

    @property
    def names(self) -> ModuleNames:
        return self.facts.names(self.module.name)

    def package(self, module: str) -> str:
        """The package of a schema module: 'prefix.a.b'."""
        return package_name(module, self.options.python_package)

    def type_name(self, full_name: str) -> str:
        """The local name of a declared type or alias, imported if need be."""
        return self._local("_types", full_name, self.facts.names(self.owner(full_name).name).types[full_name])

    def codec_name(self, full_name: str, pattern: str) -> str:
        """write_{}, {}_SHAPE and the like, of a struct or enum."""
        stem = self.stem(full_name)
        return self._local("_codec", full_name, pattern.format(stem.upper() if pattern.isupper() else stem))

    def codec_name_of_part(self, full_name: str) -> str:
        """The Codec of a method's parameters or results, which belong to this module."""
        name = f"{self.names.stems[full_name].upper()}_CODEC"
        return self.imports.name(f"{self.package(self.module.name)}._codec", name)

    def stem(self, full_name: str) -> str:
        """The word that names of a type's codec are built from."""
        if full_name in self.names.stems:
            return self.names.stems[full_name]
        return self.facts.names(self.owner(full_name).name).stems[full_name]

    def owner(self, full_name: str) -> Module:
        return self.facts.module(full_name.rpartition(".")[0])

    def _local(self, file: str, full_name: str, name: str) -> str:
        owner = self.owner(full_name)
        if owner is self.module and file == self.file:
            return name
        package = self.package(owner.name)
        if owner is self.module:
            return self.imports.name(f"{package}.{file}", name)
        key = (package, name)
        if key not in self._foreign:
            taken = set(self._foreign.values()) | self._own_names
            local = name
            while local in taken:
                local += "_"
            self._foreign[key] = local
        return self.imports.name(f"{package}.{file}", name, self._foreign[key])

    @cached_property
    def _own_names(self) -> set[str]:
        names = self.names
        own = {*names.types.values(), *names.constants.values()}
        for each in names.services.values():
            own |= {each.client, each.scatter, each.servant}
            own |= {name for method in each.methods for name in (method.request, method.result)}
        for stem in names.stems.values():
            own |= {f"write_{stem}", f"read_{stem}", f"check_{stem}"}
            own |= {f"{stem}_shape".upper(), f"{stem}_codec".upper(), f"{stem}_members".upper()}
        return own


def attributes(struct: Struct) -> tuple[str, ...]:
    return field_names(struct)
