"""The health service of every server, and the checks of programs that it shares with /readyz."""

import asyncio
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mf
from mf.health import HealthAsyncClient, HealthClient, Report, State
from mf.interceptors import Recorder as Calls
from tests.python.conftest import AsyncRecorder, Recorder, eventually
from tests.python.echo import EchoClient
from tests.python.flowing import Awaiting, Plain
from tests.python.server.test_monitor import got, refused
from tests.python.serving import LoopServer, server_of

ROOT = Path(__file__).parents[3]
KINDS = [Recorder, AsyncRecorder]
SERVING = Report(State.serving, [])

of_each_kind = pytest.mark.parametrize("kind", KINDS)


def inner(server: Any) -> Any:
    return server.server if isinstance(server, LoopServer) else server


@of_each_kind
def test_a_server_says_how_it_and_its_services_are(kind: Callable[[], Any]) -> None:
    with server_of(kind(), agent="a") as server, mf.Client(server.address) as client:
        health = HealthClient(client)

        assert health.check("") == SERVING
        assert health.check("demo.Echo") == SERVING
        assert health.check("mf.health.Health") == SERVING
        assert health.check("demo.Unknown") == Report(State.unknown_service, [])


@of_each_kind
def test_it_is_asked_by_asyncio_too(kind: Callable[[], Any]) -> None:
    async def main(address: str) -> None:
        async with mf.AsyncClient(address) as client:
            health = HealthAsyncClient(client)
            assert await health.check("") == SERVING
            async with health.watch("") as watch:
                assert await anext(watch) == SERVING

    with server_of(kind(), agent="a") as server:
        asyncio.run(main(server.address))


@of_each_kind
def test_checks_are_shared_with_readyz(kind: Callable[[], Any]) -> None:
    why = ["it is being\nloaded"]
    with server_of(kind(), agent="a", monitor="127.0.0.1:0") as server, mf.Client(server.address) as client:
        health = HealthClient(client)
        inner(server).add_check("index", lambda: why[0])

        reasons = ["index: it is being loaded"]
        assert health.check("") == Report(State.not_serving, reasons)
        assert health.check("demo.Echo") == Report(State.not_serving, reasons)
        assert refused(server) == "index: it is being loaded\n"
        assert "\nmf_server_ready 0\n" in got(server)
        why[0] = ""
        assert health.check("") == SERVING
        assert got(server, "/readyz") == "ok\n"
        why[0] = "again"
        inner(server).remove_check("index")
        assert health.check("") == SERVING


@of_each_kind
def test_a_check_of_one_service_is_about_that_one(kind: Callable[[], Any]) -> None:
    with server_of(kind(), agent="a", monitor="127.0.0.1:0") as server, mf.Client(server.address) as client:
        health = HealthClient(client)
        inner(server).add_check("database", lambda: "away", service="demo.Echo")

        assert health.check("demo.Echo") == Report(State.not_serving, ["database: away"])
        assert health.check("") == SERVING
        assert got(server, "/readyz") == "ok\n"


@of_each_kind
def test_a_check_that_fails_is_a_reason(kind: Callable[[], Any]) -> None:
    def fails() -> str:
        raise OSError("no route")

    with server_of(kind(), agent="a") as server, mf.Client(server.address) as client:
        inner(server).add_check("database", fails)
        inner(server).add_check("number", lambda: 5)

        reasons = ["database: raised", "number: returned int, not why, or an empty text"]
        assert HealthClient(client).check("") == Report(State.not_serving, reasons)


def test_wrong_checks_are_refused() -> None:
    async def later() -> str:
        return ""

    server = mf.Server()
    server.add_check("index", str)
    with pytest.raises(ValueError, match="there is a check 'index' already"):
        server.add_check("index", str)
    with pytest.raises(ValueError, match="there is no check 'database'"):
        server.remove_check("database")
    with pytest.raises(TypeError, match="is `async def`"):
        server.add_check("later", later)  # type: ignore[arg-type]


