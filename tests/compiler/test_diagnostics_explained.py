"""Every code has an explanation; its example gives that code and nothing else, mended it gives nothing; and
`mfidlc help` and docs/errors.md are made of them.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from mfidl.cli.group import cli
from mfidl.cli.topics import EXIT_CODES
from mfidl.compiler import check
from mfidl.diagnostics import CATALOGUE
from mfidl.diagnostics.explain import Explanation, explanations
from tests.compiler import errors_page

EXPLAINED = explanations()
SHOWN = [each for each in EXPLAINED.values() if each.example is not None]


def codes_of(folder: Path, text: str, explanation: Explanation) -> Iterator[str]:
    for path, held in explanation.files:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(held)
    (folder / "search.mfidl").write_text(text)
    for each in check([str(folder / "search.mfidl")]).diagnostics:
        yield each.code


def test_every_code_is_explained() -> None:
    assert [code for code in CATALOGUE if code not in EXPLAINED] == []


def test_only_what_no_schema_can_show_has_no_example() -> None:
    without = [code for code, each in EXPLAINED.items() if each.example is None]
    assert [code for code in without if code[1:3] not in ("00", "08", "09", "10")] == []
    assert [code for code in without if "```console\n" not in EXPLAINED[code].text] == []


@pytest.mark.parametrize("explanation", SHOWN, ids=lambda each: each.code.code)
def test_an_example_gives_its_code_and_only_that(explanation: Explanation, tmp_path: Path) -> None:
    assert explanation.example is not None
    assert set(codes_of(tmp_path, explanation.example, explanation)) == {explanation.code.code}


@pytest.mark.parametrize("explanation", SHOWN, ids=lambda each: each.code.code)
def test_a_mended_example_is_in_order(explanation: Explanation, tmp_path: Path) -> None:
    assert explanation.mended is not None
    assert list(codes_of(tmp_path, explanation.mended, explanation)) == []


def test_the_page_in_the_documentation_is_current() -> None:
    assert errors_page.PAGE.read_text() == errors_page.page(), "run python tests/compiler/errors_page.py"


def told(*arguments: str) -> str:
    result = CliRunner().invoke(cli, ["help", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def refused(*arguments: str) -> str:
    result = CliRunner().invoke(cli, ["help", *arguments])
    assert result.exit_code == 2
    return result.output


@pytest.mark.parametrize("written", ["E0301", "e0301", "E301", "301", "0301"])
def test_help_explains_a_code_however_it_is_written(written: str) -> None:
    text = told(written)
    assert text.startswith("E0301: unknown type\n\n")
    assert "    struct Hit { doc: Documnt; }\n" in text
    assert "```" not in text


def test_help_of_an_unknown_code_lists_the_nearest() -> None:
    text = refused("E0399")
    assert "There is no code" in text
    assert text.count("  E03") == 5
    assert "There is no code E9999" in refused("E9999")


def test_help_alone_lists_commands_and_topics() -> None:
    text = told()
    assert all(word in text for word in ("check", "compile", "help", "annotations", "exit-codes"))


def test_help_of_a_command_is_its_own_help() -> None:
    assert "--import-path" in told("check")


def test_help_of_what_is_nearly_a_topic_suggests_it() -> None:
    assert "Did you mean `tiers`?" in refused("tier")
    assert "Did you mean `compile`?" in refused("compil")
    assert "All topics: mfidlc help" in refused("xyzzy")


def test_topics_are_made_of_the_compilers_own_tables() -> None:
    assert all(code in told("codes") for code in CATALOGUE)
    assert "@batch(max = 512)" in told("annotations")
    assert all(f"  {tier}  " in told("tiers") for tier in ("memcpy ", "febird ", "archive", "custom "))
    assert "timestamp" in told("types")
    assert all(text in told("exit-codes") for _, text in EXIT_CODES)
