"""The mutants of a Python file, found in its syntax tree and written into its text.

Left alone is what no run can notice or what ends every run: annotations, decorators, docstrings, texts,
imports, assignments to local names. The same holds for floats, and for numbers from 16 on that a constant
names: they are times and limits, and a test that repeats them would only notice that they were changed.
"""

import ast
import re

from tools.mutants.mutant import Mutant, make

_COMPARISONS: dict[type[ast.cmpop], tuple[str, tuple[str, ...]]] = {
    ast.Lt: ("<", ("<=", ">=")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<=")),
    ast.GtE: (">=", (">", "<")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: ("is not", ("is",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
}
_ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "//"),
    ast.FloorDiv: ("//", "*"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
}
_LEAST_LIMIT = 16
_SWAPPED = {"min": "max", "max": "min", "any": "all", "all": "any"}


def mutants(path: str, data: bytes) -> list[Mutant]:
    """All mutants of the file, in the order of their places; some of them may not compile."""
    finder = _Finder(path, data)
    finder.visit(ast.parse(data))
    return sorted(set(finder.found))


def compiles(data: bytes) -> bool:
    """Some mutants do not compile, because a bracket or a space was needed."""
    try:
        compile(data, "mutant", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


class _Finder(ast.NodeVisitor):
    def __init__(self, path: str, data: bytes) -> None:
        self._path = path
        self._data = data
        self._lines = [0, *(match.end() for match in re.finditer(rb"\n", data))]
        self._inside = 0  # the number of functions around this place
        self.found: list[Mutant] = []

    # Places

    def _start(self, node: ast.expr | ast.stmt) -> int:
        return self._lines[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._lines[node.end_lineno - 1] + node.end_col_offset

    def _put(self, start: int, end: int, now: str) -> None:
        self.found.append(make(self._path, self._data, start, end, now))

    def _replace(self, node: ast.expr | ast.stmt, now: str) -> None:
        self._put(self._start(node), self._end(node), now)

    def _operator(self, left: ast.expr, right: ast.expr, was: str, now: str) -> None:
        """Changes the operator between two operands."""
        start, end = self._end(left), self._start(right)
        pattern = r"\s+".join(map(re.escape, was.split()))
        match = re.search(pattern.encode(), self._data[start:end])
        if match is not None:
            self._put(start + match.start(), start + match.end(), now)

    def _negate(self, test: ast.expr) -> None:
        decided = isinstance(test, ast.Compare) and len(test.ops) == 1
        if not decided and not isinstance(test, ast.UnaryOp | ast.NamedExpr):
            text = self._data[self._start(test) : self._end(test)].decode()
            self._replace(test, f"not ({text})")

    def _limit(self, value: ast.expr) -> bool:
        """Whether this is the value of a constant outside of functions, and a mere number of some size or
        like 1 << 20."""
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.LShift | ast.Mult):
            return self._limit(value.right)
        number = value.value if isinstance(value, ast.Constant) else None
        return not self._inside and isinstance(number, int) and number >= _LEAST_LIMIT

    # What is left alone

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Skips f-strings: places inside them are known only from Python 3.12 on."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None and not self._limit(node.value):
            self.visit(node.value)

    def visit_arg(self, node: ast.arg) -> None:
        pass

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for part in node.body:
            self.visit(part)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._inside += 1
        for part in (*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body):
            self.visit(part)
        self._inside -= 1

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)

    # What is changed

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for left, right, operator in zip(operands, operands[1:], node.ops, strict=False):
            was, others = _COMPARISONS[type(operator)]
            for now in others:
                self._operator(left, right, was, now)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        was, now = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._operator(left, right, was, now)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if type(node.op) in _ARITHMETIC:
            self._operator(node.left, node.right, *_ARITHMETIC[type(node.op)])
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._put(self._start(node), self._start(node.operand), "")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._replace(node, str(not node.value))
        elif isinstance(node.value, int):
            self._replace(node, str(node.value + 1))
            if node.value > 1:
                self._replace(node, str(node.value - 1))

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id in _SWAPPED:
            self._replace(node.func, _SWAPPED[node.func.id])
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        self._negate(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._negate(test)
        self.generic_visit(node)

    # Statements that are removed

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return
        if self._inside:
            self._replace(node, "pass")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if any(isinstance(target, ast.Name) and target.id.startswith("__") for target in node.targets):
            return
        if self._limit(node.value):
            return
        if self._inside and all(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets):
            self._replace(node, "pass")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if self._inside:
            self._replace(node, "pass")
        if type(node.op) in _ARITHMETIC:
            was, now = _ARITHMETIC[type(node.op)]
            self._operator(node.target, node.value, was + "=", now + "=")
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self._replace(node, "pass")
        self.generic_visit(node)

    def visit_Delete(self, node: ast.Delete) -> None:
        self._replace(node, "pass")

    def visit_Continue(self, node: ast.Continue) -> None:
        self._replace(node, "pass")

    def visit_Break(self, node: ast.Break) -> None:
        self._replace(node, "pass")

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is None:
            self._replace(node, "pass")
        self.generic_visit(node)
