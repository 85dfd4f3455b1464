"""`make mutants` finds the changes worth trying and leaves the others alone."""

import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest

from tests.python.conftest import eventually
from tools.mutants import __main__ as run
from tools.mutants import cpp_source, equivalent, python_source, reach, tree, trial
from tools.mutants.__main__ import EQUIVALENTS, ROOT, sample
from tools.mutants.floors import FLOORS, Floor
from tools.mutants.mutant import Mutant, write


@cache
def drawn(floor: Floor) -> list[Mutant]:
    return floor.mutants(ROOT)


def python(text: str) -> list[str]:
    return [one.apply(text.encode()).decode() for one in python_source.mutants("a.py", text.encode())]


def cpp(text: str) -> list[str]:
    return [one.apply(text.encode()).decode() for one in cpp_source.mutants("a.cpp", text.encode())]


@pytest.mark.parametrize(
    ("text", "mutants"),
    [
        ("a < b", ["a <= b", "a >= b"]),
        ("a is  not None", ["a is None"]),
        ("a not in b", ["a in b"]),
        ("(a) == (b)", ["(a) != (b)"]),
        ("a and b and c", ["a or b and c", "a and b or c"]),
        ("a if not b else c", ["a if b else c"]),
        ("a if b else c", ["a if not (b) else c"]),
        ("[a for a in b if a]", ["[a for a in b if not (a)]"]),
        ("x(a + 1)", ["x(a - 1)", "x(a + 2)"]),
        ("x(3)", ["x(4)", "x(2)"]),
        ("x(True)", ["x(False)"]),
        ("min(a, b)", ["max(a, b)"]),
        ("é = a == b", ["é = a != b"]),
    ],
)
def test_python_expressions_that_are_changed(text: str, mutants: list[str]) -> None:
    assert sorted(python(text)) == sorted(mutants)


@pytest.mark.parametrize(
    "statement", ["x()", "await x()", "a.b = c", "a[b] = c", "del a", "raise A", "return", "a += b"]
)
def test_python_statements_that_are_removed(statement: str) -> None:
    assert "async def f():\n    a\n    pass\n" in python(f"async def f():\n    a\n    {statement}\n")


@pytest.mark.parametrize(
    "text",
    [
        '"""A docstring 1 < 2."""',
        "a = b",
        "import a",
        "a: Literal[1] = b",
        "def f(a: Literal[1]) -> Literal[2]: pass",
        "@dataclass(frozen=True)\nclass A: pass",
        "MOST = 64",
        "MOST: Final = 64",
        "MOST = 1 << 20",
        "MOST = 64 * 1024",
        "SECONDS = 0.5",
        "if TYPE_CHECKING: import a",
        "x(f'{1}')",
    ],
)
def test_python_that_is_left_alone(text: str) -> None:
    assert python(text) == []


def test_a_python_mutant_that_does_not_compile_is_known() -> None:
    assert python_source.compiles(b"a = 1\n")
    assert not python_source.compiles(b"a = (\n")


@pytest.mark.parametrize(
    ("text", "mutants"),
    [
        ("x = a < b;", ["x = a <= b;", "x = a >= b;"]),
        ("x = a && b;", ["x = a || b;"]),
        ("x = !a;", ["x = a;"]),
        ("if (a.b()) c;", ["if (!(a.b())) c;"]),
        ("if (a && b) c;", ["if (!(a && b)) c;", "if (a || b) c;"]),
        ("if (auto a = b; a) c;", ["if (auto a = b; !(a)) c;"]),
        ("x = std::min(a, b);", ["x = std::max(a, b);"]),
        ("x = std::min<T>(a, b);", ["x = std::max<T>(a, b);"]),
        ("x = 7U;", ["x = 6U;", "x = 8U;"]),
        ("x = 0x0F;", ["x = 14;", "x = 16;"]),
        ("x = false;", ["x = true;"]),
        ('x = "a < b" == c;', ['x = "a < b" != c;']),
        ("kFew = 3;", ["kFew = 2;", "kFew = 4;"]),
    ],
)
def test_cpp_expressions_that_are_changed(text: str, mutants: list[str]) -> None:
    assert sorted(cpp(text)) == sorted(mutants)


