"""F6. The data for all views of one module: names of types wherever they are declared, and facts about
structs.

A `Context` belongs to one generated file: it also collects that file's imports. Names from other modules that
are taken here get a trailing underscore.
"""

from dataclasses import dataclass, field

from mfidl.emit.output import EmitOptions
from mfidl.emit.python.facts import Facts
from mfidl.emit.python.imports import Imports
from mfidl.emit.python.names import ModuleNames, package_name, stream_name
from mfidl.model import Field, Method, Module, Named, Program, Struct, Union


@dataclass(slots=True)
class Context:
    facts: Facts
    module: Module
    options: EmitOptions
    file: str  # "_types", "_codec", ...: what is declared in it needs no import
    imports: Imports = field(default_factory=Imports)
    below: set[str] = field(default_factory=set)  # types of the file that stand behind what is being written
    _foreign: dict[tuple[str, str], str] = field(default_factory=dict)
    _locals: set[str] = field(default_factory=set)
    _packages: dict[str, str] = field(default_factory=dict)

    @property
    def program(self) -> Program:
        return self.facts.program

    @property
    def names(self) -> ModuleNames:
        return self.facts.names(self.module.name)

    def package(self, module: str) -> str:
        """The package of a schema module: 'prefix.a.b'."""
        if module not in self._packages:
            self._packages[module] = package_name(module, self.options.python_package)
        return self._packages[module]

    def place(self, module: str, file: str) -> str:
        """What an import calls a file of a module's package: 'prefix.a.b._types', or '..b._types'."""
        there = self.package(module)
        if not self.options.is_relative:
            return f"{there}.{file}"
        here = self.package(self.module.name).split(".")
        parts = there.split(".")
        shared = next(
            (at for at, pair in enumerate(zip(here, parts, strict=False)) if pair[0] != pair[1]),
            min(len(here), len(parts)),
        )
        return "." * (1 + len(here) - shared) + ".".join([*parts[shared:], file])

    def type_name(self, full_name: str) -> str:
        """The local name of a declared type or alias, imported if need be."""
        return self._local("_types", full_name, self.facts.names(self.owner(full_name).name).types[full_name])

    def codec_name(self, full_name: str, pattern: str) -> str:
        """{}_SHAPE or {}_CODEC of a declared type."""
        return self._local("_codec", full_name, pattern.format(self.stem(full_name).upper()))

    def alternative_name(self, union: Union, alternative: Field) -> str:
        """The class of an alternative, imported if need be."""
        names = self.facts.names(self.owner(union.full_name).name).alternatives[union.full_name]
        full_name = f"{union.full_name}.{alternative.name}"
        return self._local(
            "_types", full_name, names[union.alternatives.index(alternative)], self.owner(union.full_name)
        )

    def within(self, full_name: str) -> list[str]:
        """The class of the words that a struct or service has for types within it; most have none."""
        within = self.names.within.get(full_name)
        return [self.foreign("_types", within.name, self.module.name)] if within else []

    def attributes(self, struct: Struct) -> tuple[str, ...]:
        return self.facts.attributes(struct)

    def stream_name(self, method: Method) -> str:
        """The name of the parameter that is a stream."""
        assert method.param_stream is not None
        return stream_name(method.param_stream, self.attributes(method.params))

    def error_line(self, error: Named) -> str:
        """The name of a declared error, for a text that does not import it, and its first sentence."""
        declared = self.program.struct(error)
        name = self.facts.names(self.owner(error.full_name).name).types[error.full_name]
        first = declared.doc.strip().partition("\n")[0].strip()
        return f"{name}: {first}" if first else name

    def stem(self, full_name: str) -> str:
        """The word that names of a type's codec are built from."""
        if full_name in self.names.stems:
            return self.names.stems[full_name]
        return self.facts.names(self.owner(full_name).name).stems[full_name]

    def owner(self, full_name: str) -> Module:
        return self.program.owner(full_name)

    def foreign(self, file: str, name: str, module: str) -> str:
        """What a file of a module's package has under a name, imported if need be."""
        return self._local(file, "", name, self.facts.module(module))

    def _local(self, file: str, full_name: str, name: str, owner: Module | None = None) -> str:
        owner = owner or self.owner(full_name)
        if owner is self.module and file == self.file:
            return name
        package = self.package(owner.name)
        place = self.place(owner.name, file)
        if owner is self.module:
            return self.imports.name(place, name)
        key = (package, name)
        if key not in self._foreign:
            local = name
            while local in self._locals or local in self.names.all:
                local += "_"
            self._foreign[key] = local
            self._locals.add(local)
        return self.imports.name(place, name, self._foreign[key])
