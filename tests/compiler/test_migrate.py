"""`mfidlc migrate` and `mfidlc show`: files of values from one schema to another, in place or not at all."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import mf
from mfidl.cli.group import cli
from tests.vectors.make_values import FOLDER, VALUES, file_of, kind_of

NEW, OLD = str(FOLDER / "new.mfidl"), str(FOLDER / "old.mfidl")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Of the older schema; every value goes over."""
    path = tmp_path / "points.mfv"
    kind = kind_of("old", "Point")
    with mf.ValueWriter(path, kind) as out:
        for x in range(3):
            out.write(kind(x=x, y=1, rank=kind_of("old", "Rank").good))
    return path


def old(tmp_path: Path, name: str) -> Path:
    path = tmp_path / f"{name}.mfv"
    path.write_bytes(file_of("old", name))
    return path


def shown(path: Path) -> list[Any]:
    result = run("show", str(path))
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_file_is_rewritten_in_its_place(file: Path) -> None:
    file.chmod(0o640)
    result = run("migrate", str(file), "--schema", NEW)
    assert (result.exit_code, result.stdout) == (0, f"{file}: 3 values of stored.Point, migrated\n")
    assert shown(file) == [{"y": 1, "x": x, "rank": "good", "weight": 1.5} for x in range(3)]
    with mf.ValueReader(file, kind_of("new", "Point")) as reader:
        assert [each.x for each in reader] == [0, 1, 2]
    assert file.stat().st_mode & 0o777 == 0o640
    assert list(file.parent.iterdir()) == [file]


def test_what_is_written_is_what_a_program_of_that_schema_writes(file: Path, tmp_path: Path) -> None:
    run("migrate", str(file), "--schema", NEW)
    path = tmp_path / "written.mfv"
    kind = kind_of("new", "Point")
    with mf.ValueWriter(path, kind) as out:
        for x in range(3):
            out.write(kind(x=x, y=1, rank=kind_of("new", "Rank").good))
    assert file.read_bytes() == path.read_bytes()


def test_out_leaves_the_file_as_it_is(file: Path, tmp_path: Path) -> None:
    before, out = file.read_bytes(), tmp_path / "new.mfv"
    result = run("migrate", str(file), "--schema", NEW, "-o", str(out))
    assert (result.exit_code, result.stdout) == (0, f"{file}: 3 values of stored.Point, written to {out}\n")
    assert file.read_bytes() == before
    assert len(shown(out)) == 3


def test_check_only_tells(file: Path) -> None:
    before = file.read_bytes()
    result = run("migrate", str(file), "--schema", NEW, "--check")
    assert (result.exit_code, result.stdout) == (0, f"{file}: 3 values of stored.Point go over\n")
    assert file.read_bytes() == before


def test_a_file_that_has_the_schema_stays_as_it_is(file: Path) -> None:
    before = file.stat().st_ino
    result = run("migrate", str(file), "--schema", OLD)
    assert (result.exit_code, result.stdout) == (
        0,
        f"{file}: 3 values of stored.Point, of this schema already\n",
    )
    assert file.stat().st_ino == before


def test_a_file_with_a_value_that_does_not_go_over_stays_as_it_is(tmp_path: Path) -> None:
    path = old(tmp_path, "Point")
    before = path.read_bytes()
    result = run("migrate", str(path), "--schema", NEW)
    assert result.exit_code == 1
    assert (
        result.stdout == f"{path}: 4 values of stored.Point, of which 2 do not go over; nothing was written\n"
    )
    assert "value 1 at byte 216: x: 70000 does not fit u16 of the reader's schema" in result.stderr
    assert "value 2 at byte 240: rank: best (2) is no member of Rank" in result.stderr
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.fixture
def lean(tmp_path: Path) -> str:
    """A schema of the same type that has one field less."""
    path = tmp_path / "lean.mfidl"
    path.write_text("module stored; struct Point { x: u32; }")
    return str(path)


def test_fields_that_the_schema_lacks_are_named_and_lost_only_if_that_is_said(file: Path, lean: str) -> None:
    before = file.read_bytes()
    told = f"{file}: left out, since `{lean}` lacks them: Point.y, Point.rank\n"
    held = f"{file}: 3 values of stored.Point; nothing was written: --drop-fields would lose their values\n"
    for options in ([], ["--check"]):
        result = run("migrate", str(file), "--schema", lean, *options)
        assert (result.exit_code, result.stdout) == (1, told + held)
        assert file.read_bytes() == before

    result = run("migrate", str(file), "--schema", lean, "--drop-fields")
    assert (result.exit_code, result.stdout) == (0, f"{told}{file}: 3 values of stored.Point, migrated\n")
    assert shown(file) == [{"x": x} for x in range(3)]


def test_another_file_may_have_fewer_fields_since_this_one_stays(
    file: Path, lean: str, tmp_path: Path
) -> None:
    before, out = file.read_bytes(), tmp_path / "lean.mfv"
    result = run("migrate", str(file), "--schema", lean, "-o", str(out))
    assert result.exit_code == 0
    assert "lacks them: Point.y, Point.rank" in result.stdout
    assert file.read_bytes() == before
    assert shown(out) == [{"x": x} for x in range(3)]


