"""F6. Templates of statements. Texts handed in lose their last line end, so that a template decides what
follows.
"""

from mfidl.emit.render import render


def render_code(template: str, **values: str | int) -> str:
    """The text of a template of statements, ending in a line end."""
    return render(template, **{key: _without_end(each) for key, each in values.items()})


def _without_end(value: str | int) -> str | int:
    return value.rstrip("\n") if isinstance(value, str) else value
