"""Draws cost against size as an SVG chart: panels of lines, both axes logarithmic, a legend beside each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from harness.table import figure

_WIDTH, _HEIGHT = 760, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 190, 30, 40  # margins within a panel
_COLOURS = ("#2f6db3", "#5aa0dd", "#123f73", "#d08a3c", "#b3452f", "#5f8f3a", "#8a5fb0", "#a0763a", "#3a9a94")
_GREY = "#9a9a9a"

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Panel:
    title: str
    x: str  # what the horizontal axis counts
    y: str
    lines: Mapping[str, Points]  # by system


@dataclass(frozen=True, slots=True)
class _Axis:
    """Maps values to positions, by their logarithm."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        share = (math.log(value) - math.log(self.low)) / (math.log(self.high / self.low) or 1)
        return self.start + share * (self.end - self.start)


def _spread(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(max(values), min(values) * 1.01)


def _ticks(low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [10.0**power for power in powers if low <= 10.0**power <= high]


def _panel(panel: Panel, top: int, colours: Mapping[str, str]) -> list[str]:
    points = [(x, y) for line in panel.lines.values() for x, y in line]
    across = _Axis(*_spread([x for x, _ in points]), _LEFT, _WIDTH - _RIGHT)
    up = _Axis(*_spread([y for _, y in points]), top + _HEIGHT - _BOTTOM, top + _TOP)
    parts = [
        f'<text x="10" y="{top + 16}" font-weight="bold">{escape(panel.title)}, {escape(panel.y)}</text>',
        f'<rect x="{_LEFT}" y="{top + _TOP}" width="{_WIDTH - _LEFT - _RIGHT}" '
        f'height="{_HEIGHT - _TOP - _BOTTOM}" fill="none" stroke="#cccccc"/>',
        f'<text x="{_WIDTH - _RIGHT}" y="{top + _HEIGHT - 8}" text-anchor="end">{escape(panel.x)}</text>',
    ]
    for tick in _ticks(up.low, up.high):
        y = up.at(tick)
        parts.append(f'<path d="M{_LEFT},{y:.1f}H{_WIDTH - _RIGHT}" stroke="#eeeeee"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{figure(tick)}</text>')
    for value in sorted({x for x, _ in points}):
        parts.append(
            f'<text x="{across.at(value):.1f}" y="{top + _HEIGHT - 24}" text-anchor="middle">{value:g}</text>'
        )
    for i, (system, line) in enumerate(panel.lines.items()):
        colour = colours[system]
        path = " ".join(f"{across.at(x):.1f},{up.at(y):.1f}" for x, y in line)
        y = top + _TOP + 12 + 18 * i
        parts += [
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>',
            f'<rect x="{_WIDTH - _RIGHT + 14}" y="{y - 9}" width="12" height="10" fill="{colour}"/>',
            f'<text x="{_WIDTH - _RIGHT + 32}" y="{y}">{escape(system)}</text>',
        ]
    return parts


def _colours(panels: Sequence[Panel]) -> dict[str, str]:
    """A system has the same colour in all panels."""
    systems = dict.fromkeys(system for panel in panels for system in panel.lines)
    coloured = iter(_COLOURS * 3)
    return {each: _GREY if each.split("/")[0] == "raw" else next(coloured) for each in systems}


def write_lines(panels: Sequence[Panel], path: Path) -> None:
    parts: list[str] = []
    colours = _colours(panels)
    top = 10
    for panel in panels:
        if any(panel.lines.values()):
            parts += _panel(panel, top, colours)
            top += _HEIGHT + 10
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{top}" '
        f'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )
