"""The picture of a memory layout, with what a page says of it."""

from markupsafe import Markup

from mfidl.doc.views import Drawing
from mfidl.explain import report
from mfidl.explain.svg import of_layout


def draw(title: str, layout: report.Layout) -> Drawing | None:
    """None where there is nothing to see, or too much."""
    picture = of_layout(layout, title)
    return None if picture is None else Drawing(Markup(picture.element), _hint(layout))


def _hint(layout: report.Layout) -> str:
    if layout.better_order is None:
        return ""
    better = layout.better_order
    fewer = f"{better.size} bytes, {better.saved} fewer"
    return f"In the order {', '.join(better.fields)} it would have {fewer}."
