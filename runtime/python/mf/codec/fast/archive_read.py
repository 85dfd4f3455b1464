"""R1. The statements that read an archive message, as our writers send it: fields by number, once each,
numbers packed. Unknown fields may occur anywhere; the careful path reads all else that protobuf
allows.

    read_part(data, pos, end, depth, graph)             the value of the message from `pos` to `end`
    fill_part(value, data, pos, end, depth, graph)      the same into an object of a graph

`tag` is the first byte of the next field's tag, 0 at the end of the message; it is taken in front of a field
that may be absent, and what must be there is compared where it stands.
"""

from struct import calcsize

from mf.codec import shape as s
from mf.codec.archive_form import bare, wire_of
from mf.codec.archive_wire import tag_of
from mf.codec.fast.archive_value import ValueReading, tag_bytes
from mf.codec.fast.archive_write import head_format, head_of, is_fixed
from mf.codec.fast.fixed import Parts, count_of, format_of, has_array, made
from mf.codec.fast.unit import indented

_NEXT = "tag = data[pos] if pos < end else 0"


class ArchiveReading(ValueReading):
    """The bodies of one type."""

    def struct(self, shape: s.Struct) -> list[str]:
        """Into `value`."""
        fields = sorted(shape.fields, key=lambda each: each.number)
        known = self.unit.constant("known", frozenset(each.number for each in fields))
        first = frozenset(tag_bytes(each.number, each.shape)[0] for each in fields)
        firsts = self.unit.constant("firsts", first)
        lines: list[str] = []
        taken = False  # whether `tag` is that of the next field
        for run in _runs(fields):
            if len(run) > 1:
                lines += self._run(run)
                taken = False
            else:
                own, taken = self._field(run[0], known, firsts, taken)
                lines += own
        return [
            *self.hoisted(),
            'unknown = b""',
            *lines,
            "if pos != end:",
            *indented([*self._skipped(known), "if pos != end:", "    raise MalformedError"]),
            "value.__mf_unknown__ = graph.kept(unknown) if unknown and graph else unknown",
        ]

    def union(self, shape: s.Union, made_of: str = "value = {}({})") -> list[str]:
        """`value` is made, or, in an object of a graph, its only slot is filled."""
        lines: list[str] = []
        for at, each in enumerate(shape.alternatives):
            tag = tag_of(each.number, wire_of(each.shape))
            text, value = self.single(each.shape, "held", "end", 1)
            lines.append(f"{'elif' if at else 'if'} {_matches(tag)}:")
            result = made_of.format(self.unit.constant("kind", each.type), value)
            lines += indented([f"pos += {len(tag)}", *text, result])
        return [
            *self.hoisted(),
            _NEXT,
            *lines,
            "else:",
            "    raise MalformedError",
            "if pos != end:",
            "    raise MalformedError",
        ]

    def _skipped(self, known: str) -> list[str]:
        return [
            "begin = pos",
            f"pos = skip_unknown(data, pos, end, {known})",
            "unknown += data[begin:pos]",
        ]

    def _run(self, run: list[s.Field]) -> list[str]:
        """Neighbours of fixed size that must be there."""
        layout, names, tests = "", [], []
        values: list[tuple[str, str]] = []
        for each in run:
            head = head_of(each.number, each.shape)
            layout += head_format(head) + format_of(each.shape)
            name = self.unit.local("head")
            names.append(name)
            tests.append(f"{name} != {head[0] if len(head) == 1 else head!r}")
            own = [self.unit.local(each.attribute) for _ in range(count_of(each.shape))]
            names += own
            values.append((each.attribute, made(self.unit, each.shape, Parts(own))))
        return [
            f"{', '.join(names)}, = {self.unit.packer(layout, 'unpack_from')}(data, pos)",
            f"if {' or '.join(tests)}:",
            "    raise MalformedError",
            f"pos += {calcsize(f'<{layout}')}",
            *(f"value.{name} = {text}" for name, text in values),
        ]

    def _field(self, field: s.Field, known: str, firsts: str, taken: bool) -> tuple[list[str], bool]:
        """The statements, and whether `tag` is that of the next field behind them."""
        tag = tag_bytes(field.number, field.shape)
        target = f"value.{field.attribute}"
        text, value, absent = self._contents(field, tag)
        if absent is None:
            there = f"data[pos] != {tag[0]}" if len(tag) == 1 else f"not data.startswith({tag!r}, pos)"
            miss = [*self._skipped(known), f"if pos >= end or {there}:", "    raise MalformedError"]
            return [f"if {there}:", *indented(miss), *text, f"{target} = {value}"], False
        return [
            *([] if taken else [_NEXT]),
            f"if tag != {tag[0]} and tag and tag not in {firsts}:",
            *indented([*self._skipped(known), _NEXT]),
            f"if {_matches(tag)}:",
            *indented([*text, f"{target} = {value}", _NEXT]),
            "else:",
            f"    {target} = {absent}",
        ], True

    def _contents(self, field: s.Field, tag: bytes) -> tuple[list[str], str, str | None]:
        """Statements from the tag on, the value, and what stands for it where it is absent: None if it must
        not be.
        """
        name = field.attribute
        match bare(field.shape):
            case s.Optional(element=element):
                text, value = self.single(element, name, "end", 1)
                return [f"pos += {len(tag)}", *text], value, "None"
            case s.List() | s.Set() | s.Array() | s.Map() as container:
                text, value = self.container(container, tag, name, "end", 1)
                return text, value, self.empty(field, container)
            case plain:
                text, value = self.single(plain, name, "end", 1)
                absent = None
                if field.default is not None:
                    absent = self.default(field)
                return [f"pos += {len(tag)}", *text], value, absent


def _matches(tag: bytes) -> str:
    if len(tag) == 1:
        return f"tag == {tag[0]}"
    return f"tag == {tag[0]} and data.startswith({tag!r}, pos)"


def _runs(fields: list[s.Field]) -> list[list[s.Field]]:
    """Neighbours of fixed size that must be there together, every other field alone."""
    runs: list[list[s.Field]] = []
    joins = False
    for each in fields:
        fixed = is_fixed(each.shape) and each.default is None and not has_array(each.shape)
        if fixed and joins:
            runs[-1].append(each)
        else:
            runs.append([each])
        joins = fixed
    return runs
