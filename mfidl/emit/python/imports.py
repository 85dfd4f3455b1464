"""F6. The import block of one generated file, collected while its text is made, in the order of isort."""

import re
from collections import defaultdict
from enum import Enum

_RENAMED = "  # noqa: N811, N812, N813, N814"  # the user's name may be of any kind
_DIGIT = re.compile(r"\d")
_STANDARD = frozenset(
    ["abc", "collections.abc", "dataclasses", "enum", "math", "re", "struct", "types", "typing", "uuid"]
)


class _Section(Enum):
    STANDARD = 0
    ABSOLUTE = 1
    RELATIVE = 2


class Imports:
    """`from module import name` and `import module`; asking twice is asking once."""

    def __init__(self) -> None:
        self._names: dict[str, dict[str, str]] = defaultdict(dict)
        self._modules: set[str] = set()
        self._for_checkers: dict[str, dict[str, str]] = defaultdict(dict)

    def name(self, module: str, name: str, local: str = "") -> str:
        """Imports `name`, and returns what it is called here."""
        self._names[module][name] = local or name
        return local or name

    def name_for_checkers(self, module: str, name: str, local: str) -> None:
        """Only type checkers import it: at run time the module is not needed, or not yet."""
        self.name("typing", "TYPE_CHECKING")
        self._for_checkers[module][local] = name

    def module(self, module: str) -> None:
        self._modules.add(module)

    @staticmethod
    def order(name: str) -> tuple[int, list[tuple[int, int, str]]]:
        """Sorts the names of `__all__`, where the case of letters counts."""
        return _kind(name), _natural(name)

    def text(self) -> str:
        """The block, standard library first and relative imports last, without an empty line at its end."""
        sections = []
        for section in (_Section.STANDARD, _Section.ABSOLUTE, _Section.RELATIVE):
            lines = [f"import {each}" for each in sorted(self._modules) if _section(each) is section]
            for module in sorted(self._names, key=_by_distance):
                if _section(module) is section:
                    lines.append(_from(module, self._names[module]))
            if lines:
                sections.append("\n".join(lines))
        if self._for_checkers:
            lines = [
                f"    from {module} import {name}" + f" as {local}{_RENAMED}" * (local != name)
                for module in sorted(self._for_checkers, key=_natural)
                for local, name in sorted(
                    self._for_checkers[module].items(), key=lambda each: (_by_kind(each[1]), each[0])
                )
            ]
            sections.append("\n".join(["if TYPE_CHECKING:", *lines]))
        return "\n\n".join(sections)


def _section(module: str) -> _Section:
    if module.startswith("."):
        return _Section.RELATIVE
    return _Section.STANDARD if module in _STANDARD else _Section.ABSOLUTE


def _by_distance(module: str) -> tuple[int, list[tuple[int, int, str]]]:
    """The relative ones that lead up farthest come first."""
    name = module.lstrip(".")
    return len(name) - len(module), _natural(name)


def _from(module: str, names: dict[str, str]) -> str:
    """Names that are called otherwise here stand behind the others, each in a line of its own."""
    ordered = sorted(names.items(), key=lambda each: _by_kind(each[0]))
    plain = [name for name, local in ordered if name == local]
    lines = [_from_plain(module, plain)] if plain else []
    lines += [f"from {module} import {name} as {local}" for name, local in ordered if name != local]
    return "\n".join(lines)


def _from_plain(module: str, names: list[str]) -> str:
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= 110:
        return line
    return f"from {module} import (\n" + "".join(f"    {each},\n" for each in names) + ")"


def _by_kind(name: str) -> tuple[int, list[tuple[int, int, str]], str]:
    return _kind(name), _natural(name.lower()), name


def _kind(name: str) -> int:
    """Constants, then classes, then the rest."""
    return 0 if len(name) > 1 and name.isupper() else 1 if name[:1].isupper() else 2


def _natural(name: str) -> list[tuple[int, int, str]]:
    if not _DIGIT.search(name):
        return [(1, 0, name)]
    return [
        (0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", name) if part
    ]
