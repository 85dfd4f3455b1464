"""R0. What the classes of a schema's structs, alternatives and requests derive from.

A generated class has slots, `__match_args__`, and a constructor, `==` and `repr` of its own. This base adds
what is rarely used: `copy.replace`, and what `dataclasses.fields`, `asdict` and `replace` read. `dataclasses`
itself is imported when one of these is called: that takes as long as all other imports of a client. The
runtime's own classes, and those of described types, take `==` and `repr` from here too.
"""

from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self


class _Fresh:
    def __repr__(self) -> str:
        return "<a new one>"


FRESH: Final[Any] = _Fresh()
"""The default of a parameter whose value can be changed: the constructor makes one for each instance."""


class _Fields:
    """What `dataclasses` finds the fields of its classes in, made for a class when it is read."""

    def __get__(self, instance: object, owner: type) -> Any:
        return _fields_of(owner)


class PlainStruct:
    __slots__ = ()

    if TYPE_CHECKING:
        __dataclass_fields__: ClassVar[dict[str, Any]]
    else:
        __dataclass_fields__ = _Fields()

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in names_of(self))

    @recursive_repr()
    def __repr__(self) -> str:
        return f"{type(self).__qualname__}({shown_fields(self)})"

    def __replace__(self, /, **changes: Any) -> Self:
        """Called by `copy.replace`, from Python 3.13 on."""
        return type(self)(**{name: getattr(self, name) for name in names_of(self)} | changes)

    def __setstate__(self, state: Any) -> None:
        """Called by `pickle` and `copy`. Raises TypeError for the fields of a class of another schema: the
        value would be whole only by chance."""
        parts = state if isinstance(state, tuple) else (state,)
        given = {name: value for part in parts if part for name, value in part.items()}
        for name in names_of(self):
            if name not in given:
                raise TypeError(_other_schema(self, f"has no field `{name}`"))
        for name, value in given.items():
            try:
                setattr(self, name, value)
            except AttributeError:
                raise TypeError(_other_schema(self, f"has a field `{name}`")) from None


def _other_schema(value: object, what: str) -> str:
    return (
        f"the pickled {type(value).__qualname__} {what}, so it is of another schema than this class: values "
        "pickle between programs of one schema, and mf.to_bytes is for others"
    )


def names_of(of: object) -> tuple[str, ...]:
    return getattr(of, "__match_args__", ())


def shown_fields(value: object) -> str:
    return ", ".join(f"{name}={getattr(value, name)!r}" for name in names_of(value))


def by_place(make: Any) -> Any:
    """What makes a value of all fields in their order: `make` itself, but for a class whose last fields must
    be given by name.
    """
    code = getattr(getattr(make, "__init__", None), "__code__", None)
    if code is None or not code.co_kwonlyargcount:
        return make
    names = make.__match_args__
    first = len(names) - code.co_kwonlyargcount
    named = names[first:]
    return lambda *values: make(*values[:first], **dict(zip(named, values[first:], strict=True)))


def _fields_of(owner: type) -> dict[str, Any]:
    """Those of a dataclass with the same fields and defaults."""
    import dataclasses
    from inspect import Parameter, signature

    kind = next((each for each in owner.__mro__ if "__match_args__" in vars(each)), None)
    if kind is None:
        raise AttributeError(f"{owner.__qualname__} has no fields")
    parameters = signature(kind).parameters
    required = {name: None for name, each in parameters.items() if each.default is Parameter.empty}
    body: dict[str, Any] = {"__annotations__": kind.__annotations__, "__module__": kind.__module__}
    for name, each in parameters.items():
        how: dict[str, Any] = {"kw_only": each.kind is Parameter.KEYWORD_ONLY}
        if each.default is FRESH:
            how["default_factory"] = lambda name=name: getattr(kind(**required), name)
        elif name not in required:
            how["default"] = each.default
        body[name] = dataclasses.field(**how)
    like: Any = dataclasses.dataclass(type(kind.__name__, (), body))
    return like.__dataclass_fields__  # type: ignore[no-any-return]
