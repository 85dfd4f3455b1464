"""R0. What a schema is made of as data. Such classes cost nothing to define, where dataclasses compile
functions for each: the first adapted call of a process waits for their import.
"""

from typing import Any, ClassVar, dataclass_transform


@dataclass_transform(frozen_default=True)
class Value:
    """What does not change, and is compared and hashed by its fields: the annotations of a class that derives
    from this one. They are given in their order or by name; those that have a value in the class may be left
    out.
    """

    __match_args__: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        cls.__match_args__ = tuple(cls.__annotations__)  # type: ignore[misc]  # which is no object

    def __init__(self, *given: Any, **named: Any) -> None:
        cls = type(self)
        names = cls.__match_args__
        fields = dict(zip(names, given, strict=False)) | named
        if len(given) > len(names) or not fields.keys() <= set(names):
            raise TypeError(f"{cls.__name__} has the fields {', '.join(names)}")
        for name in names[len(given) :]:
            if name not in fields:
                if not hasattr(cls, name):
                    raise TypeError(f"{cls.__name__} needs the field {name!r}")
                fields[name] = getattr(cls, name)
        self.__dict__.update(fields)

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        fields = self.__dict__
        return hash((self.__class__, *[fields[name] for name in self.__match_args__]))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
        return f"{type(self).__name__}({shown})"
