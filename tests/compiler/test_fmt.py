"""`mfidlc fmt`: one style, comments kept, meaning kept, and a second run changes nothing."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mfidl.diagnostics import Diagnostics
from mfidl.fmt import format_source
from mfidl.fmt.same import same_comments, same_file
from mfidl.source import SourceFile, UnreadableSource, read_source
from mfidl.syntax.parser import parse
from tests.compiler.test_cli import mfidlc
from tools.grammar.sentences import Sentences

ROOT = Path(__file__).resolve().parents[2]
CASES = sorted((Path(__file__).parent / "fmt").glob("*.mfidl"))
SCHEMAS = [
    path
    for folder in ("examples", "tests", "bench", "runtime")
    for path in sorted((ROOT / folder).rglob("*.mfidl"))
]


def formatted(text: str) -> str | None:
    return format_source(SourceFile("t", "t", text), Diagnostics())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_a_case_is_laid_out_as_it_stands_beside_it(case: Path) -> None:
    wanted = case.with_suffix(".formatted").read_text()
    assert formatted(case.read_text()) == wanted
    assert formatted(wanted) == wanted


# Properties -------------------------------------------------------------------------------------------------


def holds_for(text: str) -> bool:
    """Everything that is promised about a text; False if it does not parse."""
    source, mistakes = SourceFile("t", "t", text), Diagnostics()
    tree = parse(source, mistakes)
    once = formatted(text)
    assert (once is None) == bool(mistakes)
    if once is None:
        return False
    after = SourceFile("t", "t", once)
    assert same_file(tree, parse(after, Diagnostics()))
    assert same_comments(source, after)
    assert formatted(once) == once
    assert once == "" or (once.endswith("\n") and not once.endswith("\n\n"))
    assert "\n\n\n" not in once or "/*" in once
    return True


def test_the_schemas_of_this_tree_keep_their_meaning_and_settle_at_once() -> None:
    sources = [source for path in SCHEMAS if (source := _readable(path)) is not None]
    assert sum(holds_for(source.text) for source in sources) >= 80


def _readable(path: Path) -> SourceFile | None:
    try:
        return read_source(str(path), path.name)
    except UnreadableSource:
        return None


GAPS = [
    *[" "] * 12,
    *["\n"] * 5,
    *("\n\n\n", "\t", " // one\n", "// two\n", "\n// three\n", "\n\n// four\n\n", "\r\n", "///\n"),
    *("/* five */", " /* six */ ", "\n/* seven */\n", "/* a\n   b */", "/**\n * x\n\t* y */", "/**/"),
    *("\n/// eight\n", "/// nine\n", "// " + "long " * 20 + "\n", "////\n"),
]


def written_wildly(seed: int, share: float) -> str:
    """A random sentence of the grammar with random gaps between its tokens."""
    chance = random.Random(seed)
    pieces = []
    for word in Sentences(seed).sentence():
        pieces += [chance.choice(GAPS) if chance.random() < share else " ", word]
    return "".join([*pieces, chance.choice(GAPS)])


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 2**32), share=st.sampled_from([0.0, 0.05, 0.5]))
def test_any_schema_keeps_its_meaning_and_its_comments_and_settles_at_once(seed: int, share: float) -> None:
    assert holds_for(written_wildly(seed, share))


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    gaps=st.lists(st.sampled_from(GAPS), min_size=26, max_size=26),
    one_line=st.booleans(),
    comma=st.booleans(),
)
def test_comments_between_any_two_tokens_of_a_service_stay(
    gaps: list[str], one_line: bool, comma: bool
) -> None:
    words = ["service", "S", "{", "@", "a", "f", "(", "x", ":", "u32", ",", "y", ":", "map", "<", "u8", ">"]
    words += [","] * comma + [")", "->", "u32", "throws", "E", ";", "}"]
    text = "".join(gap + word for gap, word in zip(gaps if not one_line else [" "] * 26, words, strict=False))
    assert holds_for("module m;" + text + gaps[-1])


def test_words_that_belong_together_stay_together_for_any_nesting() -> None:
    deep = "list<" * 60 + "u8" + ">" * 60
    assert holds_for(f"module m; type A = {deep}; const B: u8 = {'[' * 60}1{']' * 60};")
    assert holds_for("module m; " + "struct A { " * 1 + "x: u32; " * 500 + "}")


_DOUBLED = [
    ("module q; service S { m();; }", "module q;\nservice S { m(); }\n"),
    ("module q; service S {;;; }", "module q;\nservice S { }\n"),
    ("module q; struct A { a: u8;;; b: A = {};; }", "module q;\nstruct A { a: u8; b: A = { }; }\n"),
    ("module q; union U {;a: u8;};;", "module q;\nunion U { a: u8; }\n"),
    ("module q;\nerror E {\n  a: u8;\n  ;\n  // kept\n  ; // too\n}", None),
    ("module q;\nservice S {\n  m(); /* one */ ; /* two */ ;\n  /// of n\n  n();\n}", None),
    (
        "module q;\nservice S {\n  m();\n  /// of nothing\n  ;\n}\n",
        "module q;\nservice S {\n  m();\n  /// of nothing\n  ;\n}\n",
    ),
    ("module q;\nstruct A {\n  a: u8; /// of nothing\n  ; @deprecated b: u8;\n}", None),
    ("module q; enum E: u8 { a = 0,, b = 1,, }", "module q;\nenum E: u8 { a = 0, b = 1 }\n"),
    ("module q; const A: list<u8> = [1,, 2,,];", "module q;\nconst A: list<u8> = [1, 2];\n"),
    ("module q; service S { m(a: u8,, b: u8,,); }", "module q;\nservice S { m(a: u8, b: u8); }\n"),
]


@pytest.mark.parametrize(("text", "wanted"), _DOUBLED, ids=range(len(_DOUBLED)))
def test_what_is_doubled_in_a_body_goes_and_its_comments_stay(text: str, wanted: str | None) -> None:
    assert holds_for(text)
    once = formatted(text)
    assert once is not None
    assert wanted is None or once == wanted
    assert ";;" not in once


# Files ------------------------------------------------------------------------------------------------------

UGLY = "module  a ;\nstruct A{x:u32;}\n"
NEAT = "module a;\nstruct A { x: u32; }\n"


def test_a_file_is_replaced_only_when_it_changes(tmp_path: Path) -> None:
    (tmp_path / "a.mfidl").write_text(UGLY)
    (tmp_path / "a.mfidl").chmod(0o640)
    assert mfidlc("fmt", "a.mfidl", cwd=tmp_path).returncode == 0
    assert (tmp_path / "a.mfidl").read_text() == NEAT
    assert (tmp_path / "a.mfidl").stat().st_mode & 0o777 == 0o640
    os.utime(tmp_path / "a.mfidl", (1, 1))
    assert mfidlc("fmt", "a.mfidl", cwd=tmp_path).returncode == 0
    assert (tmp_path / "a.mfidl").stat().st_mtime == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a.mfidl"]


def test_check_names_what_would_change_and_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "ugly.mfidl").write_text(UGLY)
    (tmp_path / "neat.mfidl").write_text(NEAT)
    done = mfidlc("fmt", "--check", "ugly.mfidl", "neat.mfidl", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (1, "ugly.mfidl\n", "")
    assert (tmp_path / "ugly.mfidl").read_text() == UGLY
    assert mfidlc("fmt", "--check", "neat.mfidl", cwd=tmp_path).returncode == 0


def test_diff_is_one_that_git_takes(tmp_path: Path) -> None:
    (tmp_path / "a.mfidl").write_text(UGLY.rstrip("\n"))
    done = mfidlc("fmt", "--diff", "a.mfidl", cwd=tmp_path)
    assert done.returncode == 0
    subprocess.run(
        ["git", "apply", "-p0", "-"], input=done.stdout, text=True, cwd=tmp_path, check=True, timeout=30
    )
    assert (tmp_path / "a.mfidl").read_text() == NEAT


def test_standard_input_goes_to_standard_output(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mfidl", "fmt", "--stdin", "a.mfidl"]
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'runtime/python'}"}
    for given_bytes, code, wanted in (
        (UGLY.encode(), 0, NEAT.encode()),
        (b"\xef\xbb\xbf" + UGLY.replace("\n", "\r\n").encode(), 0, NEAT.replace("\n", "\r\n").encode()),
        (b"module m; struct A { x u32; }", 1, b""),
        (b"\xff", 1, b""),
        (b"", 0, b""),
    ):
        done = subprocess.run(
            command, input=given_bytes, env=env, cwd=tmp_path, capture_output=True, timeout=60, check=False
        )
        assert (done.returncode, done.stdout) == (code, wanted)
        assert (b"error[" in done.stderr) == (code == 1)


def test_a_mark_before_a_neat_file_goes_and_counts_as_a_change(tmp_path: Path) -> None:
    (tmp_path / "a.mfidl").write_bytes(b"\xef\xbb\xbf" + NEAT.encode())
    assert mfidlc("fmt", "--check", "a.mfidl", cwd=tmp_path).returncode == 1
    assert mfidlc("fmt", "a.mfidl", cwd=tmp_path).returncode == 0
    assert (tmp_path / "a.mfidl").read_bytes() == NEAT.encode()


def test_a_file_with_mistakes_stays_and_the_others_are_formatted(tmp_path: Path) -> None:
    bad = "module  b;\nstruct A { x u32; }\n"
    (tmp_path / "bad.mfidl").write_text(bad)
    (tmp_path / "a.mfidl").write_text(UGLY)
    done = mfidlc("fmt", "bad.mfidl", "a.mfidl", cwd=tmp_path)
    assert done.returncode == 1
    assert "error[E01" in done.stderr
    assert "bad.mfidl:2:14" in done.stderr
    assert (tmp_path / "bad.mfidl").read_text() == bad
    assert (tmp_path / "a.mfidl").read_text() == NEAT


def test_names_need_not_be_known_to_be_formatted(tmp_path: Path) -> None:
    (tmp_path / "a.mfidl").write_text("module  a; struct A { x: nowhere.Known; }")
    assert mfidlc("fmt", "a.mfidl", cwd=tmp_path).returncode == 0
    assert (tmp_path / "a.mfidl").read_text() == "module a;\nstruct A { x: nowhere.Known; }\n"


def test_a_disk_that_is_full_costs_no_byte(tmp_path: Path) -> None:
    text = "module  a;\n" + "".join(f"struct S{i}{{x:u32;}}\n" for i in range(1000))
    (tmp_path / "a.mfidl").write_text(text)
    script = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096));"
        "sys.argv = ['mfidlc', 'fmt', 'a.mfidl']; from mfidl.cli import main; main()"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", script]
    done = subprocess.run(
        command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 3
    assert "error[E0004]: cannot write `a.mfidl`: File too large" in done.stderr
    assert (tmp_path / "a.mfidl").read_text() == text
    assert [path.name for path in tmp_path.iterdir()] == ["a.mfidl"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.mfidl").write_text(UGLY)
    (tmp_path / "link.mfidl").symlink_to("real.mfidl")
    assert mfidlc("fmt", "link.mfidl", cwd=tmp_path).returncode == 0
    assert (tmp_path / "link.mfidl").is_symlink()
    assert (tmp_path / "real.mfidl").read_text() == NEAT


@pytest.mark.parametrize("arguments", [[], ["--stdin", "x", "a.mfidl"], ["--no-such"]])
def test_wrong_use_is_exit_code_2(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "a.mfidl").write_text(UGLY)
    assert mfidlc("fmt", *arguments, cwd=tmp_path).returncode == 2
    assert (tmp_path / "a.mfidl").read_text() == UGLY


def test_what_is_not_there_is_exit_code_3(tmp_path: Path) -> None:
    assert mfidlc("fmt", "nowhere.mfidl", cwd=tmp_path).returncode == 3
