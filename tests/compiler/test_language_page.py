"""docs/language.md speaks the truth: its examples are answered as it says, and its tables are the compiler's.

A block marked `mfidl` compiles. One marked with codes (`mfidl E0301`, `mfidl E0301 W0801`)
gives exactly those. One marked with a path (`mfidl sf1/text.mfidl`) is a file that the others may import.
"""

import re
from pathlib import Path

import pytest

from mfidl import model
from mfidl.compiler import Exit, check
from mfidl.diagnostics import Diagnostics
from mfidl.emit.generable import for_language
from mfidl.fmt import format_source
from mfidl.plan.tier import SIZE_LIMIT as STRUCT_LIMIT
from mfidl.semantics.annotations import KNOWN, Place
from mfidl.semantics.constraints import _PATTERN_LIMIT, _STEPS_LIMIT
from mfidl.semantics.loading import IMPORT_DEPTH_LIMIT
from mfidl.semantics.lower.calls import BATCH_LIMIT, ENTRIES_LIMIT, PATTERNS
from mfidl.semantics.lower.reserved import NUMBER_LIMIT
from mfidl.semantics.symbols import BUILTIN_TYPES
from mfidl.semantics.types import ARRAY_LIMIT
from mfidl.source import SIZE_LIMIT, SourceFile
from mfidl.syntax.tokens import DEPTH_LIMIT, WORDS_LIMIT
from tests.compiler.schema import program_of, struct_of
from tools.grammar.diagrams import FOLDER, files

