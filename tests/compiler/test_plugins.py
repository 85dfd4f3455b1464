"""Generators of others: what they are given, what they may answer, and every way in which they may fail."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mfidl.plugin import plugin_pb2 as pb
from mfidl.plugin.answer import files_of
from mfidl.plugin.process import Failed

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = 'module a.b;\nimport "lib.mfidl";\nstruct A { x: u32; y: lib.B; }\n'
LIB = "module lib;\nstruct B { z: string; }\n"

# A generator in Python. What it does with `request` and `response` is each test's own.
HEAD = f"""#!{sys.executable}
import sys
sys.path.insert(0, {str(ROOT)!r})
from mfidl.plugin import plugin_pb2 as pb
request = pb.Request.FromString(sys.stdin.buffer.read())
response = pb.Response(format=1)
def span(name):
    for module in request.program.modules:
        for each in module.declarations:
            if each.struct.full_name == name:
                return pb.Place(module=module.name, span=each.struct.span)
"""
FOOT = "\nsys.stdout.buffer.write(response.SerializeToString())\n"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "a.mfidl").write_text(SCHEMA)
    (tmp_path / "lib.mfidl").write_text(LIB)
    (tmp_path / "bin").mkdir()
    return tmp_path


def script(work: Path, text: str, name: str = "demo") -> Path:
    path = work / "bin" / f"mfidlc-gen-{name}"
    path.write_text(text)
    path.chmod(0o755)
    return path


def python(work: Path, body: str, name: str = "demo") -> Path:
    return script(work, HEAD + body + FOOT, name)


def compile_(work: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`mfidlc compile a.mfidl ...`, with bin/ before all else on PATH."""
    command = [sys.executable, "-m", "mfidl", "compile", "a.mfidl", *arguments]
    path = os.pathsep.join([str(work / "bin"), os.environ["PATH"]])
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": path}
    done = subprocess.run(command, cwd=work, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert "Traceback" not in done.stderr
    return done


def files(work: Path) -> list[str]:
    out = work / "out"
    return sorted(each.relative_to(out).as_posix() for each in out.rglob("*") if each.is_file())


def refused(work: Path, code: str, exit_code: int, *arguments: str) -> str:
    """The message of a run that must fail so, and write nothing."""
    done = compile_(work, "--demo", "out", *arguments)
    assert f"error[{code}]" in done.stderr, done.stderr
    assert done.returncode == exit_code
    assert not (work / "out").exists()
    return done.stderr


def test_a_generator_gets_the_program_its_options_and_the_version(work: Path) -> None:
    python(
        work,
        "modules = [module.name for module in request.program.modules]\n"
        "options = [(each.key, each.value) for each in request.options]\n"
        "told = repr((request.format, list(request.modules), modules, options, request.compiler_version))\n"
        "response.files.add(path='x/told.txt', text=told, module='a.b')\n",
    )
    done = compile_(work, "--demo", "out", "--demo-opt", "k=v=w", "--demo-opt=flag", "--demo-opt", "k=2")
    assert (done.returncode, done.stderr) == (0, "")
    told = (work / "out/x/told.txt").read_text()
    options = [("k", "v=w"), ("flag", ""), ("k", "2")]
    assert told.startswith(repr((1, ["a.b"], ["lib", "a.b"], options))[:-1])
    assert files(work) == [".mfidl-manifest.json", "x/told.txt"]


def test_files_are_written_when_they_changed_and_orphans_are_removed(work: Path) -> None:
    python(
        work,
        "fields = [each.name for each in request.program.modules[-1].declarations[0].struct.fields]\n"
        "response.files.add(path='same.txt', text='same', module='a.b')\n"
        "response.files.add(path='shared.txt', text='shared')\n"
        "for name in fields: response.files.add(path=f'f/{name}.txt', text=name, module='a.b')\n",
    )
    assert compile_(work, "--demo", "out").returncode == 0
    os.utime(work / "out/same.txt", (1, 1))
    (work / "a.mfidl").write_text("module a.b; struct A { q: u32; }\n")
    assert compile_(work, "--demo", "out").returncode == 0
    assert files(work) == [".mfidl-manifest.json", "f/q.txt", "same.txt", "shared.txt"]
    assert (work / "out/same.txt").stat().st_mtime == 1


def test_a_program_elsewhere_is_named_and_runs_beside_our_own_generators(work: Path) -> None:
    python(work, "response.files.add(path='t.txt', text='t', module='a.b')\n").rename(work / "gen")
    done = compile_(work, "--plugin", "x-1=gen", "--x-1", "out", "--python", "out", "--depfile", "d")
    assert (done.returncode, done.stderr) == (0, "")
    assert "t.txt" in files(work)
    assert any(each.endswith("_types.py") for each in files(work))
    target, _, inputs = (work / "d").read_text().partition(":")
    assert "out/t.txt" in target
    assert "gen" in inputs.split()


def test_mistakes_that_a_generator_finds_are_shown_in_the_schema(work: Path) -> None:
    python(
        work,
        "found = response.diagnostics.add(message='no structs of this kind', help='use an enum')\n"
        "found.severity = pb.Diagnostic.ERROR\n"
        "found.place.CopyFrom(span('a.b.A'))\n"
        "found.notes.add(message='it holds this one', place=span('lib.B'))\n"
        "response.files.add(path='x', text='')\n",
    )
    message = refused(work, "E0908", 1)
    assert "error[E0908]: demo: no structs of this kind\n --> a.mfidl:3:8\n" in message
    assert "3 | struct A { x: u32; y: lib.B; }\n  |        ^\n" in message
    assert "note: it holds this one\n --> lib.mfidl:2:8\n" in message
    assert "help: use an enum\n" in message
    [error] = json.loads(compile_(work, "--demo", "out", "--format", "json").stdout)["diagnostics"]
    assert (error["file"], error["line"], error["column"]) == ("a.mfidl", 3, 8)


def test_warnings_of_a_generator_are_shown_and_files_written(work: Path) -> None:
    python(
        work,
        "response.diagnostics.add(severity=pb.Diagnostic.WARNING, message='not\\x1b[31mpretty')\n"
        "response.diagnostics.add(severity=pb.Diagnostic.WARNING, message='far away')\n"
        "response.diagnostics[1].place.module = 'a.b'\n"
        "response.diagnostics[1].place.span.end = 1000000\n"
        "response.files.add(path='x', text='')\n",
    )
    done = compile_(work, "--demo", "out")
    assert (done.returncode, files(work)) == (0, [".mfidl-manifest.json", "x"])
    assert "warning[W0908]: demo: not\N{REPLACEMENT CHARACTER}[31mpretty\n" in done.stderr
    assert "warning[W0908]: demo: far away\n\n" in done.stderr


def test_standard_error_is_passed_through(work: Path) -> None:
    python(work, "print('hello from the generator', file=sys.stderr)\n")
    assert compile_(work, "--demo", "out").stderr == "hello from the generator\n"


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("#!/bin/sh\necho oh no >&2\nexit 3\n", "E0902", "generator `demo` ended with exit status 3"),
        ("#!/bin/sh\nkill -SEGV $$\n", "E0902", "generator `demo` was ended by SIGSEGV"),
        ("#!/bin/sh\n", "E0903", "the answer of generator `demo` cannot be used: it is empty"),
        ("#!/bin/sh\necho Hello, world\n", "E0903", "that are no protobuf message of that kind"),
        ("#!/bin/sh\ncat\n", "E0903", "the answer of generator `demo` cannot be used"),
        ("#!/bin/sh\nprintf '\\010\\002'\n", "E0903", "its `format` is 2, not 1"),
        ("#!/bin/sh\nprintf '\\040\\001'\n", "E0903", "its `format` is 0, not 1"),
        ("#!/no/such/interpreter\n", "E0901", "the interpreter in its first line was not found"),
        ("\x7fELF not really", "E0901", "Exec format error"),
        ("#!/bin/sh\nyes\n", "E0905", "generator `demo` wrote more than 64 MiB"),
        ("#!/bin/sh\nyes | head -c 300000\nexit 1\n", "E0902", "exit status 1"),
    ],
)
def test_a_generator_that_fails_is_one_error_and_nothing_is_written(
    work: Path, text: str, code: str, words: str
) -> None:
    script(work, text)
    message = refused(work, code, 4)
    assert words in message
    assert message.count("error[") == 1


