"""The descriptor holds all of the program: a program made of it is the same in every fact."""

import dataclasses
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format, text_format

from mfidl import model
from mfidl.compiler import check
from mfidl.descriptor import descriptor_pb2 as pb
from mfidl.descriptor.errors import DescriptorError
from mfidl.descriptor.formats import formatted
from mfidl.descriptor.read import from_bytes, from_message
from mfidl.descriptor.write import to_message
from mfidl.plugin import plugin_pb2 as plugin_pb
from mfidl.source import SourceFile, Span
from tests.compiler.everything import SOURCES, everything
from tests.compiler.schema import program_of

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = [
    ROOT / "tests/vectors/schemas/shapes.mfidl",
    ROOT / "tests/interop/interop.mfidl",
    ROOT / "tests/interop/extending.mfidl",
    ROOT / "runtime/idl/mf/controller.mfidl",
]


def facts(thing: Any) -> Any:
    """All that an object of the model holds, also what its own comparison leaves out, as plain data."""
    if isinstance(thing, Span):
        return (thing.file.name, thing.start, thing.end)
    if dataclasses.is_dataclass(thing):
        held = [each.name for each in dataclasses.fields(thing) if each.name[0] != "_"]
        return (type(thing).__name__, *((name, facts(getattr(thing, name))) for name in held))
    if isinstance(thing, tuple):
        return tuple(facts(each) for each in thing)
    return (type(thing).__name__, thing if isinstance(thing, (Enum, frozenset)) else repr(thing))


def sources_of(program: model.Program) -> dict[str, SourceFile]:
    found: dict[str, SourceFile] = {}
    for module in program.modules:
        for each in (*module.declarations, *module.constants, *module.services):
            if each.span is not None:
                found[module.name] = each.span.file
    return found


def objects(thing: Any) -> Iterator[Any]:
    if isinstance(thing, tuple):
        for each in thing:
            yield from objects(each)
    elif dataclasses.is_dataclass(thing) and not isinstance(thing, Span):
        yield thing
        for field in dataclasses.fields(thing):
            if field.name[0] != "_":
                yield from objects(getattr(thing, field.name))


def test_a_program_with_everything_comes_back_in_every_fact() -> None:
    program = everything()
    data = to_message(program).SerializeToString()
    assert facts(from_bytes(data, SOURCES)) == facts(program)


def test_the_program_with_everything_lacks_nothing_of_the_model() -> None:
    """So that a field added to the model, and forgotten in the descriptor, fails here or above."""
    seen: dict[type, set[str]] = {}
    for each in objects(everything()):
        told = seen.setdefault(type(each), set())
        for field in dataclasses.fields(each):
            default = field.default if field.default is not dataclasses.MISSING else None
            if getattr(each, field.name) not in (default, ()):
                told.add(field.name)
    whole = {
        kind: {field.name for field in dataclasses.fields(kind) if field.name != "_index"}
        for kind in vars(model).values()
        if isinstance(kind, type) and dataclasses.is_dataclass(kind)
    }
    lacking = {kind.__name__: names - seen.get(kind, set()) for kind, names in whole.items()}
    assert {name: fields for name, fields in lacking.items() if fields} == {}


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda path: path.stem)
def test_a_compiled_schema_comes_back_in_every_fact(schema: Path) -> None:
    outcome = check([str(schema)])
    assert outcome.program is not None, [each.message for each in outcome.diagnostics]
    data = to_message(outcome.program).SerializeToString()
    assert facts(from_bytes(data, sources_of(outcome.program))) == facts(outcome.program)


def test_the_example_of_the_whole_language_comes_back_in_every_fact(tmp_path: Path) -> None:
    (tmp_path / "sf1").mkdir()
    (tmp_path / "sf1/text.mfidl").write_text("module sf1.text;\nstruct Document { id: u64; text: string; }\n")
    outcome = check([str(ROOT / "tests/compiler/whole_language.mfidl")], [str(tmp_path)])
    assert outcome.program is not None, [each.message for each in outcome.diagnostics]
    data = to_message(outcome.program).SerializeToString()
    assert facts(from_bytes(data, sources_of(outcome.program))) == facts(outcome.program)


