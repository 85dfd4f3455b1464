"""F6. The views of _codec.py: what the shape and the codec of every declared type are made of."""

from dataclasses import dataclass

from mfidl.emit.python.context import Context
from mfidl.emit.python.names import enum_members
from mfidl.emit.python.shapes import field_shape, shape
from mfidl.model import Enum, Field, Flags, Struct, Tier, Union
from mfidl.plan.annex import own_annex


@dataclass(frozen=True, slots=True)
class NumberView:
    """An enum or flags. `renamed`: the members that the schema calls otherwise, with its names."""

    stem: str
    full_name: str
    name: str
    base: str
    open: bool
    renamed: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class CodecView:
    """A struct, error or union. `shapes` are those of its fields, `annex` the lines of what readers of
    another schema need to know of them; of a struct with a codec of the user, `codec` is where that is.
    """

    kind: str
    stem: str
    full_name: str
    name: str
    shapes: tuple[str, ...] = ()
    memcpy: bool = False
    archive: bool = False
    annex: tuple[str, ...] = ()
    codec: tuple[str, str] = ("", "")


def codec_views(context: Context) -> dict[str, object]:
    declared = context.module.declarations
    return {
        "numbers": [_number(context, each) for each in declared if isinstance(each, Enum | Flags)],
        "composites": [_composite(context, each) for each in declared if isinstance(each, Struct | Union)],
    }


def _number(context: Context, declared: Enum | Flags) -> NumberView:
    schema_names = [each.name for each in declared.members]
    named = zip(enum_members(declared.members), schema_names, strict=True)
    return NumberView(
        context.stem(declared.full_name).upper(),
        declared.full_name,
        context.type_name(declared.full_name),
        declared.base.scalar.value.upper(),
        isinstance(declared, Flags) or declared.open,
        tuple((ours, theirs) for ours, theirs in named if ours != theirs),
    )


def _composite(context: Context, declared: Struct | Union) -> CodecView:
    name = context.type_name(declared.full_name)
    stem = context.stem(declared.full_name).upper()
    if isinstance(declared, Union):
        shapes = tuple(_alternative(context, declared, each) for each in declared.alternatives)
    elif declared.tier is Tier.CUSTOM:
        codec = declared.python_codec
        place = (codec.module, codec.codec) if codec is not None else ("", "")
        return CodecView("Custom", stem, declared.full_name, name, codec=place)
    else:
        shapes = field_shapes(context, declared, numbered=declared.tier is Tier.ARCHIVE)
    return CodecView(
        "Union" if isinstance(declared, Union) else "Struct",
        stem,
        declared.full_name,
        name,
        shapes,
        declared.tier is Tier.MEMCPY,
        declared.tier is Tier.ARCHIVE,
        tuple(own_annex(declared, context.program.declarations).splitlines()),
    )


def _alternative(context: Context, union: Union, each: Field) -> str:
    held = shape(context, each.type, each.constraints)
    name = context.alternative_name(union, each)
    return f'shape.Alternative({each.number}, "{each.name}", {name}, {held})'


def field_shapes(context: Context, struct: Struct, *, numbered: bool = False) -> tuple[str, ...]:
    named = zip(struct.fields, context.attributes(struct), strict=True)
    return tuple(field_shape(context, each, name, numbered=numbered) for each, name in named)