@pytest.mark.parametrize(
    ("answered", "code", "words"),
    [
        (["/etc/x"], "E0906", "is not a relative path with forward slashes"),
        (["../x"], "E0906", "has an empty part, `.` or `..`"),
        (["a/../../x"], "E0906", "has an empty part, `.` or `..`"),
        (["a//x"], "E0906", "has an empty part"),
        (["./x"], "E0906", "has an empty part"),
        (["x/"], "E0906", "has an empty part"),
        (["c:x"], "E0906", "is not a relative path"),
        (["a\\x"], "E0906", "is not a relative path"),
        ([""], "E0906", "is empty"),
        (["a\nb"], "E0906", "cannot be printed"),
        (["a\0b"], "E0906", "cannot be printed"),
        (["n" * 256], "E0906", "is too long"),
        ([".mfidl-manifest.json"], "E0906", "is mfidlc's own list"),
        (["d/.mfidl-manifest.json"], "E0906", "is mfidlc's own list"),
        (["a/b", "a"], "E0906", "is a folder of another file"),
        (["a", "a/b/c"], "E0906", "is below another file"),
        (["good", "x", "x"], "E0907", "answered with `x` twice"),
    ],
)
def test_paths_that_lead_elsewhere_are_refused(answered: list[str], code: str, words: str) -> None:
    response = pb.Response(files=[pb.File(path=path) for path in answered])
    with pytest.raises(Failed) as failure:
        files_of(response, ["a.b"])
    assert failure.value.code == code
    assert words in failure.value.values.get("reason", "") or code == "E0907"


