"""Metrics as text, and the HTTP door that serves them; tests/cpp/monitor/door_test.cpp for C++."""

import math
import socket
from collections.abc import Iterator

import pytest

from mf.monitor import Exposition, Kind
from mf.monitor.door import Door, Source


def test_families_are_written_as_prometheus_reads_them() -> None:
    out = Exposition()
    out.gauge("a_bytes", 'One\nof "two" \\.', 1.5)
    out.family("b", Kind.COUNTER, "Calls.")
    out.sample({"name": 'x"\\\ny', "code": "OK"}, 7)
    assert out.text() == (
        '# HELP a_bytes One\\nof "two" \\\\.\n# TYPE a_bytes gauge\na_bytes 1.5\n'
        "# HELP b_total Calls.\n# TYPE b_total counter\n"
        'b_total{name="x\\"\\\\\\ny",code="OK"} 7\n'
    )


def test_families_are_written_as_open_metrics_names_them() -> None:
    out = Exposition(open_metrics=True)
    out.counter("b", 'Calls "now".', 7)
    assert out.text() == '# HELP b Calls \\"now\\".\n# TYPE b counter\nb_total 7\n# EOF\n'


def test_histograms_are_written_with_their_bounds() -> None:
    out = Exposition()
    out.family("t_seconds", Kind.HISTOGRAM, "Times.")
    out.histogram({"m": "f"}, [(0.001, 2), (0.25, 3)], 4, 12.5)
    assert out.text().endswith(
        't_seconds_bucket{m="f",le="0.001"} 2\nt_seconds_bucket{m="f",le="0.25"} 3\n'
        't_seconds_bucket{m="f",le="+Inf"} 4\nt_seconds_sum{m="f"} 12.5\nt_seconds_count{m="f"} 4\n'
    )


@pytest.mark.parametrize(
    ("value", "shown"),
    [(1e-06, "1e-06"), (3.0, "3"), (math.inf, "+Inf"), (-math.inf, "-Inf"), (math.nan, "NaN")],
)
def test_numbers_are_written_as_prometheus_reads_them(value: float, shown: str) -> None:
    out = Exposition()
    out.gauge("a", "A.", value)
    assert out.text().endswith(f"\na {shown}\n")


class Asked:
    """A door, and what its source says."""

    def __init__(self) -> None:
        self.why = ""
        self.door = Door("127.0.0.1:0", opened=False, source=Source(self._expose, lambda: self.why))

    @staticmethod
    def _expose(out: Exposition) -> None:
        out.gauge("mine", "Mine.", 3)

    def sent(self, data: bytes) -> str:
        """All that is answered to these bytes until the connection is closed."""
        host, _, port = self.door.address.rpartition(":")
        with socket.create_connection((host, int(port)), timeout=30) as connected:
            connected.sendall(data)
            answered = b""
            while part := connected.recv(1 << 16):
                answered += part
        return answered.decode()

    def asked(self, path: str, headers: str = "Host: localhost\r\n", method: str = "GET") -> str:
        return self.sent(f"{method} {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n".encode())


@pytest.fixture
def at() -> Iterator[Asked]:
    asked = Asked()
    yield asked
    asked.door.close()


def test_it_serves_metrics_and_health(at: Asked) -> None:
    assert at.asked("/livez").startswith("HTTP/1.1 200 ")
    assert at.asked("/readyz").startswith("HTTP/1.1 200 ")
    at.why = "it stops\n"
    busy = at.asked("/readyz")
    assert busy.startswith("HTTP/1.1 503 ")
    assert busy.endswith("\r\n\r\nit stops\n")
    assert at.asked("/livez").startswith("HTTP/1.1 200 ")
    metrics = at.asked("/metrics")
    assert "Content-Type: text/plain; version=0.0.4" in metrics
    assert "\r\n\r\n# HELP mine Mine.\n# TYPE mine gauge\nmine 3\n" in metrics
    assert "\nprocess_resident_memory_bytes " in metrics
    assert "\nprocess_cpu_seconds_total " in metrics
    headers = "Host: 127.0.0.1:80\r\nAccept: application/openmetrics-text; version=1.0.0\r\n"
    opened = at.asked("/metrics?x", headers)
    assert "Content-Type: application/openmetrics-text" in opened
    assert opened.endswith("# EOF\n")


