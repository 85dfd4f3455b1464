"""What the page makes of the events of its server: processes of rows, and changes for people of steps."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.mf_tools.chromium import Chromium
from tests.mf_tools.conftest import Peers
from tests.mf_tools.dashboards import OWN, own_of


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, peers: Peers) -> Iterator[Chromium]:
    """With the program of a dashboard, whose own events do not matter."""
    browser = Chromium(tmp_path_factory.mktemp("chromium"))
    browser.open(own_of(peers.controller(*OWN)).address)
    browser.wait_for("typeof Model === 'function'")
    yield browser
    browser.close()


class Model:
    """One on the page, with a clock of its own."""

    def __init__(self, page: Chromium) -> None:
        self._page = page
        self._page.says("window.seconds = 1000; window.model = new Model(() => window.seconds); null")

    def take(self, kind: str, **given: Any) -> None:
        self._page.says(f"model.{kind}({json.dumps(given)})")

    def all(self, run: str, rows: list[Any], **given: Any) -> None:
        self.take("all", server="controller", run=run, rows=rows, **given)

    def later(self, seconds: float) -> None:
        self._page.says(f"window.seconds += {seconds}; model.forgetDoubted()")

    def says(self, expression: str) -> Any:
        return self._page.says(expression)

    @property
    def changes(self) -> list[tuple[str, str, list[str], int]]:
        return [
            (each["what"], each["name"], each["offers"], each["more"])
            for each in self._page.says("model.changes")
        ]

    @property
    def processes(self) -> dict[str, list[str]]:
        """The names that each offers, by its own."""
        return {
            each["name"]: [offer["name"] for offer in each["offers"]]
            for each in self._page.says("[...model.processes.values()]")
        }


@pytest.fixture
def model(page: Chromium) -> Model:
    return Model(page)


def row(number: int, name: str = "shop.Shop", kind: str = "service") -> dict[str, Any]:
    return {
        "id": f"{number:032x}",
        "process": f"process {number}",
        "identity": "",
        "verified": True,
        "kind": kind,
        "name": name,
        "agent": "",
        "addresses": [],
        "schema": "",
        "weight": 1,
        "labels": {},
        "alone": False,
    }


def step(number: int, what: str, of: dict[str, Any], at: float = 1000.0) -> dict[str, Any]:
    named = {name: of[name] for name in ("id", "process", "kind", "name", "agent")}
    return {"number": number, "at": at, "what": what, **named}


def test_rows_become_processes(model: Model) -> None:
    model.all("1", [row(1, "shop.Shop"), row(2), row(1, "shop.News", "topic"), row(1, "shop.Clock")])
    assert model.processes == {
        "process 1": ["shop.Clock", "shop.Shop", "shop.News"],
        "process 2": ["shop.Shop"],
    }
    model.take("change", gone=[row(1, "shop.Clock"), row(2)], put=[row(3)])
    assert model.processes == {"process 1": ["shop.Shop", "shop.News"], "process 3": ["shop.Shop"]}


def test_what_a_process_offers_at_once_is_one_change(model: Model) -> None:
    model.all("1", [])
    rows = [row(1, f"shop.S{each}") for each in range(6)]
    model.take("change", put=rows, steps=[step(each, "came", of) for each, of in enumerate(rows, 1)])
    topic = row(1, "shop.News", "topic")
    model.take("change", put=[topic], steps=[step(7, "came", topic, 1001.0)])
    names = [f"shop.S{each}" for each in range(4)]
    assert model.changes == [("came", "process 1", names, 3)]
    late = row(1, "shop.Late")
    model.take("change", put=[late], steps=[step(8, "came", late, 1010.0)])
    assert model.changes == [("came", "process 1", names, 3), ("came", "process 1", ["shop.Late"], 0)]


def test_steps_are_taken_once(model: Model) -> None:
    model.all("1", [row(1)], steps=[step(1, "came", row(1))])
    model.take("change", steps=[step(1, "came", row(1))])
    model.all("1", [row(1)], steps=[step(1, "came", row(1))])  # it had not read for a while
    assert model.changes == [("came", "process 1", ["shop.Shop"], 0)]


def test_what_comes_and_leaves_between_two_looks_is_told_in_order(model: Model) -> None:
    model.all("1", [])
    steps = [
        step(each, what, row(1), 1000 + 9 * each) for each, what in enumerate(["came", "left", "came"], 1)
    ]
    model.take("change", put=[row(1)], steps=steps)
    assert [each[0] for each in model.changes] == ["came", "left", "came"]


def test_after_a_restart_of_the_controller_processes_have_time_to_come_back(model: Model) -> None:
    model.all("1", [row(1), row(2)])
    model.all("2", [], steps=[])
    model.later(9)
    model.take("change", put=[row(2)], steps=[step(1, "came", row(2), 1009.0)])
    assert set(model.processes) == {"process 1", "process 2"}
    assert model.changes == []  # it had never been away
    model.later(1)
    assert set(model.processes) == {"process 2"}
    assert model.changes == [("left", "process 1", ["shop.Shop"], 0)]


def test_what_is_missing_in_the_same_run_has_left(model: Model) -> None:
    model.all("1", [row(1), row(2)])
    model.all("1", [row(2)], steps=[step(5, "left", row(1))])
    assert set(model.processes) == {"process 2"}
    assert model.changes == [("left", "process 1", ["shop.Shop"], 0)]


def test_a_controller_that_serves_the_page_is_silent_with_its_events(model: Model) -> None:
    model.all("1", [row(1)], controller={"where": "mf://h:1", "answers": True, "trouble": ""})
    for _ in range(2):
        model.says("model.lost('nothing listens')")
    assert model.says("model.controller.answers") is False
    model.all("2", [row(1)], controller={"where": "mf://h:1", "answers": True, "trouble": ""})
    assert [each[:2] for each in model.changes] == [("silent", "mf://h:1"), ("answers", "mf://h:1")]


def test_nothing_grows_without_end(model: Model) -> None:
    model.all("1", [])
    model.says(
        "for (let each = 1; each <= 450; each += 1) model.change({"
        " steps: [{ number: each, at: 10 * each, what: 'silent', id: '', process: 'a', why: [] }],"
        " points: [{ number: each, calls: 1, errors: 0 }] })"
    )
    assert model.says("[model.changes.length, model.points.length]") == [200, 90]
    made = "JSON.parse(JSON.stringify(given)), id: String(each)"
    model.says(
        f"const given = {json.dumps(row(1))};"
        f"for (let each = 0; each < MOST_ROWS + 3; each += 1) model.put({{...{made}}})"
    )
    assert model.says("[model.rows.size, model.leftOut]") == [10_000, 3]
    model.says("model.remove('an unknown row')")
    assert model.says("model.leftOut") == 2


@pytest.mark.parametrize("cut", [1, 3, 10, 1000])
def test_events_are_read_however_they_are_cut(page: Chromium, cut: int) -> None:
    text = 'event: all\ndata: {"a": "ü"}\n\n: still here\n\nevent: change\ndata: {}\n\nevent: half'
    page.says(
        f"window.sent = new TextEncoder().encode({json.dumps(text)});"
        "window.read = async (cut) => { const found = []; let at = 0;"
        " const body = new ReadableStream({ pull(to) {"
        " if (at >= sent.length) to.close(); else to.enqueue(sent.slice(at, at += cut)); } });"
        " for await (const each of eventsOf(body)) found.push(each); return found; }; null"
    )
    assert page.says(f"read({cut})") == [["all", '{"a": "ü"}'], ["", ""], ["change", "{}"]]
