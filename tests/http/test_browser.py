"""The page of the HTTP door, and the client of examples/http, in headless Chromium."""

import functools
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.http.asking import Door
from tests.http.browser import Browser
from tests.http.conftest import door_of
from tests.interop.peers import Server
from tests.mf_tools.conftest import Peers

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "http"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    started = Browser(tmp_path_factory.mktemp("chromium"))
    yield started
    started.close()


@pytest.fixture
def site() -> Iterator[str]:
    """The folder of the example, as another site."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *arguments: object) -> None:
            del arguments

    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(EXAMPLE))) as served:
        thread = threading.Thread(target=served.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{served.server_address[1]}"
        served.shutdown()
        thread.join()


def test_the_page_makes_a_template_and_calls(browser: Browser, door: Door) -> None:
    tab = browser.open(door.address)
    tab.evaluate(
        "document.getElementById('service').value = 'shop.Shop';"
        "document.getElementById('method').value = 'area';"
        "document.getElementById('service').dispatchEvent(new Event('change'))"
    )
    tab.wait_for("document.getElementById('arguments').value.includes('width')")
    template = tab.evaluate("JSON.parse(document.getElementById('arguments').value)")
    assert template == {"size": {"width": 0, "height": 0, "kind": "book"}}
    tab.wait_for("document.getElementById('methods').children.length > 0")
    methods = tab.evaluate("[...document.getElementById('methods').children].map(each => each.value)")
    assert "find" in methods
    tab.evaluate("document.querySelector('button').click()")
    tab.wait_for("document.getElementById('status').textContent.startsWith('200')")
    assert tab.evaluate("document.getElementById('answer').textContent") == "0"
    assert tab.complaints == []


@pytest.mark.parametrize("field", ["service", "method", "agent", "arguments"])
def test_html_in_names_and_values_is_shown_as_text(browser: Browser, door: Door, field: str) -> None:
    tab = browser.open(door.address)
    markup = '<img src=x onerror="document.title=1">'
    given = {"service": "shop.Shop", "method": "answer", "agent": "books", "arguments": '{"question": "?"}'}
    given[field] = (
        markup
        if field != "arguments"
        else '{"question": ' + repr(markup).replace('"', '\\"').replace("'", '"') + "}"
    )
    for name, value in given.items():
        tab.evaluate(f"document.getElementById({name!r}).value = {value!r}")
    tab.evaluate("document.getElementById('call').requestSubmit()")
    tab.wait_for("/^[2-5]/.test(document.getElementById('status').textContent)")
    shown = tab.evaluate("document.getElementById('answer').textContent")
    assert ("onerror" in shown) == (field in ("agent", "arguments"))
    assert tab.evaluate("document.images.length") == 0
    assert tab.evaluate("document.title") == "Try calls"


def test_the_client_in_plain_javascript_calls_streams_talks_and_subscribes(
    browser: Browser, peers: Peers, controller: Server, shop: Server, site: str
) -> None:
    del shop
    relay = peers.relay(controller.address, "--http", "http://127.0.0.1:0", "--http-origin", site)
    door = door_of(relay)
    tab = browser.open(f"{site}/page.html?door={door.address}")
    tab.wait_for("document.title === 'done'")
    assert tab.evaluate("document.getElementById('said').textContent").splitlines() == [
        'found ["The sea"]',
        "batch 1 shop.NotFound",
        'failed DECLARED ["The sea","Sea charts"]',
        "counted 1",
        "counted 2",
        "counted 3",
        "shouted SEA",
        "sold 3 from books",
    ]


def test_the_client_of_another_site_gets_nothing(browser: Browser, door: Door, site: str) -> None:
    tab = browser.open(f"{site}/page.html?door={door.address}")
    tab.wait_for("true")
    called = f"import('./door.js').then(({{Door}}) => new Door('{door.address}').call('shop.Clock.now'))"
    assert tab.evaluate(called + ".then(() => 'called', () => 'failed')") == "failed"


def test_the_client_has_at_most_a_hundred_lines() -> None:
    assert len((EXAMPLE / "door.js").read_text().splitlines()) <= 100
