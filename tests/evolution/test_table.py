"""The files in tests/vectors/evolution are those that the table of changes gives."""

from pathlib import Path

from tests.evolution.pairs import FOLDER
from tests.vectors import make_evolution


def test_the_cases_are_those_of_the_table_and_hundreds(tmp_path: Path) -> None:
    said = make_evolution.write(tmp_path)

    made = {path.relative_to(tmp_path): path.read_text("utf-8") for path in tmp_path.rglob("*.*")}
    kept = {path.relative_to(FOLDER): path.read_text("utf-8") for path in FOLDER.rglob("*.*")}
    assert made == kept, "run python -m tests.vectors.make_evolution"
    assert int(said.split()[0]) >= 300
