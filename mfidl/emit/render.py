"""F6. The Jinja environment. Templates place text; a generator's views compute what they place.

A template of `templates/<language>/` sees the keywords of one `render` call and nothing else; an
unknown name is an error (StrictUndefined). A template includes another by its name below `templates/`:
`{% include field.template %}`.
"""

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.runtime import Context

from mfidl.emit.compiled import CompiledLoader
from mfidl.places import TEMPLATES


class _Context(Context):
    """Calls functions and macros as Python does; none of ours asks for the context."""

    def call(
        self, called: Any, /, *args: Any, _loop_vars: Any = None, _block_vars: Any = None, **kwargs: Any
    ) -> Any:
        return called(*args, **kwargs)


class _Environment(Environment):
    """Looks attributes up as Python does: no view is a mapping, and an attribute that it does not have is an
    error.
    """

    context_class = _Context
    getattr = staticmethod(getattr)  # type: ignore[assignment]


def render(template: str, **values: object) -> str:
    """The text of `cpp/types.hpp.j2` and the like."""
    return _environment().get_template(template).render(values)


def environment(templates: Path) -> Environment:
    return _Environment(
        loader=CompiledLoader(FileSystemLoader(templates), templates),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )


@cache
def _environment() -> Environment:
    return environment(Path(TEMPLATES))
