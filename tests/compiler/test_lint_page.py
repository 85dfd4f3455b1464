"""docs/lint.md and docs/formatting.md speak the truth."""

import re
from pathlib import Path

from mfidl.diagnostics import Diagnostics
from mfidl.diagnostics.render import render_text
from mfidl.fmt import format_source
from mfidl.lint import CATALOGUE, OFF, Settings, lint_files, read_settings
from mfidl.source import SourceFile

DOCS = Path(__file__).resolve().parents[2] / "docs"
LINT, FORMATTING = (DOCS / name for name in ("lint.md", "formatting.md"))


def block(page: Path, word: str, containing: str) -> str:
    blocks: list[str] = re.findall(rf"^```{word}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    return next(text for text in blocks if containing in text)


def test_the_table_of_rules_is_the_catalogue() -> None:
    rows = re.findall(r"^\| `(L\d+)` \| (.+) \| (on|off) \|$", LINT.read_text(), re.MULTILINE)
    assert rows == [(code, row.title, "off" if code in OFF else "on") for code, row in CATALOGUE.items()]


def test_the_finding_on_the_page_is_what_lint_says(tmp_path: Path) -> None:
    (tmp_path / "a.mfidl").write_text("module a;\nstruct Cell { a: u8; b: u64; c: u8; }\n")
    found = lint_files([str(tmp_path / "a.mfidl")], [], Settings()).diagnostics
    text = render_text(found).replace(str(tmp_path) + "/", "")
    assert text.strip() == block(LINT, "", "warning[L0601]").strip()


def test_the_allowances_on_the_page_are_allowed(tmp_path: Path) -> None:
    (tmp_path / "a.mfidl").write_text("module a;\n" + block(LINT, "mfidl", "service Files"))
    codes = [each.code for each in lint_files([str(tmp_path / "a.mfidl")], [], Settings()).diagnostics]
    assert codes == ["L0902"]  # L0102 is allowed for nothing


def test_the_settings_on_the_page_are_settings() -> None:
    settings = read_settings(block(LINT, "toml", "[lint]"), "mfidl.toml")
    assert "L0103" not in settings.codes
    assert settings.codes >= {"L0502", "L0506"}


def test_the_example_of_the_style_is_in_the_style() -> None:
    text = block(FORMATTING, "mfidl", "module sf1.search")
    assert format_source(SourceFile("t", "t", text), Diagnostics()) == text