@pytest.mark.parametrize(
    "statement",
    [
        "f()",
        "a.b(c)",
        "a->b[c] = d",
        "*a = b",
        "A::b(c, [d] { e(); })",
        "a += b",
        "return",
        "break",
        "continue",
    ],
)
def test_cpp_statements_that_are_removed(statement: str) -> None:
    assert "void f() {\n  a;\n  ;\n}" in cpp(f"void f() {{\n  a;\n  {statement};\n}}")


@pytest.mark.parametrize(
    "text",
    [
        "// a < b",
        "/* a < b */",
        '#include "a < b"',
        'const char* a = R"x(b < c)" )x";',
        "std::vector<int> a;",
        "template <typename T> struct A;",
        "void f(A&& a, const B& b);",
        "constexpr std::size_t kMost = 64;",
        "constexpr std::size_t kMost = std::size_t{16} << 20;",
        "wait(20ms);",
        "wait(std::chrono::seconds(3));",
        "if (const auto a = b(c)) d;",
        "std::scoped_lock lock(mutex);",
        "int a = b;",
        "bool A::operator!() const;",
    ],
)
def test_cpp_that_is_left_alone(text: str) -> None:
    assert cpp(text) == []


def test_a_mutant_is_one_change_at_the_place_that_it_names(tmp_path: Path) -> None:
    text = "# é\nif a:\n    b = c < d\n"
    (tmp_path / "a.py").write_text(text)
    one = next(one for one in python_source.mutants("a.py", text.encode()) if one.now == "<=")

    before = write(tmp_path, one)

    assert (str(one), one.text) == ("a.py:3: `<` -> `<=`", "b = c < d")
    assert (tmp_path / "a.py").read_text() == text.replace("<", "<=")
    assert before.decode() == text


def test_the_same_seed_draws_the_same_mutants() -> None:
    breaking = next(floor for floor in FLOORS if floor.name == "breaking")

    once, again, other = (list(sample(breaking, seed)) for seed in (1, 1, 2))

    assert once == again
    assert once != other
    assert sorted(once) == sorted(other)


def test_each_floor_has_sources_and_tests() -> None:
    for floor in FLOORS:
        assert drawn(floor), floor
        for name in [name for stage in floor.stages for name in stage]:
            assert (ROOT / (name if floor.language == "Python" else f"tests/cpp/{name}")).exists(), (
                floor,
                name,
            )


def test_each_equivalent_mutant_is_one_that_can_be_drawn_and_has_a_reason() -> None:
    known = [mutant for floor in FLOORS for mutant in drawn(floor)]
    for one in equivalent.read(EQUIVALENTS):
        assert any(one.fits(mutant) for mutant in known), f"out of date: {one}"
        assert len(one.reason.split()) > 4, one


def test_an_explanation_is_of_one_change_of_one_line() -> None:
    found = python_source.mutants("a.py", b"a < b\n")
    known = equivalent.Equivalent("a.py", "a < b", "`<` -> `<=`", "a is never b")

    assert [(one.now, known.fits(one)) for one in found] == [("<=", True), (">=", False)]


def test_an_explanation_may_say_which_of_several_lines_it_means() -> None:
    text = b"def f():\n    a = b\n    return\n    c = d\n    return\n"
    known = equivalent.Equivalent("a.py", "return", "`return` -> `pass`", "it is the last", "c = d")

    found = [one for one in python_source.mutants("a.py", text) if one.was == "return"]

    assert [(one.line, known.fits(one)) for one in found] == [(3, False), (5, True)]