HERE = Path(__file__).parent
PAGE = (HERE.parents[1] / "docs" / "language.md").read_text()
BLOCKS = re.findall(r"^```mfidl(?: ([^\n]+))?\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
FILES = [(mark, text) for mark, text in BLOCKS if mark.endswith(".mfidl")]
EXAMPLES = [(mark.split(), text) for mark, text in BLOCKS if not mark.endswith(".mfidl")]
WHOLE = HERE / "whole_language.mfidl"  # the example of the design of the language

# What an example may be warned of besides: it is not about what `compile` leaves out.
LATER = frozenset(("W0801",))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def answer(path: Path, *import_paths: Path) -> list[str]:
    """The codes of `check`, and of what `compile` would leave out."""
    outcome = check([str(path)], [str(each) for each in import_paths])
    codes = [each.code for each in outcome.diagnostics]
    if outcome.program is not None:
        diagnostics = Diagnostics()
        for_language(outcome.program, "cpp", diagnostics)
        codes += [each.code for each in diagnostics.sorted()]
    return codes


def test_what_is_refused_is_said_before_it_in_the_compilers_words(folder: Path) -> None:
    said = re.findall(r"^Refused with `(E\d+)`, (.+):\n\n```mfidl \1$", PAGE, re.MULTILINE)
    answered = []
    for codes, text in EXAMPLES:
        if codes and codes[0].startswith("E"):
            (folder / "main.mfidl").write_text(text)
            answered += [
                (each.code, each.message) for each in check([str(folder / "main.mfidl")]).diagnostics
            ]
    assert said == answered


def module_of(text: str) -> str:
    found = re.search(r"^module ([\w.]+);", text, re.MULTILINE)
    return found[1] if found else "?"


@pytest.mark.parametrize(("codes", "text"), EXAMPLES, ids=[module_of(text) for _, text in EXAMPLES])
def test_an_example_is_answered_as_it_is_marked(folder: Path, codes: list[str], text: str) -> None:
    (folder / "main.mfidl").write_text(text)
    answered = answer(folder / "main.mfidl")
    if codes and codes[0].startswith("W"):
        assert set(answered) == set(codes)
    else:
        assert [each for each in answered if each not in LATER] == codes  # one mistake, one message


@pytest.mark.parametrize("text", [text for _, text in BLOCKS], ids=[module_of(text) for _, text in BLOCKS])
def test_an_example_is_laid_out_as_mfidlc_fmt_does(text: str) -> None:
    assert format_source(SourceFile("t", "t", text), Diagnostics()) == text


def test_the_page_has_its_examples() -> None:
    assert len(EXAMPLES) >= 40
    assert len({module_of(text) for _, text in EXAMPLES}) == len(EXAMPLES)


def test_the_layout_that_the_page_states_is_the_layout(tmp_path: Path) -> None:
    example = next(text for _, text in EXAMPLES if "module tiers;" in text)
    layout = struct_of(program_of(tmp_path, example), "tiers.Point").layout
    assert layout is not None
    assert layout.size == 24
    assert sum(run.size for run in layout.padding) == 7


# Tables -----------------------------------------------------------------------------------------------------


def section(title: str) -> str:
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found, title
    return found[1]


def test_the_table_of_annotations_is_the_compilers() -> None:
    rows = re.findall(r"^\| `@([\w.]+)` \| ([^|]+) \|", section("All annotations"), re.MULTILINE)
    places = {
        name: ", ".join(place.value for place in Place if place in known.places)
        for name, known in KNOWN.items()
    }
    assert dict(rows) == places


def test_what_editors_say_of_an_annotation_is_what_the_table_says() -> None:
    rows = re.findall(r"^\| `@([\w.]+)` \| [^|]+ \| ([^|]+) \|", section("All annotations"), re.MULTILINE)
    meanings = {name: re.sub(r"; see \[.*", "", meaning) for name, meaning in rows}
    assert meanings == {name: known.meaning for name, known in KNOWN.items()}


def test_the_table_of_types_has_all_of_them() -> None:
    cells = " ".join(re.findall(r"^\| ([^|]*) \|", section("Types"), re.MULTILINE))
    assert set(re.findall(r"`(\w+)", cells)) >= set(BUILTIN_TYPES)


def test_the_table_of_replication_has_all_patterns() -> None:
    assert tuple(re.findall(r"^\| `(\w+)` \|", section("Services"), re.MULTILINE)) == PATTERNS


def test_every_tier_has_its_row() -> None:
    assert set(re.findall(r"^\| `(\w+)` \|", section("Tiers"), re.MULTILINE)) == {
        tier.value for tier in model.Tier
    }


LIMITS = (
    *(DEPTH_LIMIT, IMPORT_DEPTH_LIMIT, ARRAY_LIMIT, STRUCT_LIMIT, NUMBER_LIMIT, BATCH_LIMIT, ENTRIES_LIMIT),
    *(_PATTERN_LIMIT, _STEPS_LIMIT, SIZE_LIMIT, WORDS_LIMIT),
)


@pytest.mark.parametrize("limit", LIMITS)
def test_the_limits_are_those_of_the_compiler(limit: int) -> None:
    text = f"{limit // 2**20} MiB" if limit == SIZE_LIMIT else f"{limit:,}"
    assert re.search(rf"(?<![\d,]){text}(?!,?\d)", section("Limits"))


def test_the_patterns_that_the_page_names_are_allowed_and_not(tmp_path: Path) -> None:
    allowed, refused = re.findall(r"`(\(\[[^`]+)`", section("Constraints"))
    for pattern, codes in ((allowed, []), (refused, ["E0607"])):
        (tmp_path / "m.mfidl").write_text(f'module m; struct A {{ a: string @pattern("{pattern}"); }}')
        assert answer(tmp_path / "m.mfidl") == codes


# The design's own example, and the grammar ------------------------------------------------------------------


def test_the_example_of_the_design_compiles() -> None:
    outcome = check([str(WHOLE)], [str(HERE / "whole_language")])
    assert (outcome.exit, outcome.diagnostics) == (Exit.OK, [])
    assert outcome.program is not None
    diagnostics = Diagnostics()
    for_language(outcome.program, "cpp", diagnostics)
    assert diagnostics.sorted() == []


def test_the_grammar_is_drawn_as_it_is() -> None:
    """`make regen`, or `python -m tools.grammar.diagrams`, draws it anew."""
    drawn = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()}
    assert drawn == files()


def test_every_diagram_is_on_the_page_of_the_grammar() -> None:
    shown = re.findall(r"\]\((\w+\.svg)\)", (FOLDER / "README.md").read_text())
    assert sorted(shown) == sorted(path.name for path in FOLDER.glob("*.svg"))
