"""The page of the playground in headless Chromium: light and dark, by keyboard, on a narrow screen."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from mfidl.serve.server import Playground
from tests.serve.browser import Browser

TEXT = "document.getElementById('{}').textContent"
STATUS = TEXT.format("status")
BROKEN = "module shop;\n\n// \N{WAVING HAND SIGN}\nstruct Money { amount: i46; }\n"
VALID = "module shop;\nstruct Money { amount: i64; }\nstruct Tag { name: string; }\n"


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    """With the page opened, and its first question answered; a page that complains fails its test."""
    with Playground() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            with Browser(tmp_path / "profile") as made:
                made.look(1200, 800)
                made.open(server.address)
                made.wait(f"{STATUS} === 'No problems'")
                yield made
                assert made.complaints == []
        finally:
            server.shutdown()
            thread.join()


def _write(browser: Browser, editor: str, text: str) -> None:
    """Over all that an editor has."""
    area = f"document.querySelector('#{editor} textarea, textarea#{editor}')"
    browser.run(f"{area}.focus(), {area}.select()")
    browser.type(text)


def test_what_is_typed_is_generated_drawn_compared_and_explained(browser: Browser) -> None:
    assert "struct Article" in browser.run(TEXT.format("cpp-text"))
    assert browser.run("document.querySelectorAll('#pictures svg').length") == 4
    assert browser.run(TEXT.format("verdict")) == "The change breaks programs of the older text:"
    _write(browser, "schema", VALID)
    browser.wait("document.querySelectorAll('#pictures svg').length === 2")
    assert "struct Money" in browser.run(TEXT.format("cpp-text"))
    assert browser.run(TEXT.format("explained")).startswith("module shop")
    browser.run("document.getElementById('tab-changes').click()")
    _write(browser, "older", VALID)
    browser.wait(f"{TEXT.format('verdict')} === 'Nothing breaks.'")


def test_an_error_is_marked_at_its_line_and_f8_selects_it(browser: Browser) -> None:
    _write(browser, "schema", BROKEN)
    browser.wait(f"{STATUS} === '1 error'")
    assert browser.run("document.querySelector('#schema .gutter .error').textContent") == "4"
    assert browser.run("document.querySelector('#schema .marks mark').textContent") == "i46"
    assert "E0301, line 4" in browser.run(TEXT.format("problems"))
    browser.press("F8")
    area = "document.querySelector('#schema textarea')"
    assert browser.run(f"{area}.value.slice({area}.selectionStart, {area}.selectionEnd)") == "i46"
    assert browser.run("document.querySelector('.right').classList.contains('stale')")


def test_a_value_goes_to_bytes_and_back(browser: Browser) -> None:
    _write(browser, "schema", VALID)
    browser.wait("document.querySelectorAll('#pictures svg').length === 2")
    browser.run("document.getElementById('tab-value').click()")
    browser.wait("document.getElementById('hex').value === 'e8 03 00 00 00 00 00 00'")
    _write(browser, "json", '{"amount": "2"}')
    browser.wait("document.getElementById('hex').value === '02 00 00 00 00 00 00 00'")
    assert "Money.amount" in browser.run(TEXT.format("bytes"))
    _write(browser, "hex", "0300000000000000")
    browser.wait("document.getElementById('json').value.includes('\"3\"')")
    _write(browser, "hex", "03")
    browser.wait(f"{TEXT.format('fault')}.includes('bytes, byte 0')")


def test_the_text_of_a_schema_is_never_html(browser: Browser) -> None:
    doc = "/// <img src=x onerror=alert(1)></pre><script>alert(2)</script>"
    evil = f'module a;\n{doc}\nstruct B {{ c: string = "<b>"; }}\n'
    _write(browser, "schema", evil)
    browser.wait("document.querySelectorAll('#pictures svg').length === 1")
    assert browser.run("document.querySelectorAll('img, main script, main b').length") == 0
    assert "<script>alert(2)</script>" in browser.run(TEXT.format("cpp-text"))
    _write(browser, "schema", "module a;\nstruct B { c: <img src=x>; }\n")
    browser.wait(f"{STATUS}.includes('error')")
    assert browser.run("document.querySelectorAll('img').length") == 0


def test_views_are_chosen_with_arrow_keys_and_editors_left_with_escape(browser: Browser) -> None:
    browser.run("document.getElementById('tab-cpp').focus()")
    seen = []
    for key in ("ArrowRight", "ArrowRight", "End", "ArrowRight", "ArrowLeft"):
        browser.press(key)
        seen.append(browser.run("document.activeElement.id"))
        assert browser.run("document.querySelectorAll('[role=tabpanel]:not([hidden])').length") == 1
    assert seen == ["tab-python", "tab-layouts", "tab-value", "tab-cpp", "tab-value"]
    browser.run("document.querySelector('#schema textarea').focus()")
    browser.press("Tab")
    assert browser.run("document.activeElement.getAttribute('aria-label')") == "Schema"
    browser.press("Escape")
    browser.press("Tab")
    assert browser.run("document.activeElement.getAttribute('aria-label')") != "Schema"


def test_a_page_that_is_loaded_again_keeps_what_was_typed(browser: Browser) -> None:
    _write(browser, "schema", VALID)
    browser.wait("document.querySelectorAll('#pictures svg').length === 2")
    address = browser.run("location.href")
    browser.open("about:blank")
    browser.open(address)
    browser.wait(f"{STATUS} === 'No problems'")
    assert browser.run("document.querySelector('#schema textarea').value") == VALID


@pytest.mark.parametrize("tab", ["cpp", "layouts", "explained", "changes", "value"])
def test_a_narrow_page_does_not_scroll_sideways(browser: Browser, tab: str) -> None:
    browser.look(400, 800)
    browser.run(f"document.getElementById('tab-{tab}').click()")
    assert browser.run("document.documentElement.scrollWidth") == 400
    box = f"document.getElementById('tab-{tab}').getBoundingClientRect()"
    assert browser.run(f"Math.ceil({box}.left) >= 0 && Math.floor({box}.right) <= 400")


@pytest.mark.parametrize(("dark", "paper"), [(False, "rgb(255, 255, 255)"), (True, "rgb(21, 24, 28)")])
def test_the_colours_are_those_that_the_system_asks_for(browser: Browser, dark: bool, paper: str) -> None:
    browser.look(1200, 800, dark=dark)
    assert browser.run("getComputedStyle(document.body).backgroundColor") == paper
    browser.run("document.getElementById('tab-layouts').click()")
    fill = browser.run("getComputedStyle(document.querySelector('#pictures .hue0')).fill")
    assert fill == ("rgb(33, 56, 79)" if dark else "rgb(219, 233, 247)")
