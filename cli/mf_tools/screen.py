"""The screen of `mf top`: a table of services, instances or monitors that follows. Needs textual, which
comes with `mfidl-tools[top]`.
"""

from collections.abc import Callable, Coroutine
from typing import Any, ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import DataTable, Static

from mf_tools.dash.board import Board, Json, Process
from mf_tools.measured import shown as duration
from mf_tools.output import safe

VIEWS = ("services", "instances", "monitors")
ORDERS = ("name", "calls", "p99")
_EVERY = 1.0
_MOST_ROWS = 1000
_NARROW, _MIDDLE = 44, 76
_BAD = ("silent", "not_serving")
Row = dict[str, Any]
"""Of a table: `key` and `name`, and as far as they are known `state`, `instances`, `calls`, `errors`,
`p50`, `p99`."""

_COLUMNS = {
    "services": ("name", "instances", "state", "calls", "errors", "p50", "p99"),
    "instances": ("name", "state", "address"),
    "monitors": ("name", "state", "calls", "errors", "p50", "p99"),
}
_HEADS = {"instances": "inst", "calls": "calls/s", "errors": "err/s"}


def rows(board: Board, view: str) -> list[Row]:
    if view == "monitors":
        return [
            {**each, "key": each["name"], "state": each["trouble"] or "answers"} for each in board.monitors
        ]
    if view == "instances":
        return [_instance(each) for each in board.processes.values()]
    found: dict[str, Row] = {}
    for process in board.processes.values():
        for name in {
            name for kind, name, _ in process.offers if kind == "service" and not name.startswith("mf.")
        }:
            row = found.setdefault(name, {"key": name, "name": name, "instances": 0, "bad": 0})
            row["instances"] += 1
            row["bad"] += _is_bad(process)
    for figures in board.services:
        if figures["service"] in found:
            found[figures["service"]].update(figures)
    for row in found.values():
        row["state"] = f"{row['bad']} bad" if row["bad"] else "ok"
    return list(found.values())


def _is_bad(process: Process) -> bool:
    return process.health.get("state") in _BAD


def _instance(process: Process) -> Row:
    why = "; ".join(process.health.get("why", []))
    state = process.health.get("state", "not asked yet").replace("_", " ")
    return {
        "key": process.nonce,
        "name": f"{process.name} {process.nonce[:8]}",
        "state": f"{state}: {why}" if why and _is_bad(process) else state,
        "address": " ".join(process.addresses),
        "bad": _is_bad(process),
    }


def ordered(found: list[Row], order: str) -> list[Row]:
    """What fails comes first, then the largest; a name breaks ties."""
    return sorted(
        found,
        key=lambda row: (not row.get("bad"), -(row.get(order) or 0) if order != "name" else 0, row["name"]),
    )


def columns(view: str, width: int) -> list[str]:
    """Those that fit: on a narrow terminal the name and one more."""
    every = list(_COLUMNS[view])
    if width < _NARROW:
        return [each for each in every if each in ("name", "state" if view == "instances" else "calls")]
    if width < _MIDDLE:
        return [each for each in every if each not in ("p50", "errors", "address")]
    return every


def cell(row: Row, column: str) -> str:
    value = row.get(column)
    if value is None:
        return ""
    if column in ("calls", "errors"):
        return f"{value:.1f}" if value < 100 else f"{value:.0f}"
    if column in ("p50", "p99"):
        return duration(value * 1e6)
    return safe(str(value))


def status(controller: Json, view: str, order: str) -> str:
    if controller["answers"] is False:
        return f"the controller does not answer: {safe(controller['trouble'])}"
    return f"{safe(controller['where'])}  {view} by {order}"


class Screen(App[None]):
    """`follow` keeps the board; it runs as long as the screen does."""

    CSS = """
    Screen { background: $background; }
    #status { height: 1; }
    #keys { height: 1; dock: bottom; }
    DataTable { height: 1fr; scrollbar-size-horizontal: 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "quit"),
        Binding("v", "view", "view"),
        Binding("o", "order", "order"),
    ]
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, board: Board, follow: Callable[[], Coroutine[Any, Any, None]]) -> None:
        super().__init__()
        self._board = board
        self._follow = follow
        self._view, self._order = VIEWS[0], ORDERS[0]
        self._form: tuple[str, ...] = ()

    def compose(self) -> ComposeResult:
        yield Static(id="status", markup=False)
        yield DataTable[Text](cursor_type="row", zebra_stripes=True)
        yield Static("q quit  v view  o order", id="keys", markup=False)

    def on_mount(self) -> None:
        self.run_worker(self._follow(), exit_on_error=True)
        self.set_interval(_EVERY, self.draw)
        self.draw()

    def on_resize(self) -> None:
        self.call_after_refresh(self.draw)  # the size is that of before until then

    def action_view(self) -> None:
        self._view = VIEWS[(VIEWS.index(self._view) + 1) % len(VIEWS)]
        self.draw()

    def action_order(self) -> None:
        self._order = ORDERS[(ORDERS.index(self._order) + 1) % len(ORDERS)]
        self.draw()

    def draw(self) -> None:
        self._board.taken()
        table = self.query_one(DataTable)
        found = ordered(rows(self._board, self._view), self._order)[:_MOST_ROWS]
        shown = columns(self._view, self.size.width)
        cells = {row["key"]: [_styled(row, column) for column in shown] for row in found}
        form = (self._view, *shown, *cells)
        if form == self._form:
            for key, texts in cells.items():
                for column, text in zip(shown, texts, strict=True):
                    table.update_cell(key, column, text)
        else:
            self._fill(table, shown, cells)
            self._form = form
        self.query_one("#status", Static).update(
            status(self._board.shown_controller, self._view, self._order)
        )

    def _fill(self, table: "DataTable[Text]", shown: list[str], cells: dict[str, list[Text]]) -> None:
        place = table.cursor_row
        table.clear(columns=True)
        for column in shown:
            table.add_column(_HEADS.get(column, column), key=column)
        for key, texts in cells.items():
            table.add_row(*texts, key=key)
        table.move_cursor(row=min(place, max(0, len(cells) - 1)))


def _styled(row: Row, column: str) -> Text:
    """A state says in words what its colour says."""
    style = "bold red" if column == "state" and (row.get("bad") or row.get("trouble")) else ""
    return Text(cell(row, column), style=style, overflow="ellipsis", no_wrap=True)
