"""Whether two texts mean the same: equal trees except for spans, and the same comments."""

import dataclasses
from collections import Counter

from mfidl.diagnostics import Diagnostics
from mfidl.fmt.trivia import read
from mfidl.source import SourceFile, Span
from mfidl.syntax import ast
from mfidl.syntax.tokens import tokenize


def same_tree(left: object, right: object) -> bool:
    """Compares without recursion on spans and sources."""
    if type(left) is not type(right):
        return False
    if isinstance(left, Span | SourceFile):
        return True
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(same_tree, left, right))
    if dataclasses.is_dataclass(left) and not isinstance(left, type):
        return all(
            same_tree(getattr(left, each.name), getattr(right, each.name))
            for each in dataclasses.fields(left)
        )
    return left == right or repr(left) == repr(right)


def same_file(left: ast.File, right: ast.File) -> bool:
    return same_tree(left.declarations, right.declarations)


def same_comments(left: SourceFile, right: SourceFile) -> bool:
    return _comments(left) == _comments(right)


def _comments(source: SourceFile) -> Counter[str]:
    """Comments by their lines, without surrounding spaces: formatting may move them but not lose them."""
    tokens = read(source, tokenize(source, Diagnostics()))
    lines = [each.lines for tok in tokens for each in tok.comments]
    return Counter("\n".join(line.lstrip("\0").strip() for line in each) for each in lines)
