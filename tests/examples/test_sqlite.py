"""examples/2_sqlite: what one language or release keeps, the other finds, and leaves as it is."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.conftest import TypeCheck

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/2_sqlite"
BUILT = Path(os.environ.get("MF_BUILD_DIR", ROOT / "build/release")) / "examples/2_sqlite"

TODAY, FIRST = "today", "first"
PROGRAMS = [("C++", TODAY), ("C++", FIRST), ("Python", TODAY), ("Python", FIRST)]

CONGENER = "a whole (a thing or person) of the same kind or category as another"
LARD = "lard was also used, though its congener, butter, was more frequently employed"
SHOPKEEPER = "the American shopkeeper differs from his European congener"
SHOWN = {
    TODAY: f"noun 3993: congener\n  {CONGENER}\n  in en: {LARD}\n  in en: {SHOPKEEPER}\n",
    FIRST: f'noun 3993: congener\n  {CONGENER}; "{LARD}"; "{SHOPKEEPER}"\n',
}


def run(program: tuple[str, str], *arguments: str, fails: bool = False) -> str:
    language, release = program
    end = "" if release == TODAY else "-first"
    command = [str(BUILT / f"dictionary{end}")]
    if language == "Python":
        command = [sys.executable, str(EXAMPLE / "main.py")]
    paths = (BUILT / f"python{end}", ROOT / "runtime/python")
    env = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))}
    done = subprocess.run(
        [*command, *arguments], env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    return done.stderr if fails else done.stdout


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Path]:
    folder = tmp_path_factory.mktemp("sqlite")
    made = {}
    for number, program in enumerate(PROGRAMS):
        made[program] = folder / f"{number}.db"
        assert run(program, "fill", str(made[program]), "300") == "300 entries, 493 words\n"
    return made


def rows(path: Path, table: str) -> list[tuple[int, bytes, bytes]]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute(f"SELECT hash, key, value FROM {table} ORDER BY hash, key").fetchall()


@pytest.mark.parametrize("release", [TODAY, FIRST])
@pytest.mark.parametrize("table", ["entries", "uses"])
def test_both_languages_keep_the_same_bytes(
    databases: dict[tuple[str, str], Path], release: str, table: str
) -> None:
    found = rows(databases["C++", release], table)

    assert len(found) == {"entries": 300, "uses": 493}[table]
    assert found == rows(databases["Python", release], table)


@pytest.mark.parametrize("reader", PROGRAMS)
@pytest.mark.parametrize("writer", PROGRAMS)
def test_each_reads_what_each_wrote(
    databases: dict[tuple[str, str], Path], writer: tuple[str, str], reader: tuple[str, str]
) -> None:
    shown = run(reader, "look", str(databases[writer]), "congener")

    both_know = writer[1] == reader[1] == TODAY
    without_examples = f"noun 3993: congener\n  {CONGENER}\n"
    assert shown == (SHOWN[writer[1]] if both_know or writer[1] == FIRST else without_examples)
    assert run(reader, "look", str(databases[writer]), "zebra crossing") == "no entry has zebra crossing\n"


@pytest.mark.parametrize("writer", ["C++", "Python"])
@pytest.mark.parametrize("older", ["C++", "Python"])
def test_an_older_program_changes_rows_and_keeps_what_it_does_not_know(
    databases: dict[tuple[str, str], Path], tmp_path: Path, writer: str, older: str
) -> None:
    path = tmp_path / "copy.db"
    path.write_bytes(databases[writer, TODAY].read_bytes())

    assert (
        run((older, FIRST), "note", str(path), "congener", "of plants too") == "noted in 1 of 300 entries\n"
    )
    assert run(("C++", TODAY), "look", str(path), "congener") == SHOWN[TODAY] + "  note: of plants too\n"
    assert run(("Python", TODAY), "look", str(path), "congener") == SHOWN[TODAY] + "  note: of plants too\n"


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_row_that_holds_something_else_is_told(
    databases: dict[tuple[str, str], Path], tmp_path: Path, program: tuple[str, str]
) -> None:
    path = tmp_path / "wrong.db"
    path.write_bytes(databases[program].read_bytes())
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE entries SET value = substr(value, 1, length(value) - 1)")

    said = run(program, "look", str(path), "congener", fails=True)
    assert "Entry" in said
    assert "Traceback" not in said


def test_the_python_program_passes_mypy_strict(passes_mypy_strict: TypeCheck) -> None:
    programs = [EXAMPLE / name for name in ("main.py", "table.py", "wordnet.py")]
    passes_mypy_strict(programs, (BUILT / "python", EXAMPLE, ROOT / "runtime/python"))
