"""`mfidlc encode`, `decode`, `annotate` and `vectors` as their users meet them."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mfidl.cli.group import cli
from mfidl.dynamic import Schema, decode, encode, from_json, to_json
from tests.compiler.dynamic_values import SCHEMA
from tests.compiler.schema import program_of

ROOT = Path(__file__).resolve().parents[2]
HIT = '{"doc":300,"score":1.5,"title":"ab","positions":[0,127,128]}'
HEX = "ac020000c03f0261620c007f80"


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    path = tmp_path / "t.mfidl"
    path.write_text(SCHEMA)
    return path


def run(*arguments: object, stdin: bytes | str = b"") -> Result:
    """Malformed values leave by SystemExit, as they do under `guarded`; Click's runner takes them all."""
    return CliRunner().invoke(cli, [str(each) for each in arguments], input=stdin)


def plain(*arguments: object, stdin: bytes = b"", cwd: Path) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "mfidl", *map(str, arguments)]
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'runtime/python'}"}
    done = subprocess.run(
        command, cwd=cwd, env=env, input=stdin, capture_output=True, timeout=60, check=False
    )
    assert b"Traceback" not in done.stderr
    return done


@pytest.mark.usefixtures("schema")
def test_a_value_goes_to_bytes_and_back_through_pipes(tmp_path: Path) -> None:
    written = plain("encode", "t.mfidl", "Hit", stdin=HIT.encode(), cwd=tmp_path)
    read = plain("decode", "t.mfidl", "Hit", stdin=written.stdout, cwd=tmp_path)

    assert (written.returncode, written.stdout.hex(), written.stderr) == (0, HEX, b"")
    assert (read.returncode, read.stdout.decode(), read.stderr) == (0, HIT + "\n", b"")


def test_every_way_to_give_and_to_take_is_the_same(schema: Path, tmp_path: Path) -> None:
    (tmp_path / "hit.bin").write_bytes(bytes.fromhex(HEX))
    spaced = "0xAC02 00:00,c0 3f_02 61 62\n0c 00 7f 80"

    assert run("encode", schema, "t.Hit", "--hex", "--json", HIT).stdout == HEX + "\n"
    assert run("encode", schema, "t.Hit", "--hex", "--json", "-", stdin=HIT).stdout == HEX + "\n"
    assert run("encode", schema, "t.Hit", "--json", HIT, "--out", tmp_path / "out.bin").stdout == ""
    assert (tmp_path / "out.bin").read_bytes().hex() == HEX
    for given in (["--hex", HEX], ["--hex", spaced], [tmp_path / "hit.bin"]):
        assert run("decode", schema, "Hit", *given).stdout == HIT + "\n"
    assert run("decode", schema, "Hit", "-", stdin=bytes.fromhex(HEX)).stdout == HIT + "\n"


def test_a_descriptor_will_do_instead_of_a_schema(schema: Path, tmp_path: Path) -> None:
    assert run("descriptor", schema, "--out", tmp_path / "t.desc").exit_code == 0

    assert run("decode", tmp_path / "t.desc", "Hit", "--hex", HEX).stdout == HIT + "\n"


def test_types_may_be_expressions_parameters_and_in_another_tier(schema: Path) -> None:
    assert run("decode", schema, "list<Hit>", "--hex", "01" + HEX).stdout == f"[{HIT}]\n"
    assert run("encode", schema, "Index.query.params", "--json", '{"terms":[]}', "--hex").stdout == "000a\n"
    assert run("encode", schema, "u32", "--json", "300", "--hex").stdout == "2c010000\n"
    assert run("encode", schema, "u32", "--json", "300", "--hex", "--tier", "febird").stdout == "ac02\n"


def test_annotate_prints_a_table(schema: Path) -> None:
    done = run("annotate", schema, "Hit", "--hex", HEX)

    assert done.exit_code == 0
    assert done.stdout == (
        "offset  bytes        path              what                      value\n"
        "     0  ac 02        Hit.doc           u32                       300\n"
        "     2  00 00 c0 3f  Hit.score         f32                       1.5\n"
        "     6  02           Hit.title         length                    2\n"
        '     7  61 62        Hit.title         string                    "ab"\n'
        "     9  0c           Hit.positions     head: 3 values of 1 byte\n"
        "    10  00           Hit.positions[0]  u32                       0\n"
        "    11  7f           Hit.positions[1]  u32                       127\n"
        "    12  80           Hit.positions[2]  u32                       128\n"
    )