def test_a_loaded_program_answers_look_ups_and_has_no_spans_without_sources() -> None:
    program = from_message(to_message(everything()))
    node = program.struct(model.Named("top.Node", model.DeclKind.STRUCT))
    assert node.span is None
    assert program.union(model.Named("top.Choice", model.DeclKind.UNION)).alternatives[1].number == 9
    assert [module.name for module in program.requested] == ["top"]


def test_text_and_json_hold_the_same_as_the_bytes() -> None:
    message = to_message(everything())
    assert json_format.Parse(formatted(message, "json"), pb.Program()) == message
    assert text_format.Parse(formatted(message, "text").decode(), pb.Program()) == message
    assert pb.Program.FromString(formatted(message, "binary")) == message


def test_constants_of_constants_do_not_multiply(tmp_path: Path) -> None:
    lines = ["const C0: list<u8> = [1, 1];", "type T0 = list<u8>;"]
    for level in range(1, 7):
        lines.append(f"type T{level} = list<T{level - 1}>;")
        lines.append(f"const C{level}: T{level} = [{', '.join([f'C{level - 1}'] * 8)}];")
    message = to_message(program_of(tmp_path, "module m;\n" + "\n".join(lines)))
    assert len(message.values) == 8
    assert facts(from_message(message).modules[0].constants[2].value) != ()


def test_deeply_nested_types_can_be_read_by_every_protobuf_runtime(tmp_path: Path) -> None:
    text = "module m; type A = " + "list<" * 60 + "u8" + ">" * 60 + ";"
    data = to_message(program_of(tmp_path, text)).SerializeToString()
    alias = from_bytes(data).modules[0].aliases[0]
    assert model.spell(alias.type).count("list<") == 60


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda m: setattr(m, "format", 2), "format 2 is unknown"),
        (lambda m: m.types.pop(0), "refer"),
        (lambda m: m.ClearField("values"), "there is no value"),
        (lambda m: m.modules.pop(0), "is not declared"),
        (lambda m: m.modules[0].declarations.add(), "kind that this version does not know"),
        (lambda m: m.types.add(), "kind that this version does not know"),
        (lambda m: m.values.add(), "kind that this version does not know"),
        (lambda m: setattr(m.types.add(), "optional", 10_000), "there is no type 10000"),
        (lambda m: setattr(m.types.add(), "scalar", 99), "scalar 99 is unknown"),
        (lambda m: setattr(m.modules[1].declarations[0].struct.plan, "tier", 0), "tier 0 is unknown"),
        (lambda m: m.modules[1].declarations.append(m.modules[1].declarations[0]), "declared twice"),
    ],
)
def test_a_damaged_descriptor_is_refused_with_words(damage: Any, words: str) -> None:
    message = to_message(everything())
    damage(message)
    with pytest.raises(DescriptorError, match=words):
        from_message(message)


def test_a_tower_of_types_is_refused_and_not_walked() -> None:
    message = pb.Program(format=1, types=[pb.Type(scalar="U8")])
    for number in range(100_000):
        message.types.add().optional = number
    with pytest.raises(DescriptorError, match="nested more than"):
        from_message(message)


def test_whatever_bytes_come_a_descriptor_error_is_all_that_escapes() -> None:
    data = to_message(everything()).SerializeToString()
    draw = random.Random(3)
    refused = 0
    for _ in range(600):
        mangled = bytearray(data)
        for _ in range(draw.randint(1, 4)):
            mangled[draw.randrange(len(mangled))] = draw.randrange(256)
        kept = draw.choice((len(mangled), draw.randrange(len(mangled))))
        try:
            from_bytes(bytes(mangled[:kept]), SOURCES)
        except DescriptorError:
            refused += 1
    assert 300 < refused < 600  # some changes leave a program, with another letter in a name
    assert from_bytes(data, SOURCES)


def mfidlc(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "mfidl", *arguments]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "random"}
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, timeout=60, check=False)


PROTOS = {"mfidl/descriptor/descriptor.proto": pb, "mfidl/plugin/plugin.proto": plugin_pb}
SAME_EVERYWHERE = {"name", "full_name", "doc", "deprecated", "target_names", "span", "type", "spelled"}


