"""Shows the codec bench's rows as tables and charts: one table for each variant (compiler, language), one
line for each work."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from harness.chart import write_chart
from harness.lines import Panel, write_lines
from harness.rows import Row
from harness.table import figure

GOALS = (
    "list_i32_100k",
    "list_pod_100k",
    "heartbeat",
    "search_result",
    "list_i32_1k",
    "map_i32_100k",
)
REPORT = ("string_izensoft", "map_string_100k", "hash_insert")
COMPOSITES = tuple(f"composite_c{i}" for i in range(6))
_BARS = dict.fromkeys((*GOALS, *REPORT, *COMPOSITES), ("serialize_ns", "deserialize_ns", "ns"))
_SIZED = (
    ("int_list", "dCache's IntList", "elements"),
    ("double_list", "dCache's DoubleList", "elements"),
    ("string_list", "dCache's StringList", "elements"),
    ("fields", "Structs of so many i32", "fields"),
    ("depth", "Structs in structs", "depth"),
    ("string_size", "16 strings of one size", "bytes of each"),
)
_SHOWN = ("serialize_ns", "deserialize_ns", "ns", "bytes")


def variant_of(system: str) -> str:
    tail = system.rsplit("/", maxsplit=1)[-1]
    return tail if tail in ("clang", "python") else ""


def _plain(system: str) -> str:
    variant = variant_of(system)
    return system.removesuffix(f"/{variant}") if variant else system


def tables(rows: Sequence[Row]) -> str:
    titles = {"": "C++, g++", "clang": "C++, clang", "python": "Python"}
    shown = []
    for variant, title in titles.items():
        own = [row for row in rows if variant_of(row.system) == variant and row.metric in _SHOWN]
        if own:
            shown.append(
                f"{title}: medians in ns, and bytes; of ours also x raw; spread: of the widest\n"
                + _table(own)
            )
    return "\n\n".join(shown)


def _table(rows: Sequence[Row]) -> str:
    systems = list(dict.fromkeys(_plain(row.system) for row in rows))
    lines = [["work", "metric", *systems, "spread"]]
    cells: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows:
        cells.setdefault((row.work, row.metric), {})[_plain(row.system)] = row
    works = list(dict.fromkeys(row.work for row in rows))
    for (work, metric), of in sorted(cells.items(), key=lambda each: works.index(each[0][0])):
        spreads = [
            (row.max - row.min) / row.value for row in of.values() if row.value and row.max and row.min
        ]
        lines.append(
            [work, metric, *(_cell(of.get(system)) for system in systems), f"{max(spreads, default=0):.0%}"]
        )
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(w) if i < 2 else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    ratio = (
        f" ({figure(row.raw_ratio)})"
        if row.raw_ratio and row.system.startswith("mf") and row.unit == "ns"
        else ""
    )
    return figure(row.value) + ratio


def charts(rows: Sequence[Row], folder: Path) -> None:
    """codecs.svg and codecs_python.svg: bars; codecs_sizes.svg: lines."""
    of = {variant: [row for row in rows if variant_of(row.system) == variant] for variant in ("", "python")}
    write_chart(of[""], _BARS, folder / "codecs.svg")
    write_chart(of["python"], _BARS, folder / "codecs_python.svg")
    panels = []
    for prefix, title, x in _SIZED:
        for metric in ("serialize_ns", "deserialize_ns"):
            lines: dict[str, list[tuple[float, float]]] = {}
            for row in of[""]:
                found = re.fullmatch(prefix + r"_(\d+)", row.work)
                if found and row.metric == metric and row.value and int(found[1]) > 0:
                    lines.setdefault(row.system, []).append((int(found[1]), row.value))
            if lines:
                panels.append(Panel(f"{title}: {metric}", x, "ns", lines))
    write_lines(panels, folder / "codecs_sizes.svg")