def test_annotate_tells_the_keys_of_a_map_of_integers_from_its_values(schema: Path) -> None:
    done = run("annotate", schema, "map<i32, duration>", "--hex", "0204ff052c010100")

    assert done.exit_code == 0
    assert done.stdout == (
        "offset  bytes  path  what                                       value\n"
        "     0  02           count                                      2\n"
        "     1  04           widths: keys of 1 byte, values of 2 bytes\n"
        "     2  ff     [0]   key, i32                                   -1\n"
        "     3  05     [1]   key, i32                                   5\n"
        "     4  2c 01  [0]   duration                                   0.000000300s\n"
        "     6  01 00  [1]   duration                                   0.000000001s\n"
    )


def test_long_bytes_go_on_below(schema: Path) -> None:
    done = run("annotate", schema, "bytes", "--hex", "0a" + "ff" * 10)

    assert done.stdout.splitlines()[2:] == [
        "     1  ff ff ff ff ff ff ff ff        bytes   ff ff ff ff ff ff ff ff ff ff",
        "     9  ff ff",
    ]


def test_nothing_reaches_the_terminal_that_moves_its_cursor(schema: Path) -> None:
    texts = run(
        "annotate", schema, "string", "--hex", "0c" + "\x1b[2J\x7f\u202e\u009b31".encode().hex()
    ).stdout
    names = run("encode", schema, "Hit", "--json", '{"\x1b[2J\u202e": 1}').stderr

    assert not set(texts + names) & set("\x1b\x7f\u202e\u009b")


def test_annotate_shows_what_is_good_and_then_the_fault(schema: Path) -> None:
    done = run("annotate", schema, "Hit", "--hex", HEX[:-2])

    assert done.exit_code == 1
    assert done.stdout.splitlines()[-1] == '     7  61 62        Hit.title  string  "ab"'
    assert done.stderr == (
        "error[count_too_large]: 3 elements need at least 3 bytes, 2 left\n"
        " --> --hex, byte 9, Hit.positions\n"
        "  | ... 02 00 00 c0 3f 02 61 62 0c 00 7f\n"
        "  |                             ^^\n"
    )


def test_annotate_as_json(schema: Path) -> None:
    good = json.loads(run("annotate", schema, "Gone", "--hex", "016101", "--format", "json").stdout)
    bad = run("annotate", schema, "Gone", "--hex", "016102", "--format", "json")

    assert (good["type"], good["tier"], good["error"]) == ("Gone", "febird", None)
    assert good["annotations"][-1] == {
        "offset": 2, "hex": "01", "path": "Gone.why", "meaning": "value", "type": "t.Rank", "value": "pagerank",
    }  # fmt: skip
    error = json.loads(bad.stdout)["error"]
    assert (error["fault"], error["number"], error["offset"], error["path"]) == (
        "unknown_enum_value",
        9,
        2,
        "Gone.why",
    )
    assert (bad.exit_code, bad.stderr) == (1, "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '{"doc":300,"titel":"x"}',
            "error[json_unknown_field]: `titel` is not a field; did you mean `title`?\n"
            " --> --json:1:12, Hit\n"
            '  | {"doc":300,"titel":"x"}\n'
            "  |            ^\n",
        ),
        (
            '{\n  "doc": -1\n}',
            "error[number_out_of_range]: a number does not fit in its type\n --> --json:2:10, Hit.doc\n"
            '  |   "doc": -1\n  |          ^\n',
        ),
        (
            '{"title":"é","doc":x',
            'error[json_syntax]: no value begins like this\n --> --json:1:20, Hit.doc\n'
            '  | {"title":"é","doc":x\n  |                    ^\n',
        ),
    ],
)  # fmt: skip
def test_malformed_json_is_told_with_a_caret(schema: Path, text: str, said: str) -> None:
    done = run("encode", schema, "Hit", "--json", text)

    assert (done.exit_code, done.stdout, done.stderr) == (1, "", said)


