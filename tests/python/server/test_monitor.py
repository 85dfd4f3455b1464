"""Health and metrics of a server by HTTP."""

import asyncio
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

import mf
from mf.core.openmetrics import OpenMetrics
from mf.server import monitor as monitor_module
from mf.server import monitor_http
from tests.python.conftest import AsyncRecorder, Recorder, Served
from tests.python.echo import EchoClient, Negative

SAMPLE = re.compile(r'([a-z_]+)(\{[a-z_]+="(?:[^"\\]|\\.)*"(?:,[a-z_]+="(?:[^"\\]|\\.)*")*\})? (\S+)')
SUFFIXES = {
    "counter": ("_total",),
    "gauge": ("",),
    "info": ("_info",),
    "histogram": ("_bucket", "_sum", "_count"),
}
DURATION = "mf_server_call_duration_seconds"


def got(address: str, path: str, head: str = "Host: localhost\r\n", method: str = "GET") -> tuple[int, str]:
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode())
        answer = b""
        while part := connection.recv(65536):
            answer += part
    head, _, body = answer.decode().partition("\r\n\r\n")
    return int(head.split(" ")[1]), body


def samples(text: str) -> dict[str, float]:
    """Of a text that is OpenMetrics: each family once, with its type, its samples together."""
    lines = text.split("\n")
    assert lines[-2:] == ["# EOF", ""]
    kinds: dict[str, str] = {}
    found: dict[str, float] = {}
    family = ""
    for each in lines[:-2]:
        if each.startswith("# TYPE "):
            _, _, family, kind = each.split(" ")
            assert family not in kinds
            kinds[family] = kind
        elif each.startswith("# UNIT "):
            assert family.endswith("_" + each.split(" ")[3])
        elif each.startswith("# "):
            assert each.startswith(f"# HELP {family} ")
        else:
            sample = SAMPLE.fullmatch(each)
            assert sample, each
            assert sample[1] in [family + suffix for suffix in SUFFIXES[kinds[family]]]
            assert sample[1] + (sample[2] or "") not in found
            found[sample[1] + (sample[2] or "")] = float(sample[3])
    return found


def durations(found: dict[str, float], method: str, code: str) -> list[float]:
    """The buckets of a method."""
    begin = f'{DURATION}_bucket{{service="demo.Echo",method="{method}",code="{code}",le="'
    return [value for name, value in found.items() if name.startswith(begin)]


@pytest.fixture
def monitor(served: Served) -> Iterator[mf.Monitor]:
    with mf.Monitor(served.server) as made:
        yield made


def test_calls_are_counted_and_timed_by_method_and_outcome(served: Served, monitor: mf.Monitor) -> None:
    for agent in ("a", "b"):
        for _ in range(3):
            served.echo.at(agent).twice(1)
        with pytest.raises(Negative):
            served.echo.at(agent).twice(-1)
    served.servant.act = lambda _: 1 // 0
    with pytest.raises(mf.Error):
        served.echo.at("a").flaky(1)
    served.echo.at("a").sleep(0.002)
    served.echo.at("a").note(5)
    served.echo.at("a").twice(1)  # behind the one-way call

    found = samples(monitor.metrics())
    labels = 'service="demo.Echo",method="twice"'
    assert found[f"mf_server_calls_executed_total{{{labels}}}"] == 9
    assert found[f'{DURATION}_count{{{labels},code="OK"}}'] == 7
    assert found[f'{DURATION}_count{{{labels},code="DECLARED"}}'] == 2
    buckets = durations(found, "twice", "OK")
    assert buckets == sorted(buckets)
    assert buckets[-1] == 7
    assert durations(found, "flaky", "HANDLER_FAILED")[-1] == 1
    assert durations(found, "note", "OK")[-1] == 1
    slept = durations(found, "sleep", "OK")
    assert (slept[6], slept[-1]) == (0, 1)  # it took more than a millisecond
    assert found[f'{DURATION}_sum{{service="demo.Echo",method="sleep",code="OK"}}'] >= 0.002


def test_a_call_that_its_client_gave_up_is_of_its_code(served: Served, monitor: mf.Monitor) -> None:
    served.servant.act = lambda x: x if served.servant.release.wait(60) else 0
    with pytest.raises(mf.Error, match="DEADLINE_EXCEEDED"):
        served.echo.at("b").flaky(1, options=mf.CallOptions(deadline=0.05))
    served.servant.release.set()
    served.server.stop()

    found = samples(monitor.metrics())
    counts = [durations(found, "flaky", code)[-1:] for code in ("OK", "DEADLINE_EXCEEDED", "CANCELLED")]
    assert counts[0] == []
    assert sum(map(sum, counts)) == 1


def test_calls_of_an_async_server_and_of_later_offers_are_timed() -> None:
    async def calls() -> dict[str, float]:
        async with mf.AsyncServer("tcp://127.0.0.1:0") as server:
            with mf.Monitor(server) as monitor:
                server.offer(AsyncRecorder(), agent="a")
                with mf.Client(server.address) as client:
                    await asyncio.to_thread(EchoClient(client).at("a").twice, 1)
                return samples(monitor.metrics())

    assert durations(asyncio.run(calls()), "twice", "OK")[-1] == 1


def test_nothing_is_measured_without_a_monitor(served: Served) -> None:
    served.echo.at("a").twice(1)

    assert served.server.durations() == []


