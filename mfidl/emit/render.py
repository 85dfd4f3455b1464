"""F6. The Jinja environment. Templates place text; a generator's views compute what they place.

A template of `templates/<language>/` sees the keywords of one `render` call and nothing else; an
unknown name is an error (StrictUndefined). A template includes another by its name below `templates/`:
`{% include field.template %}`.
"""

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from mfidl.emit.compiled import CompiledLoader
from mfidl.places import TEMPLATES


def render(template: str, **values: object) -> str:
    """The text of `cpp/types.hpp.j2` and the like."""
    return _environment().get_template(template).render(values)


def environment(templates: Path) -> Environment:
    return Environment(
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
