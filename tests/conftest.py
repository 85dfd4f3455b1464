"""What every Python test shares: Hypothesis draws the same examples and never looks at the clock."""

from hypothesis import settings

settings.register_profile("mf", derandomize=True, deadline=None, max_examples=100)
settings.load_profile("mf")
