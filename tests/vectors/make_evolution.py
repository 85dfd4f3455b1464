"""Writes tests/vectors/evolution from the table of changes beside this file:

    python -m tests.vectors.make_evolution

Of each pair two schemas, old.mfidl and new.mfidl, and cases.json: their descriptors and annexes as the
compiler makes them, what becomes of each method in both directions, and the bytes of values before and after,
which mfidl.dynamic writes, by the Python runtime's codec: C++ is the judge of new ones.
"""

import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mf.codec.shape import snake
from mfidl import model
from mfidl.compiler import check
from mfidl.dynamic import Schema, encode, from_json
from tests.vectors.evolution_kinds import KINDS
from tests.vectors.evolution_shapes import SHAPES, Shape
from tests.vectors.evolution_table import CHANGES, Change, Fault, Way

HERE = Path(__file__).parent / "evolution"
_MODULE = "evolving"
SERVER, CLIENT = "the server's", "the client's"
_A_PAIR = 40
"""Changes, each of which gives two methods."""


class Method:
    """One case: a method, old and new, and the ways there and back. `schemas`: whose side `{side}` is."""

    def __init__(
        self, name: str, old: str, new: str, there: Way, back: Way, declared: tuple[str, str]
    ) -> None:
        self.name = name
        self.texts = old, new
        self.there = there
        self.back = back
        self.declared = declared


