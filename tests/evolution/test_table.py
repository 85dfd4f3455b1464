"""The files in tests/vectors/evolution are those that the table of changes gives."""

from pathlib import Path

import pytest

from mfidl.breaking.rollout import rollouts
from mfidl.compiler import check
from tests.evolution.pairs import FOLDER, NAMES, SIDES, cases
from tests.vectors import make_evolution


def test_the_cases_are_those_of_the_table_and_hundreds(tmp_path: Path) -> None:
    said = make_evolution.write(tmp_path)

    made = {path.relative_to(tmp_path): path.read_text("utf-8") for path in tmp_path.rglob("*.*")}
    kept = {path.relative_to(FOLDER): path.read_text("utf-8") for path in FOLDER.rglob("*.*")}
    assert made == kept, "run python -m tests.vectors.make_evolution"
    assert int(said.split()[0]) >= 300


@pytest.mark.parametrize("pair", NAMES)
def test_breaking_gives_the_verdicts_of_the_table(pair: str) -> None:
    programs = [check([str(FOLDER / pair / f"{side}.mfidl")], []).program for side in SIDES]
    assert programs[0] is not None
    assert programs[1] is not None

    [told] = rollouts(programs[0], programs[1])

    table = cases(pair)["cases"]
    for direction, found in (("old_to_new", told.older), ("new_to_old", told.newer)):
        reasons = [case[f"reason_{direction}"] for case in table if case[f"reason_{direction}"]]
        checked = [case["method"] for case in table if case[direction] == "checked"]
        assert sorted(found.refused) == sorted(reasons)
        assert sorted(found.checked) == sorted(checked)
