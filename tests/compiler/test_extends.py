"""A service that extends another: its methods in the program, in what peers tell each other, and in words."""

from pathlib import Path

import pytest

from mfidl.descriptor.errors import DescriptorError
from mfidl.descriptor.read import from_message
from mfidl.descriptor.write import to_message
from mfidl.emit.output import EmitOptions
from mfidl.emit.python import generate
from mfidl.explain import explain, render_text
from tests.compiler.schema import program_of

STORE = "agent shard: u32; service Store per shard { get(key: string) -> u64; put(key: string); } "
BACKUP = "service Backup extends Store { restore(); }"


def test_the_methods_of_the_extended_service_come_first_with_the_same_indices(tmp_path: Path) -> None:
    [store, backup] = program_of(tmp_path, f"module m; {BACKUP} {STORE}").requested[0].services

    assert [each.name for each in backup.methods] == ["get", "put", "restore"]
    assert [each.index for each in backup.methods] == [0, 1, 2]
    assert backup.methods[:2] == store.methods
    assert [each.name for each in backup.own_methods] == ["restore"]
    assert (backup.extends, backup.agent) == ("m.Store", store.agent)


def test_extending_is_the_same_to_peers_as_writing_the_methods_again(tmp_path: Path) -> None:
    [_, extending] = program_of(tmp_path, f"module m; {STORE} {BACKUP}").requested[0].services
    again = "service Backup per shard { get(key: string) -> u64; put(key: string); restore(); }"
    [_, repeating] = program_of(tmp_path, f"module m; {STORE} {again}").requested[0].services

    assert extending.descriptor == repeating.descriptor
    assert extending.fingerprint == repeating.fingerprint
    assert extending.annex == repeating.annex


def test_several_levels_across_modules_are_in_order_of_extension(tmp_path: Path) -> None:
    program = program_of(
        tmp_path,
        'module m; import "far.mfidl"; service C extends far.B { c(); } service D extends C { d(); }',
        far="module far; service B extends A { b(); } service A { a(); }",
    )
    [c, d] = program.module("m").services

    assert [each.full_name for each in d.methods] == ["far.A.a", "far.B.b", "m.C.c", "m.D.d"]
    assert [each.full_name for each in program.extended(d)] == ["m.C", "far.B", "far.A"]
    assert d.methods[:3] == c.methods


def test_generated_helpers_of_the_extended_service_are_not_hidden(tmp_path: Path) -> None:
    program = program_of(tmp_path, f"module m; {STORE} service Backup extends Store {{ put_items(); }}")
    files = {each.path: each.text for each in generate(program, EmitOptions("", "0"))}

    assert 'def put_items_(self) -> None:\n        """`put_items()`' in files["m/_server.py"]
    assert files["m/_server.py"].count("def put_items(self, requests") == 2


def test_explain_names_the_extended_service(tmp_path: Path) -> None:
    [module] = explain(program_of(tmp_path, f"module m; {STORE} {BACKUP}"), "Backup")

    assert "m.Store: its methods come first" in render_text([module])
    assert module.services[0].extends == "m.Store"


def test_a_descriptor_whose_services_lack_inherited_methods_is_refused(tmp_path: Path) -> None:
    message = to_message(program_of(tmp_path, f"module m; {STORE} {BACKUP}"))
    del message.modules[0].services[1].methods[0]
    with pytest.raises(DescriptorError, match=r"`m\.Backup` lacks methods of `m\.Store`"):
        from_message(message)

    del message.modules[0].services[0]
    with pytest.raises(DescriptorError, match=r"service `m\.Store` is not declared before its use"):
        from_message(message)
