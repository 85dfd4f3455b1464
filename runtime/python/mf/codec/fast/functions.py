"""R1. Makes the functions of a type and of all that it contains, and ties them together."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, Final

from mf.codec import shape as s
from mf.codec.fast.check import Checking
from mf.codec.fast.read import Reading
from mf.codec.fast.unit import Unit, indented
from mf.codec.fast.write import Writing, parts_of
from mf.codec.limits import MAX_DEPTH

Composite = s.Composite
Check = Callable[[Any], None]


class Functions:
    """Of one type; immutable, and shared by all codecs and threads."""

    __slots__ = (
        "archive",
        "check_read",
        "check_written",
        "deep",
        "fill_part",
        "height",
        "make_part",
        "read",
        "read_alone",
        "read_one",
        "read_one_alone",
        "read_part",
        "source",
        "write",
        "write_alone",
        "write_one",
        "write_one_alone",
        "write_part",
        "write_parts",
    )

    def __init__(self, source: str, made: dict[str, Any], *, deep: bool, height: int, archive: bool) -> None:
        self.archive: Final = archive  # whether values hold messages of that tier
        self.source: Final = source
        self.deep: Final = deep
        self.height: Final = height
        self.write: Callable[..., None] = made["write"]
        self.write_parts: Callable[..., None] | None = made.get("write_parts")
        self.read: Callable[..., tuple[list[Any], int]] = made["read"]
        self.check_written: Check | None = made.get("check_written")
        self.check_read: Check | None = made.get("check_read", self.check_written)
        self.write_alone = made.get("write_alone", self.write)
        self.read_alone = made.get("read_alone", self.read)
        self.write_one: Callable[..., None] = made.get("write_one") or _one_written(self.write)
        self.read_one: Callable[..., tuple[Any, int]] = made.get("read_one") or _one_read(self.read)
        self.write_one_alone = _one_written(made["write_alone"]) if "write_alone" in made else self.write_one
        self.read_one_alone = _one_read(made["read_alone"]) if "read_alone" in made else self.read_one
        for part in ("write_part", "read_part", "fill_part", "make_part"):  # of archive types
            setattr(self, part, made.get(part))


def _one_written(write: Callable[..., None]) -> Callable[..., None]:
    return lambda out, value, *depth: write(out, (value,), *depth)


def _one_read(read: Callable[..., tuple[list[Any], int]]) -> Callable[..., tuple[Any, int]]:
    def read_one(data: bytes, pos: int, *depth: int) -> tuple[Any, int]:
        (value,), end = read(data, pos, 1, *depth)
        return value, end

    return read_one


class _Source:
    """Finds the text for tracebacks and debuggers, which ask a module's loader for it."""

    def __init__(self, text: str) -> None:
        self._text = text

    def get_source(self, _: str) -> str:
        return self._text


def functions(shape: Composite) -> Functions:
    """Made at the first call. Two threads may make them twice; the results are alike."""
    return shape.functions or _Maker(lenient=False).make(shape)


def lenient(shape: Composite) -> Functions:
    """The second ones, whose `data` is mf.codec.metered's."""
    return shape.lenient or _Maker(lenient=True).make(shape)


