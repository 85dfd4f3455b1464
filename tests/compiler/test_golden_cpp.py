"""Whole C++ trees as the compiler writes them: a change of the generator shows as a difference to read.

MF_REGEN=1 writes them anew. That they compile without a warning, and that their codecs write the right bytes,
is for the C++ tests: tests/cpp/codec/CMakeLists.txt builds `words` and the schemas of the vectors.
"""

import os
from pathlib import Path

import pytest

from mfidl.compiler import Exit, check
from mfidl.emit.cpp import generate
from mfidl.emit.cpp.text import deprecation, doc
from mfidl.emit.output import EmitOptions

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden" / "cpp"
SCHEMAS = {
    "archive": ROOT / "tests/cpp/codec/archive",
    "hello": GOLDEN / "hello/schema",
    "kinds": GOLDEN / "kinds/schema",
    "messages": GOLDEN / "messages/schema",
    "nesting": GOLDEN / "nesting/schema",
    "optionals": GOLDEN / "optionals/schema",
    "patterns": GOLDEN / "patterns/schema",
    "recursive": GOLDEN / "recursive/schema",
    "search": GOLDEN.parent / "python/search/schema",
    "services": GOLDEN / "services/schema",
    "shapes": ROOT / "tests/vectors/schemas/shapes.mfidl",
    "streams": GOLDEN / "streams/schema",
    "topics": GOLDEN / "topics/schema",
    "words": GOLDEN / "words/schema",
}
CASES = sorted(SCHEMAS)
_OPTIONS = EmitOptions("", "0")


def _generate(case: str, options: EmitOptions = _OPTIONS) -> dict[str, str]:
    path = SCHEMAS[case]
    files = sorted(path.rglob("*.mfidl")) or [path]
    outcome = check([str(each) for each in files], [str(path)])
    assert outcome.exit is Exit.OK, [each.message for each in outcome.diagnostics]
    assert outcome.program is not None
    return {each.path: each.text for each in generate(outcome.program, options)}


def _checked_in(case: str) -> dict[str, str]:
    out = GOLDEN / case / "out"
    return {each.relative_to(out).as_posix(): each.read_text() for each in out.rglob("*") if each.is_file()}


def _write(case: str, files: dict[str, str]) -> None:
    for path in _checked_in(case).keys() - files.keys():
        (GOLDEN / case / "out" / path).unlink()
    for path, text in files.items():
        target = GOLDEN / case / "out" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


@pytest.mark.parametrize("case", CASES)
def test_the_tree_is_the_one_that_was_read(case: str) -> None:
    files = _generate(case)
    if os.environ.get("MF_REGEN"):
        _write(case, files)
    assert files == _checked_in(case)


@pytest.mark.parametrize("case", CASES)
def test_output_is_the_same_in_every_run(case: str) -> None:
    assert list(_generate(case).items()) == list(_generate(case).items())


@pytest.mark.parametrize("case", CASES)
def test_lines_end_cleanly(case: str) -> None:
    for path, text in _generate(case).items():
        assert text.endswith("\n"), path
        assert "\n\n\n" not in text, path
        assert not [line for line in text.splitlines() if line != line.rstrip()], path


@pytest.mark.parametrize("case", CASES)
def test_plain_types_need_no_more_than_the_lowest_floors(case: str) -> None:
    for path, text in _generate(case, EmitOptions(stubs=False)).items():
        ours = [line for line in text.splitlines() if line.startswith('#include "mf/')]
        assert all(line.startswith(('#include "mf/core/', '#include "mf/codec/')) for line in ours), path


def test_modules_that_are_only_imported_are_not_generated() -> None:
    outcome = check([str(GOLDEN / "words/schema/words.mfidl")], [str(GOLDEN / "words/schema")])
    assert outcome.program is not None
    modules = {each.module for each in generate(outcome.program, EmitOptions("", "0"))}
    assert modules == {"class.namespace"}


def test_a_comment_that_ends_in_a_backslash_takes_no_code_with_it() -> None:
    assert doc("C:\\") == "/// C:\\.\n"
    assert doc("what??/\nthen") == "/// what??/.\n/// then\n"


def test_the_text_of_a_deprecation_is_one_that_compilers_take() -> None:
    assert deprecation('say "x"\n\\ ??/ é') == '[[deprecated("say \\"x\\" \\\\ ?\\?/ é")]] '
    assert deprecation("") == "[[deprecated]] "
    assert deprecation(None) == ""
