"""F3. Modules, and the program: the closure of the files that the compiler was asked for."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from mfidl.model.declaration import Alias, Annotations, Const, Declaration, Enum, Flags, Struct, Union
from mfidl.model.service import Agent, Service, Topic
from mfidl.model.types import Named


@dataclass(frozen=True, slots=True)
class Import:
    """`import "sf1/text.mfidl" as t;`: the imported module's name, and the word for it in this
    file.
    """

    module: str
    local_name: str


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """One .mfidl file. `path` is relative to the import path that found it, with forward slashes.

    `annotation_types` are the annotations that it declares, `annotations` those at its `module` line.
    `declarations` has aliases, enums, flags, structs, unions and errors, so ordered that what a type needs
    complete (direct fields, arrays) comes before it. `requested`: it was named on the command
    line, not only imported.
    """

    name: str
    path: str
    requested: bool
    doc: str = ""
    imports: tuple[Import, ...] = ()
    constants: tuple[Const, ...] = ()
    agents: tuple[Agent, ...] = ()
    declarations: tuple[Declaration, ...] = ()
    services: tuple[Service, ...] = ()
    topics: tuple[Topic, ...] = ()
    annotation_types: tuple[Struct, ...] = ()
    annotations: Annotations = ()

    @property
    def structs(self) -> tuple[Struct, ...]:
        """The declared structs and errors, in dependency order; not the implicit ones of methods."""
        return tuple(each for each in self.declarations if isinstance(each, Struct))

    @property
    def errors(self) -> tuple[Struct, ...]:
        return tuple(each for each in self.structs if each.is_error)

    @property
    def enums(self) -> tuple[Enum, ...]:
        return tuple(each for each in self.declarations if isinstance(each, Enum))

    @property
    def flags(self) -> tuple[Flags, ...]:
        return tuple(each for each in self.declarations if isinstance(each, Flags))

    @property
    def unions(self) -> tuple[Union, ...]:
        return tuple(each for each in self.declarations if isinstance(each, Union))

    @property
    def aliases(self) -> tuple[Alias, ...]:
        return tuple(each for each in self.declarations if isinstance(each, Alias))


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """All modules, imported before importing. Look-ups by reference never fail on a checked program."""

    modules: tuple[Module, ...]
    _index: dict[str, Declaration] = field(default_factory=dict, repr=False, compare=False)
    _services: dict[str, Service] = field(default_factory=dict, repr=False, compare=False)
    _annotations: dict[str, Struct] = field(default_factory=dict, repr=False, compare=False)
    _owners: dict[str, Module] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        for module in self.modules:
            for declaration in module.declarations:
                self._index[declaration.full_name] = declaration
                self._owners[declaration.full_name] = module
            self._services.update((service.full_name, service) for service in module.services)
            self._annotations.update((each.full_name, each) for each in module.annotation_types)

    @property
    def requested(self) -> tuple[Module, ...]:
        return tuple(module for module in self.modules if module.requested)

    def module(self, name: str) -> Module:
        return next(module for module in self.modules if module.name == name)

    def owner(self, full_name: str) -> Module:
        """The module of a declaration, which may stand within another one."""
        return self._owners[full_name]

    def struct(self, reference: Named) -> Struct:
        """The struct or error that a reference names."""
        found = self._index[reference.full_name]
        assert isinstance(found, Struct)
        return found

    def enum(self, reference: Named) -> Enum:
        found = self._index[reference.full_name]
        assert isinstance(found, Enum)
        return found

    def flags(self, reference: Named) -> Flags:
        found = self._index[reference.full_name]
        assert isinstance(found, Flags)
        return found

    def union(self, reference: Named) -> Union:
        found = self._index[reference.full_name]
        assert isinstance(found, Union)
        return found

    def service(self, full_name: str) -> Service:
        return self._services[full_name]

    def annotation(self, full_name: str) -> Struct:
        """What the arguments of an annotation of a schema are."""
        return self._annotations[full_name]

    def extended(self, service: Service) -> Iterator[Service]:
        """The services that a service extends, the nearest first."""
        while service.extends is not None:
            service = self._services[service.extends]
            yield service

    @property
    def declarations(self) -> Mapping[str, Declaration]:
        """All declarations, by full name."""
        return self._index

    def declaration(self, full_name: str) -> Declaration:
        return self._index[full_name]

    def all_structs(self) -> Iterator[Struct]:
        """Every declared struct and error, and every implicit struct of a method."""
        for module in self.modules:
            yield from module.structs
            for service in module.services:
                for method in service.own_methods:
                    yield method.params
                    yield method.results