def test_connections_and_the_process_are_shown(served: Served, monitor: mf.Monitor) -> None:
    served.echo.at("a").twice(1)
    status, text = got(monitor.address, "/metrics")
    found = samples(text)

    assert status == 200
    assert (found["mf_server_ready"], found["mf_server_connections"]) == (1, 1)
    assert found["mf_server_connections_accepted_total"] == 1
    assert found['mf_server_connections_cut_total{reason="memory"}'] == 0
    assert found["process_resident_memory_bytes"] > 1 << 20
    assert found["process_open_fds"] > 3


def test_there_are_so_many_series_and_the_rest_is_one(
    served: Served, monitor: mf.Monitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(monitor_module, "_MOST_METHODS", 2)
    served.echo.at("a").sleep(0.0)
    served.echo.at("a").note(1)
    served.echo.at("a").twice(1)
    found = samples(monitor.metrics())

    executed = {name: count for name, count in found.items() if name.startswith("mf_server_calls_executed")}
    assert len(executed) == 3
    other = 'mf_server_calls_executed_total{service="other",method="other"}'
    assert executed[other] == 2  # all but `twice` and `echo`, which are the first ones of the service


def test_a_server_is_ready_from_its_start_until_it_stops() -> None:
    server = mf.Server("tcp://127.0.0.1:0")
    with mf.Monitor(server) as monitor:
        assert got(monitor.address, "/livez") == (200, "ok\n")
        assert got(monitor.address, "/readyz") == (503, "the server was not started\n")
        server.start()
        assert got(monitor.address, "/readyz") == (200, "ok\n")
        server.stop()
        assert got(monitor.address, "/readyz") == (503, "the server stops\n")
        assert samples(monitor.metrics())["mf_server_ready"] == 0


def test_a_server_is_not_ready_before_it_is_registered() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        address = f"mf://127.0.0.1:{silent.getsockname()[1]}"
        server = mf.Server("tcp://127.0.0.1:0", address, drain_timeout=0.1)
        with server, mf.Monitor(server) as monitor:
            assert got(monitor.address, "/readyz") == (503, f"not registered at {address}\n")


def test_checks_of_the_program_decide_as_well(served: Served) -> None:
    reasons = ["the disk\nis full"]

    def fails() -> str:
        raise RuntimeError("no")

    checks = (lambda: reasons[0], fails)
    with mf.Monitor(served.server, checks=checks) as monitor:
        expected = "the disk is full\na check raised RuntimeError: no\n"
        assert got(monitor.address, "/readyz") == (503, expected)
        assert got(monitor.address, "/livez")[0] == 200


def test_other_requests_are_refused(monitor: mf.Monitor) -> None:
    assert got(monitor.address, "/other")[0] == 404
    assert got(monitor.address, "/livez", method="POST")[0] == 405
    assert got(monitor.address, "/livez", method="HEAD") == (200, "")
    assert got(monitor.address, "/livez HTTP/1.1\r\nX:")[0] == 200
    assert got(monitor.address, "/livez nonsense")[0] == 400
    assert got(monitor.address, "/livez?a=b", "HOST: [::1]:9464\r\n") == (200, "ok\n")
    assert got(monitor.address, "/livez", "Host: attacker.example\r\n")[0] == 421
    assert got(monitor.address, "/livez", "")[0] == 421
    assert got(monitor.address, "/livez", "Host: localhost\r\nX: " + "x" * 9000 + "\r\n")[0] == 431


def test_slow_and_many_connections_are_ended(monitor: mf.Monitor, monkeypatch: pytest.MonkeyPatch) -> None:
    host, _, port = monitor.address.rpartition(":")
    with monkeypatch.context() as patched:
        patched.setattr(monitor_http, "_PATIENCE", 0.01)
        with socket.create_connection((host, int(port)), timeout=60) as slow:
            slow.sendall(b"GET /li")
            assert slow.recv(1) == b""
    flood = [socket.create_connection((host, int(port)), timeout=60) for _ in range(40)]
    assert got(monitor.address, "/livez")[0] == 200
    assert flood[0].recv(1) == b""  # the oldest one made room
    for each in flood:
        each.close()


def test_a_port_that_is_taken_is_an_error_and_a_closed_one_is_free(served: Served) -> None:
    first = mf.Monitor(served.server)
    with pytest.raises(OSError, match="in use"):
        mf.Monitor(served.server, first.address)
    first.close()
    first.close()
    mf.Monitor(served.server, first.address).close()
    with pytest.raises(ValueError, match="listens at host:port"):
        mf.Monitor(served.server, "9464")
    assert all(each.name != "mf-monitor" for each in threading.enumerate())


def test_names_and_texts_are_escaped() -> None:
    out = OpenMetrics()
    out.family("a", "gauge", 'a "b"\nc')
    out.sample("a", 1, {"key": 'a\\"\n'})

    assert out.text() == '# TYPE a gauge\n# HELP a a \\"b\\"\\nc\na{key="a\\\\\\"\\n"} 1\n# EOF\n'


def test_a_monitor_needs_no_servant() -> None:
    server = mf.Server("tcp://127.0.0.1:0")
    server.offer(Recorder(), agent="a")
    with mf.Monitor(server) as monitor:
        assert samples(monitor.metrics())["mf_server_connections"] == 0
