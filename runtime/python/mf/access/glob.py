"""Patterns of access files: '*' stands for any characters, also for none; all others for themselves."""

from __future__ import annotations


def glob_matches(pattern: str, text: str) -> bool:
    """Takes at most as many steps as the pattern has pieces, each of which searches the text once."""
    first, *others = pattern.split("*")
    if not others:
        return text == pattern
    *middle, last = others
    at = len(first)
    end = len(text) - len(last)
    if at > end or not text.startswith(first) or not text.endswith(last):
        return False
    for piece in middle:
        at = text.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True


def literal_prefix(pattern: str) -> str:
    """What the texts that match have in common: the pattern up to its first '*'."""
    return pattern.partition("*")[0]
