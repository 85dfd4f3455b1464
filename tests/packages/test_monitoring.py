"""The alarms for Prometheus and the metrics of both languages, read by Prometheus' own tool."""

import subprocess
from pathlib import Path

import pytest

from tests.interop.peers import Peers, peers, stubs
from tests.tools.test_monitoring import FOLDER, metrics_of_cpp, metrics_of_python

from .conftest import run

__all__ = ["peers", "stubs"]


@pytest.fixture(scope="module")
def promtool(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Debian's, without its service."""
    folder = tmp_path_factory.mktemp("prometheus")
    run("apt-get", "download", "-q", "prometheus", cwd=folder)
    (package,) = folder.glob("prometheus_*.deb")
    run("dpkg-deb", "-x", str(package), str(folder))
    return str(folder / "usr/bin/promtool")


def test_each_alarm_comes_where_it_must_and_nowhere_else(promtool: str) -> None:
    run(promtool, "check", "rules", "mf-alarms.yml", cwd=FOLDER)
    assert "SUCCESS" in run(promtool, "test", "rules", "mf-alarms-test.yml", cwd=FOLDER)


def test_prometheus_finds_nothing_wrong_with_the_metrics(promtool: str, peers: Peers, tmp_path: Path) -> None:
    for said in (metrics_of_python(tmp_path), metrics_of_cpp(peers, tmp_path)):
        checked = subprocess.run(
            [promtool, "check", "metrics"],
            input=said,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (checked.returncode, checked.stderr) == (0, "")
