"""Facts about the whole program for rules, computed once for all modules."""

from functools import cached_property
from typing import Protocol

from mfidl import model
from mfidl.emit.cpp.names import Names
from mfidl.emit.python.names import Inherited, ModuleNames, module_names


class Deprecatable(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def deprecated(self) -> str | None: ...


class Declared(Deprecatable, Protocol):
    @property
    def full_name(self) -> str: ...


class Whole:
    """Each fact is computed on first use."""

    def __init__(self, program: model.Program) -> None:
        self._program = program

    @cached_property
    def cpp_names(self) -> Names:
        return Names(self._program)

    @cached_property
    def python_names(self) -> dict[str, ModuleNames]:
        """Of each module."""
        inherited: Inherited = {}
        return {each.name: module_names(each, inherited) for each in self._program.modules}

    @cached_property
    def thrown(self) -> frozenset[str]:
        """Full names of the errors that some method throws."""
        return frozenset(
            name.full_name
            for module in self._program.modules
            for service in module.services
            for method in service.methods
            for name in method.throws
        )

    @cached_property
    def agents(self) -> frozenset[str]:
        """Full names of the agents for which services are offered."""
        found: set[str] = set()
        for module in self._program.modules:
            agents = [*(each.agent for each in module.services), *(each.agent for each in module.topics)]
            found |= {agent.full_name for agent in agents if agent is not None}
        return frozenset(found)

    @cached_property
    def deprecated(self) -> dict[str, tuple[str, Deprecatable]]:
        """What is deprecated, by its full name, with the word for its kind."""
        found: dict[str, tuple[str, Deprecatable]] = {}
        for module in self._program.modules:
            groups: tuple[tuple[str, tuple[Declared, ...]], ...] = (
                ("type", module.declarations),
                ("constant", module.constants),
                ("agent", module.agents),
            )
            for kind, group in groups:
                for each in group:
                    word = "error" if isinstance(each, model.Struct) and each.is_error else kind
                    found[each.full_name] = (word, each)
            for enum in module.enums:
                found |= {f"{enum.full_name}.{each.name}": ("member", each) for each in enum.members}
            for flags in module.flags:
                found |= {f"{flags.full_name}.{each.name}": ("member", each) for each in flags.members}
        return {name: (kind, each) for name, (kind, each) in found.items() if each.deprecated is not None}
