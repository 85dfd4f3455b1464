"""R1. Graphs in JSON (docs/json.md): tables of objects, in which a `ref` is the index of its object.

Objects are numbered breadth first, as the writers of bytes do it, and references are read as indices, which
name their objects when all tables are there. Nothing recurses along references, so chains may be long.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

from mf.codec import shape as s
from mf.codec.archive_form import refers
from mf.codec.contents import bare
from mf.codec.graph_walk import loose_of, references, types_of
from mf.codec.malformed import MalformedError, TooDeepError

Composite = s.Struct | s.Union
Tables = dict[Composite, list[Any]]
Writer = Callable[[Any, int], str]


# --- writing


def graph_writer(shape: Composite, writer_of: Callable[[s.Shape], Writer]) -> Writer:
    """`writer_of`: of what holds no references."""

    def write(value: Any, levels: int) -> str:
        if levels < 2:
            raise TooDeepError
        objects, numbers = numbered(shape, value)
        writer = _Writer(numbers, writer_of)
        rows = []
        for name, each in shape.tables.items():
            texts = [writer.text(each, one, levels - 2) for one in objects[each]]
            rows.append(f'"{name}":[{",".join(texts)}]')
        return f"{{{','.join(rows)}}}"

    return write


def numbered(root: Composite, value: Any) -> tuple[Tables, dict[tuple[Composite, int], int]]:
    """The objects of each table, and their indices by type and identity."""
    objects: Tables = {each: [] for each in root.tables.values()}
    numbers: dict[tuple[Composite, int], int] = {}
    queue: list[tuple[Composite, Any]] = []

    def meet(shape: Composite, one: Any) -> None:
        if (shape, id(one)) in numbers:
            return
        if not isinstance(one, types_of(shape)):
            raise MalformedError
        numbers[shape, id(one)] = len(objects[shape])
        objects[shape].append(one)
        queue.append((shape, one))

    def meet_all() -> None:
        for shape, one in queue:  # grows while it is gone through
            for other, referred in references(shape, one):
                meet(other, referred)
        queue.clear()

    meet(root, value)
    meet_all()
    for shape, one in loose_of(root.tables.values(), value):
        meet(shape, one)
    meet_all()
    return objects, numbers


class _Writer:
    """What holds references is gone through by its shape; all else has its own writer."""

    def __init__(
        self, numbers: dict[tuple[Composite, int], int], writer_of: Callable[[s.Shape], Writer]
    ) -> None:
        self._numbers = numbers
        self._writer_of = writer_of

    def text(self, shape: s.Shape, value: Any, levels: int) -> str:
        plain = bare(shape)
        if not refers(plain):
            return self._writer_of(plain)(value, levels)
        match plain:
            case s.Ref(element=s.Struct() | s.Union() as element):
                return str(self._numbers[element, id(value)])
            case s.Optional(element=element):
                return "null" if value is None else self.text(element, value, levels)
        if not levels:
            raise TooDeepError
        levels -= 1
        match plain:
            case s.List() | s.Array():
                return f"[{','.join([self.text(plain.element, each, levels) for each in value])}]"
            case s.Map():
                return f"{{{','.join(self._entries(plain, value, levels))}}}"
            case s.Struct():
                return f"{{{','.join(self._fields(plain, value, levels))}}}"
            case s.Union():
                chosen = next(each for each in plain.alternatives if type(value) is each.type)
                return f'{{"{chosen.name}":{self.text(chosen.shape, value.value, levels)}}}'
            case _:
                raise MalformedError

    def _entries(self, shape: s.Map, value: Any, levels: int) -> Iterator[str]:
        write_key = self._writer_of(shape.key)
        for key in sorted(value):
            name = write_key(key, levels)
            quoted = name if name[0] == '"' else f'"{name}"'
            yield f"{quoted}:{self.text(shape.value, value[key], levels)}"

    def _fields(self, shape: s.Struct, value: Any, levels: int) -> Iterator[str]:
        for each in shape.fields:
            part = getattr(value, each.attribute)
            left_out = isinstance(bare(each.shape), s.Optional) and each.default is None
            if part is not None or not left_out:
                yield f'"{each.name}":{self.text(each.shape, part, levels)}'


# --- reading


class Reference:
    """Stands where an object will: its index, and where that was read."""

    __slots__ = ("index", "offset", "path", "shape")

    def __init__(self, shape: Composite, index: int, offset: int, path: str) -> None:
        self.shape: Final = shape
        self.index: Final = index
        self.offset: Final = offset
        self.path: Final = path


def resolve(root: Composite, tables: Tables) -> Any:
    """The root, after every reference in every object has become its object."""
    find: Callable[[Reference], Any] = lambda each: tables[each.shape][each.index]  # noqa: E731
    for shape, objects in tables.items():
        for each in objects:
            _resolved(shape, each, find)
    value = tables[root][0]
    _, numbers = numbered(root, value)
    loose = tuple(
        (shape.name, each)
        for shape, objects in tables.items()
        for each in objects
        if (shape, id(each)) not in numbers
    )
    if loose:
        value.__mf_loose__ = loose
    return value


def _resolved(shape: s.Shape, value: Any, find: Callable[[Reference], Any]) -> Any:
    """The same value, or what takes its place."""
    plain = bare(shape)
    if value is None or not refers(plain):
        return value
    match plain:
        case s.Ref():
            return find(value)
        case s.Optional():
            return _resolved(plain.element, value, find)
        case s.List() | s.Array():
            value[:] = [_resolved(plain.element, each, find) for each in value]
        case s.Map():
            for key, each in value.items():
                value[key] = _resolved(plain.value, each, find)
        case s.Struct():
            for field in plain.fields:
                if refers(field.shape):
                    part = getattr(value, field.attribute)
                    setattr(value, field.attribute, _resolved(field.shape, part, find))
        case s.Union():
            chosen = next(each for each in plain.alternatives if type(value) is each.type)
            value.value = _resolved(chosen.shape, value.value, find)
    return value
