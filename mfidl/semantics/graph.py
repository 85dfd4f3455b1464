"""F4. The graph of declared types and their content: strongly connected components and a dependency order.
Without recursion.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from mfidl import model


def parts(type_: model.Type) -> Iterable[tuple[str, bool]]:
    """(full name, direct) of every declared type in a spelled type; direct: its size is needed."""
    stack: list[tuple[model.Type, bool]] = [(type_, True)]
    while stack:
        current, direct = stack.pop()
        match current:
            case model.Named(full_name, _):
                yield full_name, direct
            case model.AliasOf(full_name, target):
                yield full_name, direct
                stack.append((target, direct))
            case model.ListOf(element) | model.SetOf(element) | model.OptionalOf(element):
                stack.append((element, False))
            case model.ArrayOf(element, _):
                stack.append((element, direct))
            case model.MapOf(key, value):
                stack += [(key, False), (value, False)]
            case model.RefOf(element):
                yield element.full_name, False
            case model.Primitive():
                pass


def spelled_types(declaration: model.Declaration) -> Sequence[model.Type]:
    match declaration:
        case model.Struct() | model.Union():
            return [field.spelled for field in model.members(declaration)]
        case model.Alias():
            return [declaration.spelled]
        case _:
            return []


def made_by(value: model.Value | None) -> Iterable[str]:
    """Full names of the structs and unions that a value is made of."""
    stack: list[model.Value | None] = [value]
    while stack:
        match stack.pop():
            case model.StructValue(name, fields):
                yield name
                stack += [each for _, each in fields]
            case model.UnionValue(name, _, held):
                yield name
                stack.append(held)
            case model.ListValue(elements):
                stack += elements
            case model.MapValue(entries):
                stack += [each for entry in entries for each in entry]
            case _:
                pass


def components(names: Sequence[str], edges: Callable[[str], Sequence[str]]) -> list[list[str]]:
    """Tarjan's strongly connected components, what others need first; the order of `names` decides ties."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    on_stack: set[str] = set()
    stack: list[str] = []
    found: list[list[str]] = []
    for root in names:
        if root in index:
            continue
        work = [(root, iter(edges(root)))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            name, targets = work[-1]
            target = next(targets, None)
            if target is not None:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(edges(target))))
                elif target in on_stack:
                    low[name] = min(low[name], index[target])
                continue
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[name])
            if low[name] == index[name]:
                component: list[str] = []
                while not component or component[-1] != name:
                    component.append(stack.pop())
                    on_stack.discard(component[-1])
                found.append(sorted(component, key=index.__getitem__))
    return found


class TypeGraph:
    """The declared types of all modules with their edges. Those to what a type holds directly, or makes in
    its defaults, never form a loop in a checked program.
    """

    def __init__(self, declarations: Sequence[model.Declaration]) -> None:
        self.declarations = {each.full_name: each for each in declarations}
        self._all: dict[str, list[str]] = {}
        self._direct: dict[str, list[str]] = {}
        self._needed: dict[str, list[str]] = {}
        for each in declarations:
            edges = [
                edge for type_ in spelled_types(each) for edge in parts(type_) if edge[0] in self.declarations
            ]
            self._all[each.full_name] = [name for name, _ in edges]
            self._direct[each.full_name] = [name for name, direct in edges if direct]
            fields = model.members(each) if isinstance(each, model.Struct | model.Union) else ()
            made = [name for field in fields for name in made_by(field.default) if name in self.declarations]
            # A union keeps what it is recursive with in a box, so it does not need that complete.
            held = [] if isinstance(each, model.Union) else self._direct[each.full_name]
            self._needed[each.full_name] = [*held, *made]

    def needed(self, name: str) -> Sequence[str]:
        """The types that describe a type: what it holds directly or makes in its defaults."""
        return self._needed[name]

    def cycles(self) -> dict[str, frozenset[str]]:
        """For each recursive struct or union, those that contain each other."""
        made: dict[str, frozenset[str]] = {}
        for component in components(list(self.declarations), self._all.__getitem__):
            if len(component) > 1 or component[0] in self._all[component[0]]:
                holders = frozenset(
                    name
                    for name in component
                    if isinstance(self.declarations[name], model.Struct | model.Union)
                )
                made |= dict.fromkeys(holders, holders)
        return made

    def direct_loops(self) -> list[list[str]]:
        """Sets of structs and unions that contain each other directly: values without end."""
        found = components(list(self.declarations), self._direct.__getitem__)
        return [each for each in found if len(each) > 1 or each[0] in self._direct[each[0]]]

    def default_loops(self) -> list[list[str]]:
        """Sets of types that contain each other through defaults; those that do so without defaults are not
        repeated.
        """
        direct = {name for loop in self.direct_loops() for name in loop}
        found = components(list(self.declarations), self._needed.__getitem__)
        return [
            each
            for each in found
            if (len(each) > 1 or each[0] in self._needed[each[0]]) and not direct & set(each)
        ]

    def ordered(self) -> list[model.Declaration]:
        """Types that must be complete come before those that need them; within that, so do other referenced
        types where possible.
        """
        order: list[model.Declaration] = []
        for component in components(list(self.declarations), self._all.__getitem__):
            order += [self.declarations[name] for name in self._by_direct_need(component)]
        return order

    def _by_direct_need(self, component: list[str]) -> list[str]:
        """What is needed comes first; within that, as far as that is possible, what a union has in a box, and
        the contents of a container that a default puts into an optional.
        """
        wanted = {name: [*self._needed[name], *self._direct[name], *self._filled(name)] for name in component}
        groups = inside(component, wanted)
        return [name for group in groups for part in inside(group, self._needed) for name in part]

    def _filled(self, name: str) -> list[str]:
        declaration = self.declarations[name]
        fields = declaration.fields if isinstance(declaration, model.Struct) else ()
        return [
            held
            for each in fields
            if each.default is not None and isinstance(each.type, model.OptionalOf)
            for held, _ in parts(each.type)
        ]


def inside(names: list[str], edges: Mapping[str, list[str]]) -> list[list[str]]:
    """Components of a part of a graph."""
    among = set(names)
    kept = {name: [target for target in edges[name] if target in among] for name in names}
    return components(names, kept.__getitem__)
