"""Every dotted name in a file that refers to a declaration of this or another file."""

from collections.abc import Iterator

from mfidl.semantics.annotations import KNOWN
from mfidl.syntax import ast


def paths(file: ast.File) -> Iterator[tuple[ast.Path, bool, str]]:
    """Types, errors, agents, constants and members; with whether the name is inside something deprecated,
    and the declarations that it is within, "Outer" or "Outer.Inner".
    """
    for each in file.declarations:
        if isinstance(each, ast.ModuleDecl):
            yield from ((path, False, "") for path in _in_annotations(each.annotations))
        if isinstance(each, ast.ModuleDecl | ast.ImportDecl):
            continue
        around = getattr(each, "within", "")
        within = f"{around}.{each.name.text}" if around else each.name.text
        inside = _is_deprecated(each.annotations)
        yield from ((path, inside, within) for path in _in_annotations(each.annotations))
        yield from ((path, deprecated, within) for path, deprecated in _in_declaration(each, inside))


def _is_deprecated(annotations: tuple[ast.Annotation, ...]) -> bool:
    return any(each.path.text == "deprecated" for each in annotations)


def _in_declaration(each: ast.Decl, inside: bool) -> Iterator[tuple[ast.Path, bool]]:
    match each:
        case ast.ConstDecl():
            found = [*_in_type(each.type), *_in_annotations(each.type_annotations), *_in_value(each.value)]
        case ast.AliasDecl():
            found = [*_in_type(each.type), *_in_annotations(each.type_annotations)]
        case ast.AgentDecl():
            found = [*_in_type(each.type)]
        case ast.TopicDecl():
            found = [*_in_type(each.type), *((each.agent,) if each.agent else ())]
        case ast.EnumDecl():
            found = [path for member in each.members for path in _in_value(member.value)]
            found += [path for member in each.members for path in _in_annotations(member.annotations)]
        case ast.StructDecl():
            for field in each.fields:
                yield from _in_field(field, inside)
            return
        case ast.ServiceDecl():
            if each.agent:
                yield each.agent, inside
            for method in each.methods:
                yield from _in_method(method, inside or _is_deprecated(method.annotations))
            return
        case _:
            return
    yield from ((path, inside) for path in found)


def _in_method(method: ast.MethodDecl, inside: bool) -> Iterator[tuple[ast.Path, bool]]:
    for field in (*method.params, *(method.results if isinstance(method.results, tuple) else ())):
        yield from _in_field(field, inside)
    found = [*method.throws, *_in_annotations((*method.annotations, *method.result_annotations))]
    if isinstance(method.results, ast.TypeExpr):
        found += _in_type(method.results)
    yield from ((path, inside) for path in found)


def _in_field(field: ast.Field, inside: bool) -> Iterator[tuple[ast.Path, bool]]:
    inside = inside or _is_deprecated(field.annotations)
    for path in (*_in_type(field.type), *_in_annotations(field.annotations), *_in_value(field.default)):
        yield path, inside


def _in_type(expression: ast.TypeExpr) -> Iterator[ast.Path]:
    yield expression.path
    yield from _in_annotations(expression.annotations)
    for argument in expression.arguments or ():
        if isinstance(argument, ast.TypeExpr):
            yield from _in_type(argument)


def _in_annotations(annotations: tuple[ast.Annotation, ...]) -> Iterator[ast.Path]:
    for annotation in annotations:
        if annotation.path.text not in KNOWN:
            yield annotation.path
        for argument in annotation.arguments:
            yield from _in_value(argument.value)


def _in_value(value: ast.Expr | ast.RangeExpr | None) -> Iterator[ast.Path]:
    match value:
        case ast.NameExpr():
            yield value.path
        case ast.RangeExpr():
            yield from _in_value(value.low)
            yield from _in_value(value.high)
        case ast.ListExpr():
            for element in value.elements:
                yield from _in_value(element)
        case ast.BraceExpr():
            for key, held in value.entries:
                yield from _in_value(key)
                yield from _in_value(held)
        case _:
            pass