def test_a_path_that_leads_elsewhere_writes_nothing_at_all(work: Path) -> None:
    python(work, "for path in ('good', '../bad'): response.files.add(path=path, text='x')\n")
    assert "has an empty part, `.` or `..`: `../bad`" in refused(work, "E0906", 4)
    assert sorted(each.name for each in work.iterdir()) == ["a.mfidl", "bin", "lib.mfidl"]


def test_a_file_may_only_stand_for_a_module_that_was_asked_for(work: Path) -> None:
    python(work, "response.files.add(path='x', text='x', module='lib')\n")
    assert "belongs to module `lib`, which was not asked for" in refused(work, "E0903", 4)


def test_text_that_is_not_utf8_is_no_answer(work: Path) -> None:
    script(work, "#!/bin/sh\nprintf '\\010\\001\\022\\006\\012\\001x\\022\\001\\377'\n")
    assert "no protobuf message" in refused(work, "E0903", 4)


def test_a_generator_that_hangs_is_killed_with_all_that_it_started(work: Path) -> None:
    script(work, f"#!/bin/sh\nsleep 300 &\necho $! > {work}/pid\nwait\n")
    began = time.monotonic()
    message = refused(work, "E0904", 4, "--plugin-timeout", "0.5")
    assert time.monotonic() - began < 30
    assert "did not end within 0.5 s" in message
    assert "--plugin-timeout SECONDS" in message
    child = int((work / "pid").read_text())
    stat = Path(f"/proc/{child}/stat")
    assert not stat.exists() or stat.read_text().split()[2] == "Z"


def test_a_process_left_behind_does_not_hold_the_answer_up(work: Path) -> None:
    python(
        work, "import subprocess\nsubprocess.Popen(['sleep', '300'])\nresponse.files.add(path='x', text='')\n"
    )
    assert compile_(work, "--demo", "out").returncode == 0
    assert "x" in files(work)


def test_a_generator_need_not_read_its_input_and_may_answer_at_length(work: Path) -> None:
    fields = "".join(f"  field_{number}: list<u32>;\n" for number in range(6000))
    (work / "a.mfidl").write_text(f"module a.b;\nstruct A {{\n{fields}}}\n")
    script(work, "#!/bin/sh\nprintf '\\010\\001'\n")
    assert compile_(work, "--demo", "out").returncode == 0
    python(work, "response.files.add(path='x', text='long ' * 1000000)\n")
    assert compile_(work, "--demo", "out").returncode == 0
    assert (work / "out/x").stat().st_size == 5_000_000


