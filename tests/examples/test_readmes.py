"""The commands of README.md and of the examples' pages find their programs; those that are cheap are run.

A block marked `sh` holds commands that are run in the root of the tree. PATH holds only what the system
brings and what the page exports.
"""

import ast
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILT = Path(os.environ.get("MF_BUILD_DIR", ROOT / "build/release")).resolve()
PAGES = ["README.md", *(str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("examples/*/README.md")))]
SYSTEM = "/usr/bin:/bin"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ASSIGNED = re.compile(r"\w+=")
_KEYWORDS = ("do", "done", "for")


def blocks(page: str, language: str) -> list[str]:
    return [text for mark, text in _BLOCK.findall((ROOT / page).read_text()) if mark == language]


def simple_commands(line: str) -> Iterator[list[str]]:
    """The words of each command of a line, assignments in front of it included."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    for word in [*lexer, ";"]:
        if set(word) <= set("&;|"):
            if words:
                yield words
            words = []
        elif word != "do" or words:
            words.append(word)


def look_for(words: list[str]) -> str:
    """Shell text that prints why the program of a command cannot start, or nothing."""
    assigned = [word for word in words if _ASSIGNED.match(word)]
    program, *arguments = words[len(assigned) :]
    probe = f"command -v {program} > /dev/null || echo no program {program}"
    script = next((argument for argument in arguments if argument.endswith(".py")), None)
    if not program.endswith("python") or script is None:
        return probe
    return f"{probe}; {shlex.join(['env', *assigned, program, '-c', imports_of(script)])} 2>&1 | tail -n 1"


def imports_of(script: str) -> str:
    nodes = ast.parse((ROOT / script).read_text()).body
    taken = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    lines = [ast.unparse(node) for node in taken if getattr(node, "module", "") != "__future__"]
    return "\n".join([f"import sys; sys.path.insert(0, {str(Path(script).parent)!r})", *lines])


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The root after everything was built: sources, `.venv` and `build/release`."""
    for name in ("examples", "runtime", "tools"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    (tmp_path / "build").mkdir()
    (tmp_path / "build/release").symlink_to(BUILT)
    return tmp_path


def bash(script: str, folder: Path, path: str = SYSTEM) -> str:
    environment = {"PATH": path, "HOME": str(folder)}
    done = subprocess.run(
        ["bash", "-e", "-u", "-o", "pipefail"],
        input=script,
        cwd=folder,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "sh")])
def test_each_command_finds_its_program_and_its_modules(page: str, tree: Path) -> None:
    where = tree / "examples/templates" if page == "examples/templates/README.md" else tree
    script = []
    for line in "".join(blocks(page, "sh")).splitlines():
        commands = [words for words in simple_commands(line) if words[0] not in _KEYWORDS]
        if all(words[0] == "export" or all(map(_ASSIGNED.match, words)) for words in commands):
            script.append(line)
        else:
            script += [look_for(words) for words in commands]
    assert script
    path = f"{SYSTEM}:{tree}/.venv/bin" if page == "README.md" else SYSTEM

    assert bash("\n".join(script), where, path) == ""


@pytest.mark.parametrize(
    ("page", "out", "files"),
    [
        ("README.md", "gen", {"search.client.hpp", "__init__.py"}),
        ("examples/typescript/README.md", "out", {"search.js", "search.d.ts", "mf.js"}),
    ],
)
def test_the_schema_of_a_page_is_compiled_by_its_command(
    page: str, out: str, files: set[str], tree: Path
) -> None:
    (tree / "search.mfidl").write_text(blocks(page, "mfidl")[0])
    command = blocks(page, "sh")[0]
    assert "mfidlc compile search.mfidl " in command

    bash(command, tree, f"{SYSTEM}:{tree}/.venv/bin")

    assert files <= {path.name for path in (tree / out).rglob("*") if path.is_file()}


def test_all_commands_of_the_page_on_sqlite_work(tree: Path) -> None:
    lines = "".join(blocks("examples/2_sqlite/README.md", "sh")).splitlines()
    assert lines[0].startswith("tools/bootstrap ")

    said = bash("\n".join(lines[1:]), tree)

    shown = [line for line in said.splitlines() if not line.startswith("  ")]
    filled, congener = "5000 entries, 7226 words", "noun 3993: congener"
    assert shown == [filled, congener, congener, "noted in 1 of 5000 entries", congener, filled, congener]
    assert said.count("  note: of plants too\n") == 1


def test_the_page_on_upgrades_shows_what_breaking_says(tree: Path) -> None:
    text = next(each for each in blocks("examples/11_upgrade/README.md", "text") if each.startswith("$ "))
    command, shown = text.removeprefix("$ ").split("\n", 1)

    said = bash(f"{command} 2>&1 || test $? = 1", tree, f"{SYSTEM}:{tree}/.venv/bin")

    assert shown
    assert said.startswith(shown)