def test_explained_mutants_are_drawn_and_not_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Judge(trial.PythonTrial):
        """Kills what it is given; no test is run."""

        def prepare(self, floor: Floor) -> None:
            pass

        def stages(self, floor: Floor, mutant: Mutant) -> Iterator[trial.Stage]:  # noqa: ARG002
            yield trial.Stage([], 1.0)

        def run(self, stage: trial.Stage) -> tuple[trial.Verdict, str]:  # noqa: ARG002
            return trial.Verdict.KILLED, "FAILED a.py::test_it\n"

    text = b"a < b\n"
    (tmp_path / "a.py").write_bytes(text)
    (tmp_path / "mutants.toml").write_text(
        "[[equivalent]]\nfile = 'a.py'\nline = 'a < b'\nchange = '`<` -> `<=`'\nreason = 'a is never b'\n"
    )
    monkeypatch.setattr(run, "EQUIVALENTS", tmp_path / "mutants.toml")
    monkeypatch.setattr(run, "places", lambda *_: [run.Place(tmp_path, Judge(tmp_path))])
    found = python_source.mutants("a.py", text)

    tally = run.try_floor(Floor("Python", "a", "a", ()), iter(found), 5, 1)

    assert (tally.killed, tally.explained, tally.survivors, tally.share) == (1, 1, [], 1.0)
    assert "(test_it)" in capsys.readouterr().out
    assert (tmp_path / "a.py").read_bytes() == text


def test_all_mutants_of_one_line_can_be_asked_for() -> None:
    breaking = next(floor for floor in FLOORS if floor.name == "breaking")
    one = drawn(breaking)[0]

    asked = list(run.at_line(breaking, f"{one.path}:{one.line}"))

    assert one in asked
    assert {(each.path, each.line) for each in asked} == {(one.path, one.line)}


def test_a_copy_has_what_git_would_take_and_follows_it(tmp_path: Path) -> None:
    root, to = tmp_path / "root", tmp_path / "to"
    (root / "a").mkdir(parents=True)
    for name, text in {
        "kept": "1",
        "a/gone": "2",
        "ignored": "3",
        ".gitignore": "/ignored\n/.venv\n",
    }.items():
        (root / name).write_text(text)
    trial.run(["git", "init", "-q"], root, {}, 30)

    tree.copy(root, to)
    stood = (to / "kept").stat().st_mtime_ns
    assert (to / "a/gone").read_text() == "2"
    assert not (to / "ignored").exists()
    (root / "a/gone").unlink()
    (root / "a/new").write_text("4")
    tree.copy(root, to)

    assert not (to / "a/gone").exists()
    assert (to / "a/new").read_text() == "4"
    assert (to / "kept").stat().st_mtime_ns == stood


def test_a_place_is_of_one_run_until_that_has_ended(tmp_path: Path) -> None:
    place = f"Path({str(tmp_path / 'x')!r})"
    other = f"from pathlib import Path; from tools.mutants import tree; print(tree.claim({place}))"
    command, env = [sys.executable, "-c", other], {"PYTHONPATH": str(ROOT)}

    assert trial.run(command, ROOT, env, 50) == (0, "True\n")
    assert tree.claim(tmp_path / "x")
    assert trial.run(command, ROOT, env, 50) == (0, "False\n")


def test_who_ends_the_run_ends_what_it_has_started(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "open('here', 'w').close(); import time; time.sleep(1000)"]
    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(trial.run, command, tmp_path, {"PATH": "/usr/bin:/bin"}, 100.0)
        assert eventually(lambda: (tmp_path / "here").exists(), 50)
        trial.end_all()

        assert ended.result(timeout=50) == (-signal.SIGKILL, "")


def test_what_takes_too_long_is_ended_with_all_that_it_started() -> None:
    program = "import subprocess, sys; subprocess.run(['sleep', '1000'])"

    assert trial.run([sys.executable, "-c", program], ROOT, {"PATH": "/usr/bin:/bin"}, 1.0) == (None, "")


