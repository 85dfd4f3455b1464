"""What rules work on: the syntax tree of one module's file, and its meaning; and what rules return."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from mfidl import model
from mfidl.diagnostics import Fix, Note
from mfidl.lint.whole import Whole
from mfidl.source import Span
from mfidl.syntax import ast


@dataclass(frozen=True, slots=True)
class Finding:
    """`values` fill the message of the code."""

    code: str
    span: Span
    values: dict[str, object] = field(default_factory=dict)
    help: str | None = None
    notes: tuple[Note, ...] = ()
    fix: Fix | None = None


@dataclass(slots=True)
class Subject:
    """A module that the command line names. It is valid: all its names are resolved."""

    program: model.Program
    module: model.Module
    file: ast.File
    imports: Sequence[tuple[ast.ImportDecl, str]]  # with the full name of the module
    whole: Whole

    def structs(self) -> Iterator[tuple[ast.StructDecl, model.Struct | model.Union]]:
        for declaration in self.file.declarations:
            if isinstance(declaration, ast.StructDecl) and declaration.keyword != "annotation":
                name = f"{declaration.within}.{declaration.name.text}".removeprefix(".")
                found = self.program.declaration(f"{self.module.name}.{name}")
                assert isinstance(found, model.Struct | model.Union)
                yield declaration, found

    def enums(self) -> Iterator[ast.EnumDecl]:
        return (each for each in self.file.declarations if isinstance(each, ast.EnumDecl))

    def services(self) -> Iterator[tuple[ast.ServiceDecl, model.Service]]:
        known = {service.name: service for service in self.module.services}
        for declaration in self.file.declarations:
            if isinstance(declaration, ast.ServiceDecl):
                yield declaration, known[declaration.name.text]

    def methods(self) -> Iterator[tuple[ast.MethodDecl, model.Method, model.Service]]:
        for declaration, service in self.services():
            for method, meaning in zip(declaration.methods, service.own_methods, strict=True):
                yield method, meaning, service


Named = (
    ast.ConstDecl
    | ast.AliasDecl
    | ast.AgentDecl
    | ast.EnumDecl
    | ast.StructDecl
    | ast.ServiceDecl
    | ast.TopicDecl
)


def named(file: ast.File) -> Iterator[tuple[str, Named]]:
    """Every declaration that has a name of its own, with the word for its kind."""
    for each in file.declarations:
        match each:
            case ast.StructDecl(keyword=keyword) | ast.EnumDecl(keyword=keyword):
                yield keyword, each
            case ast.ConstDecl():
                yield "constant", each
            case ast.AliasDecl():
                yield "type", each
            case ast.AgentDecl():
                yield "agent", each
            case ast.ServiceDecl():
                yield "service", each
            case ast.TopicDecl():
                yield "topic", each
            case _:
                pass


def fields(file: ast.File) -> Iterator[tuple[str, ast.Field]]:
    """Every field, alternative, parameter and named result."""
    for each in file.declarations:
        if isinstance(each, ast.StructDecl):
            yield from (
                ("alternative" if each.keyword == "union" else "field", field) for field in each.fields
            )
        elif isinstance(each, ast.ServiceDecl):
            for method in each.methods:
                yield from (("parameter", field) for field in method.params)
                if isinstance(method.results, tuple):
                    yield from (("result", field) for field in method.results)


def types(file: ast.File) -> Iterator[ast.TypeExpr]:
    """Every type that is written, including arguments of other types."""
    pending: list[object] = []
    for each in file.declarations:
        if isinstance(each, ast.ConstDecl | ast.AliasDecl | ast.AgentDecl | ast.TopicDecl):
            pending.append(each.type)
        elif isinstance(each, ast.ServiceDecl):
            pending += [method.results for method in each.methods]
    pending += [field.type for _, field in fields(file)]
    while pending:
        current = pending.pop()
        if isinstance(current, ast.TypeExpr):
            yield current
            pending += current.arguments or ()
