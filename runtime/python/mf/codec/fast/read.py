"""R1. The statements that read the values of a type; each value becomes an expression over locals."""

import struct
from collections.abc import Callable

from mf.codec import map_blocks, sizes
from mf.codec import shape as s
from mf.codec.fast.fixed import (
    Parts,
    converted,
    count_of,
    format_of,
    has_array,
    is_fixed,
    made,
    struct_format,
)
from mf.codec.fast.unit import Unit, bare, indented, integer_of, runs, unzigzagged

_MOST_NAMES = 24  # parts of a run that get names of their own; more stay in a row


class Reading:
    """The bodies of the functions that read one type."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit

    def body(self, shape: s.Struct | s.Union, depth: str) -> list[str]:
        """Of `read`, for many values."""
        if shape.smallest == 0:
            assert isinstance(shape, s.Struct)
            return [
                "fits(data, pos, count, 0)",
                f"return [{self._nothing(shape)} for _ in range(count)], pos",
            ]
        if isinstance(shape, s.Struct) and shape.memcpy:
            return self._memcpy(shape)
        return [
            f"if {shape.smallest} * count > len(data) - pos:",
            "    raise MalformedError",
            "values = []",
            "append = values.append",
            "for _ in range(count):",
            f"    value, pos = read_one(data, pos{depth})",
            "    append(value)",
            "return values, pos",
        ]

    def one(self, shape: s.Struct | s.Union) -> list[str]:
        """Of `read_one`."""
        if isinstance(shape, s.Union):
            return self._union(shape)
        if shape.smallest == 0:
            return [f"return {self._nothing(shape)}, pos"]
        if shape.memcpy:
            fields = [(each.shape, each.attribute) for each in shape.fields]
            text, values = self._row(struct_format(shape), fields)
            return [*text, f"return {self._made(shape, values)}, pos"]
        return self._febird(shape)

    def _nothing(self, shape: s.Struct) -> str:
        return self._made(shape, [made(self._unit, each.shape, Parts([])) for each in shape.fields])

    def _union(self, shape: s.Union) -> list[str]:
        body = self._number("number", "read_u32")
        for each in shape.alternatives:
            text, value = self._value(each.shape, "value", 1)
            kind = self._unit.constant("kind", each.type)
            body += [f"if number == {each.number}:", *indented([*text, f"return {kind}({value}), pos"])]
        return [*body, "raise MalformedError"]

    def _febird(self, shape: s.Struct) -> list[str]:
        body: list[str] = []
        values: list[str] = []
        for run in runs(shape.fields, is_fixed):
            if is_fixed(run[0].shape):
                text, more = self._run([(each.shape, each.attribute) for each in run])
                values += more
            else:
                text, value = self._value(run[0].shape, run[0].attribute, 1)
                values.append(value)
            body += text
        return [*body, *self._returned(shape, values)]

    def _returned(self, shape: s.Struct, values: list[str]) -> list[str]:
        """Slots of generated classes are filled here: their constructor does no more, and takes a call."""
        is_plain = getattr(shape.make, "__new__", None) is object.__new__  # and no exception
        if not is_plain or not hasattr(shape.make, "__mf_defaults__"):
            return [f"return {self._made(shape, values)}, pos"]
        return [
            f"made = new({self._unit.constant('make', shape.make)})",
            *(f"made.{each.attribute} = {value}" for each, value in zip(shape.fields, values, strict=True)),
            "return made, pos",
        ]

    def _memcpy(self, shape: s.Struct) -> list[str]:
        layout = struct_format(shape)
        # A copy: CPython may free a memoryview before the iterator over it, and crash.
        rows = f"{self._unit.packer(layout, 'iter_unpack')}(data[pos:end])"
        parts = self._parts([(each.shape, each.attribute) for each in shape.fields], "row")
        target = "row" if parts.names is None else ", ".join(parts.names) + "," * (len(parts.names) == 1)
        values = [made(self._unit, each.shape, parts) for each in shape.fields]
        all_ = f"[{self._made(shape, values)} for {target} in {rows}]"
        if values == parts.names and shape.make is s.parts_made:
            all_ = f"list({rows})"
        elif values == parts.names and shape.parts is None:
            all_ = f"list(starmap({self._unit.constant('make', shape.make)}, {rows}))"
        return [
            f"end = pos + {struct.calcsize(f'<{layout}')} * count",
            "if end > len(data):",
            "    raise MalformedError",
            f"return {all_}, end",
        ]

    def _made(self, shape: s.Struct, values: list[str]) -> str:
        if shape.parts is s.bare_parts:
            return values[0]
        if shape.make is s.parts_made:
            return f"({', '.join(values)}{',' * (len(values) == 1)})"
        if shape.make is s.nothing_made:
            return "None"
        return f"{self._unit.constant('make', shape.make)}({', '.join(values)})"

    def _run(self, run: list[tuple[s.Shape, str]]) -> tuple[list[str], list[str]]:
        return self._row("".join(format_of(shape) for shape, _ in run), run)

    def _row(self, layout: str, run: list[tuple[s.Shape, str]]) -> tuple[list[str], list[str]]:
        parts = self._parts(run, self._unit.local("row"))
        values = [made(self._unit, shape, parts) for shape, _ in run]
        if not layout:
            return [], values
        if parts.names is not None and layout == "B":
            return [f"{parts.names[0]} = data[pos]", "pos += 1"], values
        targets = parts.row if parts.names is None else f"{', '.join(parts.names)},"
        unpack = self._unit.packer(layout, "unpack_from")
        return [f"{targets} = {unpack}(data, pos)", f"pos += {struct.calcsize(f'<{layout}')}"], values

    def _parts(self, run: list[tuple[s.Shape, str]], row: str) -> Parts:
        """Names for the parts of a run; an index into the row where there are arrays or too many."""
        many = sum(count_of(shape) for shape, _ in run) > _MOST_NAMES
        if many or any(has_array(shape) for shape, _ in run):
            return Parts(None, row=row)
        return Parts([self._unit.local(name) for shape, name in run for _ in range(count_of(shape))])

    def _value(self, shape: s.Shape, name: str, level: int) -> tuple[list[str], str]:
        integer = integer_of(bare(shape))
        if integer is not None:
            local = self._unit.local(name)
            number = unzigzagged(local) if integer[0] == "i" else local
            return self._likely_short(local, f"read_u{integer[1:]}"), converted(self._unit, shape, number)
        if is_fixed(shape):
            text, (value,) = self._run([(shape, name)])
            return text, value
        match bare(shape):
            case s.Scalar(name="string"):
                return self._blob(name, ".decode()")
            case s.Scalar():
                return self._blob(name, "")
            case s.Optional(element=element):
                return self._optional(element, name, level)
            case s.List(element=element):
                return self._list(element, name, level)
            case s.Set(element=element):
                return self._set(element, name, level)
            case s.Array(element=element, length=length):
                return self._array(element, length, name, level)
            case s.Map() as map_:
                entry = sizes.ENTRY + sizes.memory(map_.key) + sizes.memory(map_.value)
                return self._counted(name, entry, lambda count: self._map(map_, count, name, level))
            case s.Struct() | s.Union() | s.Custom() as other:
                local = self._unit.local(name)
                return [f"{local}, pos = {self._others(other, 'read_one', '', level)}"], local
            case other:
                raise TypeError(other)

    def _likely_short(self, local: str, read: str) -> list[str]:
        """A number of one or two bytes without a call."""
        return [
            f"{local} = data[pos]",
            "pos += 1",
            f"if {local} > 127:",
            "    more = data[pos]",
            "    if 0 < more < 128:",
            f"        {local} += (more << 7) - 128",
            "        pos += 1",
            "    else:",
            f"        {local}, pos = {read}(data, pos - 1)",
        ]

    def _number(self, local: str, read: str) -> list[str]:
        return [
            f"{local} = data[pos]",
            "pos += 1",
            f"if {local} > 127:",
            f"    {local}, pos = {read}(data, pos - 1)",
        ]

    def _counted(
        self, name: str, entry: int, read: Callable[[str], tuple[list[str], str]]
    ) -> tuple[list[str], str]:
        """`entry`: the memory that each takes."""
        count = self._unit.local(f"{name}_count")
        text, value = read(count)
        return [*self._number(count, "read_u32"), *self._unit.charged(f"{count} * {entry}"), *text], value

    def _blob(self, name: str, decode: str) -> tuple[list[str], str]:
        local = self._unit.local(name)
        return [
            *self._number("size", "read_u32"),
            "end = pos + size",
            f"{local} = data[pos:end]{decode}",
            "pos = end",
        ], local

    def _optional(self, element: s.Shape, name: str, level: int) -> tuple[list[str], str]:
        local = self._unit.local(name)
        text, value = self._value(element, name, level)
        return [
            "present = data[pos]",
            "pos += 1",
            f"{local} = None",
            "if BOOL[present]:",
            *indented([*self._unit.charged(str(sizes.memory(element))), *text, f"{local} = {value}"]),
        ], local

    def _list(self, element: s.Shape, name: str, level: int, place: int = 8) -> tuple[list[str], str]:
        """`place`: the memory of an element's place in the list."""
        entry = place + sizes.memory(element)
        if sizes.row_of(element) is None:
            return self._counted(name, entry, lambda count: self._sequence(element, count, name, level + 1))
        text, value = self._integers(element, None, self._unit.local(name))
        return [*([f"data.charge_row(pos, {entry})"] if self._unit.lenient else []), *text], value

    def _array(self, element: s.Shape, length: int, name: str, level: int) -> tuple[list[str], str]:
        if sizes.row_of(element) is not None:
            return self._integers(element, length, self._unit.local(name))
        return self._sequence(element, str(length), name, level + 1)

    def _set(self, element: s.Shape, name: str, level: int) -> tuple[list[str], str]:
        local = self._unit.local(name)
        text, value = self._list(element, name, level, sizes.ENTRY)
        return [*text, f"{local} = {value}", f"ascending({local}, len(set({local})))"], f"set({local})"

    def _map(self, shape: s.Map, count: str, name: str, level: int) -> tuple[list[str], str]:
        integers = sizes.blocks_of(shape)
        local, kept = self._unit.local(name), self._unit.local("key")
        if integers is not None:
            return self._blocks(shape, integers, count, local), local
        key_text, key = self._value(shape.key, "key", level + 1)
        text, value = self._value(shape.value, "item", level + 1)
        return [
            f"fits(data, pos, {count}, {sizes.smallest(shape.key) + sizes.smallest(shape.value)})",
            f"{local} = {{}}",
            f"for _ in range({count}):",
            *indented([*key_text, f"{kept} = {key}", *text, f"{local}[{kept}] = {value}"]),
            f"ascending({local}, {count})",
        ], local

    def _blocks(self, shape: s.Map, integers: tuple[str, str], count: str, local: str) -> list[str]:
        read = self._unit.constant("read_blocks", map_blocks.reader_of(*integers))
        keys, values = self._unit.each(shape.key, "keys"), self._unit.each(shape.value, "values")
        return [
            f"{local} = {{}}",
            f"if {count}:",
            f"    keys, values, pos = {read}(data, pos, {count})",
            f"    {local} = dict(zip({keys}, {values}))",
            f"    ascending({local}, {count})",
        ]

    def _sequence(self, element: s.Shape, count: str, name: str, level: int) -> tuple[list[str], str]:
        local = self._unit.local(name)
        match bare(element):
            case s.Scalar(name=scalar):
                return self._scalars(element, scalar, count, local)
            case s.Enum(base=base):
                return self._scalars(element, base.name, count, local)
            case s.Struct() | s.Union() | s.Custom() as other:
                return [f"{local}, pos = {self._others(other, 'read', f', {count}', level)}"], local
            case _:
                text, value = self._value(element, "item", level)
                return [
                    f"fits(data, pos, {count}, {sizes.smallest(element)})",
                    f"{local} = []",
                    f"for _ in range({count}):",
                    *indented([*text, f"{local}.append({value})"]),
                ], local

    def _integers(self, element: s.Shape, length: int | None, local: str) -> tuple[list[str], str]:
        """Integers in a list, or in an array of this length."""
        name = sizes.row_of(element)
        call = f"read_{name}_row(data, pos)" if length is None else f"read_{name}_codes(data, pos, {length})"
        return [f"{local}, pos = {call}"], self._unit.each(element, local)

    def _scalars(self, element: s.Shape, scalar: str, count: str, local: str) -> tuple[list[str], str]:
        text = [f"{local}, pos = {self._unit.sequence('read', scalar)}(data, pos, {count})"]
        return text, local if scalar in ("bool", "uuid") else self._unit.each(element, local)

    def _others(self, shape: s.Composite, what: str, count: str, level: int) -> str:
        deeper = f", depth + {level}" if self._unit.is_deep(shape) else ""
        return f"{self._unit.function(shape, what)}(data, pos{count}{deeper})"
