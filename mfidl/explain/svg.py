"""Layouts of types as SVG: bytes in rows of eight for memcpy, the fields in their order for other tiers.

    reports -> pictures (one a type, without colours) -> one file with the colours of light and dark

A picture is an `svg` element that a page can hold: the page gives the colours (templates/picture/picture.css
names them). Letters are monospaced, so that the width of a text is known without a font.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from mfidl.explain import report
from mfidl.explain.byte_rows import ROW, ByteRow, Cell, byte_rows
from mfidl.places import TEMPLATES

_LETTER = 7.9
_BYTE = 66
_MARGIN = 12
_OFFSETS = 44  # the column of offsets, or of numbers
_HEIGHT = 30
_GAP = 16
_HUES = 6
_WIDTH = _OFFSETS + ROW * _BYTE + 2 * _MARGIN
_LONGEST = 60  # letters of a text


@dataclass(frozen=True, slots=True)
class Picture:
    """`body` is the content of an `svg` element of this size; `words` describe it for screen readers."""

    name: str
    words: str
    width: float
    height: float
    body: str

    @property
    def element(self) -> str:
        """To be put into a page."""
        return (
            f'<svg class="mf-picture" role="img" aria-label="{escape(self.words)}"'
            f' viewBox="0 0 {self.width:g} {self.height:g}" width="{self.width:g}" height="{self.height:g}"'
            f' xmlns="http://www.w3.org/2000/svg">\n{self.body}</svg>\n'
        )


def document(pictures: Sequence[Picture]) -> str:
    """One SVG file: the pictures one below another, in the colours of a light or a dark screen."""
    width = max((each.width for each in pictures), default=_WIDTH)
    height = sum(each.height for each in pictures)
    pieces, at = [], 0.0
    for each in pictures:
        title = f"<title>{escape(each.words)}</title>\n"
        pieces.append(f'<g transform="translate(0 {at:g})">\n{title}{each.body}</g>\n')
        at += each.height
    style = "".join(Path(TEMPLATES, "picture", name).read_text() for name in ("colours.css", "picture.css"))
    return (
        f'<svg class="mf-picture" xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}"'
        f' viewBox="0 0 {width:g} {height:g}">\n<style>\n{style}</style>\n'
        f'<rect class="paper" width="100%" height="100%"/>\n{"".join(pieces)}</svg>\n'
    )


def pictures(modules: Sequence[report.ModuleReport]) -> Iterator[Picture]:
    """Of all types that have fields; of the messages of a method where one was asked for."""
    for module in modules:
        for each in module.types:
            if isinstance(each, report.TypeReport) and each.fields:
                yield of_type(each, f"{each.kind} {each.name}")
        for service in module.services:
            for method in service.methods if service.detailed else ():
                yield from _of_messages(service, method)


def _of_messages(service: report.ServiceReport, method: report.MethodReport) -> Iterator[Picture]:
    for word, message in (("request", method.request), ("reply", method.reply)):
        if message is not None and message.body.fields:
            yield of_type(message.body, f"{service.name}.{method.name}, {word}")


def of_type(subject: report.TypeReport, title: str) -> Picture:
    """Of a type that has fields."""
    if subject.layout is not None:
        drawn = of_layout(subject.layout, title)
        if drawn is not None:
            return drawn
    return _of_fields(subject, title)


def of_layout(layout: report.Layout, title: str) -> Picture | None:
    """None where there is nothing to draw, or too much."""
    rows = byte_rows(layout)
    if not rows:
        return None
    top = _MARGIN + 40.0
    said = f"{_bytes(layout.size)}, alignment {layout.align}, {_padding(layout)}"
    pieces = [_title(title, said)]
    pieces += [
        f'<text class="soft middle" x="{_x(byte) + _BYTE / 2:g}" y="{top - 8:g}">{byte}</text>\n'
        for byte in range(ROW)
    ]
    for row in rows:
        if row.gap:
            pieces.append(f'<text class="soft end" x="{_x(0) - 10}" y="{top + 12:g}">⋮</text>\n')
            top += _GAP
        pieces.append(_row(row, top))
        top += _HEIGHT
    return Picture(title, f"{title}: {_words(layout)}", _WIDTH, top + _MARGIN, "".join(pieces))


def _row(row: ByteRow, top: float) -> str:
    offset = f'<text class="soft end" x="{_x(0) - 10}" y="{top + 19:g}">{row.offset}</text>\n'
    return offset + "".join(_cell(cell, top) for cell in row.cells)


def _cell(cell: Cell, top: float) -> str:
    left, width = _x(cell.first) + 1, cell.span * _BYTE - 2
    slot = cell.slot
    place = (
        f"byte {slot.offset}" if slot.size == 1 else f"bytes {slot.offset} to {slot.offset + slot.size - 1}"
    )
    if slot.name is None:
        label = "padding" if width > _BYTE else ""
        return _box(left, top, width, "padding", f"padding, {place}", label)
    label = _fitting(slot.name, width) if cell.begins else ""
    assert cell.hue is not None
    return _box(left, top, width, f"hue{cell.hue % _HUES}", f"{slot.name}: {slot.type}, {place}", label)


def _box(left: float, top: float, width: float, style: str, tip: str, label: str = "") -> str:
    soft = ' class="soft"' if style == "padding" else ""
    said = f'<text{soft} x="{left + 8:g}" y="{top + 19:g}">{escape(label)}</text>' if label else ""
    return (
        f'<g><title>{escape(tip)}</title><rect class="{style}" x="{left:g}" y="{top + 1:g}" rx="4"'
        f' width="{width:g}" height="{_HEIGHT - 2}"/>{said}</g>\n'
    )


def _of_fields(subject: report.TypeReport, title: str) -> Picture:
    """A row a field: its number or place, its name, its type, and its bytes in febird."""
    names = max(len(_short(each.name)) for each in subject.fields) * _LETTER
    types = max(len(_short(each.type)) for each in subject.fields) * _LETTER
    top = _MARGIN + 34.0
    box = max(names + 16, 2.0 * _BYTE)
    told = [_cost(each.cost) if subject.tier == "febird" else "" for each in subject.fields]
    costs = max(map(len, told)) * _LETTER
    pieces = [_title(title, _whole(subject))]
    for at, (each, cost) in enumerate(zip(subject.fields, told, strict=True)):
        number = at + 1 if each.number is None else each.number
        y = top + 19
        tip = f"{each.name}: {each.type}" + (f", {cost}" if cost else "")
        pieces.append(f'<text class="soft end" x="{_x(0) - 10}" y="{y:g}">{number}</text>\n')
        pieces.append(_box(_x(0) + 1, top, box, f"hue{at % _HUES}", tip, _short(each.name)))
        pieces.append(f'<text x="{_x(0) + box + 16:g}" y="{y:g}">{escape(_short(each.type))}</text>\n')
        pieces.append(
            f'<text class="soft" x="{_x(0) + box + types + 40:g}" y="{y:g}">{escape(cost)}</text>\n'
        )
        top += _HEIGHT
    words = f"{title}: " + "; ".join(f"{each.name}: {each.type}" for each in subject.fields)
    width = max(_WIDTH, _x(0) + box + types + costs + 40 + _MARGIN)
    return Picture(title, words, width, top + _MARGIN, "".join(pieces))


def _title(title: str, said: str) -> str:
    beside = _MARGIN + len(title) * 9 + 14
    return (
        f'<text class="said title" x="{_MARGIN}" y="{_MARGIN + 12}">{escape(title)}</text>\n'
        f'<text class="said soft" x="{beside}" y="{_MARGIN + 12}">{escape(said)}</text>\n'
    )


def _whole(subject: report.TypeReport) -> str:
    return subject.tier if subject.cost is None else f"{subject.tier}, {_cost(subject.cost)}"


def _cost(cost: report.Cost | None) -> str:
    if cost is None:
        return ""
    if cost.most is None:
        return f"{_bytes(cost.fewest)} or more"
    return _bytes(cost.most) if cost.fewest == cost.most else f"{cost.fewest} to {_bytes(cost.most)}"


def _words(layout: report.Layout) -> str:
    parts = [f"{slot.name or 'padding'} at {slot.offset}, {_bytes(slot.size)}" for slot in layout.slots]
    return f"{_bytes(layout.size)}; {'; '.join(parts)}"


def _padding(layout: report.Layout) -> str:
    return f"{_bytes(layout.padding)} of it padding" if layout.padding else "no padding"


def _fitting(name: str, width: float) -> str:
    """Of the name of a nested field in few bytes only its end."""
    most = int((width - 10) / _LETTER)
    short = name if len(name) <= most else name.rpartition(".")[2]
    return short if len(short) <= most else f"{short[: max(1, most - 1)]}…"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _x(byte: int) -> int:
    return _MARGIN + _OFFSETS + byte * _BYTE


def _bytes(number: int) -> str:
    return "1 byte" if number == 1 else f"{number} bytes"
