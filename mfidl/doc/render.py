"""The Jinja environment for HTML: it escapes everything that is not `Markup`."""

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from mfidl.places import TEMPLATES


def render(template: str, **values: object) -> str:
    """The text of `page.html.j2` and the like."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader([Path(TEMPLATES) / "doc", Path(TEMPLATES) / "picture"]),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
