"""R0. Records that generated code makes when it is imported. They cost nothing to define, where dataclasses
compile functions for each class.
"""

from typing import Any, dataclass_transform


@dataclass_transform(kw_only_default=True, eq_default=False)
class Record:
    """Its fields are the annotations of a class that derives from this one. They are given by name; those
    that have a value in the class may be left out."""

    def __init__(self, **given: Any) -> None:
        cls = type(self)
        for name in cls.__annotations__:
            if name in given:
                setattr(self, name, given.pop(name))
            elif hasattr(cls, name):
                setattr(self, name, getattr(cls, name))
            else:
                raise TypeError(f"{cls.__name__} needs the field {name!r}")
        if given:
            raise TypeError(f"{cls.__name__} has no field {min(given)!r}")
