"""The difference of two descriptors has the same words in both runtimes."""

import json
from pathlib import Path

import pytest

from mf.protocol.descriptor_diff import difference

CASES = json.loads((Path(__file__).parents[2] / "vectors" / "descriptor_diff.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_difference_has_exactly_these_words(case: dict[str, str]) -> None:
    assert difference(case["here"], case["there"]) == case["words"]


def test_a_text_that_is_no_descriptor_gives_words_and_no_exception() -> None:
    assert difference("service a.B\n", "\0\n   x\n  y\ntype\n \nmethod") != ""