@pytest.mark.parametrize(
    ("test", "verdict"),
    [("assert one() == 1", "killed"), ("assert one() in (1, 2)", "survived"), ("x(", "killed")],
)
def test_a_mutant_is_killed_by_a_test_that_fails(test: str, verdict: str, tmp_path: Path) -> None:
    text = b"def one():\n    return 1\n"
    (tmp_path / "a.py").write_bytes(text)
    (tmp_path / "test_a.py").write_text(f"from a import one\n\ndef test_it():\n    {test}\n")
    (mutant,) = python_source.mutants("a.py", text)
    write(tmp_path, mutant)

    assert trial.PythonTrial(tmp_path).run(trial.Stage(["test_a.py"], 60.0))[0] == verdict


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("FAILED tests/a.py::test_it[x] - assert 1\n", "test_it[x]"),
        ("[ RUN      ] A.B\n[  FAILED  ] A.B (1 ms)\n[  FAILED  ] A.C (1 ms)\n", "A.B"),
        ("[  FAILED  ] Places/A.B/0, where GetParam() = 1 (0 ms)\n", "Places/A.B/0"),
        ("Segmentation fault\n", ""),
    ],
)
def test_what_noticed_a_mutant_is_named(said: str, name: str) -> None:
    assert trial.failed_test(said) == name


REACHED = """LIMIT = 1

def one():
    return 1

@staticmethod
def two():
    def three():
        return 3
    return three
"""
REACHING = """
import subprocess, sys, threading
from _thread import start_new_thread
import a, pytest

@pytest.fixture
def three():
    return a.two()

def test_one():
    assert a.one() == 1

def test_in_a_thread():
    thread = threading.Thread(target=a.two)
    thread.start()
    thread.join()

def test_in_another():
    over = threading.Event()
    start_new_thread(lambda: (a.one(), over.set()), ())
    assert over.wait(10)

def test_neither():
    pass

def test_program():
    subprocess.run([sys.executable, "-c", ""])
"""


@pytest.fixture(scope="module")
def reached(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], reach.Reach]:
    """What tests call of a.py, which is below src/."""

    def seen(name: str, tests: str) -> reach.Reach:
        place = tmp_path_factory.mktemp(name)
        (place / "src").mkdir()
        (place / "src/a.py").write_text(REACHED)
        (place / "test_a.py").write_text(tests)
        path = f"{ROOT}:{place / 'src'}"
        env = {"PYTHONPATH": path, reach.SOURCES: "src", reach.TO: str(place / "seen")}
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "tools.mutants.reach",
        ]
        status, said = trial.run([*command, f"--rootdir={place}", "test_a.py"], place, env, 60.0)
        assert status == 0, said
        return reach.Reach.read(place / "seen", place, place / "src")

    return seen


def noticing(seen: reach.Reach, line: int) -> list[str]:
    """The names of the tests that are run for a mutant in that line."""
    mutant = Mutant("src/a.py", 0, 0, "", "", line, "")
    return [test.removeprefix("test_a.py::test_") for test in seen.tests_of(mutant)]


def test_only_tests_that_call_what_is_changed_are_run(reached: Callable[[str, str], reach.Reach]) -> None:
    seen = reached("calls", REACHING)

    assert noticing(seen, 1) == ["one", "in_a_thread", "in_another", "neither", "program"]  # of no function
    assert noticing(seen, 4) == ["one", "in_another", "program"]
    assert noticing(seen, 6) == ["in_a_thread", "program"]  # a decorator
    assert noticing(seen, 10) == ["in_a_thread", "program"]
    assert noticing(seen, 9) == ["program"]  # what it calls is not known


def test_what_a_fixture_calls_is_of_all_tests_of_its_file(
    reached: Callable[[str, str], reach.Reach],
) -> None:
    seen = reached("fixture", REACHING + "\ndef test_fixture(three):\n    assert three() == 3\n")

    assert noticing(seen, 10) == ["one", "in_a_thread", "in_another", "neither", "program", "fixture"]
    assert noticing(seen, 9) == ["fixture", "program"]
