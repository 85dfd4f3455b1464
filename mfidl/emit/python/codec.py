"""F6. The view of _codec.py: the shape and the codec of every declared type."""

from mfidl.emit.python.context import Context
from mfidl.emit.python.layout import bracket, unfolded
from mfidl.emit.python.literals import text_literal
from mfidl.emit.python.names import enum_members
from mfidl.emit.python.shapes import field_shape, shape
from mfidl.model import Enum, Field, Flags, Struct, Tier, Union
from mfidl.plan.annex import own_annex


class CodecFile:
    """Collects the texts of one module."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def numbers(self) -> list[str]:
        """Enums and flags."""
        return [
            self._number(each) for each in self._context.module.declarations if isinstance(each, Enum | Flags)
        ]

    def structs(self) -> list[str]:
        """Structs, errors and unions, each with its codec."""
        texts = []
        for each in self._context.module.declarations:
            if isinstance(each, Struct):
                texts.append(self._struct(each))
            elif isinstance(each, Union):
                texts.append(self._union(each))
        return texts

    def _number(self, declared: Enum | Flags) -> str:
        context = self._common()
        name = context.type_name(declared.full_name)
        items = [f'"{declared.full_name}"', name, f"shape.{declared.base.scalar.value.upper()}"]
        if isinstance(declared, Flags) or declared.open:
            items.append("open=True")
        schema_names = [each.name for each in declared.members]
        named = zip(enum_members(declared.members), schema_names, strict=True)
        renamed = [f'("{member}", "{written}")' for member, written in named if member != written]
        if renamed:
            items.append(f"renamed=[{', '.join(renamed)}]")
        return bracket(f"{self._stem(declared.full_name)}_SHAPE: Final = shape.Enum(", items, ")")

    def _struct(self, struct: Struct) -> str:
        name = self._common().type_name(struct.full_name)
        if struct.tier is Tier.CUSTOM:
            codec = struct.python_codec
            module, word = (codec.module, codec.codec) if codec is not None else ("", "")
            return self._text("Custom", struct.full_name, name, [f'    "{module}",\n', f'    "{word}",\n'])
        archive = struct.tier is Tier.ARCHIVE
        fields = fields_text(self._context, struct.fields, self._context.attributes(struct), numbered=archive)
        lines = [f"    {name},\n", f"    {fields},\n"]
        if struct.layout is not None:
            lines.append("    memcpy=True,\n")
        if archive:
            lines.append("    archive=True,\n")
        lines += self._annex(struct)
        return self._text("Struct", struct.full_name, name, lines)

    def _union(self, union: Union) -> str:
        context = self._common()
        name = context.type_name(union.full_name)
        alternatives = [
            f'shape.Alternative({each.number}, "{each.name}", {context.alternative_name(union, each)}, '
            f"{shape(context, each.type, each.constraints)})"
            for each in union.alternatives
        ]
        lines = [f"    {_listed('lambda', alternatives)},\n"]
        if union.tier is Tier.ARCHIVE:
            lines.append("    archive=True,\n")
        lines += self._annex(union)
        return self._text("Union", union.full_name, name, lines)

    def _annex(self, declared: Struct | Union) -> list[str]:
        """What readers of another schema need to know of its fields."""
        lines = own_annex(declared, self._context.program.declarations).splitlines()
        if not lines:
            return []
        return ["    annex=(\n", *(f"        {text_literal(line)},\n" for line in lines), "    ),\n"]

    def _text(self, kind: str, full_name: str, name: str, lines: list[str]) -> str:
        stem = self._stem(full_name)
        codec = self._context.imports.name("mf.codec.codec", "Codec")
        own = self._context.imports.name("mf.codec.codec", "TypeCodec")
        return (
            f"{stem}_SHAPE: Final[shape.{kind}] = shape.{kind}(\n"
            f'    "{full_name}",\n{"".join(lines)})\n'
            + bracket(f"{stem}_CODEC: Final[{own}[{name}]] = {codec}(", [f"{stem}_SHAPE"], ")")
            + "\n"
        )

    def _common(self) -> Context:
        self._context.imports.name("typing", "Final")
        self._context.imports.name("mf.codec", "shape")
        return self._context

    def _stem(self, full_name: str) -> str:
        return self._context.stem(full_name).upper()


def fields_text(
    context: Context,
    fields: tuple[Field, ...],
    names: tuple[str, ...],
    before: str = "",
    *,
    numbered: bool = False,
) -> str:
    """`lambda: (shape.Field(...), ...)`: a function, because types may contain each other."""
    shapes = [
        field_shape(context, each, name, numbered=numbered) for each, name in zip(fields, names, strict=True)
    ]
    return _listed(f"{before}lambda", shapes)


def _listed(before: str, items: list[str]) -> str:
    if not items:
        return before.removesuffix("lambda") + "tuple"
    if len(items) == 1:
        return bracket(f"{before}: (", items, ",)", 4, 1)
    lines = "".join(f"        {unfolded(each, 8)},\n" for each in items)
    return f"{before}: (\n{lines}    )"
