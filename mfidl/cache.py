"""F0. What the compiler is made of.

Imports nothing heavy: it is asked before it is known whether anything is to be done.
"""

import os

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_CODE = (".py", ".j2")


def compiler_files() -> list[str]:
    """The compiler's own code and templates: with others the same schema may give other files."""
    found: list[str] = []
    folders = [_PACKAGE]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(_CODE):
                    found.append(entry.path)
                elif not entry.name.startswith(("__", ".")) and entry.is_dir():
                    folders.append(entry.path)
    return sorted(found)