def test_of_a_long_line_only_what_is_around_the_mistake_is_shown(schema: Path) -> None:
    done = run("encode", schema, "list<u8>", "--json", f"[{'1,' * 5000}x{',1' * 5000}]")

    lines = done.stderr.splitlines()
    assert max(map(len, lines)) < 140
    assert lines[2][lines[3].index("^")] == "x"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["decode", "Hti", "--hex", "00"], "there is no type `Hti`; did you mean `Hit`?\n  Hti\n  ^^^"),
        (["decode", "list<Hti>", "--hex", "00"], "did you mean `Hit`?\n  list<Hti>\n       ^^^"),
        (["decode", "Hit", "--hex", "00 1"], "a byte has two digits, this one is alone\n  00 1\n     ^"),
        (["decode", "Hit", "--hex", "0 01"], "a byte has two digits, this one is alone\n  0 01\n  ^"),
        (["decode", "Hit", "--hex", "0g"], "`g` is no hexadecimal digit\n  0g\n   ^"),
        (["decode", "Hit", "file", "--hex", "00"], "Give BYTES or --hex, not both."),
        (["encode", "Hit", "--hex", "--out", "x"], "Give --hex or --out, not both"),
        (["encode", "Hit", "--tier", "memcpy"], "`t.Hit` is febird, it cannot be memcpy"),
        (["encode", "Note", "--tier", "custom"], "`t.Note` is archive, it cannot be custom"),
        (["vectors", "--type", "Hti"], "there is no type `Hti`"),
        (["vectors", "--count", "-1"], "-1 is not in the range"),
    ],
)
def test_wrong_use_is_told(schema: Path, arguments: list[str], said: str) -> None:
    done = run(arguments[0], schema, *arguments[1:], stdin="{}")

    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr


@pytest.mark.usefixtures("schema")
def test_files_that_are_not_there_are_named(tmp_path: Path) -> None:
    for arguments in (["decode", "t.mfidl", "Hit", "none.bin"], ["decode", "none.mfidl", "Hit"]):
        done = plain(*arguments, cwd=tmp_path)
        assert done.returncode == 3
        assert arguments[-1 if "none.bin" in arguments else 1].encode() in done.stderr


@pytest.mark.usefixtures("schema")
def test_what_is_no_descriptor_and_what_is_no_schema_is_refused(tmp_path: Path) -> None:
    (tmp_path / "damaged.desc").write_bytes(b"\x08\x01\xff")
    (tmp_path / "bad.mfidl").write_text("module bad; struct A { x: u33; }")

    damaged = run("decode", tmp_path / "damaged.desc", "A", "--hex", "00")
    bad = run("decode", tmp_path / "bad.mfidl", "A", "--hex", "00")

    assert (damaged.exit_code, "these bytes are not a descriptor" in damaged.stderr) == (1, True)
    assert (bad.exit_code, "error[E0301]: unknown type `u33`" in bad.stderr) == (1, True)


def test_bytes_go_to_no_folder_and_nothing_is_left_half_written(schema: Path, tmp_path: Path) -> None:
    done = run("encode", schema, "Hit", "--json", HIT, "--out", tmp_path / "t.mfidl" / "below")

    assert done.exit_code == 3
    assert schema.read_text() == SCHEMA


# vectors ----------------------------------------------------------------------------------------------------


def test_vectors_of_an_alias_are_what_it_asks_for(tmp_path: Path) -> None:
    (tmp_path / "p.mfidl").write_text("module p; type Percent = u32 @range(..100);")
    done = run("vectors", tmp_path / "p.mfidl", "--type", "Percent", "--count", "20")
    vectors = [json.loads(line) for line in done.stdout.splitlines()]

    assert {each["type"] for each in vectors} == {"Percent"}
    assert max(each["value"] for each in vectors) == 100


def test_vectors_cover_every_type_and_hold(schema: Path, tmp_path: Path) -> None:
    done = run("vectors", schema, "--count", "3")
    known = Schema(program_of(tmp_path, SCHEMA))

    vectors = [json.loads(line) for line in done.stdout.splitlines()]
    found = {each["type"] for each in vectors}
    assert done.exit_code == 0
    assert {
        "t.Hit",
        "t.Rank",
        "t.All",
        "t.Value",
        "t.Gone",
        "t.Config",
        "t.Index.put.params",
        "t.Rich",
    } <= found
    assert "t.Opaque" not in found
    assert "no vectors of t.Boxes: only its codec knows the bytes of t.Opaque" in done.stderr
    for line, vector in zip(done.stdout.splitlines(), vectors, strict=True):
        text = re.search('"value": (.*), "hex"', line)
        assert text is not None
        data = bytes.fromhex(vector["hex"])
        assert encode(known, vector["type"], from_json(known, vector["type"], text[1])) == data
        assert to_json(known, vector["type"], decode(known, vector["type"], data)) == text[1]


def test_vectors_of_a_type_whose_values_have_no_end_are_left_out(tmp_path: Path) -> None:
    """A graph within a value of another tier is one of its own, and this one holds another, for ever."""
    (tmp_path / "endless.mfidl").write_text(
        "module t; @tier(archive) struct A { 1: b: ref<B>; } @tier(archive) struct B { 1: c: C; }"
        "struct C { a: A; }"
    )

    done = run("vectors", tmp_path / "endless.mfidl")

    assert (done.exit_code, done.stdout) == (0, "")
    assert "no vectors of t.A: a value of t.C has no end" in done.stderr