class _Maker:
    """Makes the functions of one of both kinds: those of `lenient`, or the others."""

    def __init__(self, *, lenient: bool) -> None:
        self._lenient = lenient

    def _known(self, shape: Composite) -> Functions | None:
        return shape.lenient if self._lenient else shape.functions

    def make(self, root: Composite) -> Functions:
        new = self._closure(root)
        for each in new:
            assert each.smallest + each.own_memory >= 0  # asked in this order, so that no chain recurses deep
        users: dict[Composite, list[Composite]] = defaultdict(list)
        for each in new:
            for inner in each.inner:
                users[inner].append(each)
        known = [(each, made) for each in users if (made := self._known(each)) is not None]
        deep = _with_users(users, [*self._recursive(new), *(each for each, made in known if made.deep)])
        checked = _with_users(
            users,
            [
                *(each for each in new if each.has_rules),
                *(each for each, made in known if made.check_written is not None),
            ],
        )
        archive = _with_users(
            users,
            [*(each for each in new if each.archive), *(each for each, made in known if made.archive)],
        )
        heights = self._heights(new, deep)
        units = [(each, *self._compiled(each, deep, checked, heights[each], each in archive)) for each in new]
        all_made = {shape: own for shape, own, _ in units}
        for _, _, unit in units:
            for name, (other, what) in unit.links.items():
                unit.globals[name] = getattr(all_made.get(other) or self._known(other), what)
        for shape, own, _ in units:  # only now: what others see is whole
            if self._lenient:
                shape.lenient = own
            else:
                shape.functions = own
        return all_made[root]

    def _closure(self, root: Composite) -> list[Composite]:
        """The types in `root` that have no functions yet, inner ones first, so that nothing recurses deep."""
        met: set[Composite] = set()
        done: dict[Composite, None] = {}
        waiting = [root]
        while waiting:
            met.add(waiting[-1])
            more = [each for each in waiting[-1].inner if self._known(each) is None and each not in met]
            if more:
                waiting += more
            else:
                done.setdefault(waiting.pop())
        return list(done)

    def _recursive(self, shapes: list[Composite]) -> list[Composite]:
        """At least one type of every cycle."""
        colours: dict[Composite, int] = {}  # 1: on the path, 2: done
        found: list[Composite] = []
        for root in shapes:
            waiting = [root]
            while waiting:
                at = waiting[-1]
                if at not in colours:
                    colours[at] = 1
                    for each in at.inner:
                        if colours.get(each) == 1:
                            found.append(each)
                        elif each not in colours and self._known(each) is None:
                            waiting.append(each)
                else:
                    colours[at] = 2
                    waiting.pop()
        return found

    def _compiled(
        self, shape: Composite, deep: set[Composite], checked: set[Composite], height: int, archive: bool
    ) -> tuple[Functions, Unit]:
        unit = Unit(deep, lenient=self._lenient)
        if isinstance(shape, s.Custom):
            from mf.codec.fast.archive import custom_functions

            return Functions("", custom_functions(shape), deep=False, height=0, archive=False), unit
        if shape.archive:
            from mf.codec.fast.archive import archive_text

            text = archive_text(shape, unit, checked, height)
        else:
            text = _text(shape, unit, deep, checked, height)
        unit.globals["__name__"] = f"mf/codec of {shape.name}"
        unit.globals["__loader__"] = _Source(text)
        exec(compile(text, f"mf/codec of {shape.name}", "exec"), unit.globals)
        if shape.archive:
            from mf.codec.fast.archive import complete

            complete(shape, unit.globals, self._known)
        return Functions(text, unit.globals, deep=shape in deep, height=height, archive=archive), unit

    def _heights(self, shapes: list[Composite], deep: set[Composite]) -> dict[Composite, int]:
        """Levels of structs and containers in a value, but for what a function counts that knows its depth.

        Contained types come first, so that each is looked at once.
        """
        known: dict[Composite, int] = {}

        def levels(shape: s.Shape) -> int:
            match shape:
                case s.Checked(shape=inner):
                    return levels(inner)
                case s.Optional(element=element) | s.Ref(element=element):
                    return levels(element)
                case s.List(element=element) | s.Array(element=element) | s.Set(element=element):
                    return 1 + levels(element)
                case s.Map(key=key, value=value):
                    return 1 + max(levels(key), levels(value))
                case s.Struct() | s.Union() | s.Custom() if shape not in deep:
                    made = self._known(shape)
                    return 1 + (known[shape] if made is None else made.height)
                case _:
                    return 0

        for each in shapes:
            flat = isinstance(each, s.Struct) and each.memcpy
            known[each] = 0 if flat else max((levels(part) for part in each.shapes), default=0)
        return known


def _with_users(users: dict[Composite, list[Composite]], first: Iterable[Composite]) -> set[Composite]:
    """These types, and all that contain one of them, at any distance."""
    found: set[Composite] = set()
    waiting = list(first)
    while waiting:
        at = waiting.pop()
        if at not in found:
            found.add(at)
            waiting += users.get(at, ())
    return found


def _text(
    shape: s.Struct | s.Union, unit: Unit, deep: set[Composite], checked: set[Composite], height: int
) -> str:
    depth, limit = "", []
    if shape in deep:
        implicit = isinstance(shape, s.Struct) and shape.implicit
        depth = f", depth={0 if implicit else 1}"
        limit = [f"if depth > {MAX_DEPTH - height}:", "    raise MalformedError"]
    checking = Checking(unit, checked)
    writing, reading, deeper = Writing(unit), Reading(unit), ", depth" if depth else ""
    lines = [
        f"def write_one(out, value{depth}):",
        *indented([*limit, *writing.one(shape)]),
        f"def write(out, values{depth}):",
        *indented(writing.body(shape, deeper)),
        f"def read_one(data, pos{depth}):",
        *indented([*limit, *reading.one(shape)]),
        f"def read(data, pos, count{depth}):",
        *indented(reading.body(shape, deeper)),
    ]
    if shape in checked:
        lines += ["def check_written(value):", *indented(checking.body(shape))]
    if isinstance(shape, s.Struct) and shape.make is s.parts_made:
        lines += [
            f"def write_parts({', '.join(['out', *parts_of(shape)])}):",
            *indented(["depth = 0"] * (shape in deep) + Writing(unit).parts(shape)),
        ]
        if shape in checked:
            lines += ["def check_read(value):", *indented(checking.parts(shape))]
    return "\n".join(lines) + "\n"
