"""What the demo has measured, and the tables that it prints."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from driver.truth import Traffic

WAYS = ("single", "message", "application")
LIGHT = "light"
COLUMNS = {
    "single": "single calls",
    "message": "message batches",
    "application": "application batches",
    LIGHT: LIGHT,
}
OVERLAP = """\
    why: the messages of a message-level batch overlap: one is served while the next is written and the last
    one read; the steps of one large message follow each other, so that one core at a time has work"""
REPORT_QUERIES = ("a", "the", "book", "at")


@dataclass(slots=True)
class Run:
    """One piece of work, done in one way. Microseconds: by part of the work, and of all processors."""

    times: dict[str, int]
    traffic: Traffic | None = None
    cpu: int = 0

    @property
    def total(self) -> int:
        return sum(self.times.values())


@dataclass(slots=True)
class Work:
    """One piece of work in several ways."""

    title: str
    runs: dict[str, Run] = field(default_factory=dict)

    def times(self, part: str | None = None) -> dict[str, int]:
        return {way: run.total if part is None else run.times[part] for way, run in self.runs.items()}

    def cut(self, before: str, after: str, part: str | None = None) -> float:
        """By how many percent `after` is quicker than `before`; negative."""
        times = self.times(part)
        return 100 * (times[after] / times[before] - 1)


def table(title: str, columns: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]]) -> str:
    """The first column to the left, the others to the right, each as wide as it needs."""
    lines = [(title, list(columns)), *((name, list(cells)) for name, cells in rows)]
    names = max(len(name) for name, _ in lines)
    widths = [max(len(cells[i]) if i < len(cells) else 0 for _, cells in lines) for i in range(len(columns))]
    text = []
    for name, cells in lines:
        padded = (cell.rjust(width) for cell, width in zip(cells, widths, strict=False))
        text.append("  ".join([name.ljust(names), *padded]).rstrip())
    text.insert(1, "-" * max(map(len, text)))
    return "\n".join(text)


def work_table(work: Work, parts: Mapping[str, Sequence[str]]) -> str:
    """Times in milliseconds, a row for each group of parts and one for all; then calls and bytes."""
    ways = list(work.runs)
    rows = []
    for name, members in parts.items():
        rows.append((name, [_ms(sum(run.times[part] for part in members)) for run in work.runs.values()]))
    rows.append(("all", [_ms(run.total) for run in work.runs.values()]))
    single = work.runs["single"].total
    rows.append(("against single calls", [f"{single / run.total:.1f} x" for run in work.runs.values()]))
    rows.append(("CPU of all processes", [_ms(run.cpu) for run in work.runs.values()]))
    for name in ("calls", "messages", "sent", "received"):
        unit = " (bytes)" if name in ("sent", "received") else ""
        cells = [f"{getattr(run.traffic, name):,}" if run.traffic else "-" for run in work.runs.values()]
        rows.append((name + unit, cells))
    return table(f"{work.title}, ms", [COLUMNS[way] for way in ways], rows)


def _ms(microseconds: int) -> str:
    return f"{microseconds / 1000:,.2f}" if microseconds < 10_000 else f"{microseconds / 1000:,.0f}"


def _percent(value: float) -> str:
    digits = 0 if abs(value) >= 10 else 1
    return f"{value:+.{digits}f} %".replace("-", "−")


def _range(values: Iterable[float]) -> str:
    low, high = min(found := list(values)), max(found)
    return f"{_percent(high)} to {_percent(low)}"


def report_table(indexing: Work, querying: Work) -> str:
    """The report's own reductions (section 8.1.2) beside what comes nearest to them here."""
    queries = [querying.cut("single", "message", text) for text in REPORT_QUERIES]
    light = [querying.cut("message", LIGHT, text) for text in REPORT_QUERIES]
    application = [querying.cut("message", "application", text) for text in REPORT_QUERIES]
    rows = [
        ("indexing: batches of 128 for single calls", "−82.9 %", _percent(indexing.cut("single", "message"))),
        ("queries: batches of 128 for single calls", "−82.5 % to −91 %", _range(queries)),
        ("indexing: light *", "−65.6 %", _percent(indexing.cut("message", LIGHT))),
        ("queries: light *", "−56.1 % to −76.8 %", _range(light)),
        ("queries: application batches for message batches", "about −20 %", _range(application)),
        ("bytes: application batches for message batches", "−89.6 %", _bytes_cut(indexing, "message")),
        ("bytes: application batches for single calls", "-", _bytes_cut(indexing, "single")),
    ]
    text = table("Reduction", ["report", "here"], [(name, cells) for name, *cells in rows])
    return f"{text}\n* the report: against its own light of before; here: against message batches of 128"


def _bytes_cut(work: Work, before: str) -> str:
    old, new = work.runs[before].traffic, work.runs["application"].traffic
    assert old is not None
    assert new is not None
    return _percent(100 * ((new.sent + new.received) / (old.sent + old.received) - 1))


def order_lines(work: Work) -> list[str]:
    """One line for each expectation, saying whether it was met. Nothing fails here: clocks judge no demo."""
    times = work.times()
    ratio = times["single"] / times["message"]
    lines = [
        _expected(ratio >= 5, f"message batches at least 5 times faster than single calls: {ratio:.1f} times")
    ]
    ratio = times["application"] / times["message"]
    cpu = work.runs["application"].cpu / max(work.runs["message"].cpu, 1)
    what = f"application batches no slower than message batches: {ratio:.2f} of their time"
    lines.append(_expected(ratio <= 1.05, f"{what}, {cpu:.2f} of their CPU"))
    if ratio > 1.05:
        lines.append(OVERLAP)
    if LIGHT in times:
        others = min(times[way] for way in WAYS)
        lines.append(
            _expected(times[LIGHT] < others, f"light fastest: {times[LIGHT] / others:.2f} of the next")
        )
    return lines


def _expected(met: bool, what: str) -> str:
    return f"  {'as expected' if met else 'NOT as expected'}: {what}"
