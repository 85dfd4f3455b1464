"""`make release`: notes, sums, what is refused, and Python packages whose bytes are the same each time."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools import release
from tools.release_corpus import ROOT, packed, version

CHANGELOG = """# Changelog

## Unreleased

- Third.

## 0.2.0 (unreleased)

- Second,
  of two lines.

## 0.1.0

- First.
"""


def test_the_notes_of_a_version_are_its_section() -> None:
    assert release.notes(CHANGELOG, "0.1.0") == "# MF/IDL 0.1.0\n\n- First.\n"


def test_what_is_unreleased_belongs_to_the_version_that_is() -> None:
    assert release.notes(CHANGELOG, "0.2.0") == "# MF/IDL 0.2.0\n\n- Third.\n\n- Second,\n  of two lines.\n"


def test_a_version_without_a_heading_is_refused() -> None:
    with pytest.raises(release.RefusedError, match=r"has no heading `## 0\.3\.0`: put it below"):
        release.notes(CHANGELOG, "0.3.0")


def test_the_changelog_has_a_section_for_the_version_of_the_tree() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()

    assert release.notes(text, version(ROOT)).count("\n- ") > 100
    assert re.findall(r"^#+ (.*)$", text, re.MULTILINE)[:2] == ["Changelog", "Unreleased"]


def artefacts(dist: Path) -> Path:
    for name in ("mfidl", "mf_runtime", "mfidl_tools", "mf_controller", "mf_runtime_native"):
        (dist / f"{name}-0.1.0.tar.gz").write_text(name)
    for name in ("mfidl", "mf_runtime", "mfidl_tools"):
        (dist / f"{name}-0.1.0-py3-none-any.whl").write_text(name)
    for machine in ("x86_64", "aarch64"):
        (dist / f"mf_controller-0.1.0-py3-none-manylinux_2_36_{machine}.whl").write_text(machine)
    for tag in ("cp311", "cp313"):
        (dist / f"mf_runtime_native-0.1.0-{tag}-{tag}-manylinux_2_36_x86_64.whl").write_text(tag)
    for name in ("libmf-dev", "mfidlc", "mf-controller"):
        (dist / f"{name}_0.1.0_amd64.deb").write_text(name)
    (dist / "mf-idl.cdx.json").write_text("{}")
    return dist


def test_the_sums_are_those_that_sha256sum_checks(tmp_path: Path) -> None:
    dist = artefacts(tmp_path)
    (dist / "SHA256SUMS").write_text(release.sums(dist))

    command = ["sha256sum", "--strict", "-c", "SHA256SUMS"]
    done = subprocess.run(command, cwd=dist, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(": OK\n") == 16


def test_a_release_is_whole_and_nothing_else(tmp_path: Path) -> None:
    dist = artefacts(tmp_path)
    release.check_files(dist, "0.1.0")

    (dist / "notes.txt").touch()
    with pytest.raises(release.RefusedError, match=r"has notes\.txt besides the release: remove them"):
        release.check_files(dist, "0.1.0")
    (dist / "notes.txt").unlink()
    (dist / "mfidlc_0.1.0_amd64.deb").unlink()
    with pytest.raises(release.RefusedError, match=r"has not one mfidlc_0\.1\.0_\*\.deb: make release"):
        release.check_files(dist, "0.1.0")


def test_a_release_may_lack_wheels_for_pythons_that_its_machine_has_not(tmp_path: Path) -> None:
    dist = artefacts(tmp_path)

    next(dist.glob("*-cp313-*")).unlink()
    release.check_files(dist, "0.1.0")
    next(dist.glob("*-cp311-*")).unlink()
    with pytest.raises(release.RefusedError, match=r"has not one mf_runtime_native-0\.1\.0-cp311-\*\.whl"):
        release.check_files(dist, "0.1.0")


def test_what_is_released_stays_and_what_is_not_committed_is_no_release() -> None:
    release.check_tree("0.2.0", "", "", ["v0.1.0"])
    release.check_tree("0.1.0", "", "v0.1.0", ["v0.1.0"])
    with pytest.raises(
        release.RefusedError, match=r"0\.1\.0 was released, at the tag v0\.1\.0: raise the version"
    ):
        release.check_tree("0.1.0", "", "", ["v0.1.0"])
    with pytest.raises(release.RefusedError, match="changes that are not committed: git stash"):
        release.check_tree("0.2.0", " M Makefile", "", [])


def built(tree: Path, dist: Path, umask: int) -> dict[str, bytes]:
    """The packages of a copy of the tree, whose files are of now, made with these rights."""
    parts = [
        "mfidl",
        "templates",
        "runtime/python",
        "packaging/controller",
        "runtime/cpp",
        "runtime/idl",
        "cmake",
        "cli/mf_tools/dash/page",
    ]
    for part in parts:
        shutil.copytree(ROOT / part, tree / part, copy_function=shutil.copyfile)
    for name in (
        "pyproject.toml",
        "LICENSE",
        "README.md",
        ".gitignore",
        "CMakeLists.txt",
        "CMakePresets.json",
    ):
        shutil.copyfile(ROOT / name, tree / name)
    env = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000", "PYTHONPATH": str(tree)}
    for project, target in ((".", "-twheel"), (".", "-tsdist"), ("runtime/python", "-twheel"),
                            ("runtime/python", "-tsdist"), ("packaging/controller", "-tsdist")):  # fmt: skip
        command = [sys.executable, "-m", "hatchling", "build", target, "-d", str(dist)]
        done = subprocess.run(
            command, cwd=tree / project, env=env, umask=umask, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    return {path.name: path.read_bytes() for path in dist.iterdir()}


def test_two_builds_of_python_packages_have_equal_bytes(tmp_path: Path) -> None:
    once = built(tmp_path / "one", tmp_path / "once", 0o022)
    again = built(tmp_path / "another", tmp_path / "again", 0o077)

    assert len(once) == 5
    assert once == again


def test_generated_code_that_is_not_stored_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = tmp_path / "tests/releases/stored"
    stored.mkdir(parents=True)
    monkeypatch.setattr(release, "STORED", stored)
    monkeypatch.setattr(release, "generated", lambda _tree, _out: {"cpp/depot.hpp": b"// Generated"})
    monkeypatch.setattr(release, "ROOT", tmp_path)

    with pytest.raises(
        release.RefusedError, match=r"0\.2\.0\.tar\.xz is not what this compiler makes: python -m"
    ):
        release.check_stored("0.2.0")
    (stored / "0.2.0.tar.xz").write_bytes(packed({"cpp/depot.hpp": b"// Generated"}))
    release.check_stored("0.2.0")
    (stored / "0.2.0.tar.xz").write_bytes(packed({"cpp/depot.hpp": b"// Generated before"}))
    with pytest.raises(release.RefusedError, match="and commit it"):
        release.check_stored("0.2.0")


def test_a_release_has_notes_and_sums_of_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dist = artefacts(tmp_path)
    monkeypatch.setattr(release, "version", lambda _tree: "0.1.0")
    monkeypatch.setattr(release, "said", lambda *_command: "")
    monkeypatch.setattr(release, "check_stored", lambda _number: None)
    release.main(dist)

    assert (dist / "NOTES.md").read_text().startswith("# MF/IDL 0.1.0\n\n- ")
    names = [line.split("  ")[1] for line in (dist / "SHA256SUMS").read_text().splitlines()]
    assert names == sorted(path.name for path in dist.iterdir() if path.name != "SHA256SUMS")
    release.main(dist)  # as often as one likes