def proto_fields(path: str) -> Iterator[tuple[str, str, int, bool]]:
    """Of a .proto file: message, field, number, and whether there is a comment above the field."""
    scope: list[str] = []
    above = ""
    for line in (ROOT / path).read_text().splitlines():
        opened = re.match(r"\s*(message|enum|oneof) (\w+) \{", line)
        field = re.match(r"\s+(?:repeated |optional )?[\w.]+ (\w+) = (\d+);", line)
        if opened:
            scope.append("" if opened[1] == "oneof" else opened[2])
        elif line.strip() == "}":
            scope.pop()
        elif field:
            message = ".".join(filter(None, scope))
            yield message, field[1], int(field[2]), above.strip().startswith("//")
        above = line


@pytest.mark.parametrize("path", PROTOS)
def test_the_messages_are_documented_field_by_field(path: str) -> None:
    bare = [
        f"{message}.{name}"
        for message, name, _, documented in proto_fields(path)
        if not documented and name not in SAME_EVERYWHERE
    ]
    assert bare == []


@pytest.mark.parametrize("path", PROTOS)
def test_the_generated_messages_are_those_of_the_proto_file(path: str) -> None:
    """`make regen` renews them."""
    generated = {
        (message.name, field.name, field.number)
        for message in PROTOS[path].DESCRIPTOR.message_types_by_name.values()
        for field in message.fields
    }
    assert generated == {(message, name, number) for message, name, number, _ in proto_fields(path)}


def test_the_command_writes_the_same_bytes_wherever_it_runs(tmp_path: Path) -> None:
    seen = set()
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "good.mfidl").write_text("module good; struct A { x: u32; y: set<string>; }\n")
        done = mfidlc("descriptor", str(tmp_path / name / "good.mfidl"), cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, b"")
        seen.add(done.stdout)
    assert len(seen) == 1
    assert from_bytes(seen.pop()).modules[0].structs[0].full_name == "good.A"


def test_the_command_writes_a_file_and_other_formats(tmp_path: Path) -> None:
    (tmp_path / "good.mfidl").write_text("module good; struct A { x: u32; }\n")
    assert (
        mfidlc("descriptor", "good.mfidl", "--out", "d/x.json", "--format", "json", cwd=tmp_path).stdout
        == b""
    )
    assert json.loads((tmp_path / "d/x.json").read_text())["modules"][0]["name"] == "good"
    text = mfidlc("descriptor", "good.mfidl", "--format", "text", cwd=tmp_path).stdout
    assert text_format.Parse(text.decode(), pb.Program()).modules[0].path == "good.mfidl"


def test_the_command_says_what_is_wrong_and_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "bad.mfidl").write_text("module bad; struct A { x: u33; }\n")
    done = mfidlc("descriptor", "bad.mfidl", "--out", "x", cwd=tmp_path)
    assert (done.returncode, done.stdout, b"error[E0301]" in done.stderr) == (1, b"", True)
    (tmp_path / "good.mfidl").write_text("module good;\n")
    done = mfidlc("descriptor", "good.mfidl", "--out", "bad.mfidl/x", cwd=tmp_path)
    assert (done.returncode, b"error[E0004]" in done.stderr) == (3, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.mfidl", "good.mfidl"]


def test_the_example_of_the_documentation_works(tmp_path: Path) -> None:
    page = (ROOT / "docs/descriptor.md").read_text()
    [text] = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "search.pb").write_bytes(to_message(everything()).SerializeToString())
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'runtime/python'}"}
    command = [sys.executable, "-c", text]
    done = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.startswith("top.Point x scalar\ntop.Point y scalar\ntop.Node first scalar\n")


def test_check_does_not_import_protobuf(tmp_path: Path) -> None:
    (tmp_path / "good.mfidl").write_text("module good;\n")
    script = (
        "import sys; from mfidl.compiler import check; assert check(['good.mfidl']).program;"
        "assert not {'google', 'mfidl.descriptor'} & set(sys.modules)"
    )
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'runtime/python'}"}
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=env, timeout=60, check=True)
