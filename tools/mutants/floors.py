"""Which sources a floor has, and which tests belong to it: its own first, then those of the floors above."""

from dataclasses import dataclass
from pathlib import Path

from tools.mutants import cpp_source, python_source
from tools.mutants.mutant import Mutant


@dataclass(frozen=True, slots=True)
class Floor:
    """`stages`: folders of pytest or names of C++ test binaries, tried stage by stage while none fails."""

    language: str
    name: str
    sources: str
    stages: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        return f"{self.language} {self.name}"

    def mutants(self, root: Path) -> list[Mutant]:
        find, pattern = (
            (cpp_source.mutants, "**/*.cpp") if self.language == "C++" else (python_source.mutants, "**/*.py")
        )
        files = sorted(path for path in (root / self.sources).glob(pattern) if "_generated" not in path.parts)
        return [one for path in files for one in find(str(path.relative_to(root)), path.read_bytes())]


def _compiler(name: str, *tests: str) -> Floor:
    return Floor(
        "Python", name, f"mfidl/{name}", (tuple(f"tests/compiler/test_{test}.py" for test in tests),)
    )


def _python(name: str, *above: str) -> Floor:
    stages = ((f"tests/python/{name}",), tuple(f"tests/python/{floor}" for floor in above))
    return Floor("Python", name, f"runtime/python/mf/{name}", stages)


def _cpp(name: str, *above: str) -> Floor:
    return Floor("C++", name, f"runtime/cpp/src/{name}", ((name,), above))


FLOORS = (
    _compiler("breaking", "breaking"),
    _compiler("plan", "layout", "annex", "fingerprint", "model", "accepted", "diagnostics", "corpus"),
    _compiler("semantics", "language_semantics", "accepted", "model", "diagnostics", "bad_input", "corpus"),
    _python("protocol", "link", "client", "server"),
    _python("link", "client", "server", "controller"),
    _python("route", "client", "controller"),
    _python("client", "light", "controller"),
    _python("server", "client", "link"),
    _python("controller", "client"),
    _python("flex"),
    _python("replicated"),
    _cpp("protocol", "link", "streams"),
    _cpp("link", "client", "streams", "server", "light"),
    _cpp("route"),
    _cpp("client", "streams", "cached", "controller"),
    _cpp("server", "streams", "client", "controller"),
    _cpp("controller", "client"),
    _cpp("flex"),
    _cpp("replicated"),
)
