"""R1. Pickles and copies of objects that refer to others: no recursion along references, however long their
chain is.

pickle goes from an object into all that it holds, and so as deep as a graph is long. Here an object is a
place in a `_Bundle`, and the bundle holds all objects that can be reached: their classes first, of which the
reader makes empty objects, then the contents of each, in which others are places again.

Identity is kept as pickle keeps it: a bundle lives as long as the pickler that has met it remembers it, and
whichever of its objects is met meanwhile is a place in the same one.
"""

from collections.abc import Container, Iterator
from copy import deepcopy
from copyreg import __newobj__  # type: ignore[attr-defined] # what pickle makes slotted objects with
from typing import Any, Final
from weakref import WeakValueDictionary

_living: Final[WeakValueDictionary[int, "_Bundle"]] = WeakValueDictionary()  # by the ids of their objects


class _Bundle:
    __slots__ = ("__weakref__", "numbers", "objects")

    def __init__(self, objects: list[Any]) -> None:
        self.objects: Final = objects
        self.numbers: Final = {id(each): number for number, each in enumerate(objects)}

    def __reduce__(self) -> tuple[Any, ...]:
        kinds = [type(each) for each in self.objects]
        return _empty_bundle, (kinds,), [_state_of(each) for each in self.objects]

    def __setstate__(self, states: list[Any]) -> None:
        for each, state in zip(self.objects, states, strict=True):
            each.__setstate__(state)


def _empty_bundle(kinds: list[type]) -> _Bundle:
    return _Bundle([__newobj__(each) for each in kinds])


def _member(bundle: _Bundle, number: int) -> Any:
    return bundle.objects[number]


def reduced(value: Any, kinds: tuple[type, ...]) -> tuple[Any, ...]:
    """What `__reduce_ex__` returns. `kinds`: the classes whose objects refer to others."""
    bundle = _living.get(id(value))
    if bundle is None:
        bundle = _Bundle(_reachable(value, kinds, _living))
        for each in bundle.numbers:
            _living[each] = bundle
    return _member, (bundle, bundle.numbers[id(value)])


def shallow_copy(value: Any) -> Any:
    made = __newobj__(type(value))
    made.__setstate__(_state_of(value))
    return made


def deep_copy(root: Any, memo: dict[int, Any], kinds: tuple[type, ...]) -> Any:
    """What `copy.deepcopy` makes of an object and of all that it refers to."""
    if id(root) not in memo:
        objects = _reachable(root, kinds, memo)
        for each in objects:
            memo[id(each)] = __newobj__(type(each))
        for each in objects:
            memo[id(each)].__setstate__(deepcopy(_state_of(each), memo))
    return memo[id(root)]


def _state_of(value: Any) -> Any:
    """As pickle has it: `__dict__` or None, and the slots."""
    return object.__reduce_ex__(value, 2)[2]


def _reachable(root: Any, kinds: tuple[type, ...], known: Container[int]) -> list[Any]:
    """All objects that refer, but those whose ids are known already."""
    objects = [root]
    met = {id(root)}
    for at in objects:  # grows while it is gone through
        for each in _held(_state_of(at), kinds):
            if id(each) not in met and id(each) not in known:
                met.add(id(each))
                objects.append(each)
    return objects


def _held(value: Any, kinds: tuple[type, ...]) -> Iterator[Any]:
    if isinstance(value, kinds):
        yield value
    elif isinstance(value, dict):
        for each in value.values():  # of a map, or the slots of an object: whatever its fields hold
            yield from _held(each, kinds)
    elif isinstance(value, (list, tuple)) and value and not isinstance(value[0], (int, float, str, bytes)):
        for each in value:
            yield from _held(each, kinds)
