"""R1. An archive message while its parts come: what its field numbers mean, and what has been found for them.

A message may come in several parts, which are one; what it lacks is known when the last of them has been
read. So it is `Open` until then, and looks ahead for the parts of the messages in it.
"""

from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from mf.codec import shape as s
from mf.codec.archive_form import bare, is_message
from mf.codec.archive_wire import BYTES, read_varint
from mf.codec.careful_archive_tags import behind
from mf.codec.careful_error import CarefulError
from mf.codec.malformed import MalformedError

if TYPE_CHECKING:
    from mf.codec.careful_reader import CarefulReader

Span = tuple[int, int]


class Form(Enum):
    """How the values of a place stand in the message."""

    SINGLE = auto()
    REPEATED = auto()
    MAP = auto()


def rules_of(shape: s.Shape) -> list[Any]:
    rules: list[Any] = []
    while isinstance(shape, s.Checked):
        rules += shape.rules
        shape = shape.shape
    return rules


class Place:
    """What a field number means. `name`: in paths; `optional`: may be absent."""

    __slots__ = ("attribute", "default", "form", "name", "number", "optional", "rules", "shape")

    def __init__(self, number: int, name: str, shape: s.Shape, *, single: bool = False) -> None:
        self.number = number
        self.name = name
        self.attribute = name
        self.default: Any = None
        self.rules: list[Any] = []
        self.optional = isinstance(bare(shape), s.Optional)
        plain = bare(shape)
        if isinstance(plain, s.Optional) and not single:
            shape, single = s.Checked(plain.element, tuple(rules_of(shape))), True
        if not single:
            while isinstance(shape, s.Checked):
                self.rules += shape.rules
                shape = shape.shape
        self.shape = shape
        match shape:
            case s.List() | s.Set() | s.Array() if not single:
                self.form = Form.REPEATED
            case s.Map() if not single:
                self.form = Form.MAP
            case _:
                self.form = Form.SINGLE
                if self.rules:
                    self.shape = s.Checked(shape, tuple(self.rules))


class Open:
    """A message of which there may be more. `spans`: where the parts of each message in it are; `last`: where
    the last alternative of a union is, which alone counts; `charged`: up to where unpacked numbers have been
    charged for; `wrong`: the constraint that what was found for a place violates, if it is not superseded.
    """

    __slots__ = (
        "any",
        "charged",
        "end",
        "inner",
        "is_union",
        "last",
        "made",
        "places",
        "spans",
        "unknown",
        "values",
        "wrong",
    )

    def __init__(
        self, whole: bytes, places: list[Place], spans: list[Span], *, is_union: bool = False
    ) -> None:
        self.places = {each.number: each for each in places}
        self.is_union = is_union
        self.values: dict[int, Any] = {}
        self.inner: dict[int, Open] = {}
        self.made: dict[int, Any] = {}
        self.wrong: dict[int, CarefulError | None] = {}
        self.unknown = bytearray()
        self.any = False
        self.charged = 0
        self.end = spans[-1][1] if spans else 0
        self.spans: dict[int, list[Span]] = {}
        self.last = 0
        if any(each.form == Form.SINGLE and is_message(each.shape) for each in places):
            self._look_ahead(whole, spans)

    def _look_ahead(self, whole: bytes, spans: list[Span]) -> None:
        """Finds the messages within `whole`. Stops at a mistake, which the reader encounters again."""
        try:
            for start, end in spans:
                pos = start
                while pos < end:
                    tag, pos = read_varint(whole, pos)
                    place = self.places.get(tag >> 3)
                    if place is not None:
                        self.last = pos
                    if tag & 7 != BYTES:
                        pos = behind(whole, pos, tag)
                        continue
                    size, pos = read_varint(whole, pos)
                    if size > end - pos:
                        return
                    if place is not None and place.form == Form.SINGLE and is_message(place.shape):
                        self.spans.setdefault(place.number, []).append((pos, pos + size))
                    pos += size
        except (MalformedError, IndexError):
            return


def open_message(r: "CarefulReader", shape: s.Shape, spans: list[Span]) -> Open:
    """Of a struct or union, or the message around a container or optional."""
    match bare(shape):
        case s.Struct() as struct:
            places = []
            for each in struct.fields:
                place = Place(each.number, each.name, each.shape)
                place.attribute, place.default = each.attribute, each.default
                places.append(place)
            return Open(r._whole, sorted(places, key=lambda each: each.number), spans)
        case s.Union() as union:
            places = [Place(each.number, each.name, each.shape, single=True) for each in union.alternatives]
            return Open(r._whole, places, spans, is_union=True)
        case plain:
            return Open(r._whole, [Place(1, "", plain)], spans)
