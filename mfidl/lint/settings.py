"""Which rules run: all except those in codes.OFF, changed by mfidl.toml, then by the command line.

[lint]
disable = ["L0103"]
enable = ["L0502", "L0506"]       # or ["all"]
"""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass

from mfidl.diagnostics.suggest import nearest
from mfidl.lint.codes import CATALOGUE, OFF

_KEYS = ("disable", "enable")


class SettingsError(ValueError):
    """An invalid setting; the message says which, and where."""


@dataclass(frozen=True, slots=True)
class Settings:
    codes: frozenset[str] = frozenset(CATALOGUE) - OFF

    def changed(self, enable: Iterable[str], disable: Iterable[str], where: str) -> "Settings":
        """Disabling has priority over enabling."""
        on, off = _known(enable, where), _known(disable, where)
        return Settings((self.codes | on) - off)


def _known(codes: Iterable[str], where: str) -> frozenset[str]:
    found: set[str] = set()
    for code in codes:
        name = code.upper()
        if name == "ALL":
            found |= set(CATALOGUE)
        elif name in CATALOGUE:
            found.add(name)
        else:
            meant = nearest(name, CATALOGUE)
            hint = f" Did you mean `{meant}`?" if meant else ""
            raise SettingsError(f"{where}: there is no rule `{code}`.{hint} mfidlc lint --list names them.")
    return frozenset(found)


def read_settings(text: str, name: str) -> Settings:
    """The settings of a mfidl.toml. Tables of other tools are ignored."""
    try:
        table = tomllib.loads(text).get("lint", {})
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{name}: {error}") from None
    if not isinstance(table, dict):
        raise SettingsError(f"{name}: `lint` is a table: [lint]")
    for key, value in table.items():
        if key not in _KEYS:
            meant = nearest(key, _KEYS)
            hint = f" Did you mean `{meant}`?" if meant else f" The settings are {' and '.join(_KEYS)}."
            raise SettingsError(f"{name}: [lint] has no setting `{key}`.{hint}")
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise SettingsError(f'{name}: `{key}` is a list of codes: {key} = ["L0503"]')
    return Settings().changed(table.get("enable", ()), table.get("disable", ()), f"{name}, [lint]")
