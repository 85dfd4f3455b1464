"""Output on disk: only what changed, all or nothing, and no orphans."""

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mfidl.diagnostics import Diagnostics
from mfidl.emit.output import GeneratedFile
from mfidl.emit.write import BuildFiles, OutputTree, write_build_files, write_trees
from mfidl.places import MANIFEST


def write(
    root: Path, *files: GeneratedFile, modules: list[str] | None = None, by: str = "cpp"
) -> Diagnostics:
    diagnostics = Diagnostics()
    names = modules if modules is not None else sorted({each.module for each in files if each.module})
    done = write_trees([OutputTree(by, str(root), files)], names, diagnostics)
    assert done == (not diagnostics)
    return diagnostics


def tree(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): path.read_text()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.name != MANIFEST
    }


def test_files_and_folders_are_made(tmp_path: Path) -> None:
    write(tmp_path / "out", GeneratedFile("a/b/c.py", "text\n", "a.b"))
    assert tree(tmp_path / "out") == {"a/b/c.py": "text\n"}


def test_an_unchanged_file_keeps_its_time_and_a_changed_one_is_replaced(tmp_path: Path) -> None:
    write(tmp_path, GeneratedFile("same", "1", "m"), GeneratedFile("other", "1", "m"))
    for name in ("same", "other", MANIFEST):
        os.utime(tmp_path / name, (1, 1))
    write(tmp_path, GeneratedFile("same", "1", "m"), GeneratedFile("other", "2", "m"))
    assert (tmp_path / "same").stat().st_mtime == 1
    assert (tmp_path / MANIFEST).stat().st_mtime == 1
    assert (tmp_path / "other").stat().st_mtime != 1
    assert (tmp_path / "other").read_text() == "2"


def test_files_that_a_module_no_longer_has_are_pruned_with_their_folders(tmp_path: Path) -> None:
    write(tmp_path, GeneratedFile("m/old/x", "1", "m"), GeneratedFile("m/new", "1", "m"))
    (tmp_path / "m" / "mine").write_text("the user's own")
    write(tmp_path, GeneratedFile("m/new", "1", "m"))
    assert tree(tmp_path) == {"m/mine": "the user's own", "m/new": "1"}
    assert not (tmp_path / "m" / "old").exists()


def test_one_generator_leaves_the_files_of_another_in_the_same_folder_alone(tmp_path: Path) -> None:
    write(tmp_path, GeneratedFile("m.hpp", "1", "m"), by="cpp")
    write(tmp_path, GeneratedFile("m.proto", "1", "m"), GeneratedFile("m.old", "1", "m"), by="proto")
    write(tmp_path, GeneratedFile("m.proto", "1", "m"), by="proto")
    assert tree(tmp_path) == {"m.hpp": "1", "m.proto": "1"}


