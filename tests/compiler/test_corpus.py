"""Every case of the corpus gets exactly the messages that stand beside it."""

import re
from pathlib import Path

import pytest

from tests.compiler.corpus import ROOT, cases, transcript


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case.parent.name}/{case.stem}")
def test_a_case_is_answered_as_written_beside_it(case: Path) -> None:
    assert transcript(case) == case.with_suffix(".stderr").read_text()


def test_every_expectation_has_its_case() -> None:
    orphans = [path for path in ROOT.rglob("*.stderr") if not path.with_suffix(".mfidl").exists()]
    assert orphans == []


def test_the_corpus_is_large_enough_to_mean_something() -> None:
    assert len(cases()) >= 250


def test_ten_mistakes_are_ten_messages_in_the_order_of_the_file() -> None:
    text = (ROOT / "syntax" / "ten_mistakes.stderr").read_text()
    heads = re.findall(r"^error\[(E\d{4})\].*\n +--> ten_mistakes.mfidl:(\d+):(\d+)$", text, re.MULTILINE)
    places = [(int(line), int(column)) for _, line, column in heads]
    assert len(heads) == 10
    assert places == sorted(places)
    assert len(set(places)) == 10
