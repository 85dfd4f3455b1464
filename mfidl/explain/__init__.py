"""F6. The compiler's choices and their cost: tiers with reasons, layouts, bytes on the wire.

    program -> report (data) -> text and pictures for people, JSON for tools

Sizes of integers come from `sizes`, and nowhere else.
"""

from mfidl.explain.build import Explainer, explain
from mfidl.explain.selection import UnknownNameError
from mfidl.explain.text import render_text
from mfidl.explain.types import Types

__all__ = ["Explainer", "Types", "UnknownNameError", "explain", "render_text"]
