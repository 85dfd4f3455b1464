"""docs/language.md speaks the truth: every example compiles, and what it says of the grammar's rest is so."""

import re
from pathlib import Path

import pytest

from mfidl.compiler import check
from tests.compiler.schema import outcome_of, program_of, struct_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "language.md"
EXAMPLES = re.findall(r"^```mfidl\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_compiles(tmp_path: Path, example: str) -> None:
    outcome = outcome_of(tmp_path, main=example)
    assert [each.message for each in outcome.diagnostics] == []


def test_the_page_has_its_examples() -> None:
    assert len(EXAMPLES) == 8


def test_the_layout_that_the_page_states_is_the_layout(tmp_path: Path) -> None:
    example = next(text for text in EXAMPLES if "module tiers" in text)
    layout = struct_of(program_of(tmp_path, example), "tiers.Point").layout
    assert layout is not None
    assert layout.size == 24
    assert sum(run.size for run in layout.padding) == 7


def test_the_whole_language_is_read_and_what_is_not_supported_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "sf1").mkdir()
    (tmp_path / "sf1" / "text.mfidl").write_text("module sf1.text; struct Document { id: u32; }")
    schema = Path(__file__).parent / "whole_language.mfidl"
    outcome = check([str(schema)], [str(tmp_path)])
    assert {each.code for each in outcome.diagnostics} == {"E0801"}
    refused = {each.message.rpartition(": ")[2] for each in outcome.diagnostics}
    assert refused == {
        *("flags", "union", "topic", "field numbers", "reserved", "ref", "stream", "tier archive"),
        *("tier custom", "@was", "@cached", "@replicated", "@cpp.codec", "@python.codec", "@cpp.type"),
    }
