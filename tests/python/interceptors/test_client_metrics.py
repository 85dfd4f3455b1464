"""The metrics of a client's calls."""

import re
import threading
from urllib.request import urlopen

import pytest

import mf
from mf.core.error import Code, not_executed
from mf.interceptors import ClientMetrics
from mf.interceptors import client_metrics as module
from mf.monitor import Door, Exposition, Source
from tests.python.conftest import Recorder as Echo
from tests.python.echo import EchoClient, Negative, Number
from tests.python.interceptors.calling import WAYS, Way, ends
from tests.python.serving import server_of


def exposed(metrics: ClientMetrics) -> str:
    out = Exposition()
    metrics.expose(out)
    return out.text()


def numbers(metrics: ClientMetrics, family: str) -> dict[str, float]:
    """Samples by their labels."""
    found = re.findall(rf"^{family}(?:{{(.*)}})? (\S+)$", exposed(metrics), re.MULTILINE)
    return {labels: float(value) for labels, value in found}


def twice(code: str) -> str:
    return f'service="demo.Echo",method="twice",code="{code}"'


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_calls_are_counted_by_method_and_code(way: Way) -> None:
    metrics = ClientMetrics()
    with ends(way, [metrics]) as both:
        both.twice(21)
        with pytest.raises(Negative):
            both.twice(-1)
        both.bulk([1, -1, 2])
    assert numbers(metrics, "mf_client_calls_total") == {twice("OK"): 3, twice("DECLARED"): 2}
    assert numbers(metrics, "mf_client_call_duration_seconds_count") == {
        'service="demo.Echo",method="twice"': 3
    }
    assert numbers(metrics, "mf_client_attempts_total") == {'service="demo.Echo",method="twice"': 3}
    assert numbers(metrics, "mf_client_retries_total") == {}
    assert numbers(metrics, "mf_client_open_calls") == {"": 0}


def test_a_call_that_never_reached_a_server_is_counted() -> None:
    metrics = ClientMetrics()
    with (
        mf.Client("tcp://127.0.0.1:9", interceptors=[metrics], wait_for_server=0.0) as client,
        pytest.raises(mf.Error) as raised,
    ):
        EchoClient(client).at("a").twice(1, options=mf.CallOptions(deadline=0.2))
    assert numbers(metrics, "mf_client_calls_total") == {twice(raised.value.code.name): 1}


def test_repeats_are_counted() -> None:
    """A server that refuses before it runs anything is asked again."""
    metrics = ClientMetrics()
    refusing, other = Echo(), Echo()

    class Refuses(mf.Interceptor):
        def begin(self, call: mf.InterceptedCall) -> None:
            del call
            raise not_executed(Code.OVERLOADED, "not here")

    with (
        server_of(refusing, agent="a", interceptors=[Refuses()]) as first,
        server_of(other, agent="a") as second,
        mf.Client(f"{first.address},{second.address}", interceptors=[metrics]) as client,
    ):
        for _ in range(8):
            assert EchoClient(client).at("a").twice(1) == 2
    [attempts] = numbers(metrics, "mf_client_attempts_total").values()
    [retries] = numbers(metrics, "mf_client_retries_total").values()
    assert retries >= 1
    assert attempts == 8 + retries
    assert numbers(metrics, "mf_client_calls_total") == {twice("OK"): 8}


def test_calls_that_run_are_open() -> None:
    metrics, servant = ClientMetrics(), Echo()
    entered, leave = threading.Event(), threading.Event()

    def act(x: int) -> int:
        entered.set()
        leave.wait(30)
        return x

    servant.act = act
    with server_of(servant, agent="a") as server, mf.Client(server.address, interceptors=[metrics]) as client:
        calling = threading.Thread(target=EchoClient(client).at("a").flaky, args=(1,))
        calling.start()
        assert entered.wait(30)
        assert numbers(metrics, "mf_client_open_calls") == {"": 1}
        leave.set()
        calling.join(30)
    assert numbers(metrics, "mf_client_open_calls") == {"": 0}


def test_a_light_with_it_counts_nothing() -> None:
    metrics = ClientMetrics()
    light = mf.Light(interceptors=[metrics])
    light.offer(Echo(), agent="a")
    assert EchoClient(mf.Client(light)).at("a").twice(1) == 2
    assert numbers(metrics, "mf_client_calls_total") == {}


def test_methods_beyond_the_bound_share_one_series(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_METHODS", 1)
    metrics = ClientMetrics()
    light = mf.Light()
    light.offer(Echo(), agent="a")
    echo = EchoClient(mf.Client(light, interceptors=[metrics])).at("a")
    echo.twice(1)
    for _ in range(3):
        echo.flaky(1)
    echo.twice_bulk([Number(1)])
    assert numbers(metrics, "mf_client_calls_total") == {
        twice("OK"): 2,
        'service="other",method="other",code="OK"': 3,
    }


def test_a_server_shows_them_beside_its_own() -> None:
    """As `expose` of its options."""
    metrics = ClientMetrics()
    with mf.Server("tcp://127.0.0.1:0", monitor="127.0.0.1:0", expose=metrics.expose) as server:
        server.offer(Echo(), agent="a")
        with mf.Client(server.address, interceptors=[metrics]) as client:
            EchoClient(client).at("a").twice(1)
        with urlopen(f"http://{server.monitor_address}/metrics", timeout=30) as answer:
            said = answer.read().decode()
    assert f"mf_client_calls_total{{{twice('OK')}}} 1\n" in said
    assert "# TYPE mf_server_calls_total counter" in said


def test_a_program_that_is_no_server_has_a_door_for_them() -> None:
    metrics = ClientMetrics()
    door = Door("127.0.0.1:0", opened=False, source=Source(metrics.expose, lambda: ""))
    try:
        with urlopen(f"http://{door.address}/metrics", timeout=30) as answer:
            assert "mf_client_open_calls 0\n" in answer.read().decode()
    finally:
        door.close()
