"""R0. `@pattern`: the steps of a pattern, and a matcher that takes linear time. The compiler has this folder,
too: it writes the same steps for C++.
"""

from .matcher import Matcher
from .steps import Kind, Step, steps_of

__all__ = ["Kind", "Matcher", "Step", "steps_of"]
