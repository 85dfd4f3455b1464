"""The page of the dashboard in headless Chromium, as `mf dash` and as a controller serves it: hostile names,
many instances, a controller that goes and comes."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID, uuid4

import pytest

import mf
from mf.controller import ControllerAsyncClient, Key, KeyKind, Offer, servers_of
from mf.controller._generated.mf.controller import Credential
from tests.interop.peers import Server
from tests.mf_tools.chromium import Chromium
from tests.mf_tools.conftest import Peers, Tool
from tests.mf_tools.dashboards import OWN, Dash, Serve, own_of, serve, served_by
from tests.python.certificates import Authority
from tests.python.flowing import Plain

__all__ = ["serve", "served_by"]  # fixtures

HOSTILE = "<img src=x onerror=alert(1)>"
MANY = 1000
ROWS = "document.querySelectorAll('#instances tbody tr').length"


def text_of(selector: str) -> str:
    return f"document.querySelector({selector!r}).innerText"


class Registrations:
    """Registers processes that exist by name alone, over a few connections, and changes them."""

    def __init__(self, controller: str) -> None:
        self._controller = servers_of(controller)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._clients: list[mf.AsyncClient] = []
        self._streams: list[mf.AsyncStreamReader[object]] = []

    def add(self, process: str, offers: list[Offer]) -> None:
        asyncio.run_coroutine_threadsafe(self._add(process, offers), self._loop).result(30)

    async def _add(self, process: str, offers: list[Offer]) -> None:
        if len(self._streams) % 100 == 0:
            self._clients.append(mf.AsyncClient(self._controller))
        controller = ControllerAsyncClient(self._clients[-1])
        who = Credential(uuid4(), uuid4())
        stream = controller.register(who, process, offers, options=mf.CallOptions(deadline=mf.INFINITE))
        await stream.__aenter__()
        await anext(stream)
        self._streams.append(stream)  # type: ignore[arg-type]

    def remove_first(self) -> None:
        stream = self._streams.pop(0)
        asyncio.run_coroutine_threadsafe(stream.__aexit__(None, None, None), self._loop).result(30)

    def close(self) -> None:
        async def end() -> None:
            for client in self._clients:
                await client.close()

        asyncio.run_coroutine_threadsafe(end(), self._loop).result(30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def offer(name: str, agent: str = "", labels: dict[str, str] | None = None) -> Offer:
    key = Key(KeyKind.service, name, agent)
    return Offer(key, ["tcp://127.0.0.1:1"], UUID(int=1), 1, labels or {}, False)


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    started = Chromium(tmp_path_factory.mktemp("chromium"))
    yield started
    started.close()


@pytest.fixture
def page(chromium: Chromium) -> Iterator[Chromium]:
    """Which must not complain: its policy refuses nothing that it does itself."""
    chromium.complaints.clear()
    chromium.window(1280, 1000)
    yield chromium
    chromium.open("about:blank")
    assert [each for each in chromium.complaints if "ERR_INCOMPLETE_CHUNKED" not in each] == []


@pytest.fixture(scope="module")
def controller(peers: Peers) -> Server:
    return peers.controller(*OWN)


@pytest.fixture
def registrations(peers: Peers) -> Iterator[tuple[Server, Registrations]]:
    """At a controller of their own."""
    controller = peers.controller(*OWN)
    made = Registrations(controller.address)
    yield controller, made
    made.close()


GOOD = {"mf dash": "● serving", "controller": "● connected"}
"""What the page shows of a process that serves, by the server of the page."""


def test_the_page_shows_what_is_registered(
    served_by: str, serve: Serve, page: Chromium, controller: Server, registered: Server
) -> None:
    dash = serve(controller)
    try:
        page.open(dash.address)
        page.wait_for(f"{ROWS} === 1 && {text_of('#instances tbody')}.includes('{GOOD[served_by]}')")
        assert page.says("location.search") == ""  # the key is no part of the address any more
        tags = "[...document.querySelectorAll('#instances .tag')].map((each) => each.textContent)"
        offers = ["shop.Clock", "shop.Shop books", "shop.Shop maps", "shop.News", "shop.Sales books"]
        assert page.says(tags) == offers
        assert registered.address in page.says(text_of("#instances tbody"))
        assert page.says(text_of("#services tbody tr")).split() == ["shop.Clock", "1", "549d63fc"]
        assert page.says(text_of("#live")) == "live"
        assert page.says("document.getElementById('banner').hidden") is True
        assert page.says("document.querySelectorAll('#picture g[role=button]').length") == 5
        assert page.says("document.getElementById('no-health').hidden") is (served_by == "mf dash")
    finally:
        dash.end()


def test_text_of_peers_is_shown_and_never_obeyed(
    served_by: str, serve: Serve, page: Chromium, registrations: tuple[Server, Registrations]
) -> None:
    where, registered = registrations
    registered.add(HOSTILE, [offer(HOSTILE, HOSTILE, {"version": HOSTILE, HOSTILE: HOSTILE})])
    registered.add("\u202e\x1b[31m" + '"><script>alert(1)</script>', [offer("javascript:alert(1)")])
    dash = serve(where)
    state = "■ silent" if served_by == "mf dash" else "● connected"
    try:
        page.open(dash.address)
        page.wait_for(f"{ROWS} === 2 && {text_of('#instances tbody')}.includes('{state}')")
        assert page.says(text_of("#instances tbody")).count(HOSTILE) == 4
        assert HOSTILE in page.says(text_of("#services tbody"))
        assert (
            page.says("document.querySelectorAll('img, script:not([src]), a[href^=javascript]').length") == 0
        )
        assert HOSTILE in page.says("document.querySelector('#picture svg').textContent")
        registered.remove_first()
        page.wait_for(f"{text_of('#changes')}.includes({HOSTILE!r})")
        assert page.says("document.querySelectorAll('img').length") == 0
    finally:
        dash.end()


def test_a_thousand_instances_change_ten_times_a_second(
    serve: Serve, page: Chromium, registrations: tuple[Server, Registrations]
) -> None:
    where, registered = registrations
    for number in range(MANY):
        registered.add(f"worker-{number:04}", [offer(f"demo.Service{number % 40}", f"agent-{number}")])
    dash = serve(where, "--no-health")
    try:
        page.open(dash.address)
        page.wait_for(f"{text_of('#found')} === '{MANY}'")
        for number in range(50):
            registered.add(f"late-{number:04}", [offer("demo.Late")])
            registered.remove_first()
            threading.Event().wait(0.1)
        page.wait_for(f"{text_of('#instances tbody')}.includes('late-0049')")
        page.wait_for(f"{text_of('#found')} === '{MANY}'")
        assert page.says(ROWS) == 60  # and so many rows are drawn at first
        page.says("document.getElementById('filter').focus()")
        for key in "agent-777":
            page.press(key)
        page.wait_for(f"{ROWS} === 1 && {text_of('#found')} === '1 of {MANY}'")
        assert "worker-0777" in page.says(text_of("#instances tbody"))
    finally:
        dash.end()


def test_a_controller_goes_and_comes_back(served_by: str, serve: Serve, page: Chromium, peers: Peers) -> None:
    controller = peers.controller(*OWN)
    peers.shop(controller=controller.address)
    dash = serve(controller)
    place = ("--dashboard", f"127.0.0.1:{own_of(controller).port}")
    try:
        page.open(dash.address)
        page.wait_for(f"{ROWS} === 1")
        controller.close()
        page.wait_for("!document.getElementById('banner').hidden")
        assert "The controller does not answer" in page.says(text_of("#banner"))
        assert page.says(ROWS) == 1
        again = peers.controller(*place, listen=controller.address)
        page.wait_for("document.getElementById('banner').hidden")
        page.wait_for(f"{text_of('#changes')}.includes('answers')")
        assert page.says(ROWS) == 1
        assert " left" not in page.says(text_of("#changes"))
        again.close()
    finally:
        dash.end()
        if served_by == "controller":
            leave_unreached_unsaid(page)


def leave_unreached_unsaid(page: Chromium) -> None:
    """A browser writes to its console that a server does not answer."""
    page.open("about:blank")
    page.complaints[:] = [each for each in page.complaints if "ERR_CONNECTION_REFUSED" not in each]


def test_what_does_not_register_again_in_time_has_left(
    served_by: str, page: Chromium, serve: Serve, peers: Peers
) -> None:
    controller = peers.controller(*OWN)
    shop = peers.shop(controller=controller.address)
    dash = serve(controller, "--no-health")
    place = ("--dashboard", f"127.0.0.1:{own_of(controller).port}")
    try:
        page.open(dash.address)
        page.wait_for(f"{ROWS} === 1")
        controller.close()
        page.wait_for("!document.getElementById('banner').hidden")
        shop.close()
        again = peers.controller(*place, listen=controller.address)
        page.wait_for(
            f"document.getElementById('banner').hidden && {text_of('#changes')}.includes('answers')"
        )
        page.wait_for("state.doubted.size > 0")
        assert page.says(ROWS) == 1
        page.says("state.clock = () => Date.now() / 1000 + KEEP_OLD")
        page.wait_for(f"{ROWS} === 0 && {text_of('#changes')}.includes(' left')")
        again.close()
    finally:
        dash.end()
        if served_by == "controller":
            leave_unreached_unsaid(page)


def test_a_dashboard_that_has_ended_is_no_live_one(tool: Tool, page: Chromium, controller: Server) -> None:
    dash = Dash(tool, controller.address)
    page.open(dash.address)
    page.wait_for(f"{text_of('#live')} === 'live'")
    dash.end()
    page.wait_for(f"{text_of('#live')} === 'connecting'")
    leave_unreached_unsaid(page)


def test_the_charts_of_a_controller_are_of_its_own_calls(page: Chromium, controller: Server) -> None:
    page.open(own_of(controller).address)
    page.wait_for("document.querySelectorAll('#chart-row polyline').length === 2")
    assert page.says(text_of("#monitors")) == "of the controller itself"
    assert page.says("document.querySelectorAll('#chart-row figure').length") == 2  # none of latencies


def test_what_a_controller_denies_is_shown(page: Chromium, peers: Peers, tmp_path: Path) -> None:
    rules = tmp_path / "access"
    rules.write_text("allow anyone list\nallow anyone watch *\n")
    rules.chmod(0o600)
    controller = peers.controller(*OWN, "--access", str(rules))
    page.open(own_of(controller).address)
    page.wait_for(f"{text_of('#live')} === 'live'")
    assert page.says("document.getElementById('denials-section').hidden") is True
    registered = Registrations(controller.address)
    try:
        with pytest.raises(mf.Error):
            registered.add("a", [offer(HOSTILE, "books")])
        page.wait_for("document.querySelectorAll('#denials tbody tr').length === 1")
        row = page.says(text_of("#denials tbody tr"))
        assert f"register {HOSTILE} for books at tcp://127.0.0.1:1" in row
        assert "tcp://127.0.0.1:" in row
        assert page.says("document.querySelectorAll('img').length") == 0
    finally:
        registered.close()
        controller.close()
        page.wait_for(f"{text_of('#live')} === 'connecting'")
        leave_unreached_unsaid(page)


def test_a_reader_that_is_refused_learns_why(page: Chromium, peers: Peers, tmp_path: Path) -> None:
    rules = tmp_path / "access"
    rules.write_text("allow dns:ops.example list\n")
    rules.chmod(0o600)
    controller = peers.controller(*OWN, "--access", str(rules))
    page.open(own_of(controller).address)
    page.wait_for(f"{text_of('#live')} === 'refused'")
    page.wait_for(f"{text_of('#banner')}.includes('a client without an identity may not list')")
    assert page.says("document.getElementById('token-form').hidden") is False
    assert page.says(ROWS) == 0
    page.says("document.getElementById('token').value = 'v4.public.none'")
    page.says("document.querySelector('#token-form button').click()")
    page.wait_for(f"{text_of('#banner')}.includes('accepts no tokens')")
    page.complaints[:] = [each for each in page.complaints if "401" not in each]


def test_days_of_certificates_are_shown_and_what_ends_soon_comes_first(
    tool: Tool, page: Chromium, peers: Peers, tmp_path: Path
) -> None:
    controller, authority = peers.controller(), Authority(tmp_path)
    peers.shop(controller=controller.address)
    dash = Dash(tool, controller.address)
    try:
        with mf.Server("tls://127.0.0.1:0", controller.address, tls=authority.issue(days=3)) as server:
            server.offer(Plain())
            page.open(dash.address)
            page.wait_for(f"{ROWS} === 2 && {text_of('#instances tbody tr')}.includes('3.0 days')")
            row = page.says(text_of("#instances tbody tr"))
            assert server.address in row
            assert "○ not accepted" in row  # its authority is unknown here
            assert "1\ncertificates to renew" in page.says(text_of("#tiles"))
    finally:
        dash.end()


def test_behind_a_relay_processes_are_shown_and_not_asked(
    tool: Tool, page: Chromium, peers: Peers, controller: Server, registered: Server
) -> None:
    relay = peers.relay(controller.address, "--to", "127.0.0.0/8")
    dash = Dash(tool, relay.address)
    try:
        page.open(dash.address)
        page.wait_for(f"{ROWS} === 1 && {text_of('#services')}.includes('shop.Clock')")
        row = page.says(text_of("#instances tbody"))
        assert "○ not asked yet" in row
        assert registered.address in row
        assert page.says("document.querySelector('#picture .controller text').textContent") == "relay"
    finally:
        dash.end()


def test_it_is_used_by_keys_alone(
    serve: Serve, page: Chromium, controller: Server, registered: Server
) -> None:
    del registered
    dash = serve(controller)
    try:
        page.open(dash.address)
        page.wait_for(f"{ROWS} === 1")
        page.press("/")
        assert page.says("document.activeElement.id") == "filter"
        for key in "nothing":
            page.press(key)
        page.wait_for(f"{ROWS} === 0 && {text_of('#found')} === '0 of 1'")
        page.press("Escape")
        page.wait_for(f"{ROWS} === 1")
        page.says("document.querySelector('#picture g.topic').focus()")
        page.press("Enter")
        assert page.says("document.getElementById('filter').value") == "shop.News"
        page.says("document.getElementById('theme').focus()")
        page.press("Enter")
        assert page.says("document.documentElement.dataset.theme") == "dark"
        assert page.says(text_of("#theme")) == "Light"
        page.says("localStorage.clear()")
    finally:
        dash.end()


def test_a_reader_of_screens_finds_names_for_everything(
    serve: Serve, page: Chromium, controller: Server, registered: Server
) -> None:
    del registered
    dash = serve(controller)
    try:
        page.open(dash.address)
        page.wait_for(f"{ROWS} === 1")
        nameless = (
            "[...document.querySelectorAll('section')].filter((each) => !each.getAttribute('aria-label')"
            " && !document.getElementById(each.getAttribute('aria-labelledby'))?.innerText).length"
        )
        assert page.says(nameless) == 0
        controls = "[...document.querySelectorAll('label')].map((each) => each.control.id)"
        assert page.says(controls) == ["token", "filter"]
        assert page.says("[...document.querySelectorAll('th')].every((each) => each.scope === 'col')") is True
        unnamed = "svg:not([aria-label]), svg g[role=button]:not([aria-label])"
        assert page.says(f"document.querySelectorAll('{unnamed}').length") == 0
        roles = (
            "[...document.querySelectorAll('[role=status], [role=alert], [role=log]')].map((each) => each.id)"
        )
        assert page.says(roles) == ["live", "banner", "found", "said"]
    finally:
        dash.end()


@pytest.mark.parametrize("width", [400, 1280])
def test_it_does_not_scroll_sideways_at_any_width(
    serve: Serve, page: Chromium, registrations: tuple[Server, Registrations], width: int
) -> None:
    where, registered = registrations
    registered.add("long-" * 30, [offer("demo." + "Long" * 60, "a" * 300, {"version": "v" * 200})])
    registered.add("short", [offer("demo.Short")])
    dash = serve(where)
    try:
        page.window(width, 900)
        page.open(dash.address)
        page.wait_for(f"{ROWS} === 2")
        assert page.says("document.documentElement.scrollWidth") == width
        rights = "[...document.querySelectorAll('body *')].map((each) => each.getBoundingClientRect().right)"
        beyond = f"{rights}.filter((right) => right > innerWidth + 1).length"
        assert page.says(beyond) == 0
    finally:
        dash.end()


def test_it_is_light_and_dark_as_the_system_is(
    tool: Tool, page: Chromium, controller: Server, tmp_path: Path
) -> None:
    from tests.compiler.test_doc_chromium import _colours

    dash = Dash(tool, controller.address)
    try:
        page.open(dash.address)
        page.wait_for(f"{text_of('#live')} === 'live'")
        papers = []
        for dark in (False, True):
            page.window(600, 700, dark=dark)
            page.picture(tmp_path / "page.png")
            papers.append(
                {each.hex() for each, _ in _colours(tmp_path / "page.png", 600, 700).most_common(2)}
            )
        assert papers == [{"f7f8fa", "ffffff"}, {"12161c", "1a2028"}]
    finally:
        dash.end()
