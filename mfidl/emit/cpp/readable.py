"""F6. Views of Readable<S>: whether a value that was written can be read again."""

from mfidl.emit.cpp.facts import Facts
from mfidl.emit.cpp.names import AlternativeNames
from mfidl.emit.cpp.text import argument, conjunction, definition, fill, head
from mfidl.emit.cpp.view import ReadableView
from mfidl.model import Struct, Union


def of_struct(facts: Facts, struct: Struct, qualified: str, members: tuple[str, ...]) -> ReadableView:
    if facts.struct_always_readable(struct):
        return ReadableView()
    if struct.layout is not None:
        return ReadableView(template="cpp/codec/readable_layout.j2")
    asked = [
        f"readable(value.{member}, levels - 1)"
        for field, member in zip(struct.fields, members, strict=True)
        if not facts.always_readable(field.type)
    ]
    body = conjunction("return ", ["levels != 0", *asked], ";", indent=2).lstrip()
    return _readable(qualified, bool(asked), [body])


def of_union(facts: Facts, union: Union, qualified: str, names: tuple[AlternativeNames, ...]) -> ReadableView:
    if facts.union_always_readable(union):
        return ReadableView()
    cases: list[str] = []
    for field, named in zip(union.alternatives, names, strict=True):
        if not facts.always_readable(field.type):
            asked = f"readable(value.{named.accessor}(), levels - 1)"
            cases += [f"  case Kind::{named.kind}:", f"    return levels != 0 && {asked};"]
    if not cases:
        return _readable(qualified, False, ["return levels != 0;"])
    switch = ["switch (value.kind()) {", *cases, "  default:", "    return levels != 0;", "}"]
    return _readable(qualified, True, [f"using Kind = {qualified}::Kind;", *switch])


def _readable(qualified: str, used: bool, body: list[str]) -> ReadableView:
    result = "[[nodiscard]] static bool holds("
    parameters = [argument(f"const {qualified}&", "value", used), "unsigned levels"]
    return ReadableView(
        declarations=(fill(result, [f"const {qualified}& value", "unsigned levels"], ");", indent=2),),
        definition=definition(head(f"bool Readable<{qualified}>::holds(", parameters, ")"), body),
        template="cpp/codec/readable.j2",
        definition_template="cpp/codec/readable_definition.j2",
    )
