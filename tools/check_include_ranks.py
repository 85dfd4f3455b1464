"""Checks that every C++ file of the runtime includes only files of its own floor or a lower one.

The floors are those of docs/architecture.md. A file's floor is the folder under runtime/cpp/include/mf/ or
runtime/cpp/src/ that it is in; what it includes is read from `#include "mf/<floor>/…"`, or, for any other
quoted path, found beside the including file or under runtime/cpp/src/. Floors of the same rank are siblings
and must not include each other. The floors below the transports must not name Asio. What is under
runtime/cpp/src/ is private to its floor: others include only what the floor has in runtime/cpp/include/mf/.

A header `mf/<floor>.hpp` or `mf/<floor>.<kind>.hpp` is generated from the runtime's own schema
runtime/idl/mf/<floor>.mfidl; it belongs to that floor (`mf/replication.hpp` to `replicated`).

Prints `file:line: sentence` for each mistake and ends with 1 if there was one.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

RANKS: dict[str, float] = {
    "core": 0,
    "codec": 1,
    "access": 1,
    "protocol": 2,
    "evolution": 2,
    "values": 3,
    "transport": 3,
    "tokens": 3,
    "monitor": 3,
    "link": 4,
    "route": 4.5,
    "client": 5,
    "server": 5,
    "light": 5,
    "interceptors": 5,
    "topics": 6,
    "config": 6,
    "health": 6,
    "admin": 6,
    "otlp": 6,
    "flex": 6,
    "replicated": 6,
    "controller": 7,
    "relay": 7,
    "http": 7.5,
    "bridge": 7,
    "app": 8,
    "testing": 9,
}
FLOORS_OF_SCHEMAS = {"replication": "replicated"}  # whose names differ
FIRST_RANK_WITH_ASIO = RANKS["transport"]
SOURCE_SUFFIXES = {".hpp", ".cpp", ".ipp", ".h"}

_INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"(?P<quoted>[^"]+)"|<(?P<angled>[^>]+)>)')
_GENERATED = re.compile(r"^(?P<floor>[a-z]+)(\.(client|server|topics))?\.hpp$")
_ASIO = re.compile(r"^(boost/)?asio([./]|$)")


def roots(runtime: Path) -> list[Path]:
    return [runtime / "include" / "mf", runtime / "src"]


def floor_of(path: Path, runtime: Path) -> str | None:
    """The first folder of the path under one of the roots; None for a file elsewhere."""
    for root in roots(runtime):
        if path.is_relative_to(root):
            parts = path.relative_to(root).parts
            return parts[0] if len(parts) > 1 else generated_floor(parts[0])
    return None


def generated_floor(name: str) -> str:
    """`controller` for `controller.hpp`; "", no floor, for any other file."""
    match = _GENERATED.match(name)
    return FLOORS_OF_SCHEMAS.get(match["floor"], match["floor"]) if match else ""


def target_floor(include: str, including: Path, runtime: Path) -> str | None:
    """The floor that an include names; None where it leads out of the runtime."""
    if include.startswith("mf/"):
        return floor_of(runtime / "include" / include, runtime)
    for base in (including.parent, runtime / "src"):
        candidate = (base / include).resolve()
        if candidate.is_file():
            return floor_of(candidate, runtime)
    return None


def complaint(floor: str, include: str, target: str | None) -> str | None:
    """What is wrong with one include, as a sentence, or None."""
    if _ASIO.match(include) and RANKS[floor] < FIRST_RANK_WITH_ASIO:
        return f"floor '{floor}' must not include Asio; only transports and the floors above them may"
    if target is None or target == floor:
        return None
    if target not in RANKS:
        return f"'{include}' is on no floor; put it into one of {', '.join(RANKS)}"
    if RANKS[target] < RANKS[floor] and not include.startswith("mf/"):
        return (
            f"'{include}' is private to floor '{target}'; what others use of it belongs into "
            f"include/mf/{target}/"
        )
    if RANKS[target] == RANKS[floor]:
        return (
            f"floor '{floor}' must not include its sibling '{target}'; move what they share to a lower floor"
        )
    if RANKS[target] > RANKS[floor]:
        return (
            f"floor '{floor}' (R{RANKS[floor]}) must not include '{include}' "
            f"of the higher floor '{target}' (R{RANKS[target]})"
        )
    return None


def check_file(path: Path, runtime: Path) -> Iterator[tuple[int, str]]:
    floor = floor_of(path, runtime)
    if floor not in RANKS:
        yield 1, f"this file is on no floor; move it into one of {', '.join(RANKS)}"
        return
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        match = _INCLUDE.match(line)
        if match is None:
            continue
        include = match["quoted"] or match["angled"]
        message = complaint(floor, include, target_floor(include, path, runtime))
        if message is not None:
            yield number, message


def check(runtime: Path) -> list[str]:
    """One line of text for every mistake under `runtime`, in the order of the files' names."""
    runtime = runtime.resolve()
    files = sorted(
        path
        for root in roots(runtime)
        for path in root.rglob("*")
        if path.suffix in SOURCE_SUFFIXES and path.is_file()
    )
    return [f"{path}:{line}: {message}" for path in files for line, message in check_file(path, runtime)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = Path(__file__).resolve().parent.parent / "runtime" / "cpp"
    parser.add_argument(
        "runtime", nargs="?", type=Path, default=default, help="the folder that holds include/mf and src"
    )
    mistakes = check(parser.parse_args().runtime)
    for mistake in mistakes:
        print(mistake, file=sys.stderr)
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
