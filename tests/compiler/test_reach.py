"""Which types values of a type can hold: held to a walk from each type alone, in every order of asking."""

import random
from pathlib import Path

import pytest

from mfidl import model
from mfidl.plan.reach import Reach
from tests.compiler.schema import program_of


def alone(start: str, declared: dict[str, model.Declaration]) -> set[str]:
    found: set[str] = set()
    pending = [start]
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            held = declared[name]
            if isinstance(held, model.Struct | model.Union):
                pending += model.names_in(field.type for field in model.members(held))
    return found


def schema_of(seed: int) -> str:
    """Structs and unions that hold each other through lists and optionals, so that there are loops."""
    chance = random.Random(seed)
    names = [f"S{i}" for i in range(24)]
    shapes = ("list<{}>", "map<u32, {}>", "list<list<{}>>", "{}?")
    lines = ["module a;", "enum E: u8 { one = 1 }"]
    for name in names:
        is_union = chance.random() < 0.3
        among = shapes[:3] if is_union else shapes
        held = [
            chance.choice(among).format(chance.choice([*names, "E"])) for _ in range(chance.randint(1, 3))
        ]
        numbered = [f"{f'{at}: ' * is_union}f{at}: {each};" for at, each in enumerate(held, 1)]
        lines.append(f"{'union' if is_union else 'struct'} {name} {{ {' '.join(numbered)} }}")
    return "\n".join(lines) + "\n"


def test_every_type_reaches_what_a_walk_from_it_alone_finds(tmp_path: Path) -> None:
    for seed in range(8):
        program = program_of(tmp_path, schema_of(seed))
        declared = dict(program.declarations)
        names = list(declared)
        random.Random(seed).shuffle(names)
        reach = Reach(declared)
        for name in names:
            kind = declared[name]
            assert not isinstance(kind, model.Alias)
            assert reach.of([kind.reference]) == sorted(alone(name, declared)), (seed, name)
        both = [declared[name] for name in names[:2]]
        types = [each.reference for each in both if not isinstance(each, model.Alias)]
        assert reach.of(types) == sorted(alone(names[0], declared) | alone(names[1], declared))


def test_the_fields_of_a_type_are_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many types reach it: 200 structs that each hold the one before."""
    chain = "".join(f"struct S{i} {{ f: list<S{i - 1}>; }}\n" for i in range(1, 200))
    program = program_of(tmp_path, f"module a;\nstruct S0 {{ x: u32; }}\n{chain}")
    asked: list[str] = []
    members = model.members

    def counted(declared: model.Struct | model.Union) -> tuple[model.Field, ...]:
        asked.append(declared.full_name)
        return members(declared)

    monkeypatch.setattr(model, "members", counted)
    reach = Reach(program.declarations)
    for each in program.declarations.values():
        assert not isinstance(each, model.Alias)
        reach.of([each.reference])
    assert len(asked) == len(set(asked)) == 200