def test_a_failing_generator_leaves_the_others_output_as_it_was(work: Path) -> None:
    python(work, "response.files.add(path='x', text='1')\n")
    script(work, "#!/bin/sh\nexit 1\n", "other")
    done = compile_(work, "--demo", "out", "--other", "out2", "--python", "out3")
    assert done.returncode == 4
    assert not any((work / name).exists() for name in ("out", "out2", "out3"))


def test_two_generators_cannot_write_the_same_file_differently(work: Path) -> None:
    python(work, "response.files.add(path='x', text='1', module='a.b')\n")
    python(work, "response.files.add(path='x', text='2', module='a.b')\n", "other")
    done = compile_(work, "--demo", "out", "--other", "out")
    assert (done.returncode, "error[E0005]" in done.stderr) == (3, True)
    assert not (work / "out").exists()


def test_a_folder_that_cannot_be_written_is_an_error_of_its_own(work: Path) -> None:
    python(work, "response.files.add(path='x', text='1')\n")
    (work / "out").write_text("a file")
    done = compile_(work, "--demo", "out")
    assert (done.returncode, "error[E0004]" in done.stderr) == (3, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["--dmo", "out"],
            "No such option '--dmo'. Did you mean `--demo`? Nor is there a program `mfidlc-gen-dmo`",
        ),
        (["--pythn", "out"], "Did you mean `--python`?"),
        (["--nothing-like-it", "out"], "Elsewhere: --plugin nothing-like-it=PATH"),
        (["--demo"], "--demo needs a folder to write to: --demo OUT"),
        (["--demo", "--cpp"], "--demo needs a folder to write to"),
        (["--demo="], "--demo needs a folder to write to"),
        (["--demo", "a", "--demo", "b"], "--demo is given twice"),
        (["--demo-opt", "a=b"], "Nothing is asked of generator 'demo'"),
        (["--demo", "out", "--demo-opt"], "--demo-opt needs a value"),
        (["--demo", "out", "--demo-opt", "a=\udcff"], "The value of --demo-opt is not UTF-8"),
        (["--plugin", "demo=x"], "Nothing is asked of generator 'demo'"),
        (["--plugin", "demo", "--demo", "out"], "'demo' is not NAME=PATH"),
        (["--plugin", "cpp=x", "--cpp", "out"], "'cpp' is a language of mfidlc itself"),
        (["--Demo", "out"], "No such option '--Demo'"),
        (["--demo", "out", "--plugin-timeout", "0"], "--plugin-timeout"),
        (["--demo", "out", "--plugin-timeout", "nan"], "--plugin-timeout"),
    ],
)
def test_wrong_command_lines_are_told_apart_from_failures(
    work: Path, arguments: list[str], words: str
) -> None:
    python(work, "")
    done = compile_(work, *arguments)
    assert done.returncode == 2, done.stderr
    assert words in re.sub(r"\s+", " ", done.stderr)
    assert not (work / "out").exists()


def test_the_message_names_the_folders_that_were_searched(work: Path) -> None:
    message = compile_(work, "--go", "out").stderr
    assert "no such option '--go'." in message.lower()
    assert f"searched: `{work}/bin`, " in message


def test_a_schema_with_mistakes_reaches_no_generator(work: Path) -> None:
    script(work, f"#!/bin/sh\ntouch {work}/ran\n")
    (work / "a.mfidl").write_text("module a; struct A { x: u33; }\n")
    assert compile_(work, "--demo", "out").returncode == 1
    assert not (work / "ran").exists()


def test_options_keep_their_values_beside_generators(work: Path) -> None:
    """What looks like an option, but is the value of one, is not taken for a generator."""
    python(work, "response.files.add(path='x', text='1')\n")
    done = compile_(work, "-I", "--demo", "--demo", "out", "--color=never", "-I.")
    assert (done.returncode, done.stderr) == (0, "")
    assert files(work) == [".mfidl-manifest.json", "x"]


def test_the_generator_of_the_documentation_works(work: Path) -> None:
    page = (ROOT / "docs/plugins.md").read_text()
    [text] = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    first, _, rest = text.partition("\n")
    assert first == "#!/usr/bin/env python3"
    script(work, f"#!{sys.executable}\nimport sys; sys.path.insert(0, {str(ROOT)!r})\n{rest}")
    done = compile_(work, "--demo", "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert (work / "out/a.b.txt").read_text() == "a.b.A\n"
