"""`mfidlc import` of .proto files: what becomes of each construct, and which diagnostics are given."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from google.protobuf import descriptor_pb2

from mfidl.cli.group import cli
from mfidl.emit.python.names import package_name
from mfidl.foreign import Options, import_files
from mfidl.foreign.protoc import seconds_for
from tests.compiler.foreign import imported, messages, schema


def text_of(folder: Path, text: str, syntax: str = "proto3") -> str:
    """The schema behind its module line."""
    result = imported(folder, api_dot_proto=f'syntax = "{syntax}"; package p; {text}')
    made = schema(result, folder)
    assert made.startswith("module p.api;\n\n")
    return made.removeprefix("module p.api;\n\n")


def told(folder: Path, text: str, syntax: str = "proto3") -> list[str]:
    return messages(imported(folder, api_dot_proto=f'syntax = "{syntax}"; package p; {text}'))


def test_every_base_type_has_an_equal(tmp_path: Path) -> None:
    words = (
        "double f64, float f32, int32 i32, int64 i64, uint32 u32, uint64 u64, sint32 i32, sint64 i64, fixed32 u32, "
        "fixed64 u64, sfixed32 i32, sfixed64 i64, bool bool, string string, bytes bytes"
    )
    zeros = {"bool": "false", "string": '""', "bytes": '""'}
    pairs = [each.split() for each in words.split(", ")]
    fields = " ".join(f"{theirs} f{n} = {n};" for n, (theirs, _) in enumerate(pairs, 1))
    made = text_of(tmp_path, f"message All {{ {fields} }}")
    assert [line.strip() for line in made.splitlines()[1:-1]] == [
        f"{n}: f{n}: {ours} = {zeros.get(ours, '0')};" for n, (_, ours) in enumerate(pairs, 1)
    ]


def test_what_may_be_absent_is_optional(tmp_path: Path) -> None:
    proto3 = (
        "message A { int32 a = 1; optional int32 b = 2; A c = 3; repeated A d = 4; map<string, A> e = 5; }"
    )
    assert text_of(tmp_path, proto3) == (
        "struct A {\n  1: a: i32 = 0;\n  2: b: i32?;\n  3: c: A?;\n  4: d: list<A>;\n  5: e: map<string, A>;\n}\n"
    )
    proto2 = "message A { required int32 a = 1; optional int32 b = 2; optional A c = 3; }"
    assert text_of(tmp_path, proto2, "proto2") == "struct A {\n  1: a: i32;\n  2: b: i32?;\n  3: c: A?;\n}\n"


def test_defaults_are_values_of_their_types(tmp_path: Path) -> None:
    made = text_of(
        tmp_path,
        r"""
        enum Level { LOW = 1; HIGH = 2; }
        message A {
          optional string a = 1 [default = "x\"\n\303\251"]; optional bytes b = 2 [default = "\001\"\377"];
          optional Level c = 3 [default = HIGH]; optional double d = 4 [default = -inf];
          optional float e = 5 [default = 1.5]; optional bool f = 6 [default = true];
          optional int64 g = 7 [default = -9223372036854775808]; optional double h = 8 [default = nan];
        }""",
        "proto2",
    )
    assert [line.strip().partition(" = ")[2] for line in made.splitlines() if ": " in line][1:] == [
        '"x\\"\\n\u00e9";',
        '"\\x01\\x22\\xff";',
        "Level.HIGH;",
        "-inf;",
        "1.5;",
        "true;",
        "-9223372036854775808;",
        "nan;",
    ]


def test_a_oneof_is_a_union_with_the_number_of_its_first_alternative(tmp_path: Path) -> None:
    text = "message A { int32 x = 1; oneof what { string s = 4; A a = 3; } int32 y = 9; }"
    assert text_of(tmp_path, text) == (
        "struct A {\n  union What {\n    4: s: string;\n    3: a: A;\n  }\n\n"
        "  1: x: i32 = 0;\n  4: what: What?;\n  9: y: i32 = 0;\n}\n"
    )


def test_nested_types_stay_where_they_are(tmp_path: Path) -> None:
    text = "message A { message B { enum C { X = 0; } C c = 1; } B b = 1; } message AB { A.B.C c = 1; }"
    assert text_of(tmp_path, text) == (
        "struct A {\n  struct B {\n    open enum C: i32 {\n      X = 0,\n    }\n\n    1: c: C = C.X;\n  }\n\n"
        "  1: b: B?;\n}\n\nstruct AB {\n  1: c: A.B.C = A.B.C.X;\n}\n"
    )
    assert told(tmp_path, text) == []


def test_a_type_that_a_nearer_one_hides_is_named_in_full(tmp_path: Path) -> None:
    text = """
    message Status { int32 x = 1; }
    message A {
      message Status { .p.Status outer = 1; }
      message A { .p.A outer = 1; .p.A.Status status = 2; }
      Status own = 1; .p.Status outer = 2; A inner = 3;
    }
    """
    made = text_of(tmp_path, text)
    assert "struct Status {\n    1: outer: p.api.Status?;\n  }" in made
    assert "struct A {\n    1: outer: p.api.A?;\n    2: status: Status?;\n  }" in made
    assert "  1: own: Status?;\n  2: outer: p.api.Status?;\n  3: inner: A?;\n}" in made


def test_a_union_that_would_be_called_as_a_field_is_renamed(tmp_path: Path) -> None:
    text = "message A { oneof What { string s = 1; int32 n = 2; } }"
    assert "union What_ {" in text_of(tmp_path, text)
    assert told(tmp_path, text) == ["1: W1003 `What` is called `What_` in the schema: a field has that name"]


def test_a_oneof_whose_words_begin_with_a_digit_keeps_its_name(tmp_path: Path) -> None:
    text = "message A { oneof _2fa { string sms = 1; } oneof _ { int32 n = 2; } }"
    made = text_of(tmp_path, text)
    assert "union _2fa_ {" in made
    assert "union __ {" in made
    assert [each.partition("W1003 ")[2] for each in told(tmp_path, text)] == [
        "`_2fa` is called `_2fa_` in the schema: a field has that name",
        "`_` is called `__` in the schema: a field has that name",
    ]


def test_two_oneofs_that_would_be_one_union_get_different_names(tmp_path: Path) -> None:
    text = "message A { oneof a_b { int32 x = 1; } oneof aB { int32 y = 2; } message AB { } }"
    made = text_of(tmp_path, text)
    assert [
        line.split()[1] for line in made.splitlines() if line.strip().startswith(("union", "struct AB"))
    ] == [
        "AB",
        "AB_",
        "AB__",
    ]


def test_enums_are_open_where_unknown_numbers_are_values(tmp_path: Path) -> None:
    assert text_of(tmp_path, "enum E { A = 0; B = -1; }").startswith(
        "open enum E: i32 {\n  A = 0,\n  B = -1,"
    )
    assert text_of(tmp_path, "enum E { A = 3; }", "proto2").startswith("enum E: i32 {")


def test_reserved_numbers_and_names_stay_reserved(tmp_path: Path) -> None:
    text = 'message A { reserved 2, 5 to 7, 1000 to max; reserved "x", "y"; int32 a = 1; }'
    assert 'reserved 2, 5..7, 1000..536870911, "x", "y";' in text_of(tmp_path, text)


def test_reserved_texts_that_are_no_names_are_left_out(tmp_path: Path) -> None:
    text = 'message A { reserved "2x", "o", "y"; oneof o { int32 x = 1; } }'
    assert 'reserved "y";' in text_of(tmp_path, text)
    assert [each.partition("W1001 ")[2] for each in told(tmp_path, text)] == [
        "left out, for want of an equal here: the reserved name `2x` of `A`",
        "left out, for want of an equal here: the reserved name `o` of `A`",
    ]


def test_packages_below_google_protobuf_do_not_hide_protobufs_own(tmp_path: Path) -> None:
    text = 'syntax = "proto3"; package google.protobuf.compiler; message Job { string name = 1; }'
    assert schema(imported(tmp_path, job_dot_proto=text), tmp_path).startswith(
        "module protobuf.compiler.job;\n"
    )


@pytest.mark.parametrize(
    ("file", "text", "place", "renamed"),
    [
        (
            "ping.proto",
            'syntax = "proto3"; package grpc.health.v1; message Ping { }',
            (1, 20),
            "`grpc` is called `grpc_` in Python: the package of grpcio has that name",
        ),
        (
            "ping.proto",
            'syntax = "proto3";\npackage json; message Ping { }',
            (2, 1),
            "`json` is called `json_` in Python: a module of the standard library has that name",
        ),
        (
            "numpy.thrift",
            "// Of arrays.\nstruct Array { }",
            (1, 1),
            "`numpy` is called `numpy_` in Python: the package of numpy has that name",
        ),
        (
            "stats.ice",
            "module Ice { module Own { struct Array { int x; } } }",
            (1, 8),
            "`Ice` is called `Ice_` in Python: the package of zeroc-ice has that name",
        ),
    ],
)
def test_a_module_of_a_name_that_python_has_already_is_reported_at_its_place(
    tmp_path: Path, file: str, text: str, place: tuple[int, int], renamed: str
) -> None:
    (tmp_path / file).write_text(text)
    (message,) = import_files([str(tmp_path / file)], Options()).diagnostics
    assert message.message == renamed
    assert message.help == "`mfidlc compile --python-package PREFIX` puts it below a package of your own"
    assert message.span is not None
    assert (message.span.line(), message.span.column()) == place


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("grpc.health.v1", "grpc_.health.v1"),
        ("grpc_.x", "grpc__.x"),
        ("numpy", "numpy_"),
        ("numpy.linalg", "numpy_.linalg"),
        ("acme.numpy", "acme.numpy"),
        ("opentelemetry.proto.trace", "opentelemetry.proto_.trace"),
        ("google.protobuf.any", "google.protobuf_.any"),
        ("google.rpc", "google.rpc"),
        ("acme.grpc", "acme.grpc"),
    ],
)
def test_no_module_gets_the_package_name_of_another_distribution(module: str, package: str) -> None:
    assert package_name(module, "") == package
    assert package_name(module, "own") == f"own.{module}"


@pytest.mark.parametrize("name", ["a:b", 'a"b', "a\\b", "a\nb"])
def test_a_schema_has_a_path_that_an_import_can_name(tmp_path: Path, name: str) -> None:
    (tmp_path / f"{name}.thrift").write_text("struct A { }")
    assert run(tmp_path / f"{name}.thrift", "--out", tmp_path / "out")[0] == 0
    assert (tmp_path / "out/a_b.mfidl").read_text().startswith("module a_b;\n")


@pytest.mark.parametrize("kind", ["proto", "thrift", "ice"])
def test_two_files_of_one_name_in_two_folders_are_refused(tmp_path: Path, kind: str) -> None:
    texts = {
        "proto": 'syntax = "proto3"; message {0} {{ }}',
        "thrift": "struct {0} {{ }}",
        "ice": "module M {{ struct {0} {{ int x; }} }}",
    }
    paths = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        paths.append(tmp_path / name / f"api.{kind}")
        paths[-1].write_text(texts[kind].format(name.upper()))
    result = import_files([str(path) for path in paths], Options())
    assert result.failed
    errors = [each.message for each in result.diagnostics if each.severity == "error"]
    assert errors == [f"`{paths[1]}` would be written to `api.mfidl`, as `{paths[0]}` is"]
    assert not import_files([str(path) for path in paths], Options((str(tmp_path),))).failed


def test_files_whose_names_have_the_same_letters_get_different_modules(tmp_path: Path) -> None:
    result = imported(
        tmp_path,
        **{
            "a-b_dot_proto": 'syntax = "proto3"; package p; message A { }',
            "a_b_dot_proto": 'syntax = "proto3"; package p; import "a-b.proto"; message B { A a = 1; }',
        },
    )
    assert 'module p.a_b_;\n\nimport "a-b.mfidl";' in schema(result, tmp_path)
    assert messages(result) == [
        "1: W1003 `p.a_b` is called `p.a_b_` in the schema of `a_b.proto`: that of another file is the module of that name"
    ]


def test_an_imported_module_with_the_name_of_a_type_gets_another_name(tmp_path: Path) -> None:
    result = imported(
        tmp_path,
        kind_dot_proto='syntax = "proto3"; package p; message A { }',
        api_dot_proto='syntax = "proto3"; package q; import "kind.proto"; message B { message kind { } p.A a = 1; }',
    )
    assert 'import "kind.mfidl" as other_kind;' in schema(result, tmp_path)


def test_well_known_types_have_equals_of_the_language(tmp_path: Path) -> None:
    text = """
    import "google/protobuf/timestamp.proto"; import "google/protobuf/duration.proto";
    import "google/protobuf/wrappers.proto"; import "google/protobuf/any.proto"; import "google/protobuf/empty.proto";
    message A {
      google.protobuf.Timestamp a = 1; google.protobuf.Duration b = 2; google.protobuf.Int64Value c = 3;
      google.protobuf.Any d = 4;
    }
    service S { rpc F(google.protobuf.Empty) returns (A); rpc G(A) returns (google.protobuf.Empty); }
    """
    result = imported(tmp_path, api_dot_proto=f'syntax = "proto3"; {text}')
    assert schema(result, tmp_path) == (
        'module api;\n\nimport "google/protobuf/any.mfidl";\n\nstruct A {\n  1: a: timestamp?;\n  2: b: duration?;\n'
        "  3: c: i64?;\n  4: d: any.Any?;\n}\n\nservice S {\n  F() -> A;\n  G(request: A);\n}\n"
    )
    assert [each.path for each in result.schemas] == ["google/protobuf/any.mfidl", "api.mfidl"]


def test_a_service_keeps_streams_comments_and_what_its_options_say(tmp_path: Path) -> None:
    text = """
    message A { int32 a = 1; }
    // Stores.
    // Well.
    service S {
      // Puts.
      rpc Put(stream A) returns (A) { option deprecated = true; }
      rpc Get(A) returns (stream A) { option idempotency_level = NO_SIDE_EFFECTS; }
    }
    """
    made = text_of(tmp_path, text)
    assert made.endswith(
        "/// Stores.\n/// Well.\nservice S {\n  /// Puts.\n  @deprecated\n  Put(requests: stream<A>) -> A;\n"
        "  @idempotent\n  Get(request: A) -> stream<A>;\n}\n"
    )


def test_comments_before_and_behind_a_declaration_are_both_kept(tmp_path: Path) -> None:
    text = """
    // A point.
    message Point { // in the plane
      /* to the right, */
      int32 x = 1; // in pixels
      int32 y = 2; // upwards
    }
    """
    assert text_of(tmp_path, text).endswith(
        "/// A point.\n/// in the plane\nstruct Point {\n  /// to the right,\n  /// in pixels\n  1: x: i32 = 0;\n"
        "  /// upwards\n  2: y: i32 = 0;\n}\n"
    )


@pytest.mark.parametrize(
    ("text", "syntax", "what"),
    [
        (
            "enum E { option allow_alias = true; A = 0; B = 0; }",
            "proto3",
            "`B`, which is another name of `A`",
        ),
        ("enum E { A = 0; reserved 4; }", "proto3", "what `E` reserves"),
        ("message A { extensions 5 to 9; }", "proto2", "the range of extensions of `A`"),
        (
            "message A { extensions 5 to 9; } extend A { optional int32 x = 5; }",
            "proto2",
            "extension `x` of `p.A`",
        ),
        ("option java_package = 'x';", "proto3", "all of `api.proto`, which declares no type and no service"),
    ],
)
def test_what_has_no_equal_is_told(tmp_path: Path, text: str, syntax: str, what: str) -> None:
    lines = [each.partition("W1001 ")[2] for each in told(tmp_path, text, syntax)]
    assert f"left out, for want of an equal here: {what}" in lines


def test_a_group_becomes_a_struct_and_is_told(tmp_path: Path) -> None:
    text = "message A { optional group Part = 1 { optional int32 a = 2; } }"
    assert "1: part: Part?;" in text_of(tmp_path, text, "proto2")
    assert told(tmp_path, text, "proto2") == [
        "1: W1002 group `part` becomes a field of a struct: there are no groups"
    ]


def test_messages_stand_where_the_file_has_what_they_speak_of(tmp_path: Path) -> None:
    text = 'syntax = "proto2";\nmessage A {\n\toptional group \u00e9 = 1 { }\n}\n'.replace("\u00e9", "Part")
    result = imported(tmp_path, api_dot_proto="// \u00e9\n" + text)
    (message,) = result.diagnostics
    assert message.span is not None
    assert (message.span.line(), message.span.text()) == (4, "Part")


def test_what_protoc_refuses_is_told_at_its_place(tmp_path: Path) -> None:
    result = imported(tmp_path, api_dot_proto='syntax = "proto3";\nmessage A { Missing m = 1; }\n')
    assert result.failed
    (message,) = result.diagnostics
    assert message.span is not None
    assert (message.code, message.span.line(), message.span.text()) == ("E1002", 2, "Missing")


def test_what_protoc_refuses_of_a_whole_file_is_told_at_its_begin(tmp_path: Path) -> None:
    lines = ["api.proto: It is too long.", "api.proto: It is too old.", "Nothing was written."]
    protoc = executable(tmp_path / "protoc", "".join(f"echo '{line}' >&2\n" for line in lines) + "exit 1\n")
    (tmp_path / "api.proto").write_text('syntax = "proto3";')
    result = import_files([str(tmp_path / "api.proto")], Options(protoc=str(protoc)))
    assert messages(result) == ["1: E1002 protoc: It is too long.", "1: E1002 protoc: It is too old."]


def test_without_a_protoc_the_message_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    result = imported(tmp_path, api_dot_proto='syntax = "proto3";')
    assert result.failed
    assert "install protobuf-compiler" in messages(result)[0]
    assert "pip install grpcio-tools" in messages(result)[0]


EDITION = 'edition = "2023"; message A { int32 x = 1; }'


def executable(path: Path, script: str) -> Path:
    path.write_text(f"#!/bin/sh\n{script}")
    path.chmod(0o755)
    return path


def old_protoc(folder: Path) -> Path:
    """The folder of one that supports no editions."""
    (folder / "bin").mkdir()
    said = 'api.proto:1:1: Expected top-level statement (e.g. "message").'
    return executable(folder / "bin" / "protoc", f"echo '{said}' >&2\nexit 1\n").parent


def test_what_an_old_protoc_refuses_is_read_by_that_of_grpcio_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(old_protoc(tmp_path)), os.pathsep)
    assert "1: x: i32?;" in schema(imported(tmp_path, api_dot_proto=EDITION), tmp_path)


def test_an_old_protoc_alone_is_said_to_know_no_editions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(old_protoc(tmp_path)), os.pathsep)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    (message,) = imported(tmp_path, api_dot_proto=EDITION).diagnostics
    assert message.code == "E1002"
    assert message.help is not None
    assert message.help.startswith("a newer protoc reads editions: `pip install grpcio-tools`")


def test_a_protoc_that_does_not_exist_is_told(tmp_path: Path) -> None:
    (tmp_path / "api.proto").write_text('syntax = "proto3";')
    result = import_files([str(tmp_path / "api.proto")], Options(protoc=str(tmp_path / "protoc")))
    assert result.failed
    assert messages(result)[0].startswith("E1001 protobuf's compiler is needed")


def test_protoc_has_more_time_for_more_files() -> None:
    assert (seconds_for(1), seconds_for(7_227)) == (60.1, 782.7)


def test_a_protoc_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    slow = tmp_path / "protoc"
    slow.write_text("#!/bin/sh\nexec sleep 600\n")
    slow.chmod(0o755)
    (tmp_path / "api.proto").write_text('syntax = "proto3";')
    result = import_files([str(tmp_path / "api.proto")], Options(protoc=str(slow), protoc_seconds=0.01))
    (message,) = result.diagnostics
    assert message.message.endswith("did not end within 0.01 s")
    assert message.help == "--protoc-timeout SECONDS gives it more time"


def test_an_edition_that_protobufs_runtime_does_not_know_is_reported(tmp_path: Path) -> None:
    """The descriptors are those of a protoc that is newer than the runtime."""
    newer = descriptor_pb2.FileDescriptorProto(
        name="api.proto", syntax="editions", edition=descriptor_pb2.EDITION_99999_TEST_ONLY
    )
    (tmp_path / "set.pb").write_bytes(descriptor_pb2.FileDescriptorSet(file=[newer]).SerializeToString())
    protoc = tmp_path / "protoc"
    protoc.write_text(
        "#!/bin/sh\n"
        f'for each; do case "$each" in --descriptor_set_out=*) cp {tmp_path}/set.pb "${{each#*=}}";; esac; done\n'
    )
    protoc.chmod(0o755)
    (tmp_path / "api.proto").write_text('syntax = "proto3";')
    result = import_files([str(tmp_path / "api.proto")], Options(protoc=str(protoc)))
    assert result.failed
    assert "the Python package protobuf does not read its descriptors" in messages(result)[0]


# The command ----------------------------------------------------------------------------------------------


def run(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(cli, ["import", *map(str, arguments)])
    return result.exit_code, result.stdout, result.stderr


def test_the_command_prints_or_writes_and_checks(tmp_path: Path) -> None:
    (tmp_path / "api.thrift").write_text("struct A { 1: i32 a, 2: set<double> s }")
    code, printed, warned = run(tmp_path / "api.thrift")
    assert code == 0
    assert printed == "module api;\n\nstruct A {\n  1: a: i32 = 0;\n  2: s: list<f64> = [];\n}\n"
    assert "warning[W1002]: a set of such elements becomes a list" in warned
    assert run(tmp_path / "api.thrift", "--out", tmp_path / "out")[0] == 0
    assert (tmp_path / "out/api.mfidl").read_text() == printed


def test_a_schema_that_was_edited_is_replaced_only_if_that_is_asked_for(tmp_path: Path) -> None:
    api, other, out = tmp_path / "api.proto", tmp_path / "other.proto", tmp_path / "out"
    api.write_text('syntax = "proto3"; message A { }')
    other.write_text('syntax = "proto3"; message B { }')
    assert run(api, "--out", out)[0] == 0
    api.write_text('syntax = "proto3"; message A { int32 x = 1; }')
    assert run(api, "--out", out)[0] == 0  # the written schema was not edited
    edited = (out / "api.mfidl").read_text() + "// mine\n"
    (out / "api.mfidl").write_text(edited)

    code, _, said = run(api, other, "--out", out)
    assert (code, f"`{out}/api.mfidl` is not as it was written" in said) == (3, True)
    assert (out / "api.mfidl").read_text() == edited
    assert not (out / "other.mfidl").exists()
    assert run(api, other, "--out", out, "--overwrite")[0] == 0
    assert "// mine" not in (out / "api.mfidl").read_text()
    assert (out / "other.mfidl").exists()


def test_a_schema_that_was_not_imported_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "api.thrift").write_text("struct A { }")
    (tmp_path / "api.mfidl").write_text("module api;\n")
    code, _, said = run(tmp_path / "api.thrift", "--out", tmp_path)
    assert (code, "E1008" in said) == (3, True)
    assert (tmp_path / "api.mfidl").read_text() == "module api;\n"


def test_files_that_differ_only_in_their_suffix_are_refused(tmp_path: Path) -> None:
    (tmp_path / "api.thrift").write_text("struct A { }")
    (tmp_path / "api.proto").write_text('syntax = "proto3"; package p; message A { }')
    code, _, said = run(tmp_path / "api.thrift", tmp_path / "api.proto", "--out", tmp_path / "out")
    refused = f"`{tmp_path}/api.thrift` would be written to `api.mfidl`, as `{tmp_path}/api.proto` is"
    assert (code, refused in said) == (1, True)


def test_a_new_field_allows_any_order_of_upgrades(tmp_path: Path) -> None:
    service = "service Cluster { rpc List(Q) returns (R); }"
    versions = {
        "old": "message Q { } message R { uint64 a = 1; }",
        "new": "enum E { Z = 0; } message Q { bool b = 1; E e = 2; repeated Q q = 3; map<string, Q> m = 4; } "
        "message R { uint64 a = 1; string s = 2; bytes t = 3; double d = 4; oneof o { int32 i = 5; } }",
    }
    for name, text in versions.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "api.proto").write_text(f'syntax = "proto3"; package p; {text} {service}')
        assert run(tmp_path / name / "api.proto", "--out", tmp_path / f"{name}.s")[0] == 0
    arguments = [
        "breaking",
        str(tmp_path / "new.s"),
        "--against",
        str(tmp_path / "old.s"),
        "--format",
        "json",
    ]
    result = CliRunner().invoke(cli, arguments)
    told = json.loads(result.stdout)
    assert (result.exit_code, [each["order"] for each in told["rollout"]]) == (0, ["any"])
    assert all(each["adapted"] for each in told["changes"])


def test_a_refused_included_file_is_not_reported_to_include_itself(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.thrift").write_text('include "c.thrift"\nstruct A { }')
    (tmp_path / "c.thrift").write_text('include "gone.thrift"')
    result = import_files([str(tmp_path / "a.thrift"), str(tmp_path / "b.thrift")], Options())
    assert messages(result) == ["1: E1005 cannot find `gone.thrift`"]


def test_the_command_tells_mistakes_by_its_exit_code(tmp_path: Path) -> None:
    (tmp_path / "api.thrift").write_text("struct A {")
    (tmp_path / "api.idl").write_text("")
    assert run(tmp_path / "api.thrift")[0] == 1
    assert run(tmp_path / "missing.thrift")[0] == 3
    code, _, said = run(tmp_path / "api.idl")
    assert (code, "is no .proto, .thrift or .ice file" in said) == (1, True)
    code, told_, _ = run(tmp_path / "api.thrift", "--format", "json")
    assert (code, json.loads(told_)["diagnostics"][0]["code"]) == (1, "E1003")
