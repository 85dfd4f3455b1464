"""The alarms, the dashboard of Grafana and docs/observability.md name metrics that servers have."""

import json
import re
import urllib.request
from pathlib import Path

import mf
from tests.interop.peers import Peers, free_port, peers, stubs
from tests.python.certificates import Authority
from tests.python.conftest import Recorder, eventually
from tests.python.echo import EchoClient

__all__ = ["peers", "stubs"]
ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "packaging/monitoring"
ALARMS = (FOLDER / "mf-alarms.yml").read_text()
DASHBOARD = (FOLDER / "mf-grafana.json").read_text()
PAGE = (ROOT / "docs/observability.md").read_text()
NAME = re.compile(r"\b(?:mf|process)_[a-z_]+[a-z]\b(?!\.)")


def scraped(address: str) -> str:
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=30) as answer:
        return str(answer.read().decode())


def metrics_of_python(folder: Path) -> str:
    authority = Authority(folder)
    server = mf.Server("tls://127.0.0.1:0", tls=authority.issue(), monitor="127.0.0.1:0")
    server.offer(Recorder(), "a")
    with server:
        with mf.Client(server.address, tls=authority.accepted) as client:
            assert EchoClient(client).at("a").twice(1) == 2
        assert eventually(lambda: "mf_server_calls_total{" in scraped(server.monitor_address))
        return scraped(server.monitor_address)


def metrics_of_cpp(peers: Peers, folder: Path) -> str:
    """Of a controller."""
    shown = Authority(folder, "of-cpp").issue()
    monitor = f"127.0.0.1:{free_port()}"
    files = ("--certificate", shown.certificate, "--key", shown.key, "--monitor", monitor)
    peers.controller_at("tls://127.0.0.1:0", *files)
    return scraped(monitor)


def families(said: str) -> dict[str, str]:
    """The kind of each, by the name of its samples."""
    return dict(re.findall(r"^# TYPE (\S+) (\w+)$", said, re.MULTILINE))


def names_in(text: str) -> set[str]:
    """Of families: a histogram has three names of samples."""
    return {re.sub(r"_seconds_(bucket|count|sum)$", "_seconds", name) for name in NAME.findall(text)}


def test_what_is_named_is_there(peers: Peers, tmp_path: Path) -> None:
    python, cpp = families(metrics_of_python(tmp_path)), families(metrics_of_cpp(peers, tmp_path))
    assert {name for name in python if name.startswith("mf_server_")} == {
        name for name in cpp if name.startswith("mf_server_")
    }
    assert names_in(ALARMS) <= set(cpp)
    assert names_in(DASHBOARD) <= set(cpp)
    listed = PAGE.partition("## Metrics")[2].partition("## What to watch")[0]
    assert set(cpp) <= names_in(listed.replace("`…_", "`mf_server_connections_"))


def test_each_alarm_is_explained_and_tested() -> None:
    names = re.findall(r"alert: (\w+)", ALARMS)
    assert len(names) > 8
    assert re.findall(r"^\| `(\w+)` \|", PAGE.partition("## What to watch")[2], re.MULTILINE) == names
    assert set(re.findall(r"alertname: (\w+)", (FOLDER / "mf-alarms-test.yml").read_text())) == set(names)


def test_the_dashboard_is_one_that_grafana_reads() -> None:
    board = json.loads(DASHBOARD)
    panels = board["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels) > 10
    places = [panel["gridPos"] for panel in panels]
    assert all(place["x"] + place["w"] <= 24 for place in places)
    assert len({(place["x"], place["y"]) for place in places}) == len(places)
    assert all(target["expr"] for panel in panels for target in panel["targets"])
