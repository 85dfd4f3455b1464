"""R0. Metrics as text, in the format of Prometheus or of OpenMetrics. Names and units are those of
OpenMetrics: a counter is named without "_total", which its samples get.
"""

import math
from collections.abc import Iterable, Mapping
from enum import Enum


class Kind(Enum):
    GAUGE = "gauge"
    COUNTER = "counter"
    HISTOGRAM = "histogram"


CONTENT_TYPES = {
    False: "text/plain; version=0.0.4; charset=utf-8",
    True: "application/openmetrics-text; version=1.0.0; charset=utf-8",
}
"""By whether the format is that of OpenMetrics."""


class Exposition:
    """Collects metrics: `gauge` and `counter` write a family of one sample; `family` begins one of several,
    which `sample` and `histogram` add. Each family is begun once."""

    def __init__(self, *, open_metrics: bool = False) -> None:
        self._open_metrics = open_metrics
        self._family = ""
        self._kind = Kind.GAUGE
        self._lines: list[str] = []

    def family(self, name: str, kind: Kind, help_: str) -> None:
        self._family, self._kind = name, kind
        shown = f"{name}_total" if kind is Kind.COUNTER and not self._open_metrics else name
        text = _escaped(help_, quotes=self._open_metrics)
        self._lines += [f"# HELP {shown} {text}", f"# TYPE {shown} {kind.value}"]

    def sample(self, labels: Mapping[str, str], value: float) -> None:
        self._line("_total" if self._kind is Kind.COUNTER else "", labels, value)

    def histogram(
        self, labels: Mapping[str, str], buckets: Iterable[tuple[float, int]], count: int, total: float
    ) -> None:
        """`buckets`: how many observations were at most each bound, those of smaller bounds included."""
        for bound, below in buckets:
            self._line("_bucket", {**labels, "le": _number(bound)}, below)
        self._line("_bucket", {**labels, "le": "+Inf"}, count)
        self._line("_sum", labels, total)
        self._line("_count", labels, count)

    def gauge(self, name: str, help_: str, value: float) -> None:
        self.family(name, Kind.GAUGE, help_)
        self.sample({}, value)

    def counter(self, name: str, help_: str, value: float) -> None:
        self.family(name, Kind.COUNTER, help_)
        self.sample({}, value)

    def text(self) -> str:
        """All that was written, with the end that the format asks for."""
        end = ["# EOF"] if self._open_metrics else []
        return "\n".join([*self._lines, *end, ""])

    def _line(self, suffix: str, labels: Mapping[str, str], value: float) -> None:
        shown = ",".join(f'{name}="{_escaped(of, quotes=True)}"' for name, of in labels.items())
        self._lines.append(f"{self._family}{suffix}{'{' + shown + '}' if shown else ''} {_number(value)}")


def _escaped(text: str, *, quotes: bool) -> str:
    text = text.replace("\\", "\\\\").replace("\n", "\\n")
    return text.replace('"', '\\"') if quotes else text


def _number(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return repr(value).removesuffix(".0")
