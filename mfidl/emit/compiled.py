"""F6. Templates as Python bytecode, stored as Python stores that of its modules: made when first needed, in
`__pycache__` next to them (or in the folder of mfidl/cache.py, if that cannot be written, or another user
could change it), and made again when a template, Jinja or Python has changed. Compiling them in every run
takes longer than rendering.

    file = digest of body, body
    body = marshal of (stamp, {name: code})
    stamp = versions; name, size and time of every template
"""

import marshal
import os
import sys
from collections.abc import Callable, MutableMapping
from pathlib import Path
from types import CodeType
from typing import Any

import jinja2
from jinja2 import BaseLoader, Environment, Template

from mfidl import cache, private

_DIGEST = len(cache.digest(b""))


class CompiledLoader(BaseLoader):
    """Loads the templates of a folder. Calls `sources` for texts only if there is no current bytecode."""

    def __init__(self, sources: BaseLoader, folder: Path) -> None:
        self._sources = sources
        self._folder = folder
        self._codes: dict[str, CodeType] | None = None

    def get_source(
        self, environment: Environment, template: str
    ) -> tuple[str, str | None, Callable[[], bool] | None]:
        return self._sources.get_source(environment, template)

    def list_templates(self) -> list[str]:
        return self._sources.list_templates()

    def load(
        self, environment: Environment, name: str, globals: MutableMapping[str, Any] | None = None
    ) -> Template:
        if self._codes is None:
            self._codes = self._current(environment)
        code = self._codes.get(name)
        if code is None:
            return super().load(environment, name, globals)
        return environment.template_class.from_code(environment, code, {} if globals is None else globals)

    def _current(self, environment: Environment) -> dict[str, CodeType]:
        stamp = _stamp(self._folder)
        kept = _kept(self._folder)
        for path in kept:
            codes = _read(path, stamp)
            if codes is not None:
                return codes
        beside = str(self._folder)
        places = [path for path in kept if not (sys.dont_write_bytecode and path.startswith(beside))]
        if not any(map(_is_writable, places)):
            return {}  # loaded one by one, on demand
        codes = {
            name: self._compiled(environment, name) for name in self.list_templates() if name.endswith(".j2")
        }
        body = marshal.dumps((stamp, codes))
        for path in places:
            if _write(path, cache.digest(body) + body):
                break
        return codes

    def _compiled(self, environment: Environment, name: str) -> CodeType:
        source, filename, _ = self.get_source(environment, name)
        code = environment.compile(source, name, filename)
        assert isinstance(code, CodeType)
        return code


def _kept(folder: Path) -> list[str]:
    name = f"templates.{sys.implementation.cache_tag}.bin"
    beside, elsewhere = str(folder / "__pycache__"), cache.folder()
    folders = [*([beside] if private.objection(beside) is None else []), *filter(None, [elsewhere])]
    return [os.path.join(each, name) for each in folders]


def _stamp(folder: Path) -> bytes:
    stats = [f"{path}:{stat.st_size}:{stat.st_mtime_ns}" for path, stat in cache.code_below(str(folder))]
    return cache.digest(
        "\0".join([sys.version, jinja2.__version__, *stats]).encode("utf-8", "surrogateescape")
    )


def _read(path: str, stamp: bytes) -> dict[str, CodeType] | None:
    data = private.read_file(path) or b""
    if data[:_DIGEST] != cache.digest(data[_DIGEST:]):  # truncated: marshal must not read it
        return None
    found, codes = marshal.loads(data[_DIGEST:])
    return codes if found == stamp else None


def _is_writable(path: str) -> bool:
    folder = os.path.dirname(path)
    while folder and not os.path.exists(folder):
        folder = os.path.dirname(folder)
    return os.access(folder, os.W_OK)


def _write(path: str, data: bytes) -> bool:
    try:
        folder = os.path.dirname(path)
        # Bytecode next to the templates is as readable as they are; the cache is for its user alone.
        private.make_folder(folder, 0o755 if os.path.basename(folder) == "__pycache__" else 0o700)
        private.write_file(path, data)
    except OSError:
        return False
    return True
