"""F6. Small rules about words."""

import re


def snake(name: str) -> str:
    """NoSuchCollection -> no_such_collection, HTTPServer -> http_server."""
    spaced = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", spaced).lower()


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
