"""R1. How functions that work on many numbers at once give up: something is wrong, or only rare. Their caller
goes through the numbers one by one then, and finds the words, or the value after all.
"""


class MalformedError(ValueError):
    """Not for users."""


class TooDeepError(MalformedError):
    """Of JSON: more levels than a reader takes."""
