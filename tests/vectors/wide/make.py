"""Writes the vectors of tests/vectors/schemas/wide.mfidl, and those of custom.mfidl and coded.mfidl that no
hand wrote.

    python tests/vectors/wide/make.py

    memcpy.json    made by numpy's aligned records
    archive.json   made by protobuf from the messages of `mfidlc proto`
    graphs.json    the same, for object graphs
    febird.json    made by mfidl/dynamic, which is the Python runtime's codec: C++ is the judge of new ones;
                   maps of integers by hand too (by_hand.py)
    custom.json    made by protobuf and mfidl/dynamic, to both of which custom values are bytes (draw.py)
    types.json     descriptor and annex of each type, as the compiler writes them
    sizes.json     what values of each type take, as the compiler reckons it (sizes.py)
    coded.json     made by protobuf: integers that lie as existing protobuf has them
    coded_hostile.json    the same, damaged: mfidl/dynamic says what is wrong (damaged.py)

The JSON text is text.py's. The tests hold both runtimes to these files.
The same seed gives the same files.
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "runtime/python")]

from mfidl import dynamic, model  # noqa: E402
from mfidl.compiler import check  # noqa: E402
from mfidl.model import Tier  # noqa: E402
from mfidl.plan.annex import Annexes  # noqa: E402
from mfidl.plan.fingerprint import Descriptors  # noqa: E402
from mfidl.plan.reach import Reach  # noqa: E402
from tests.vectors.wide import by_hand, damaged, draw, oracles, sizes, text  # noqa: E402

WIDE = ROOT / "tests/vectors/wide"
SCHEMAS = ROOT / "tests/vectors/schemas"
SEED = 20_261_121
SCALAR_ROUNDS = 20  # values of a struct of one scalar
ROUNDS = 60  # values of the others
GRAPHS = 40


def main() -> None:
    made = [*drawn("wide"), *(("febird", vector) for vector in by_hand.vectors())]
    made += [*drawn("custom"), *drawn("coded")]
    made += [
        ("coded_hostile", vector)
        for vector in damaged.vectors("coded", [v for of, v in made if of == "coded"])
    ]
    for file in ("memcpy", "archive", "graphs", "febird", "custom", "coded", "coded_hostile"):
        chosen = [vector for of, vector in made if of == file]
        lines = ",\n".join(json.dumps(vector, ensure_ascii=True) for vector in chosen)
        (Path(__file__).parent / f"{file}.json").write_text(f"[\n{lines}\n]\n")
        print(f"{file}.json: {len(chosen)} vectors")
    types = [entry for module in ("wide", "custom") for entry in described(module)]
    lines = ",\n".join(json.dumps(entry, ensure_ascii=True) for entry in types)
    (Path(__file__).parent / "types.json").write_text(f"[\n{lines}\n]\n")
    print(f"types.json: {len(types)} types")
    (Path(__file__).parent / "sizes.json").write_text(sizes_text())


def sizes_text() -> str:
    """Of sizes.mfidl, and of the schemas of the vectors."""
    files = [
        WIDE / "sizes.mfidl",
        *(SCHEMAS / f"{each}.mfidl" for each in ("wide", "alternatives", "custom")),
    ]
    entries = []
    for file in files:
        program = check([str(file)]).program
        assert program is not None, file
        entries += [json.dumps(entry, ensure_ascii=True) for entry in sizes.table(program)]
    return "[\n" + ",\n".join(entries) + "\n]\n"


def described(module: str) -> Iterator[dict[str, str]]:
    """The descriptor and annex of each struct, union and error of the module's schema."""
    outcome = check([str(SCHEMAS / f"{module}.mfidl")])
    assert outcome.program is not None, outcome.diagnostics
    reach = Reach(outcome.program.declarations)
    descriptors, annexes = Descriptors(reach), Annexes(reach)
    for each in next(m for m in outcome.program.modules if m.name == f"vectors.{module}").declarations:
        if isinstance(each, model.Struct | model.Union):
            word = each.kind.value if isinstance(each, model.Struct) else "union"
            kind = model.Named(each.full_name, model.DeclKind(word))
            yield {
                "type": each.full_name,
                "descriptor": descriptors.type(kind),
                "annex": annexes.type(kind),
            }


def drawn(module: str) -> list[tuple[str, dict[str, Any]]]:
    """Of the module's schema: the file, and what is to stand there."""
    schema = SCHEMAS / f"{module}.mfidl"
    outcome = check([str(schema)])
    assert outcome.program is not None, outcome.diagnostics
    with tempfile.TemporaryDirectory() as folder:
        made = list(Maker(outcome.program, schema, Path(folder)).vectors())
    if module == "wide":
        return made
    return [(module, {"schema": schema.name, **vector}) for _, vector in made]


class Maker:
    def __init__(self, program: model.Program, schema: Path, folder: Path) -> None:
        self._program = program
        self._module = next(each for each in program.modules if each.name == f"vectors.{schema.stem}")
        self._numpy = oracles.Numpy(program)
        self._protobuf = oracles.Protobuf(program, schema, folder, self._inner)

    def vectors(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for declared in self._module.declarations:
            if isinstance(declared, model.Struct | model.Union) and declared.tier is not Tier.CUSTOM:
                yield from self._of(declared)

    def _of(self, declared: model.Struct | model.Union) -> Iterator[tuple[str, dict[str, Any]]]:
        refs = model.graph_tables(self._program.declarations, declared)
        seen: set[str] = set()
        for value in self._drawn(declared, refs):
            hexed, by = self._encoded(declared, value)
            if hexed in seen:
                continue
            seen.add(hexed)
            vector = {
                "name": f"{declared.name} {len(seen)}",
                "type": declared.full_name,
                "tier": declared.tier.value,
                "json": text.json_text(self._program, declared.reference, value),
                "hex": hexed,
                "by": by,
            }
            yield ("graphs" if refs else declared.tier.value), vector

    def _drawn(self, declared: model.Struct | model.Union, refs: tuple[str, ...]) -> list[Any]:
        drawing = draw.Draw(self._program, SEED)
        if refs:
            return [drawing.graph(declared) for _ in range(GRAPHS)]
        scalar = declared.name.startswith(("Memcpy", "Febird", "Archive"))
        return drawing.values(declared.reference, SCALAR_ROUNDS if scalar else ROUNDS)

    def _encoded(self, declared: model.Struct | model.Union, value: Any) -> tuple[str, str]:
        if isinstance(value, draw.Graph):
            return self._protobuf.encode_graph(declared.name, value.tables).hex(), "protobuf"
        if declared.tier is Tier.ARCHIVE:
            return self._protobuf.encode(declared, value).hex(), "protobuf"
        if declared.tier is Tier.MEMCPY:
            assert isinstance(declared, model.Struct)
            return self._numpy.encode(declared, value).hex(), "numpy"
        return self._inner(declared.reference, value).hex(), "dynamic"

    def _inner(self, type_: model.Type, value: Any) -> bytes:
        """Of a tier that protobuf does not know."""
        if isinstance(value, bytes):  # of tier custom
            return value
        if isinstance(type_, model.Named):
            declared = self._program.declaration(type_.full_name)
            if isinstance(declared, model.Struct) and declared.tier is Tier.MEMCPY:
                return self._numpy.encode(declared, value)
        plain = dynamic.from_json(self._program, type_, text.json_text(self._program, type_, value))
        return dynamic.encode(self._program, type_, plain)


if __name__ == "__main__":
    main()
