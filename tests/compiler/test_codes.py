"""The catalogue: every code that the compiler uses is in it, and every code in it is used and shown."""

import re
from pathlib import Path

from mfidl.diagnostics import CATALOGUE, did_you_mean
from tests.compiler.corpus import ROOT

SOURCES = Path(__file__).resolve().parents[2] / "mfidl"


def used_codes() -> set[str]:
    return {
        code
        for path in SOURCES.rglob("*.py")
        if path.name != "codes.py"
        for code in re.findall(r'"([EW]\d{4})"', path.read_text())
    }


def test_used_codes_and_the_catalogue_are_the_same_set() -> None:
    assert used_codes() == set(CATALOGUE)


def test_every_code_has_a_title_and_an_explanation() -> None:
    assert [each.code for each in CATALOGUE.values() if not (each.title and each.explanation)] == []


def test_every_code_that_a_schema_can_cause_is_in_the_corpus() -> None:
    shown = {
        code for path in ROOT.rglob("*.stderr") for code in re.findall(r"error\[(E\d{4})\]", path.read_text())
    }
    needs_no_schema = {"E0001", "E0003", "E0004", "E0005", "E0008"}  # test_cli.py, test_write.py
    needs_no_schema |= {"E0007", "W0007"}  # test_diagnostics.py
    needs_no_schema |= {"W0009"}  # test_depfile.py
    needs_no_schema |= {code for code in CATALOGUE if code[1:3] == "09"}  # test_plugins.py, test_templates.py
    needs_no_schema |= {code for code in CATALOGUE if code[1:3] == "10"}  # test_import_*.py
    needs_no_schema |= {
        code for code in CATALOGUE if code[:3] == "W08"
    }  # test_generable.py, test_installed.py
    assert set(CATALOGUE) - shown == needs_no_schema


def test_suggestions_are_near_and_never_the_word_itself() -> None:
    assert did_you_mean("strng", ["string", "list"]) == "did you mean `string`?"
    assert did_you_mean("U32", ["u32"]) == "did you mean `u32`?"
    assert did_you_mean("xyzzy", ["string", "list"]) is None
    assert did_you_mean("list", ["list"]) is None
    assert did_you_mean("a" * 100_000, ["list"]) is None
    assert did_you_mean("z", ["a"]) is None
    assert did_you_mean("Z", ["z"]) == "did you mean `z`?"
