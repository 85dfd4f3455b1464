"""F6. Views of Readable<S>: whether a value that was written can be read again."""

from collections.abc import Sequence

from mfidl.emit.cpp.facts import Facts
from mfidl.emit.cpp.names import AlternativeNames
from mfidl.emit.cpp.text import argument, conjunction, definition, fill, head
from mfidl.emit.cpp.view import ReadableView
from mfidl.model import Field, Struct, Union


def of_struct(facts: Facts, struct: Struct, qualified: str, members: tuple[str, ...]) -> ReadableView:
    if facts.struct_always_readable(struct):
        return ReadableView()
    if struct.layout is not None:
        return ReadableView(template="cpp/codec/readable_layout.j2")
    fields = [(field, f"value.{member}") for field, member in zip(struct.fields, members, strict=True)]

    def body(walk: str, asked: Sequence[tuple[Field, str]]) -> list[str]:
        terms = [f"{walk}({value}, levels - 1)" for _, value in asked]
        return [conjunction("return ", ["levels != 0", *terms], ";", indent=2).lstrip()]

    unsure = [each for each in fields if not facts.always_readable(each[0].type)]
    nested = [each for each in fields if facts.nests(each[0].type)]
    functions = [_function(qualified, "holds", bool(unsure), body("readable", unsure))]
    if nested:
        functions.append(_function(qualified, "within", True, body("codec::within", nested)))
    return _readable(functions)


def of_union(facts: Facts, union: Union, qualified: str, names: tuple[AlternativeNames, ...]) -> ReadableView:
    if facts.union_always_readable(union):
        return ReadableView()
    alternatives = list(zip(union.alternatives, names, strict=True))

    def body(walk: str, asked: Sequence[tuple[Field, AlternativeNames]]) -> list[str]:
        if not asked:
            return ["return levels != 0;"]
        cases: list[str] = []
        for _, named in asked:
            term = f"{walk}(value.{named.accessor}(), levels - 1)"
            cases += [f"  case Kind::{named.kind}:", f"    return levels != 0 && {term};"]
        switch = ["switch (value.kind()) {", *cases, "  default:", "    return levels != 0;", "}"]
        return [f"using Kind = {qualified}::Kind;", *switch]

    unsure = [each for each in alternatives if not facts.always_readable(each[0].type)]
    nested = [each for each in alternatives if facts.nests(each[0].type)]
    functions = [_function(qualified, "holds", bool(unsure), body("readable", unsure))]
    if nested:
        functions.append(_function(qualified, "within", True, body("codec::within", nested)))
    return _readable(functions)


def _function(qualified: str, name: str, used: bool, body: list[str]) -> tuple[str, str]:
    """Its declaration and its definition."""
    parameters = [argument(f"const {qualified}&", "value", used), "unsigned levels"]
    return (
        fill(
            f"[[nodiscard]] static bool {name}(",
            [f"const {qualified}& value", "unsigned levels"],
            ");",
            indent=2,
        ),
        definition(head(f"bool Readable<{qualified}>::{name}(", parameters, ")"), body),
    )


def _readable(functions: list[tuple[str, str]]) -> ReadableView:
    return ReadableView(
        declarations=tuple(declaration for declaration, _ in functions),
        definition="\n\n".join(text for _, text in functions),
        template="cpp/codec/readable.j2",
        definition_template="cpp/codec/readable_definition.j2",
    )
