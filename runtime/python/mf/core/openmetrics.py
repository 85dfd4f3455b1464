"""R0. Writes metrics as OpenMetrics text 1.0, which Prometheus and its relatives read."""

from collections.abc import Mapping, Sequence
from typing import Final

CONTENT_TYPE: Final = "application/openmetrics-text; version=1.0.0; charset=utf-8"

_UNITS: Final = ("seconds", "bytes")

Labels = Mapping[str, str]


class OpenMetrics:
    """The metrics of one answer, family by family. The samples of a family follow its name at once."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def family(self, name: str, kind: str, meaning: str) -> None:
        """`kind`: counter, gauge, histogram or info. A unit is at the end of its name."""
        self._lines.append(f"# TYPE {name} {kind}")
        if (unit := name.rpartition("_")[2]) in _UNITS:
            self._lines.append(f"# UNIT {name} {unit}")
        self._lines.append(f"# HELP {name} {_escaped(meaning)}")

    def sample(self, name: str, value: float, labels: Labels | None = None) -> None:
        """`name`: of the family; of a counter with "_total", of an info with "_info" behind it."""
        self._lines.append(f"{name}{_in_braces(labels or {})} {_number(value)}")

    def one(self, name: str, kind: str, meaning: str, value: float) -> None:
        """A family of one sample without labels."""
        self.family(name, kind, meaning)
        self.sample(f"{name}_total" if kind == "counter" else name, value)

    def histogram(
        self, name: str, bounds: Sequence[float], counts: Sequence[int], total: float, labels: Labels
    ) -> None:
        """`counts`: of each bucket alone, and of what is above all bounds."""
        below = 0
        for bound, count in zip((*bounds, float("inf")), counts, strict=True):
            below += count
            self.sample(f"{name}_bucket", below, {**labels, "le": _number(bound)})
        self.sample(f"{name}_sum", total, labels)
        self.sample(f"{name}_count", below, labels)

    def text(self) -> str:
        return "\n".join([*self._lines, "# EOF", ""])


def _in_braces(labels: Labels) -> str:
    shown = ",".join(f'{key}="{_escaped(value)}"' for key, value in labels.items())
    return f"{{{shown}}}" if shown else ""


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _number(value: float) -> str:
    if value == float("inf"):
        return "+Inf"
    return repr(+value)  # of True it is 1
