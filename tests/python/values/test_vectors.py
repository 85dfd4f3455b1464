"""The files of tests/vectors/values: what is checked in is what this runtime makes, and what it reads."""

import json

from tests.vectors import make_values

CHECKED_IN = json.loads(make_values.TARGET.read_text())


def test_the_files_that_are_checked_in_are_those_that_are_written() -> None:
    assert make_values.made() == CHECKED_IN


def test_every_way_of_values_is_among_them() -> None:
    """So that a change of the rules does not leave tests that pass for want of cases."""
    read = [reading for file in CHECKED_IN["files"] for reading in file["read"].values()]
    values = [value for reading in read for value in reading.get("values", [])]
    faults = [value for value in values if isinstance(value, dict) and "fault" in value]
    assert len(CHECKED_IN["files"]) >= 12
    assert len(faults) >= 8
    assert sum("refused" in reading for reading in read) >= 2
    assert len(CHECKED_IN["hostile"]) >= 30
