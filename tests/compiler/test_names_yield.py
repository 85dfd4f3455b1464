"""A name that a generator adds yields to those of the schema, so that no addition renames what users hold."""

from pathlib import Path

import pytest

from mfidl.compiler import Exit, check
from mfidl.emit.cpp.names import Inherited, ModuleNames
from mfidl.emit.python.names import module_names
from mfidl.model import Module

# Each is named as something that the additions below make.
TYPES = ["AuthUserAddRequest", "AuthClient", "AuthServant", "AuthAsyncServant", "MadePublisher", "KindUser"]
CONSTANTS = ["AUTH_SERVICE", "AUTH_USER_ADD", "MADE_TOPIC"]
DECLARED = "".join(f"struct {name} {{ AuthScatter: u32; }}\n" for name in TYPES)
DECLARED += "".join(f"const {name}: u32 = 1;\n" for name in CONSTANTS)
DECLARED += "union Either { 1: x: u32; 2: set_x: string; 3: is_x: bool; }\n"
ADDED = """
agent realm: string;
service Auth per realm { UserAdd(request: AuthUserAddRequest); }
topic Made : AuthClient;
union Kind { 1: user: u32; }
"""


def module(folder: Path, text: str) -> Module:
    schema = folder / "auth.mfidl"
    schema.write_text(f"module auth;\n{text}")
    outcome = check([str(schema)])
    assert outcome.exit is Exit.OK, outcome.diagnostics
    assert outcome.program is not None
    return outcome.program.requested[0]


@pytest.mark.parametrize("added", ["", ADDED], ids=["alone", "beside what is added"])
def test_names_of_the_schema_stay_as_they_are_written(tmp_path: Path, added: str) -> None:
    made = module(tmp_path, DECLARED + added)
    python, cpp = module_names(made, {}), ModuleNames(made, Inherited())
    assert [python.types[f"auth.{name}"] for name in TYPES] == TYPES
    assert [python.constants[f"auth.{name}"] for name in CONSTANTS] == CONSTANTS
    assert [cpp.of(f"auth.{name}") for name in TYPES + CONSTANTS] == TYPES + CONSTANTS
    fields = {cpp.members(each) for each in made.structs}
    assert fields == {("AuthScatter",)}
    either = next(each for each in made.unions if each.name == "Either")
    assert [each.accessor for each in cpp.union(either).alternatives] == ["x", "set_x", "is_x"]
    assert [each.set for each in cpp.union(either).alternatives] == ["set_x_", "set_set_x", "set_is_x"]


def test_what_is_added_gets_the_underscore(tmp_path: Path) -> None:
    made = module(tmp_path, DECLARED + ADDED)
    python, cpp = (
        module_names(made, {}).services["auth.Auth"],
        ModuleNames(made, Inherited()).service(made.services[0]),
    )
    expected = ("AuthClient_", "AuthServant_", "AuthAsyncServant_")
    assert (python.client, python.servant, python.async_servant) == expected
    assert (cpp.client, cpp.servant, cpp.async_servant) == expected
    assert python.methods[0].request == cpp.methods[0].request == "AuthUserAddRequest_"
    assert (python.constant, python.methods[0].constant) == ("AUTH_SERVICE_", "AUTH_USER_ADD_")
    assert module_names(made, {}).topics["auth.Made"].publisher == "MadePublisher_"
    assert module_names(made, {}).alternatives["auth.Kind"] == ("KindUser_",)


def test_a_prescribed_name_of_a_macro_stays_as_it_is_written(tmp_path: Path) -> None:
    fields = '@cpp.name("small") 1: a: i16; 3: signals: i16;'
    methods = '@cpp.name("emit") go(); slots();'
    made = module(tmp_path, f"struct S {{ {fields} }}\nservice Svc {{ {methods} }}")
    cpp = ModuleNames(made, Inherited())
    assert cpp.members(made.structs[0]) == ("small", "signals_")
    assert [each.function for each in cpp.service(made.services[0]).methods] == ["emit", "slots_"]
