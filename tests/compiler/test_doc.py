"""`mfidlc doc`: pages that are well formed, self-contained, linked, and run no script of a comment."""

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from mfidl.compiler import check
from mfidl.doc import generate, markdown
from tests.compiler.schema import program_of
from tests.compiler.test_cli import mfidlc

SCHEMA = Path(__file__).parent / "golden" / "doc" / "schema"
FILES = [str(SCHEMA / "shop" / "front.mfidl"), str(SCHEMA / "shop" / "goods.mfidl")]
VOID = {"meta", "link", "input", "br", "path", "circle"}


def _pages() -> dict[str, str]:
    outcome = check(FILES, [str(SCHEMA)])
    assert outcome.program is not None, [each.message for each in outcome.diagnostics]
    return {each.path: each.text for each in generate(outcome.program)}


class _Reader(HTMLParser):
    """Tags, ids, links and text of a page; refuses tags that do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            elif name in ("href", "src"):
                self.links.append(value or "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag, (tag, self.getpos())

    def handle_data(self, data: str) -> None:
        if not set(self.open) & {"script", "style"}:
            self.text += data


def _read(folder: Path, schema: str) -> _Reader:
    [page] = generate(program_of(folder, schema))
    return _Reader(page.text)


def test_there_is_a_page_for_each_module_and_an_index_of_several() -> None:
    assert list(_pages()) == ["shop.front.html", "shop.goods.html", "index.html"]


@pytest.mark.parametrize("name", ["shop.front.html", "shop.goods.html", "index.html"])
def test_a_page_is_well_formed_and_every_link_leads_somewhere(name: str) -> None:
    pages = {each: _Reader(text) for each, text in _pages().items()}
    page = pages[name]
    assert len(page.ids) == len(set(page.ids))
    for link in page.links:
        file, _, anchor = link.partition("#")
        if link != "data:,":
            assert (file or name) in pages, link
            assert not anchor or anchor in pages[file or name].ids, link
    assert len(page.links) > 3


@pytest.mark.parametrize("name", ["shop.front.html", "shop.goods.html", "index.html"])
def test_every_name_of_the_search_index_is_a_place(name: str) -> None:
    pages = _pages()
    readers = {each: _Reader(text) for each, text in pages.items()}
    found = re.search(r'<script type="application/json" id="mf-index">(.*?)</script>', pages[name], re.DOTALL)
    assert found is not None
    entries = json.loads(found[1])
    for _, _, address, _ in entries:
        file, _, anchor = address.partition("#")
        assert anchor in readers[file or name].ids, address
    assert {"Article", "Shop"} <= {entry[0] for entry in entries}


def test_a_page_needs_nothing_from_anywhere() -> None:
    for name, text in _pages().items():
        page = _Reader(text)
        assert "src" not in page.attributes, name
        assert not any("//" in link for link in page.links), name
        assert "default-src 'none'" in text
        assert "@import" not in text
        assert "url(" not in text


def test_declarations_are_told_with_what_they_have() -> None:
    pages = {name: _Reader(text).text for name, text in _pages().items()}
    goods, front = pages["shop.goods.html"], pages["shop.front.html"]
    for words in (
        "An article as customers see it.",
        "152 bytes, alignment 8, 14 bytes of it padding",
        "In the order article, weight, place, samples, care, storage, sensor it would have 144 bytes, 8",
        "Earlier called when.",
        "each @length(1..32)",
        "Deprecated: sold in 2024",
        "0x100",
        "C++ shop::Outline with shop::OutlineCodec (shop/outline.hpp)",
    ):
        assert words in goods, words
    for words in (
        "idempotent",
        "200ms",
        "batch 512",
        "one-way",
        "→ stream<Sale>",
        "PATIENCE: duration = 250ms",
    ):
        assert words in front, words


def test_the_badge_of_a_tier_tells_its_reason() -> None:
    text = _pages()["shop.goods.html"]
    assert 'title="memcpy: the file asks for it; every field has a fixed size."' in text
    assert 'title="febird: `title` is a string, which has no fixed size."' in text


HOSTILE = (
    '</script><script>alert(1)</script><img src="x" onerror="alert(2)"><!-- </style> {{ 7 * 7 }} {% raw %}'
)


def test_a_hostile_schema_is_only_text(tmp_path: Path) -> None:
    quoted = HOSTILE.replace('"', '\\"')
    template = """/// WHAT
    module m;
    /// WHAT
    const C: string = "WORD";
    const K: map<string, bytes> = { "WORD": "WORD" };
    /// - WHAT
    /// `WHAT` [WHAT] **WHAT** https://x.test/"><b>WHAT
    @deprecated("WORD") struct A { /// WHAT
      @deprecated("WORD") a: string = "WORD"; b: string @pattern("WORD"); }
    /// ```
    /// WHAT
    service S { /// WHAT
      @deprecated("WORD") go(/// WHAT
        a: string = "WORD") -> u8; }
    """.replace('@deprecated("WORD") a: string = "WORD"', 'a: string = "WORD" @deprecated("WORD")')
    hostile = _read(tmp_path, template.replace("WHAT", HOSTILE).replace("WORD", quoted))
    tame = _read(tmp_path, template.replace("WHAT", "tame").replace("WORD", "tame"))
    assert hostile.tags.count("script") == tame.tags.count("script") == 3
    assert set(hostile.tags) <= set(tame.tags)
    assert hostile.attributes <= tame.attributes
    assert hostile.text.count("<script>alert(1)</script>") >= 8


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("one\ntwo\n\nthree", "<p>one two</p>\n<p>three</p>"),
        ("- one\n  more\n- two", "<ul><li>one more</li><li>two</li></ul>"),
        ("so:\n1. one\n2. two", "<p>so:</p>\n<ol><li>one</li><li>two</li></ol>"),
        ("`x < y` & [z]", "<p><code>x &lt; y</code> &amp; [z]</p>"),
        (
            "see `Hit` and [Hit]",
            '<p>see <a href="#Hit"><code>Hit</code></a> and <a href="#Hit"><code>Hit</code></a></p>',
        ),
        ("**very** *much*", "<p><strong>very</strong> *much*</p>"),
        ("```\n  a <b>\n    c\n```\nend", "<pre><code>a &lt;b&gt;\n  c</code></pre>\n<p>end</p>"),
        ("```\nopen", "<pre><code>open</code></pre>"),
        ("https://a.test/b.", '<p><a href="https://a.test/b" rel="noreferrer">https://a.test/b</a>.</p>'),
        ("javascript:alert(1) `", "<p>javascript:alert(1) `</p>"),
        ("", ""),
    ],
)
def test_comments_are_light_markdown(text: str, html: str) -> None:
    assert str(markdown.html(text, lambda word: "#Hit" if word == "Hit" else None)) == html


def test_words_of_a_comment_lead_to_fields_methods_and_other_modules() -> None:
    pages = _pages()
    assert '<a href="#Shop.browse"><code>Shop.browse</code></a>' in pages["shop.front.html"]
    far = '<a href="shop.goods.html#Article"><code>shop.goods.Article</code></a>'
    assert far in pages["shop.front.html"]
    assert '<a href="#Article.price"><code>price</code></a>' in pages["shop.goods.html"]


def test_a_module_called_index_leaves_the_index_its_name(tmp_path: Path) -> None:
    (tmp_path / "a.mfidl").write_text("module index; struct A {}")
    (tmp_path / "b.mfidl").write_text("module b; struct B {}")
    done = mfidlc("doc", "a.mfidl", "b.mfidl", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {each.name for each in (tmp_path / "out").glob("*.html")} == {
        "index.html",
        "index_.html",
        "b.html",
    }


def test_pages_are_the_same_in_every_run_and_touched_only_when_they_change(tmp_path: Path) -> None:
    (tmp_path / "a.mfidl").write_text("module a; struct A { x: u8; }")
    (tmp_path / "b.mfidl").write_text("module b; struct B { x: u8; }")

    def run() -> dict[str, int]:
        done = mfidlc("doc", "a.mfidl", "b.mfidl", "--out", "out", cwd=tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        return {each.name: each.stat().st_mtime_ns for each in (tmp_path / "out").glob("*.html")}

    first = run()
    assert run() == first
    (tmp_path / "b.mfidl").write_text("module b; /// New.\nstruct B { x: u8; }")
    third = run()
    assert {name for name in first if third[name] != first[name]} == {"b.html"}


TO_OUT = ["a.mfidl", "--out", "out"]


@pytest.mark.parametrize(
    ("prepare", "arguments", "code"),
    [
        (lambda _folder: None, ["a.mfidl"], 2),
        (lambda folder: (folder / "out").write_text("a file"), TO_OUT, 3),
        (
            lambda folder: (folder / "a.mfidl").write_text("module a; struct A { x: u33; }"),
            ["a.mfidl", "--out", "o"],
            1,
        ),
        (lambda folder: (folder / "a.mfidl").unlink(), TO_OUT, 3),
    ],
    ids=["no folder", "folder is a file", "mistake", "missing"],
)
def test_what_goes_wrong_writes_nothing(
    tmp_path: Path, prepare: Callable[[Path], object], arguments: list[str], code: int
) -> None:
    (tmp_path / "a.mfidl").write_text("module a; struct A { x: u8; }")
    prepare(tmp_path)
    done = mfidlc("doc", *arguments, cwd=tmp_path)
    assert done.returncode == code
    assert done.stderr
    assert list(tmp_path.rglob("*.html")) == []
