"""The link check finds dead links and dead anchors, and does not read code as prose."""

from pathlib import Path

from tools.check_links import check_document


def check(folder: Path, text: str) -> list[str]:
    path = folder / "page.md"
    path.write_text(text, encoding="utf-8")
    return [mistake.removeprefix(f"{path}:") for mistake in check_document(path)]


def test_links_to_files_headings_and_other_hosts_pass(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# The `16-byte` header!\n", encoding="utf-8")

    mistakes = check(
        tmp_path,
        "# Top\n[a](other.md) [b](#top) [c](other.md#the-16-byte-header) [d](https://example.org/x#y)\n",
    )

    assert mistakes == []


def test_a_missing_file_and_a_missing_heading_are_named_with_their_line(tmp_path: Path) -> None:
    mistakes = check(tmp_path, "# Top\n\n[a](gone.md)\n[b](#bottom)\n")

    assert mistakes == [
        "3: the link to 'gone.md' leads to no file",
        "4: 'page.md' has no heading for '#bottom'",
    ]


def test_code_holds_no_links(tmp_path: Path) -> None:
    assert check(tmp_path, "```\n[a](gone.md)\n```\nand `[b](gone.md)` too\n") == []
