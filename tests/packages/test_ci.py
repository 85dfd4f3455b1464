"""docs/ci.md: the files of GitHub, GitLab and pre-commit are valid, and their commands find mistakes."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from .conftest import DIST, ROOT, run

PAGE = (ROOT / "docs/ci.md").read_text()
GITHUB, GITLAB, PRE_COMMIT = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
SCHEMA = "module shop;\n\nstruct Item {\n  name: string;\n  size: string;\n}\n"
WORSE = SCHEMA.replace("size: string", "size:u32") + "\nstruct Spread { a: u8; b: u64; c: u8; }\n"
GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b.example")


@pytest.mark.parametrize(
    ("schema", "text"), [("vendor.github-workflows", GITHUB), ("vendor.gitlab-ci", GITLAB)]
)
def test_a_file_fits_the_schema_of_its_service(tmp_path: Path, schema: str, text: str) -> None:
    (tmp_path / "file.yml").write_text(text)

    run("check-jsonschema", "--builtin-schema", schema, str(tmp_path / "file.yml"))


def test_the_files_of_pre_commit_are_valid(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(PRE_COMMIT)

    run("pre-commit", "validate-manifest", str(ROOT / ".pre-commit-hooks.yaml"))
    run("pre-commit", "validate-config", str(tmp_path / "config.yaml"))
    hooks = re.findall(r"- id: (\S+)", (ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hooks == re.findall(r"- id: (\S+)", PRE_COMMIT) == ["mfidl-fmt", "mfidl-lint", "mfidl-breaking"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A clone whose schema equals that of its origin."""
    origin = tmp_path / "origin"
    (origin / "schema").mkdir(parents=True)
    (origin / "schema/shop.mfidl").write_text(SCHEMA)
    for command in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-qm", "Begin")):
        run(*GIT, *command, cwd=origin)
    run("git", "clone", "-q", str(origin), str(tmp_path / "project"))
    return tmp_path / "project"


def commands(text: str) -> list[str]:
    """The commands of ours in a file of GitHub or GitLab."""
    return re.findall(r"- (?:run: )?(mfidlc .*)", text)


def shell(project: Path, command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["bash", "-c", command], cwd=project, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("text", [GITHUB, GITLAB])
def test_a_schema_without_a_change_passes(project: Path, text: str) -> None:
    assert len(commands(text)) == 3
    for command in commands(text):
        done = shell(project, command)
        assert done.returncode == 0, done.stderr


def test_github_shows_findings_at_their_lines(project: Path) -> None:
    (project / "schema/shop.mfidl").write_text(WORSE)
    fmt, lint, breaking = [shell(project, command) for command in commands(GITHUB)]

    assert [fmt.returncode, lint.returncode, breaking.returncode] == [1, 1, 1]
    assert "schema/shop.mfidl" in fmt.stdout + fmt.stderr
    [padding] = [line for line in lint.stdout.splitlines() if "L0601" in line]
    assert padding.startswith(
        "::warning title=L0601,file=schema/shop.mfidl,line=8,col=8,endLine=8::24 bytes, of"
    )
    assert "%0Ahelp: this order wastes least" in padding
    assert re.match(r"::error title=B\d+,file=schema/shop\.mfidl,line=5,col=\d+,endLine=5::", breaking.stdout)
    assert "warning[L0601]" in lint.stderr


def test_gitlab_gets_a_report_of_code_quality(project: Path) -> None:
    (project / "schema/shop.mfidl").write_text(WORSE)
    _, lint, breaking = [shell(project, command) for command in commands(GITLAB)]

    assert [lint.returncode, breaking.returncode] == [1, 1]
    found = json.loads((project / "lint.json").read_text()) + json.loads(
        (project / "breaking.json").read_text()
    )
    places = {(each["check_name"], each["location"]["lines"]["begin"], each["severity"]) for each in found}
    assert ("L0601", 8, "minor") in places
    assert any(code.startswith("B") and line == 5 and severity == "major" for code, line, severity in places)
    assert {each["location"]["path"] for each in found} == {"schema/shop.mfidl"}
    assert len({each["fingerprint"] for each in found}) == len(found)


@pytest.mark.timeout(300)
def test_the_hooks_of_pre_commit_run(project: Path, wheels: dict[str, Path], tmp_path: Path) -> None:
    assert wheels
    (project / "schema/shop.mfidl").write_text(WORSE)
    run("git", "add", ".", cwd=project)
    tree = tmp_path / "tree"
    run("git", "clone", "-q", str(ROOT), str(tree))
    env = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "cache"), "PIP_FIND_LINKS": str(DIST)}
    env.pop("PYTHONPATH", None)

    done = subprocess.run(
        ["pre-commit", "try-repo", str(tree), "--all-files"],
        cwd=project,
        env=env,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(r"mfidlc fmt\.+Failed", done.stdout), done.stdout
    assert "files were modified by this hook" in done.stdout
    assert "warning[L0601]" in done.stdout
    assert re.search(r"error\[B\d+\]", done.stdout)
