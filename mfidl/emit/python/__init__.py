"""F6. The Python generator: a program in, the files of its packages out. It reads the model, nothing of the
disk.

    names -> context (names as one file sees them, and its imports) -> views -> templates/python/*.py.j2

One package per requested module: _types, _codec, and with services _methods, _client and _server, with topics
_topics; `__init__` re-exports them. A view holds ready text; a template only places it.
"""

from mfidl.emit.python.package import generate

__all__ = ["generate"]