def test_a_file_that_no_rule_leads_from_is_refused_in_words(tmp_path: Path) -> None:
    path = old(tmp_path, "Torn")
    result = run("migrate", str(path), "--schema", NEW)
    assert (result.exit_code, result.stderr) == (
        1,
        f"mfidlc: {path}: Torn: field Torn.word: u32 here, string there\n",
    )


def test_a_type_of_another_name_is_named(file: Path, tmp_path: Path) -> None:
    renamed = tmp_path / "renamed.mfidl"
    renamed.write_text("module kept; struct Place { x: u64; y: i64; }")
    result = run("migrate", str(file), "--schema", str(renamed))
    assert result.exit_code == 2
    assert "declares no `stored.Point`; --type names the type of the file there" in result.stderr
    options = ["--schema", str(renamed), "--type", "kept.Place", "--drop-fields"]
    assert run("migrate", str(file), *options).exit_code == 0
    assert shown(file)[1] == {"x": "1", "y": "1"}


def test_a_tier_is_chosen_where_the_type_can_have_it(file: Path, tmp_path: Path) -> None:
    assert run("migrate", str(file), "--schema", OLD, "--tier", "febird").exit_code == 0
    assert "type stored.Point struct febird\n" in run("show", "--schema", str(file)).stdout
    with mf.ValueReader(file, kind_of("old", "Point")) as reader:
        assert [each.x for each in reader] == [0, 1, 2]
    refused = run("migrate", str(file), "--schema", OLD, "--tier", "archive")
    assert refused.exit_code == 2
    assert "it cannot be archive" in refused.stderr
    linked = run("migrate", str(old(tmp_path, "Node")), "--schema", OLD, "--tier", "febird")
    assert linked.exit_code == 1
    assert "no schema is as it is asked for" in linked.stderr


def test_a_cut_file_is_told_and_migrated_without_its_end_if_that_is_asked_for(file: Path) -> None:
    os.truncate(file, file.stat().st_size - 1)
    result = run("migrate", str(file), "--schema", NEW)
    assert result.exit_code == 1
    assert "cut off at byte" in result.stderr
    assert run("show", str(file)).exit_code == 1
    assert run("migrate", str(file), "--schema", NEW, "--drop-cut").exit_code == 0
    assert len(shown(file)) == 2


def test_zeros_at_the_end_of_a_file_are_left_out_as_a_cut_end(file: Path) -> None:
    with file.open("r+b") as held:
        held.seek(-30, os.SEEK_END)
        held.write(bytes(5000))
    result = run("migrate", str(file), "--schema", NEW)
    assert result.exit_code == 1
    assert "where zeros begin" in result.stderr
    assert run("migrate", str(file), "--schema", NEW, "--drop-cut").exit_code == 0
    assert len(shown(file)) == 1


def test_a_file_that_is_being_written_is_left_alone(file: Path) -> None:
    with mf.ValueWriter(file, kind_of("old", "Point"), append=True):
        result = run("migrate", str(file), "--schema", NEW)
    assert result.exit_code == 3
    assert "is being written" in result.stderr


def test_several_files_each_have_their_type(tmp_path: Path) -> None:
    files = [str(old(tmp_path, name)) for name in ("Missing", "Marks")]
    result = run("migrate", *files, "--schema", NEW)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        f"{files[0]}: 1 value of stored.Missing, migrated",
        f"{files[1]}: 2 values of stored.Marks, migrated",
    ]
    assert run("migrate", *files, "--schema", NEW, "-o", "x").exit_code == 2


LIMITED = """
import resource, signal, sys
from mfidl.cli.guard import guarded

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (256, 256))
sys.exit(guarded(sys.argv[1:]))
"""


def test_a_full_disk_is_told_in_words_and_the_file_stays_as_it_is(file: Path) -> None:
    before = file.read_bytes()
    # -B: bytecode that the limit cuts off would break later imports of the module.
    command = [sys.executable, "-B", "-c", LIMITED, "migrate", str(file), "--schema", NEW]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 3, result.stderr
    assert result.stderr == f"mfidlc: {file}: File too large; nothing was written\n"
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("name", sorted(VALUES["old"]))
def test_values_are_shown_as_json_by_the_schema_of_their_file(name: str, tmp_path: Path) -> None:
    kind = kind_of("old", name)
    texts = [mf.to_json(mf.from_json(kind, text), kind) for text in VALUES["old"][name]]
    assert run("show", str(old(tmp_path, name))).stdout.splitlines() == texts


def test_what_is_no_file_of_values_is_told_in_words(tmp_path: Path) -> None:
    result = run("show", OLD)
    assert (result.exit_code, result.stderr) == (
        1,
        f"mfidlc: {OLD}: no file of values: it does not begin as one\n",
    )
    missing = tmp_path / "nothing"
    assert run("show", str(missing)).exit_code == 3