def test_vectors_are_the_same_every_time_and_others_with_another_seed(schema: Path) -> None:
    first, again = (run("vectors", schema, "--type", "Hit", "--seed", "7").stdout for _ in range(2))

    assert first == again
    assert run("vectors", schema, "--type", "Hit", "--seed", "8").stdout != first


def test_vectors_have_the_borders_of_each_type(schema: Path) -> None:
    def hexes(type_: str) -> set[str]:
        lines = run("vectors", schema, "--type", type_, "--count", "0").stdout.splitlines()
        return {json.loads(line)["hex"] for line in lines}

    assert {"00000000", "01000000", "ffffffff", "00010000", "ffff0000"} <= hexes("u32")
    assert {"00000080", "ffffff7f", "ffffffff"} <= hexes("i32")
    assert {"0000807f", "0000c07f", "00000080", "01000000", "ffff7f7f"} <= hexes("f32")
    assert {"00", "01"} == hexes("Rank")
    assert {"00", "0161"} <= hexes("string")
    assert any(len(each) > 600 for each in hexes("list<u16>"))


def test_vectors_of_a_type_without_values_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "c.mfidl").write_text(
        "module c; type Some = list<u8> @length(1..); struct None_ { a: Some @length(0); }"
    )

    done = run("vectors", tmp_path / "c.mfidl")

    assert (done.exit_code, done.stdout) == (0, "")
    assert "no vectors of c.None_: no length is from 1 to 0" in done.stderr


def test_vectors_are_within_the_constraints(tmp_path: Path) -> None:
    path = tmp_path / "c.mfidl"
    path.write_text(
        "module c; struct A { n: u32 @range(5..9); f: f64 @finite; s: string @length(2..3); "
        'p: string @pattern("[a-z]{3}-[0-9]+"); l: list<i16 @range(-3..-1)> @length(1..2); '
        "m: map<u8 @range(1..3), string @length(1..)> @length(2..); o: duration? @range(1s..2s); }"
    )

    done = run("vectors", path, "--count", "30")

    assert (done.exit_code, done.stderr) == (0, "")
    for line in done.stdout.splitlines():
        value = json.loads(line)["value"]
        assert 5 <= value["n"] <= 9
        assert value["f"] not in ("NaN", "Infinity", "-Infinity")
        assert 2 <= len(value["s"].encode()) <= 3
        assert re.fullmatch("[a-z]{3}-[0-9]+", value["p"])
        assert 1 <= len(value["l"]) <= 2
        assert all(-3 <= each <= -1 for each in value["l"])
        assert len(value["m"]) >= 2
        assert all(1 <= int(key) <= 3 and each for key, each in value["m"].items())
        assert 1 <= float(value.get("o", "1s")[:-1]) <= 2


@pytest.mark.usefixtures("schema")
def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    command = f"{sys.executable} -m mfidl vectors t.mfidl --count 300 | head -n 1; echo ${{PIPESTATUS[0]}}"
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'runtime/python'}"}
    done = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, env=env, capture_output=True, text=True, check=True
    )

    assert done.stdout.splitlines()[-1] == "141"
    assert "Traceback" not in done.stderr


# The page ---------------------------------------------------------------------------------------------------

PAGE = (ROOT / "docs/values.md").read_text()
SEARCH = """module sf1.search; enum Rank: u8 { bm25 = 0, pagerank = 1 }
@tier(febird) struct Hit { doc: u32; score: f32; title: string; positions: list<u32>; }"""

PROFILE = """module profile; type Percent = u32 @range(..100);
@tier(febird) struct Profile { load: Percent; name: string; }"""


@pytest.mark.parametrize(
    ("command", "shown"), re.findall(r"^\$ mfidlc (.*)\n((?:(?!\$ |```).*\n)+)", PAGE, re.MULTILINE)
)
def test_the_page_shows_what_the_commands_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, shown: str
) -> None:
    (tmp_path / "search.mfidl").write_text(SEARCH)
    (tmp_path / "profile.mfidl").write_text(PROFILE)
    monkeypatch.chdir(tmp_path)

    done = run(*shlex.split(command))

    assert done.output == shown


def test_the_page_shows_python_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "search.mfidl").write_text(SEARCH)
    monkeypatch.chdir(tmp_path)
    assert run("descriptor", "search.mfidl", "--out", "search.desc").exit_code == 0
    snippet = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert snippet is not None
    found: dict[str, object] = {}

    exec(snippet[1], found)

    assert found["text"] == HIT
    assert found["data"] == bytes.fromhex(HEX)
