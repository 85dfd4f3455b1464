"""F4. The shared objects of the semantics stage: the sink, the scopes, and each other, behind small
interfaces.

Types need values (array lengths, bounds) and values need types, so both are reached through here.
"""

from dataclasses import dataclass, field
from typing import Protocol

from mfidl import model
from mfidl.diagnostics import Diagnostics, Fix
from mfidl.diagnostics.suggest import Suggester
from mfidl.semantics.loading import LoadedModule
from mfidl.semantics.symbols import Kind, Missing, Scope, Symbol, look_up
from mfidl.source import SourceFile, Span
from mfidl.syntax import ast


class TypeSource(Protocol):
    def resolve(self, expression: ast.TypeExpr, scope: Scope) -> model.Type | None:
        """The type as it was spelled; None if it is wrong, which is then reported once."""

    def constraints_of(self, spelled: model.Type) -> tuple[model.Constraint, ...]:
        """What an alias adds to the positions where it is used."""


class ValueSource(Protocol):
    def value(self, expression: ast.Expr, wanted: model.Type, scope: Scope) -> model.Value | None:
        """The value, fit for the type; None if it is wrong, which is then reported."""

    def whole_number(self, expression: ast.Expr, scope: Scope, what: str) -> int | None:
        """A literal or constant that is a whole number, of whatever size."""


class ServiceSource(Protocol):
    def service_named(self, full_name: str) -> model.Service | None:
        """The service of a full name; None if it extends itself, which is then reported once."""


class EnumSource(Protocol):
    def enum_named(self, full_name: str) -> model.Enum | None:
        """The enum of a full name; None if that is wrong, which is then reported once."""

    def flags_named(self, full_name: str) -> model.Flags | None:
        """The same for flags."""


@dataclass(slots=True)
class Context:
    """One per run. The sources are set by `elaborate` before anything is asked of them."""

    diagnostics: Diagnostics
    scopes: list[Scope] = field(init=False)
    types: TypeSource = field(init=False)
    values: ValueSource = field(init=False)
    enums: EnumSource = field(init=False)
    services: ServiceSource = field(init=False)
    suggester: Suggester = field(default_factory=Suggester)
    paths: list[tuple[ast.Path, Symbol]] = field(default_factory=list)  # that were looked up, and found
    members: list[tuple[ast.Name, Symbol]] = field(
        default_factory=list
    )  # named in values, with what has them
    _missing: dict[tuple[int, str, frozenset[Kind]], Missing] = field(default_factory=dict)
    _unknown: set[tuple[int, str, str]] = field(default_factory=set)
    _symbols: dict[str, Symbol] = field(default_factory=dict)
    _files: dict[int, Scope] = field(default_factory=dict)

    def symbol(self, full_name: str) -> Symbol:
        """The symbol of a full name that a look-up gave."""
        if not self._symbols:
            self._symbols.update(
                (symbol.full_name, symbol) for scope in self.scopes for symbol in scope.symbols.values()
            )
        return self._symbols[full_name]

    def scope_of(self, file: SourceFile) -> Scope:
        """The names that a file sees."""
        if not self._files:
            self._files.update((id(scope.module.file.source), scope) for scope in self.scopes)
        return self._files[id(file)]

    def look_up(self, path: ast.Path, scope: Scope, wanted: frozenset[Kind]) -> Symbol | Missing | None:
        """As in `symbols`; what is not there is searched for once."""
        key = (id(scope), path.text, wanted)
        if key in self._missing:
            return self._missing[key]
        found = look_up(scope, path, wanted, self.scopes, self.suggester)
        if isinstance(found, Missing):
            self._missing[key] = found
        elif found is not None:
            self.paths.append((path, found))
        return found

    def find(self, path: ast.Path, scope: Scope, wanted: frozenset[Kind], unknown: str) -> Symbol | None:
        """Look a path up; report with the code `unknown` when there is nothing, once per name and file."""
        found = self.look_up(path, scope, wanted)
        if isinstance(found, Missing):
            if not self.is_first(scope, path, unknown):
                return None
            if found.code == "E0306":
                qualifier = path.text.rpartition(".")[0]
                span = path.parts[0].span.to(path.parts[-2].span)
                self.diagnostics.error("E0306", span, help=found.help, name=qualifier)
            elif found.code == "E0307":
                name = path.parts[-1].text
                fix = Fix(import_place(scope.module), f'\nimport "{found.path}";')
                self.diagnostics.error(
                    "E0307", path.span, help=found.help, fix=fix, name=name, module=found.module
                )
            else:
                span = path.parts[-1].span if len(path.parts) > 1 else path.span
                advice = found.help or _declared_as(path, unknown)
                self.diagnostics.error(unknown, span, help=advice, fix=found.fix, name=path.text)
            return None
        return found

    def is_first(self, scope: Scope, path: ast.Path, unknown: str) -> bool:
        """Whether this name in this file was not reported yet with the code `unknown`."""
        key = (id(scope), path.text, unknown)
        fresh = key not in self._unknown
        self._unknown.add(key)
        return fresh


def import_place(module: LoadedModule) -> Span:
    """Behind the last import of a file, or behind its `module` line."""
    heads = [each for each in module.file.declarations if isinstance(each, ast.ModuleDecl | ast.ImportDecl)]
    source = module.file.source
    end = max((each.span.end for each in heads), default=0)
    return Span(source, end, end)


def _declared_as(path: ast.Path, unknown: str) -> str | None:
    """How to declare an agent that is not there."""
    is_agent = unknown == "E0313" and len(path.parts) == 1
    return f"declare it in this file: `agent {path.text}: string;`" if is_agent else None