def test_a_shared_file_that_somebody_else_wrote_stays_theirs(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text("MINE = 1")
    files = [GeneratedFile("__init__.py", ""), GeneratedFile("a.py", "1", "a")]
    write(tmp_path, *files)
    assert tree(tmp_path) == {"__init__.py": "MINE = 1", "a.py": "1"}
    write(tmp_path, modules=["a"])
    assert tree(tmp_path) == {"__init__.py": "MINE = 1"}


def test_another_modules_files_stay(tmp_path: Path) -> None:
    write(tmp_path, GeneratedFile("a", "1", "a"), GeneratedFile("init", ""))
    write(tmp_path, GeneratedFile("b", "1", "b"), GeneratedFile("init", ""))
    assert sorted(tree(tmp_path)) == ["a", "b", "init"]
    write(tmp_path, modules=["a"])
    assert sorted(tree(tmp_path)) == ["b", "init"]
    write(tmp_path, modules=["b"])
    assert sorted(tree(tmp_path)) == []


def test_two_modules_for_one_file_is_an_error_in_one_run_and_across_runs(tmp_path: Path) -> None:
    clash = write(tmp_path, GeneratedFile("x", "1", "a"), GeneratedFile("x", "2", "b"))
    assert [each.code for each in clash.sorted()] == ["E0005"]
    assert tree(tmp_path) == {}
    write(tmp_path, GeneratedFile("x", "1", "a"))
    later = write(tmp_path, GeneratedFile("x", "2", "b"))
    assert [each.code for each in later.sorted()] == ["E0005"]
    assert tree(tmp_path) == {"x": "1"}


def test_a_failure_leaves_everything_as_it_was(tmp_path: Path) -> None:
    write(tmp_path, GeneratedFile("a", "old", "m"))
    before = (tmp_path / MANIFEST).read_text()
    (tmp_path / "blocked").write_text("a file, where a folder is needed")
    files = [GeneratedFile(path, "new", "m") for path in ("a", "d/e", "blocked/b")]
    failed = write(tmp_path, *files)
    assert [each.code for each in failed.sorted()] == ["E0004"]
    assert tree(tmp_path) == {"a": "old", "blocked": "a file, where a folder is needed"}
    assert (tmp_path / MANIFEST).read_text() == before
    assert not (tmp_path / "d").exists()


def test_a_folder_in_the_place_of_a_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    failed = write(tmp_path, GeneratedFile("a", "new", "m"))
    assert [each.code for each in failed.sorted()] == ["E0004"]


@pytest.mark.parametrize(
    "manifest",
    [
        "",
        "[]",
        "{",
        '{"version": 9}',
        '{"version": 2, "files": {"../outside": ["cpp m"], "/etc/x": ["m"]}}',
        '{"version": 2, "files": {"a\\u0000b": ["cpp m"]}}',
        "[" * 100_000,
        "\udcff",
    ],
)
def test_a_spoiled_manifest_prunes_nothing(tmp_path: Path, manifest: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "outside").write_text("keep")
    (root / MANIFEST).write_bytes(manifest.encode("utf-8", "surrogateescape"))
    assert not write(root, GeneratedFile("a", "1", "m"))
    assert (tmp_path / "outside").exists()
    assert json.loads((root / MANIFEST).read_text())["files"] == {"a": ["cpp m"]}


def test_the_manifest_names_no_root_and_no_time(tmp_path: Path) -> None:
    write(tmp_path / "one", GeneratedFile("a", "1", "m"))
    write(tmp_path / "two", GeneratedFile("a", "1", "m"))
    assert (tmp_path / "one" / MANIFEST).read_text() == (tmp_path / "two" / MANIFEST).read_text()


def build_files(wanted: BuildFiles) -> None:
    trees = [OutputTree("cpp", "out dir", [GeneratedFile("a.py", "", "m"), GeneratedFile("b.py", "", "m")])]
    inputs = ["in put.mfidl", "a#b$c.mfidl"]
    assert write_build_files(wanted, trees, inputs, ["compiler.py"], Diagnostics())


def test_the_depfile_is_a_make_rule_with_names_escaped(tmp_path: Path) -> None:
    build_files(BuildFiles(depfile=str(tmp_path / "x.d")))
    text = (tmp_path / "x.d").read_text()
    assert text == "out\\ dir/a.py out\\ dir/b.py: in\\ put.mfidl a\\#b$$c.mfidl\n"


def test_with_a_stamp_the_rule_makes_that_and_the_compiler_counts(tmp_path: Path) -> None:
    stamp, rule, outputs = (tmp_path / name for name in ("x y.stamp", "x.d", "x.outputs"))
    wanted = BuildFiles(str(rule), str(stamp), str(outputs))
    build_files(wanted)
    escaped = str(stamp).replace(" ", "\\ ")
    assert rule.read_text() == f"{escaped}: in\\ put.mfidl a\\#b$$c.mfidl compiler.py\n"
    assert outputs.read_text() == "out dir/a.py\nout dir/b.py\n"

    for path in (stamp, outputs):
        os.utime(path, (1, 1))
    build_files(wanted)
    assert stamp.stat().st_mtime != 1
    assert outputs.stat().st_mtime == 1


def test_runs_into_one_root_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    script = (
        "import sys; from mfidl.diagnostics import Diagnostics; from mfidl.emit.output import GeneratedFile;"
        "from mfidl.emit.write import OutputTree, write_trees; name = sys.argv[2];"
        "[write_trees([OutputTree('cpp', sys.argv[1], [GeneratedFile(f'{name}/{i}', '', f'{name}{i}')])],"
        " [f'{name}{i}'], Diagnostics()) for i in range(40)]"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    command = [sys.executable, "-c", script, str(tmp_path)]
    runs = [subprocess.Popen([*command, name], env=env) for name in "abc"]
    assert [run.wait(timeout=60) for run in runs] == [0, 0, 0]

    manifest = json.loads((tmp_path / MANIFEST).read_text())
    assert len(manifest["files"]) == 120


def test_a_root_is_made_before_it_is_locked_and_removed_if_nothing_was_written(tmp_path: Path) -> None:
    root = tmp_path / "deep/out"
    same = [GeneratedFile("a", "1", "m"), GeneratedFile("a", "2", "n")]
    assert not write_trees([OutputTree("cpp", str(root), same)], ["m", "n"], Diagnostics())
    assert list(tmp_path.iterdir()) == []


def test_a_root_that_is_moved_while_a_run_waits_for_it_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, gone = tmp_path / "above/out", tmp_path / "gone"
    real, moved = fcntl.flock, [(root.parent, gone)]

    def flock(descriptor: int, operation: int) -> None:
        for old, new in moved:
            old.rename(new)
        moved.clear()
        real(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    assert not write(root, GeneratedFile("a", "text", "m"))
    assert tree(root) == {"a": "text"}
    assert tree(gone) == {}


def test_first_runs_into_nested_roots_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    script = (
        "import sys; from mfidl.diagnostics import Diagnostics; from mfidl.emit.output import GeneratedFile;"
        "from mfidl.emit.write import OutputTree, write_trees; root, name = sys.argv[1:]; sys.stdin.read();"
        "trees = [OutputTree('cpp', root, [GeneratedFile(f'deep/{name}.h', '', name)]),"
        " OutputTree('python', root + '/deep', [GeneratedFile(f'{name}.py', '', name)])];"
        "sys.exit(not write_trees(trees, [name], Diagnostics()))"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    names = [f"m{i}" for i in range(6)]
    for turn in range(4):
        root = tmp_path / f"{turn}/above/out"
        command = [sys.executable, "-c", script, str(root)]
        runs = [subprocess.Popen([*command, name], env=env, stdin=subprocess.PIPE) for name in names]
        for run in runs:  # all have imported what they need, and begin together
            assert run.stdin is not None
            run.stdin.close()
        assert [run.wait(timeout=60) for run in runs] == [0] * len(names)
        for folder, kind in ((root, "h"), (root / "deep", "py")):
            files = json.loads((folder / MANIFEST).read_text())["files"]
            assert sorted(path.rpartition("/")[2] for path in files) == [f"{name}.{kind}" for name in names]


def test_one_root_under_two_names_has_one_manifest(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("out")
    (tmp_path / "out").mkdir()
    names = ["out", "./out", "out/../out", "link"]
    trees = [
        OutputTree(f"by{i}", f"{tmp_path}/{name}", [GeneratedFile(f"f{i}", "", "m")])
        for i, name in enumerate(names)
    ]
    assert write_trees(trees, ["m"], Diagnostics())

    manifest = json.loads((tmp_path / "out" / MANIFEST).read_text())
    assert manifest["files"] == {f"f{i}": [f"by{i} m"] for i in range(4)}
