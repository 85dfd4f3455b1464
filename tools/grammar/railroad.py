"""Railroad diagrams as SVG: turns expressions of the grammar into boxes on a track. It needs no dependency
and no font metrics.

A box has its width and how far it reaches above and below its track; it is drawn with its track at height
y, from x to x + width. Text is monospaced, so that its width is known.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from tools.grammar.g4 import Alt, Expr, Ref, Repeat, Seq

_LETTER = 8.4
_HEIGHT = 11.0  # half of a word's box
_GAP = 12.0
_ARC = 8.0
_MARGIN = 16.0
_STYLE = (
    "path{fill:none;stroke:#57606a;stroke-width:1.5}"
    "rect{fill:#ddf4ff;stroke:#0969da;stroke-width:1.2}"
    "rect.rule{fill:#f6f8fa;stroke:#57606a}"
    "text{font:14px ui-monospace,Menlo,Consolas,monospace;fill:#1f2328;text-anchor:middle}"
    "@media(prefers-color-scheme:dark){path{stroke:#9198a1}rect{fill:#0c2d6b;stroke:#4493f8}"
    "rect.rule{fill:#151b23;stroke:#9198a1}text{fill:#f0f6fc}}"
)


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    is_rule: bool

    @property
    def width(self) -> float:
        return len(self.text) * _LETTER + 18

    up = _HEIGHT
    down = _HEIGHT

    def draw(self, x: float, y: float) -> list[str]:
        kind, round_ = (' class="rule"', 2) if self.is_rule else ("", 11)
        return [
            f'<rect{kind} x="{x:g}" y="{y - _HEIGHT:g}" width="{self.width:g}" height="{2 * _HEIGHT:g}"'
            f' rx="{round_}"/>',
            f'<text x="{x + self.width / 2:g}" y="{y + 5:g}">{escape(self.text)}</text>',
        ]


@dataclass(frozen=True, slots=True)
class Skip:
    """Bare track."""

    width = 0.0
    up = 0.0
    down = 0.0

    def draw(self, _x: float, _y: float) -> list[str]:
        return []


class Row:
    """One after the other."""

    width: float
    up: float
    down: float

    def __init__(self, parts: "list[Box]") -> None:
        self._parts = parts
        self.width = sum(part.width for part in parts) + _GAP * (len(parts) - 1)
        self.up = max(part.up for part in parts)
        self.down = max(part.down for part in parts)

    def draw(self, x: float, y: float) -> list[str]:
        drawn: list[str] = []
        for index, part in enumerate(self._parts):
            if index:
                drawn.append(f'<path d="M{x:g} {y:g}h{_GAP:g}"/>')
                x += _GAP
            drawn += part.draw(x, y)
            x += part.width
        return drawn


class Choice:
    """One of several, the first on the track and the others below it."""

    width: float
    up: float
    down: float

    def __init__(self, parts: "list[Box]") -> None:
        self._parts = parts
        self._inner = max(part.width for part in parts)
        self.width = self._inner + 4 * _ARC
        self.up = parts[0].up
        self._offsets = [0.0]
        for above, part in pairwise(parts):
            self._offsets.append(self._offsets[-1] + max(above.down + part.up + 8, 2 * _ARC))
        self.down = self._offsets[-1] + parts[-1].down

    def draw(self, x: float, y: float) -> list[str]:
        drawn: list[str] = []
        left, right = x + 2 * _ARC, x + 2 * _ARC + self._inner
        for offset, part in zip(self._offsets, self._parts, strict=True):
            if offset:
                drop = offset - 2 * _ARC
                drawn.append(
                    f'<path d="M{x:g} {y:g}a{_ARC:g} {_ARC:g} 0 0 1 {_ARC:g} {_ARC:g}v{drop:g}'
                    f'a{_ARC:g} {_ARC:g} 0 0 0 {_ARC:g} {_ARC:g}"/>'
                )
                drawn.append(
                    f'<path d="M{right:g} {y + offset:g}a{_ARC:g} {_ARC:g} 0 0 0 {_ARC:g} {-_ARC:g}v{-drop:g}'
                    f'a{_ARC:g} {_ARC:g} 0 0 1 {_ARC:g} {-_ARC:g}"/>'
                )
            else:
                drawn.append(f'<path d="M{x:g} {y:g}h{2 * _ARC:g}M{right:g} {y:g}h{2 * _ARC:g}"/>')
            drawn += part.draw(left, y + offset)
            drawn.append(f'<path d="M{left + part.width:g} {y + offset:g}H{right:g}"/>')
        return drawn


class Loop:
    """Once or more: the way back runs below."""

    width: float
    up: float
    down: float

    def __init__(self, body: "Box") -> None:
        self._body = body
        self.width = body.width + 4 * _ARC
        self.up = body.up
        self._back = body.down + _ARC
        self.down = self._back

    def draw(self, x: float, y: float) -> list[str]:
        left, right = x + 2 * _ARC, x + 2 * _ARC + self._body.width
        rise = self._back - 2 * _ARC
        return [
            f'<path d="M{x:g} {y:g}H{left:g}M{right:g} {y:g}h{2 * _ARC:g}"/>',
            f'<path d="M{right:g} {y:g}a{_ARC:g} {_ARC:g} 0 0 1 {_ARC:g} {_ARC:g}v{rise:g}'
            f"a{_ARC:g} {_ARC:g} 0 0 1 {-_ARC:g} {_ARC:g}H{left:g}"
            f"a{_ARC:g} {_ARC:g} 0 0 1 {-_ARC:g} {-_ARC:g}v{-rise:g}"
            f'a{_ARC:g} {_ARC:g} 0 0 1 {_ARC:g} {-_ARC:g}"/>',
            *self._body.draw(left, y),
        ]


Box = Word | Skip | Row | Choice | Loop


def box_of(expr: Expr, literals: Mapping[str, str]) -> Box:
    """A token that is always the same is drawn as its text."""
    match expr:
        case Ref(name):
            text = literals.get(name, name)
            return Word(text, is_rule=name[0].islower() or name not in literals)
        case Seq(parts):
            return Row([box_of(part, literals) for part in parts])
        case Alt(choices):
            return Choice([box_of(choice, literals) for choice in choices])
        case Repeat(body, "?"):
            return Choice([Skip(), box_of(body, literals)])
        case Repeat(body, "*"):
            return Choice([Skip(), Loop(box_of(body, literals))])
        case Repeat(body, _):
            return Loop(box_of(body, literals))


def svg(box: Box, title: str) -> str:
    width, height = box.width + 2 * _MARGIN + 24, box.up + box.down + 2 * _MARGIN
    x, y = _MARGIN + 12, _MARGIN + box.up
    end = x + box.width
    drawn = [
        f'<path d="M{x - 12:g} {y - 7:g}v14M{x - 12:g} {y:g}H{x:g}"/>',
        f'<path d="M{end:g} {y:g}h12M{end + 12:g} {y - 7:g}v14"/>',
        *box.draw(x, y),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}"'
        f' viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(title)}">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n" + "\n".join(drawn) + "\n</svg>\n"
    )
