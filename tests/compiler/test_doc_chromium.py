"""The pages of `mfidlc doc` as headless Chromium shows them: light and dark, searched by keyboard."""

import os
import re
import shutil
import signal
import struct
import subprocess
import zlib
from collections import Counter
from pathlib import Path

import pytest

from tests.compiler.test_doc import _pages

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--enable-logging=stderr",
]
DARK = "--blink-settings=preferredColorScheme=0"
LIGHT = "--blink-settings=preferredColorScheme=1"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    for name, text in _pages().items():
        (folder / name).write_text(text)
    return folder


def _browse(folder: Path, address: str, *arguments: str) -> str:
    """What Chromium prints; refuses a page that complains."""
    chromium = shutil.which("chromium")
    assert chromium is not None, "Chromium is missing: tools/bootstrap core test installs it"
    profile = folder / f"profile-{len(list(folder.glob('profile-*')))}"
    command = [chromium, *FLAGS, f"--user-data-dir={profile}", *arguments, f"file://{folder}/{address}"]
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        out, err = running.communicate(timeout=50)
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)  # its helpers too
    assert running.returncode == 0, err
    complaints = [line for line in err.splitlines() if "CONSOLE" in line]
    assert complaints == []
    return out


def _pixels(path: Path) -> tuple[int, int, list[bytes]]:
    """Width, height and the RGB rows of a PNG with 8 bits a channel."""
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    packed, at = b"", 8
    while at < len(data):
        (size,) = struct.unpack_from(">I", data, at)
        if data[at + 4 : at + 8] == b"IHDR":
            width, height, depth, kind = struct.unpack_from(">IIBB", data, at + 8)
        elif data[at + 4 : at + 8] == b"IDAT":
            packed += data[at + 8 : at + 8 + size]
        at += size + 12
    assert (depth, kind in (2, 6)) == (8, True)
    channels = 3 if kind == 2 else 4
    return width, height, _unfiltered(zlib.decompress(packed), width * channels, channels)


def _unfiltered(raw: bytes, stride: int, channels: int) -> list[bytes]:
    """The rows of an image, without the differences that PNG stores in place of them."""
    rows: list[bytes] = []
    above = bytearray(stride)
    for start in range(0, len(raw), stride + 1):
        row = bytearray(raw[start + 1 : start + 1 + stride])
        kind = raw[start]
        for at in range(stride) if kind else ():
            left = row[at - channels] if at >= channels else 0
            corner = above[at - channels] if at >= channels else 0
            row[at] = (row[at] + _predicted(kind, left, above[at], corner)) & 255
        rows.append(bytes(row))
        above = row
    return rows


def _predicted(kind: int, left: int, up: int, corner: int) -> int:
    if kind == 4:
        near = left + up - corner
        return min((left, up, corner), key=lambda each: abs(near - each))
    return (0, left, up, (left + up) // 2)[kind]


def _colours(path: Path, width: int, height: int) -> Counter[bytes]:
    found_width, found_height, rows = _pixels(path)
    assert (found_width, found_height) == (width, height)
    channels = len(rows[0]) // width
    return Counter(row[at : at + 3] for row in rows[::3] for at in range(0, len(row), 3 * channels))


@pytest.mark.parametrize(("theme", "paper"), [(LIGHT, "ffffff"), (DARK, "15181c")], ids=["light", "dark"])
def test_a_page_is_painted_in_the_theme_of_the_system(
    site: Path, tmp_path: Path, theme: str, paper: str
) -> None:
    picture = tmp_path / "page.png"
    _browse(site, "shop.goods.html", theme, "--window-size=600,700", f"--screenshot={picture}")
    colours = _colours(picture, 600, 700)
    assert colours.most_common(1)[0][0].hex() == paper
    assert len(colours) > 100  # text, badges and a layout, not a blank page
    share = colours.most_common(1)[0][1] / colours.total()
    assert 0.5 < share < 0.97


NARROW = """<script>
document.getElementById("mf-menu").click();
const contents = document.getElementById("mf-contents").getBoundingClientRect();
document.body.dataset.seen = [
  document.documentElement.scrollWidth - innerWidth, contents.top, contents.bottom - innerHeight,
].map(Math.round).join("|");
</script></body>"""


def test_a_narrow_page_does_not_scroll_sideways_and_opens_its_contents_below_the_bar(site: Path) -> None:
    page = (site / "shop.goods.html").read_text()
    (site / "narrow.html").write_text(page.replace("</body>", NARROW))
    dom = _browse(site, "narrow.html", "--window-size=500,800", "--dump-dom")
    found = re.search(r'data-seen="(.*?)"', dom)
    assert found is not None
    assert found[1] == "0|56|0"


def test_a_search_that_came_as_a_link_lists_what_it_finds(site: Path) -> None:
    dom = _browse(site, "shop.goods.html?q=art", "--dump-dom")
    results = re.search(r'<ul id="mf-results".*?</ul>', dom, re.DOTALL)
    assert results is not None
    names = re.findall(r'<span class="name">(.*?)</span>', results[0])
    assert names[:2] == ["Article", "ArticleId"]
    assert "Measurement.article" in names
    assert "Money" not in names
    assert "hidden" not in results[0].partition(">")[0]


DRIVE = """<script>
const input = document.getElementById("mf-search");
const press = (key, at) =>
  at.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const seen = [];
press("/", document.body);
seen.push(document.activeElement.id);
input.value = "nosuchname";
input.dispatchEvent(new Event("input"));
seen.push(document.getElementById("mf-found").textContent);
input.value = "outlne";  // with a letter left out, in another module
input.dispatchEvent(new Event("input"));
seen.push(document.getElementById("mf-found").textContent);
input.value = "sale";
input.dispatchEvent(new Event("input"));
press("ArrowDown", input);
seen.push(document.querySelector("#mf-results [aria-selected]").textContent);
press("ArrowUp", input);
press("Enter", input);
seen.push(location.hash);
press("Escape", input);
seen.push(document.getElementById("mf-results").hidden);
document.getElementById("mf-theme").click();
seen.push(document.documentElement.dataset.theme, localStorage.getItem("mf-theme"));
document.getElementById("mf-theme").click();
seen.push(document.documentElement.dataset.theme);
document.getElementById("mf-menu").click();
seen.push(document.getElementById("mf-menu").getAttribute("aria-expanded"));
document.body.dataset.seen = seen.join("|");
</script></body>"""


def test_keys_and_buttons_do_what_they_say(site: Path) -> None:
    page = (site / "shop.front.html").read_text()
    (site / "driven.html").write_text(page.replace("</body>", DRIVE))
    dom = _browse(site, "driven.html", LIGHT, "--dump-dom")
    found = re.search(r'data-seen="(.*?)"', dom)
    assert found is not None
    focused, nothing, near, second, went, hidden, *rest = found[1].split("|")
    assert (focused, nothing, near) == ("mf-search", "Nothing found", "1 found")
    assert (went, hidden) == ("#Sale", "true")
    assert "Sale" in second
    assert rest == ["dark", "dark", "light", "true"]
