"""Patterns of access files: '*' fits any characters, also none; each other character fits itself."""

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


def globs_overlap(one: str, other: str) -> bool:
    """Whether there is a text that both patterns match. Between their literal ends, two patterns with stars
    never exclude each other: the text between the stars of one is taken by a star of the other."""
    if "*" not in other:
        return glob_matches(one, other)
    if "*" not in one:
        return glob_matches(other, one)
    head, last = literal_prefix(one), one.rpartition("*")[2]
    head_of_other, last_of_other = literal_prefix(other), other.rpartition("*")[2]
    return (head.startswith(head_of_other) or head_of_other.startswith(head)) and (
        last.endswith(last_of_other) or last_of_other.endswith(last)
    )


def literal_prefix(pattern: str) -> str:
    """What the texts that match have in common: the pattern up to its first '*'."""
    return pattern.partition("*")[0]
