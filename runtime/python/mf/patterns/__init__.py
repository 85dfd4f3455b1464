"""R0. `@pattern`: the steps of a pattern, and a matcher that takes linear time. The compiler writes the same
steps for C++.
"""

from mf.patterns.matcher import Matcher
from mf.patterns.steps import Kind, Step, steps_of

__all__ = ["Kind", "Matcher", "Step", "steps_of"]