def test_it_answers_only_what_it_has(at: Asked) -> None:
    assert at.asked("/").startswith("HTTP/1.1 404 ")
    assert at.asked("/metrics/../../etc/passwd").startswith("HTTP/1.1 404 ")
    posted = at.asked("/metrics", method="POST")
    assert posted.startswith("HTTP/1.1 405 ")
    assert "Allow: GET, HEAD" in posted
    head = at.asked("/metrics", method="HEAD")
    assert head.startswith("HTTP/1.1 200 ")
    assert head.endswith("\r\n\r\n")


@pytest.mark.parametrize(
    "host", ["Host: evil.example\r\n", "Host: localhost.evil.example\r\n", "", "Host: \r\n"]
)
def test_it_answers_only_requests_for_a_loopback_host(at: Asked, host: str) -> None:
    """A page of a browser may name any host of its own that leads here."""
    assert at.asked("/metrics", host).startswith("HTTP/1.1 421 ")
    assert at.asked("/livez", "Host: [::1]:9464\r\n").startswith("HTTP/1.1 200 ")


def test_it_ends_what_is_no_request_and_goes_on(at: Asked) -> None:
    assert " 200 " not in at.asked("/metrics", f"X: {'x' * 70_000}\r\n")
    assert " 200 " not in at.sent(b"\0" * 1000 + b"\r\n\r\n")
    assert " 200 " not in at.sent(b"GET\r\n\r\n")
    assert " 200 " not in at.sent(
        b"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n"
    )
    assert at.asked("/livez").startswith("HTTP/1.1 200 ")


def test_a_body_is_not_taken_for_the_next_request(at: Asked) -> None:
    smuggled = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
    head = f"GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(smuggled)}\r\n\r\n"
    answered = at.sent(head.encode() + smuggled)
    assert answered.count("HTTP/1.1 ") == 1


def test_it_keeps_a_connection_for_the_next_request(at: Asked) -> None:
    one = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n"
    assert at.sent(one + b"\r\n" + one + b"Connection: close\r\n\r\n").count("HTTP/1.1 200 ") == 2


def test_it_has_few_connections_at_once_and_none_for_long(at: Asked) -> None:
    host, _, port = at.door.address.rpartition(":")
    idle = [socket.create_connection((host, int(port)), timeout=30) for _ in range(33)]
    assert idle[-1].recv(1) == b"", "it is closed at once"
    idle[0].sendall(b"GET /li")
    assert idle[0].recv(1) == b"", "it has not sent its request in time"
    for each in idle:
        each.close()
    assert at.asked("/livez").startswith("HTTP/1.1 200 ")


@pytest.mark.parametrize(
    ("where", "why"),
    [
        (
            "0.0.0.0:0",
            "monitor '0.0.0.0:0' is beyond this host: every program that reaches it may read it; listen at "
            "127.0.0.1, or open it",
        ),
        ("9464", "monitor '9464' is no HOST:PORT"),
        ("127.0.0.1:70000", "monitor '127.0.0.1:70000' has no port from 0 to 65535"),
        ("127.0.0.1:", "monitor '127.0.0.1:' has no port from 0 to 65535"),
        ("example.org:1", "monitor 'example.org:1' has no IP address as its host"),
    ],
)
def test_it_must_be_of_this_host_unless_opened(where: str, why: str) -> None:
    with pytest.raises(ValueError, match="monitor") as refused:
        Door(where, opened=False, source=Source(lambda _: None, str))
    assert str(refused.value) == why


def test_an_address_that_is_taken_is_one_sentence(at: Asked) -> None:
    with pytest.raises(OSError, match="cannot listen there: Address already in use"):
        Door(at.door.address, opened=False, source=Source(lambda _: None, str))
    for where in ("0.0.0.0:0", "[::1]:0", "localhost:0"):
        Door(where, opened=True, source=Source(lambda _: None, str)).close()