def prefix(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def methods_of(change: Change) -> Iterator[Method]:
    """One that takes the value, and one that gives it: there, values go the other way."""
    for letter in "pr":
        stem = prefix(change.name) + letter.upper()
        declared = change.before.replace("$", stem), change.after.replace("$", stem)
        name = f"{letter}_{change.name}"
        old, new = change.old.replace("$", stem), change.new.replace("$", stem)
        there, back = (change.there, change.back) if letter == "p" else (change.back, change.there)
        texts = (f"{name}(v: {old})", f"{name}(v: {new})")
        if letter == "r":
            texts = (f"{name}() -> (v: {old})", f"{name}() -> (v: {new})")
        yield Method(name, *texts, there, back, declared)


def reason(name: str, way: Way, letter: str, consumer_is_old: bool) -> str | None:
    if not way.why:
        return None
    place = "parameter v" if letter == "p" else "result v"
    stem = prefix(name) + letter.upper()
    text = way.why.replace("{value}", place).replace("$", stem)

    def words(match: "re.Match[str]") -> str:
        inner = match[1].replace("$", stem)
        if inner in ("only old", "only new"):
            return "only here" if (inner == "only old") is consumer_is_old else "only there"
        if inner in ("not old", "not new"):
            return "there, not here" if (inner == "not old") is consumer_is_old else "here, not there"
        old, new = inner.split("|")
        here, there = (old, new) if consumer_is_old else (new, old)
        return f"{here} here, {there} there"

    return f"Evolving.{letter}_{name}: " + re.sub(r"\[([^\[\]]*)\]", words, text)


class Pair:
    """Two schemas, of some changes and shapes."""

    def __init__(self, folder: Path, changes: list[Change], shapes: list[Shape]) -> None:
        self.folder = folder
        self.changes = changes
        self.shapes = shapes
        self.methods = [each for change in changes for each in methods_of(change)]

    def write(self) -> None:
        self.folder.mkdir(parents=True)
        texts = [self._schema(side) for side in (0, 1)]
        for name, text in zip(("old", "new"), texts, strict=True):
            (self.folder / f"{name}.mfidl").write_text(text, "utf-8")
        programs = [_compiled(text) for text in texts]
        services = [
            next(each for module in program.modules for each in module.services) for program in programs
        ]
        made = {
            "service": services[0].full_name,
            **{
                name: {
                    "descriptor": each.descriptor,
                    "annex": each.annex,
                    "fingerprint": each.fingerprint.hex(),
                }
                for name, each in zip(("old", "new"), services, strict=True)
            },
            "cases": list(self._cases()),
            "values": list(self._values([Schema(program) for program in programs])),
        }
        text = json.dumps(made, indent=1, ensure_ascii=False) + "\n"
        (self.folder / "cases.json").write_text(text, "utf-8")

    def _schema(self, side: int) -> str:
        lines = [
            f"/// Made by make_evolution.py: the {('older', 'newer')[side]} one of two.",
            f"module {_MODULE};",
            "",
        ]
        lines += [each.declared[side] for each in self.methods if each.declared[side]]
        lines += ["error ShapeError { a: u32; }", "error OtherError { b: string; }"] if self.shapes else []
        for shape in self.shapes:
            text = (shape.before, shape.after)[side].replace("$", prefix(shape.name))
            lines += [text] if text else []
        lines += ["", "service Evolving {"]
        lines += [f"  {each.texts[side]};" for each in self.methods]
        for shape in self.shapes:
            text = (shape.old, shape.new)[side].replace("$", prefix(shape.name))
            lines += [f"  {text};"] if text else []
        return "\n".join([*lines, "}", ""])

    def _cases(self) -> Iterator[dict[str, Any]]:
        for change in self.changes:
            for letter in "pr":
                there, back = (change.there, change.back) if letter == "p" else (change.back, change.there)
                yield {
                    "name": change.name,
                    "method": f"{letter}_{change.name}",
                    "old_to_new": there.verdict,
                    "new_to_old": back.verdict,
                    "reason_old_to_new": reason(change.name, there, letter, True),
                    "reason_new_to_old": reason(change.name, back, letter, False),
                }
        for shape in self.shapes:
            yield {
                "name": shape.name,
                "method": shape.name,
                "old_to_new": shape.there and shape.there.verdict,
                "new_to_old": shape.back and shape.back.verdict,
                "reason_old_to_new": _shape_reason(shape, shape.there),
                "reason_new_to_old": _shape_reason(shape, shape.back),
            }

    def _values(self, schemas: list[Schema]) -> Iterator[dict[str, Any]]:
        for change in self.changes:
            for way, f, t in ((change.there, 0, 1), (change.back, 1, 0)):
                for value, wanted in way.values:
                    yield _request(change.name, schemas, f, t, value, wanted)
                    yield _result(change.name, schemas, f, t, value, wanted)


def _shape_reason(shape: Shape, way: Way | None) -> str | None:
    if way is None or not way.why:
        return None
    return f"Evolving.{way.why.replace('$', prefix(shape.name))}"


_DIRECTIONS = ("old_to_new", "new_to_old")


def _request(
    name: str, schemas: list[Schema], f: int, t: int, value: str, wanted: str | Fault
) -> dict[str, Any]:
    method = f"p_{name}"
    own = _bytes(schemas[f], f"{method}.params", value)
    made: dict[str, Any] = {"own": own}
    if isinstance(wanted, Fault):
        why = _why(f"{name}_p", wanted, SERVER)
        made["fault"] = f"Evolving.{method}: parameter v{wanted.path}: {why}"
    else:
        made["theirs"] = _bytes(schemas[t], f"{method}.params", wanted)
    return {"method": method, "direction": _DIRECTIONS[f], "request": made}


def _result(
    name: str, schemas: list[Schema], f: int, t: int, value: str, wanted: str | Fault
) -> dict[str, Any]:
    """The consumer has the schema that the value goes to."""
    method = f"r_{name}"
    made: dict[str, Any] = {"theirs": _bytes(schemas[f], f"{method}.results", value)}
    if isinstance(wanted, Fault):
        why = _why(f"{name}_r", wanted, CLIENT)
        made["fault"] = f"Evolving.{method}: result v{wanted.path}: {why}"
    else:
        made["own"] = _bytes(schemas[t], f"{method}.results", wanted)
    return {"method": method, "direction": _DIRECTIONS[t], "result": made}


def _why(name: str, wanted: Fault, side: str) -> str:
    return wanted.why.format(side=side).replace("$", prefix(name))


def _bytes(schema: Schema, part: str, value: str) -> str:
    stem = prefix(part.partition(".")[0].partition("_")[2]) + part[0].upper()
    value = re.sub("~([A-Z])", lambda match: snake(stem + match[1]), value)
    type_ = f"{_MODULE}.Evolving.{part}"
    return encode(schema, type_, from_json(schema, type_, f'{{"v":{value}}}')).hex()


def _compiled(text: str) -> model.Program:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{_MODULE}.mfidl")
        path.write_text(text, "utf-8")
        outcome = check([str(path)], [])
    if outcome.program is None:
        for each in outcome.diagnostics:
            print(each.message, each.span and text[each.span.start : each.span.end], file=sys.stderr)
        raise SystemExit("the schemas of a pair have errors")
    return outcome.program


def write(into: Path) -> str:
    """What was written, in words."""
    changes = [*CHANGES, *KINDS]
    count = -(-len(changes) // _A_PAIR)
    for at in range(count):
        shapes = SHAPES if at == count - 1 else []
        Pair(into / f"pair{at + 1:02}", changes[at * _A_PAIR : (at + 1) * _A_PAIR], shapes).write()
    return f"{2 * len(changes) + len(SHAPES)} cases in {count} pairs"


def main() -> None:
    if HERE.exists():
        shutil.rmtree(HERE)
    print(write(HERE))


if __name__ == "__main__":
    main()
