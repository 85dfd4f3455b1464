"""R0. `@dataclass(slots=True)` and `field` as generated code uses them, without the cost at import.

Type checkers see those of `dataclasses`, and the classes behave like dataclasses: `fields`, `replace`,
`asdict`, `is_dataclass` and `match` work, and a class may be derived from as a dataclass. But nothing is made
before it is used. `dataclasses` takes a quarter of a millisecond for each class, and five for itself and
`inspect`: a client with 160 structs would wait for all of them at every start.

    __init__, __eq__          compiled when the first instance is made
    __repr__, __replace__     one function for all classes
    __dataclass_fields__      requested from `dataclasses` on first access
    of errors                 the text contains the fields, and pickling keeps them

What is stored in a class has names with two underscores at both ends, which no field can have.
"""

from reprlib import recursive_repr
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass, field
else:

    class _Factory:
        """The factory for the default of a field, called for each instance."""

        __slots__ = ("make",)

        def __init__(self, make):
            self.make = make

    # The default of a field that must be given although an earlier one has a default. It must be named, and
    # so must all later ones; only decoders, which pass all fields in order, do not name them.
    _REQUIRED = _Factory(None)

    def field(*, default=_REQUIRED, default_factory=None, kw_only=False):  # noqa: ARG001 - for type checkers
        return default if default_factory is None else _Factory(default_factory)

    class _Asked:
        """An attribute of the class that is computed on first access."""

        __slots__ = ("_of",)

        def __init__(self, of):
            self._of = of

        def __get__(self, instance, owner):
            return self._of(owner)

    def dataclass(*, slots):
        """`slots` is always True: it is written for readers."""
        assert slots
        return _with_slots

    def _with_slots(written):
        names = tuple(written.__annotations__)
        members = {name: value for name, value in vars(written).items() if name not in names}
        for own in ("__dict__", "__weakref__"):
            members.pop(own, None)
        members |= _COMMON | getattr(written, "__mf_members__", {})
        members.setdefault("__hash__", None)
        if issubclass(written, BaseException):
            members |= _OF_ERRORS
        members["__qualname__"] = written.__qualname__
        members["__slots__"] = members["__match_args__"] = names
        given = {name: vars(written)[name] for name in names if name in vars(written)}
        members["__mf_defaults__"] = {name: value for name, value in given.items() if value is not _REQUIRED}
        return type(written)(written.__name__, written.__bases__, members)

    def _base(owner):
        """The class that the decorator made; `owner` may derive from it."""
        return next(each for each in owner.__mro__ if "__mf_defaults__" in vars(each))

    def _first_init(self, *arguments, **named):
        _complete(_base(type(self))).__init__(self, *arguments, **named)

    def _first_eq(self, other):
        return _complete(_base(type(self))).__eq__(self, other)

    def _complete(cls):
        """Adds the functions that the fields of `cls` need."""
        if vars(cls)["__init__"] is _first_init:
            for name, made in _compiled(cls).items():
                if name in getattr(cls, "__mf_members__", {}):
                    continue
                made.__qualname__ = f"{cls.__qualname__}.{name}"
                setattr(cls, name, made)
        return cls

    def _keyword_only(cls):
        """The fields from the first one without a default that follows one with a default."""
        names, defaults = cls.__slots__, cls.__mf_defaults__
        behind = False
        for at, name in enumerate(names):
            if behind and name not in defaults:
                return names[at:]
            behind = behind or name in defaults
        return ()

    def _refuse(owner, name):
        raise TypeError(f"{owner.__qualname__}.__init__() missing a required keyword-only argument: {name!r}")

    def _compiled(cls):
        names, kept = cls.__slots__, getattr(cls, "__mf_kept__", {})
        known = {"__mf_missing__": None, "__name__": cls.__module__}
        known["__mf_missing__"] = missing = _Factory(None)
        known["__mf_refuse__"] = _refuse
        parameters, lines, named = ["self"], [], _keyword_only(cls)
        for at, name in enumerate(names):
            value = name
            if name in cls.__mf_defaults__:
                default = cls.__mf_defaults__[name]
                parameters.append(f"{name}=__mf_default_{at}__")
                if isinstance(default, _Factory):
                    known[f"__mf_make_{at}__"] = default.make
                    value = f"__mf_make_{at}__() if {name} is __mf_missing__ else {name}"
                    default = missing
                known[f"__mf_default_{at}__"] = default
            elif name in named:
                parameters.append(f"{name}=__mf_missing__")
                lines.append(f"    if {name} is __mf_missing__: __mf_refuse__(self.__class__, {name!r})\n")
            else:
                parameters.append(name)
            lines.append(f"    self.{name} = {value}\n")
        lines += [f"    self.{name} = {value!r}\n" for name, value in kept.items()]
        ours, theirs = (
            f"({''.join(f'{whose}.{name}, ' for name in (*names, *kept))})" for whose in ("self", "other")
        )
        exec(
            f"def __init__({', '.join(parameters)}):\n{''.join(lines) or '    pass'}\n"
            "def __eq__(self, other):\n"
            "    if other.__class__ is not self.__class__:\n"
            "        return NotImplemented\n"
            f"    return {ours} == {theirs}\n",
            known,
        )
        known["__init__"].__annotations__ = {**cls.__annotations__, "return": "None"}
        return {name: known[name] for name in ("__init__", "__eq__")}

    def _shown(self):
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in _base(type(self)).__slots__)

    @recursive_repr()
    def _repr(self):
        return f"{type(self).__qualname__}({_shown(self)})"

    def _replaced(self, /, **changes):
        """Called by `copy.replace`, from Python 3.13 on."""
        from dataclasses import replace

        return replace(self, **changes)

    def _reduce(self):
        return type(self), tuple(getattr(self, name) for name in _base(type(self)).__slots__)

    def _like(owner):
        """A class that `dataclasses` made with the same fields."""
        import dataclasses

        cls = _base(owner)
        members = {"__annotations__": cls.__annotations__, "__module__": cls.__module__}
        named = _keyword_only(cls)
        for name in (*cls.__mf_defaults__, *named):
            how = {"kw_only": True} if name in named else {}
            if name in cls.__mf_defaults__:
                default = cls.__mf_defaults__[name]
                made = isinstance(default, _Factory)
                how |= {"default_factory": default.make} if made else {"default": default}
            members[name] = dataclasses.field(**how)
        return dataclasses.dataclass(type(cls.__name__, (), members))

    def _fields(owner):
        cls = _base(owner)
        cls.__dataclass_fields__ = _like(cls).__dataclass_fields__
        return cls.__dataclass_fields__

    def _params(owner):
        return _like(owner).__dataclass_params__

    def _signature(owner):
        """The signature of the constructor; None if a derived class has its own."""
        from inspect import Parameter, signature

        cls = _complete(_base(owner))
        if owner.__init__ is not cls.__init__:
            return None
        whole = signature(cls.__init__)
        shown = [
            each.replace(default=None) if isinstance(each.default, _Factory) else each
            for each in whole.parameters.values()
        ]
        named = _keyword_only(cls)
        first = [each for each in shown[1:] if each.name not in named]
        last = [
            each.replace(
                kind=Parameter.KEYWORD_ONLY,
                default=each.default if each.name in cls.__mf_defaults__ else Parameter.empty,
            )
            for each in shown
            if each.name in named
        ]
        return whole.replace(parameters=first + last)

    _COMMON = {
        "__init__": _first_init,
        "__eq__": _first_eq,
        "__repr__": _repr,
        "__replace__": _replaced,
        "__dataclass_fields__": _Asked(_fields),
        "__dataclass_params__": _Asked(_params),
        "__signature__": _Asked(_signature),
    }
    _OF_ERRORS = {"__str__": _shown, "__reduce__": _reduce}

__all__ = ["dataclass", "field"]
