"""R0. `@dataclass(slots=True)` and `field` of generated code that is older than mf.core.plain_struct.

docs/versions.md promises that such code works; nothing else may use this file. The constructor is one
function for all classes: it takes all fields in their order, or by name. Type checkers see `dataclasses`.
"""

from typing import TYPE_CHECKING

from mf.core.plain_struct import PlainStruct

if TYPE_CHECKING:
    from dataclasses import dataclass, field
else:
    _REQUIRED = object()

    class _Factory:
        __slots__ = ("make",)

        def __init__(self, make):
            self.make = make

    def field(*, default=_REQUIRED, default_factory=None, kw_only=False):  # noqa: ARG001 - for type checkers
        return default if default_factory is None else _Factory(default_factory)

    def dataclass(*, slots):
        assert slots
        return _with_slots

    def _with_slots(written):
        names = tuple(written.__annotations__)
        held = vars(written)
        defaults = {name: held[name] for name in names if held.get(name, _REQUIRED) is not _REQUIRED}
        own = {*names, "__dict__", "__weakref__"}
        members = {name: value for name, value in held.items() if name not in own}
        members["__slots__"] = members["__match_args__"] = names
        members["__init__"] = _constructor(written.__qualname__, names, defaults)
        bases = tuple(each for each in written.__bases__ if each is not object)
        if not issubclass(written, PlainStruct):
            bases = (PlainStruct, *bases)
        return type(written)(written.__name__, bases, members)

    def _constructor(kind, names, defaults):
        def constructor(self, *placed, **named):
            given = dict(zip(names, placed, strict=False)) | named
            if len(given) != len(placed) + len(named) or not given.keys() <= set(names):
                raise TypeError(f"{kind}.__init__() takes each of {', '.join(names)} once")
            for name in names:
                value = given.get(name, defaults.get(name, _REQUIRED))
                if value is _REQUIRED:
                    raise TypeError(f"{kind}.__init__() missing a required argument: {name!r}")
                setattr(self, name, value.make() if isinstance(value, _Factory) else value)
            if hasattr(type(self), "__mf_unknown__"):  # an archive struct
                self.__mf_unknown__ = b""

        return constructor


__all__ = ["dataclass", "field"]
