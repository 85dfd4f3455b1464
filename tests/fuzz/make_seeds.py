"""Writes the seeds of the fuzz targets: some values of each type of tests/vectors.

make_seeds.py OUT        OUT/memcpy/…, OUT/febird/…, OUT/archive/…, OUT/custom/…, OUT/json/…, OUT/flex/…,
                         OUT/schema/…, OUT/values/…, OUT/token/…, OUT/../described_types.inc: type,
                         descriptor and annex, for targets.cpp; and those of parser_seeds.py
"""

import json
import re
import shutil
import sys
from base64 import urlsafe_b64decode
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "runtime/python")]  # of this tree, and not of one that is installed
from tests.fuzz.parser_seeds import parser_seeds  # noqa: E402 - found by these paths

VECTORS = HERE.parent / "vectors/wide"
FLEX = HERE.parent / "vectors/flex"
TOKENS = HERE.parent / "vectors/tokens/tokens.json"
FILES = HERE.parent / "vectors/values/values.json"
EACH = 3  # seeds of a type, from small to large
LARGEST = 4096  # bytes

TYPES = HERE.parent / "cpp/codec/wide_types.inc"
LINE = re.compile(r"^MF_WIDE\((\w+), (\w+)\)$", re.MULTILINE)
CUSTOM_TYPES = HERE.parent / "cpp/codec/custom_subjects.cpp"
CUSTOM_NAME = re.compile(r"\"(vectors\.custom\.\w+)\"")


def places() -> dict[str, tuple[str, int, int]]:
    """By type: the folder, the byte that picks it there, and that of the JSON target."""
    counts: dict[str, int] = defaultdict(int)
    found = {}
    types = [(kind, f"vectors.wide.{name}") for kind, name in LINE.findall(TYPES.read_text())]
    types += [("custom", name) for name in CUSTOM_NAME.findall(CUSTOM_TYPES.read_text())]
    for number, (kind, name) in enumerate(types):
        folder = "archive" if kind == "graph" else kind
        found[name] = (folder, counts[folder], number)
        counts[folder] += 1
    return found


def values() -> dict[str, list[tuple[bytes, bytes]]]:
    """By type, the bytes and the JSON of its values, small ones first."""
    found = defaultdict(list)
    for path in sorted(VECTORS.glob("*.json")):
        for each in json.loads(path.read_text()):
            if "json" in each:
                found[each["type"]].append((bytes.fromhex(each["hex"]), each["json"].encode()))
    return {name: sorted(set(each), key=lambda pair: (len(pair[0]), pair)) for name, each in found.items()}


def main(out: Path) -> None:
    shutil.rmtree(out, ignore_errors=True)
    known = values()
    for name, (folder, place, json_place) in places().items():
        fitting = [pair for pair in known.get(name, []) if len(pair[1]) <= LARGEST]
        for index in {len(fitting) * step // EACH for step in range(EACH)} & set(range(len(fitting))):
            data, text = fitting[index]
            write(out / folder / f"{name}-{index}", place, data)
            write(out / "json" / f"{name}-{index}", json_place, text)
    for place, name in enumerate(("values", "messages")):
        for index, each in enumerate(json.loads((FLEX / f"{name}.json").read_text())):
            if len(data := bytes.fromhex(each["hex"])) <= LARGEST:
                write(out / "flex" / f"{name}-{index}", place, data)
    for index, each in enumerate(json.loads(TOKENS.read_text())["cases"]):
        token = bytes.fromhex(each["hex"])
        if each["fault"] is None:
            write(out / "token" / f"token-{index}", 0, token)
            payload = token.split(b".")[2]
            claims = urlsafe_b64decode(payload + b"=" * (-len(payload) % 4))[:-64].rstrip()
            write(out / "token" / f"claims-{index}", 1, claims)
    for name, seeds in parser_seeds().items():
        for index, (place, data) in enumerate(seeds):
            write(out / name / str(index), place, data)
    types = json.loads((VECTORS / "types.json").read_text()) + stored(out)
    for each in types:
        write(out / "schema" / each["type"], 0, f"{each['descriptor']}\0{each['annex']}".encode())
    rows = (f'{{"{each["type"]}", R"~({each["descriptor"]})~", R"~({each["annex"]})~"}},\n' for each in types)
    (out.parent / "described_types.inc").write_text("".join(rows))


def stored(out: Path) -> list[dict[str, str]]:
    """Writes the files of values that later versions of their types can read; those versions."""
    types = []
    files = json.loads(FILES.read_text())["files"]
    later = {each["type"] for each in files if each["schema"] == "new"}
    for each in files:
        data = bytes.fromhex(each["hex"])
        if each["type"] in later and "values" in each["read"]["new"]:
            for place in (0, 1):
                write(out / "values" / f"{each['name'].replace(' ', '-')}-{place}", place, data)
        if each["schema"] == "new":
            descriptor = int.from_bytes(data[12:16], "little")
            texts = data[24:], int.from_bytes(data[16:20], "little")
            types.append(
                {
                    "type": each["type"],
                    "descriptor": texts[0][:descriptor].decode(),
                    "annex": texts[0][descriptor : descriptor + texts[1]].decode(),
                }
            )
    return types


def write(path: Path, place: int, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes([place]) + data)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
