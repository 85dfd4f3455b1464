"""F6. One self-contained HTML page a module: declarations with their documentation, linked and drawn.

    model, and the reports of `explain` -> views (all text escaped) -> templates/doc/*.j2

A page makes no request: style, script and drawings are in it. Nothing in it depends on time or place.
"""

from mfidl.doc.pages import generate

__all__ = ["generate"]