@of_each_kind
def test_not_ready_of_the_options_and_a_missing_registration_count(kind: Callable[[], Any]) -> None:
    with (
        server_of(kind(), agent="a", not_ready=lambda: "too early") as server,
        mf.Client(server.address) as client,
    ):
        assert HealthClient(client).check("").reasons == ["too early"]


def test_a_server_without_its_controller_is_not_serving() -> None:
    server = mf.Server("tcp://127.0.0.1:0", "mf://127.0.0.1:1")
    server.start()
    with mf.Client(server.address) as client:
        assert HealthClient(client).check("").reasons == ["the server is not registered at its controller"]
    server.stop()


@of_each_kind
def test_a_watch_gives_each_change_and_ends_when_the_server_stops(kind: Callable[[], Any]) -> None:
    why = [""]
    server = server_of(kind(), agent="a", drain_timeout=20.0)
    inner(server).add_check("index", lambda: why[0])
    server.start()
    with mf.Client(server.address) as client:
        watch = HealthClient(client).watch("", options=mf.CallOptions(deadline=mf.INFINITE))
        assert next(watch) == SERVING
        why[0] = "it is being loaded"
        assert next(watch) == Report(State.not_serving, ["index: it is being loaded"])
        why[0] = ""
        assert next(watch) == SERVING
        stopping = threading.Thread(target=server.stop)
        stopping.start()
        assert [report.reasons for report in watch] == [["the server is stopping"]]
        stopping.join(10)
        assert not stopping.is_alive()


@of_each_kind
def test_a_watch_follows_a_service_that_is_still_to_come(kind: Callable[[], Any]) -> None:
    with (
        server_of(kind(), agent="a") as server,
        mf.Client(server.address) as client,
        HealthClient(client).watch("demo.Flow") as watch,
    ):
        assert next(watch).state is State.unknown_service
        inner(server).offer(Plain() if kind is Recorder else Awaiting())
        assert next(watch) == SERVING


@of_each_kind
def test_a_watch_that_is_given_up_leaves_nothing(kind: Callable[[], Any]) -> None:
    with server_of(kind(), agent="a") as server, mf.Client(server.address) as client:
        readiness = inner(server)._readiness
        with HealthClient(client).watch("") as watch:
            next(watch)
            assert len(readiness._watchers) == 1

        assert eventually(lambda: not readiness._watchers)


@of_each_kind
def test_limits_and_interceptors_do_not_hold_for_it(kind: Callable[[], Any]) -> None:
    calls = Calls()
    with server_of(kind(), agent="a", interceptors=[calls], limit=mf.Limit(1, queued=0)) as server:
        with mf.Client(server.address) as client, HealthClient(client).watch("") as watch:
            next(watch)
            assert EchoClient(client).at("a").twice(21) == 42
            assert HealthClient(client).check("") == SERVING

        assert [each.call.method for each in calls.wait_for(1)] == ["twice"]
        assert {each.service for each in server.stats().methods} == {"demo.Echo"}


def test_an_access_file_holds_for_it(tmp_path: Path) -> None:
    rules = tmp_path / "access"
    rules.write_text("allow anyone call demo.Echo.*\n")
    with server_of(Recorder(), agent="a", access=str(rules)) as server, mf.Client(server.address) as client:
        with pytest.raises(mf.Error) as failed:
            HealthClient(client).check("")

        assert failed.value.code is mf.Code.PERMISSION_DENIED


def test_it_is_described_like_any_service() -> None:
    with server_of(Recorder(), agent="a") as server, mf.Client(server.address) as client:
        assert "method watch" in client.describe("mf.health.Health").descriptor


def test_a_server_that_is_not_asked_does_not_load_it() -> None:
    program = (
        "import sys, mf; server = mf.Server(); server.start(); server.stop();"
        " sys.exit(any(name.startswith('mf.health') for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, timeout=60)
    assert done.returncode == 0


def test_the_program_of_the_page_prints_what_the_page_says() -> None:
    page = (ROOT / "docs/observability.md").read_text()
    section = page[page.index("## The health service") : page.index("## Metrics")]
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    program = "".join(text for language, text in blocks if language == "python")
    expected = "".join(text for language, text in blocks if not language)

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == expected
