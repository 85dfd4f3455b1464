"""R1. The statements that write the values of a type."""

from mf.codec import map_blocks, sizes
from mf.codec import shape as s
from mf.codec.fast.fixed import format_of, is_fixed, packed, struct_format
from mf.codec.fast.unit import Unit, bare, indented, integer_of, runs
from mf.codec.limits import MAX_EMPTY_ITEMS


def parts_of(shape: s.Struct) -> list[str]:
    return [f"part_{at}" for at in range(len(shape.fields))]


def _values_of(shape: s.Struct) -> list[str]:
    """Of the fields of `value`."""
    if shape.parts is s.bare_parts:
        return ["value"]
    return [f"value.{each.attribute}" for each in shape.fields]


class Writing:
    """The bodies of the functions that write one type."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit

    def body(self, shape: s.Struct | s.Union, depth: str) -> list[str]:
        """Of `write`, for many values."""
        if isinstance(shape, s.Struct) and shape.memcpy and shape.smallest:
            return [f'out += b"".join([{self._packed(shape, _values_of(shape))} for value in values])']
        return ["for value in values:", f"    write_one(out, value{depth})"]

    def one(self, shape: s.Struct | s.Union) -> list[str]:
        """Of `write_one`."""
        if isinstance(shape, s.Union):
            return self._union(shape)
        if not shape.fields:
            is_declared = isinstance(shape.make, type)
            return [f"no_parts(value, {self._unit.constant('make', shape.make)})" if is_declared else "pass"]
        if shape.memcpy:
            return [f"out += {self._packed(shape, _values_of(shape))}"]
        return ["append = out.append", *self._fields(shape, _values_of(shape))]

    def parts(self, shape: s.Struct) -> list[str]:
        """Of one request, whose parameters are the locals `part_0`, `part_1`, ..."""
        values = parts_of(shape)
        if shape.memcpy:
            return [f"out += {self._packed(shape, values)}"] if shape.fields else ["pass"]
        return ["append = out.append", *self._fields(shape, values)]

    def _packed(self, shape: s.Struct, values: list[str]) -> str:
        parts = [
            part
            for each, value in zip(shape.fields, values, strict=True)
            for part in packed(self._unit, each.shape, value)
        ]
        return f"{self._unit.packer(struct_format(shape), 'pack')}({', '.join(parts)})"

    def _fields(self, shape: s.Struct, values: list[str]) -> list[str]:
        body: list[str] = []
        at = 0
        for run in runs(shape.fields, is_fixed):
            own = values[at : at + len(run)]
            at += len(run)
            if is_fixed(run[0].shape):
                body += self._run([each.shape for each in run], own)
            else:
                body += self._value(run[0].shape, own[0], 1)
        return body

    def _union(self, shape: s.Union) -> list[str]:
        body = ["kind = type(value)"]
        for at, each in enumerate(shape.alternatives):
            body.append(f"{'elif' if at else 'if'} kind is {self._unit.constant('kind', each.type)}:")
            number = f"append({each.number})" if each.number < 128 else f"write_u32(out, {each.number})"
            body += indented([number, *self._value(each.shape, "value.value", 1)])
        body += ["else:", "    raise MalformedError"]
        return ["append = out.append", *body]

    def _run(self, shapes: list[s.Shape], values: list[str]) -> list[str]:
        layout = "".join(format_of(each) for each in shapes)
        parts = [
            part
            for each, value in zip(shapes, values, strict=True)
            for part in packed(self._unit, each, value)
        ]
        if layout == "B" and len(parts) == 1 and not parts[0].startswith("*"):
            return [f"append({parts[0]})"]
        # Of structs without fields there are no bytes, but they are looked at.
        return [f"out += {self._unit.packer(layout, 'pack')}({', '.join(parts)})"] if parts else []

    def _value(self, shape: s.Shape, value: str, level: int) -> list[str]:
        """`level`: how much deeper than the value that holds it a struct in this place would be."""
        integer = integer_of(bare(shape))
        if integer is not None:
            return self._number(integer, *packed(self._unit, shape, value))
        if is_fixed(shape):
            return self._run([shape], [value])
        match bare(shape):
            case s.Scalar(name="string"):
                return [f"text = {value}.encode()", *self._count("text"), "out += text"]
            case s.Scalar():
                return [f"blob = as_bytes({value})", *self._count("blob"), "out += blob"]
            case s.Optional(element=element):
                return self._optional(element, value, level)
            case s.List(element=element):
                return self._counted(element, f"listed({value})", level + 1)
            case s.Set(element=element):
                return self._counted(element, f"in_order({value})", level + 1)
            case s.Array(element=element, length=length):
                elements = f"exactly({value}, {length})"
                row = sizes.row_of(element)
                if row is not None:
                    return [f"write_{row}_row(out, {self._numbers(element, elements)}, False)"]
                return self._sequence(element, elements, level + 1)
            case s.Map() as map_:
                return self._map(map_, value, level)
            case s.Struct() | s.Union() | s.Custom() as other:
                return self._others(other, "write_one", value, level)
            case other:
                raise TypeError(other)

    def _number(self, integer: str, value: str) -> list[str]:
        local = value if value.isidentifier() else self._unit.local("number")
        keep = [] if local == value else [f"{local} = {value}"]
        if integer[0] == "i":
            test, short = f"-64 <= {local} < 64", f"({local} << 1) ^ ({local} >> 63)"
        else:
            test, short = f"0 <= {local} < 128", local
        return [
            *keep,
            f"if {test}:",
            f"    append({short})",
            "else:",
            f"    write_{integer}(out, {local})",
        ]

    def _count(self, value: str) -> list[str]:
        return [
            f"size = len({value})",
            "if size < 128:",
            "    append(size)",
            "else:",
            "    write_u32(out, size)",
        ]

    def _optional(self, element: s.Shape, value: str, level: int) -> list[str]:
        local = value if value.isidentifier() else self._unit.local("maybe")
        keep = [] if local == value else [f"{local} = {value}"]
        body = ["append(1)", *self._value(element, local, level)]
        return [*keep, f"if {local} is None:", "    append(0)", "else:", *indented(body)]

    def _map(self, shape: s.Map, value: str, level: int) -> list[str]:
        local, key = self._unit.local("map"), self._unit.local("key")
        blocks = sizes.blocks_of(shape)
        if blocks is not None:
            text = self._blocks(shape, blocks, local)
        else:
            body = self._value(shape.key, key, level + 1)
            body += self._value(shape.value, f"{local}[{key}]", level + 1)
            text = [f"for {key} in sorted({local}):", *indented(body)]
        return [f"{local} = {value}", *self._count(local), *text]

    def _blocks(self, shape: s.Map, integers: tuple[str, str], local: str) -> list[str]:
        write = self._unit.constant("write_blocks", map_blocks.writer_of(*integers))
        keys, values = self._numbers(shape.key, "keys"), self._numbers(shape.value, "values")
        return [
            "if size:",
            f"    keys = sorted({local})",
            f"    values = list(map({local}.__getitem__, keys))",
            f"    {write}(out, {keys}, {values})",
        ]

    def _counted(self, element: s.Shape, values: str, level: int) -> list[str]:
        """A list or set."""
        row = sizes.row_of(element)
        if row is not None:
            return [f"write_{row}_row(out, {self._numbers(element, values)})"]
        local = self._unit.local("items")
        bound = [f"if len({local}) > {MAX_EMPTY_ITEMS}:", "    raise MalformedError"]  # readers take no more
        bounded = bound if sizes.smallest(element) == 0 else []
        return [f"{local} = {values}", *bounded, *self._count(local), *self._sequence(element, local, level)]

    def _numbers(self, element: s.Shape, values: str) -> str:
        """Members of a closed enum are looked up, so that nothing else passes; writers refuse floats."""
        match bare(element):
            case s.Enum(open=False) as enum:
                return f"members_of({values}, {self._unit.constant('numbers', enum.numbers)})"
            case _:
                return values

    def _sequence(self, element: s.Shape, values: str, level: int) -> list[str]:
        match bare(element):
            case s.Scalar(name=name):
                return [f"{self._unit.sequence('write', name)}(out, {values})"]
            case s.Enum(base=base):
                return [f"{self._unit.sequence('write', base.name)}(out, {self._numbers(element, values)})"]
            case s.Struct() | s.Union() | s.Custom() as other:
                return self._others(other, "write", values, level)
            case _:
                item = self._unit.local("item")
                written = self._value(element, item, level)
                # Arrays of nothing have no bytes.
                return [f"for {item} in {values}:", *indented(written)] if written else []

    def _others(self, shape: s.Composite, what: str, values: str, level: int) -> list[str]:
        deeper = f", depth + {level}" if self._unit.is_deep(shape) else ""
        return [f"{self._unit.function(shape, what)}(out, {values}{deeper})"]
