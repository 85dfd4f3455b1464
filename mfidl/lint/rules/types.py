"""L06: types and layouts that cost more than necessary, or say less than they could."""

import re
from collections.abc import Iterator

from mfidl import model
from mfidl.lint.subject import Finding, Subject, fields, types
from mfidl.plan.layout import lay_out
from mfidl.source import Span
from mfidl.syntax import ast

_UNITS = re.compile(
    r"(.+_)?(ns|us|ms|nanos|micros|millis|msec|msecs|sec|secs|seconds|minutes|hours|days|timeout|ttl)"
)


def orders_that_waste_padding(subject: Subject) -> Iterator[Finding]:
    """Largest alignment first is the optimal order, since each size is a multiple of its alignment."""
    declared = {each.full_name: each for module in subject.program.modules for each in module.declarations}
    for declaration, struct in subject.structs():
        if not isinstance(struct, model.Struct) or struct.layout is None or struct.cpp_type is not None:
            continue
        layout = struct.layout
        aligns = {slot.name: slot.align for slot in layout.slots}
        ordered = sorted(struct.fields, key=lambda field: -aligns[field.name])
        best = lay_out(ordered, declared)
        if best is not None and best.size < layout.size:
            padding = sum(run.size for run in layout.padding)
            values: dict[str, object] = {"size": layout.size, "padding": padding, "best": best.size}
            names = ", ".join(f"`{field.name}`" for field in ordered)
            yield Finding("L0601", declaration.name.span, values, f"this order wastes least: {names}")


def lists_of_bool(subject: Subject) -> Iterator[Finding]:
    yield from _lists_of("bool", "L0602", subject.file)


def lists_of_u8(subject: Subject) -> Iterator[Finding]:
    yield from _lists_of("u8", "L0603", subject.file)


def _lists_of(element: str, code: str, file: ast.File) -> Iterator[Finding]:
    for each in types(file):
        if each.path.text != "list" or not each.arguments:
            continue
        inner = each.arguments[0]
        plain = isinstance(inner, ast.TypeExpr) and not (inner.annotations or inner.optional_marks)
        if plain and isinstance(inner, ast.TypeExpr) and inner.path.text == element:
            end = each.optional_marks[0].start if each.optional_marks else each.span.end
            yield Finding(code, Span(each.span.file, each.span.start, end))


def units_in_names(subject: Subject) -> Iterator[Finding]:
    """Reports numbers only, for which `timeout: duration` is better."""
    numbers = {scalar.value for scalar in model.Scalar if scalar.is_integer or scalar.is_float}
    for _, field in fields(subject.file):
        if field.type.path.text in numbers and _UNITS.fullmatch(field.name.text):
            yield Finding("L0604", field.name.span, {"name": field.name.text}, "make it a `duration`")


def optional_containers(subject: Subject) -> Iterator[Finding]:
    for _, field in fields(subject.file):
        if field.type.optional_marks and field.type.path.text in ("list", "set", "map"):
            yield Finding("L0605", field.name.span, {"name": field.name.text})


def gaps_in_numbers(subject: Subject) -> Iterator[Finding]:
    """Reports the first gap only: one mistake is usually one removal."""
    for declaration, meaning in subject.structs():
        members = meaning.fields if isinstance(meaning, model.Struct) else meaning.alternatives
        numbers = {member.number for member in members if member.number is not None}
        ranges = meaning.reserved.numbers
        if numbers and (gap := _first_gap(numbers, ranges)) is not None:
            values: dict[str, object] = {"number": gap, "name": meaning.name}
            yield Finding("L0606", declaration.name.span, values, f"write: reserved {gap};")


def defaults_like_numbers(subject: Subject) -> Iterator[Finding]:
    """Reports structs whose fields all have defaults, which are 1, 2, 3 and so on in any order."""
    for declaration in subject.file.declarations:
        if not isinstance(declaration, ast.StructDecl) or len(declaration.fields) < 2:
            continue
        defaults = [field.default for field in declaration.fields if field.number is None]
        values = sorted(each.value for each in defaults if isinstance(each, ast.IntLiteral))
        if values == list(range(1, len(declaration.fields) + 1)):
            first = declaration.fields[0]
            assert first.default is not None
            meant = f"{first.default.span.text()}: {first.name.text}: {first.type.span.text()};"
            found: dict[str, object] = {"name": declaration.name.text, "last": len(values)}
            help_ = f"if these are the numbers of fields, write them first: `{meant}`"
            yield Finding("L0608", declaration.name.span, found, help_)


def _first_gap(numbers: set[int], reserved: tuple[tuple[int, int], ...]) -> int | None:
    """Its time depends on the number of fields and ranges, not on how large the numbers are."""
    covered = sorted([*((number, number) for number in numbers), *reserved])
    wanted, last = 1, max(numbers)
    for low, high in covered:
        if low > wanted and wanted <= last:
            return wanted
        wanted = max(wanted, high + 1)
    return None


def tiers_not_pinned(subject: Subject) -> Iterator[Finding]:
    for declaration, struct in subject.structs():
        as_it_happens = struct.asked_tier is None and struct.tier is model.Tier.MEMCPY
        if as_it_happens and isinstance(struct, model.Struct) and struct.fields:
            help_ = "write @tier(memcpy) before it"
            yield Finding("L0607", declaration.name.span, {"name": struct.name}, help_)
