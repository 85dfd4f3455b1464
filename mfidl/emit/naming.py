"""F6. The names of generated code: one allocator per scope, one rule for every collision.

The rule (docs/generated-code.md): a schema's name is kept as it is written. If it is a reserved word of the
target language, or a name that generated code itself uses in that scope, it gets a trailing underscore, and
another, until it is free. Names that the generator adds are built from the schema's *written* names, and
yield to these in the same way, so that adding a method renames no type.

So a generator opens a `Scope` per scope of the target language with the words reserved there, takes the names
of the schema, and only then those that it adds, all in the order of the schema: the result depends on that
module alone, and every module that imports it comes to the same names.
"""

import re
from collections.abc import Callable, Container, Iterable, Set

from mfidl.model import Declaration, Module, Service, local_name
from mfidl.model.target_words import CPP_RESERVED, PYTHON_KEYWORDS, PYTHON_RESERVED

__all__ = [
    "CPP_RESERVED",
    "PYTHON_KEYWORDS",
    "PYTHON_RESERVED",
    "Scope",
    "by_depth",
    "camel",
    "flat_names",
    "snake",
]


class Scope:
    """The names of one scope of the target language. Reserved sets and scopes are asked, not copied, since
    they are large and there are many scopes: they must not change as long as names are taken here.
    """

    def __init__(self, *reserved: "Iterable[str] | Scope") -> None:
        self._asked = [each for each in reserved if isinstance(each, Set | Scope)]
        self._taken: set[str] = set()
        for each in reserved:
            if not isinstance(each, Set | Scope):
                self._taken.update(each)

    def take(self, wanted: str, even: Container[str] = ()) -> str:
        """`wanted`, or the first of wanted_, wanted__, ... that is free. It is taken from now on. A name in
        `even` counts as free.
        """
        name = wanted
        while name in self and name not in even:
            name += "_"
        self._taken.add(name)
        return name

    def __contains__(self, name: str) -> bool:
        """Whether a name is taken or reserved."""
        if name in self._taken:
            return True
        for each in self._asked:  # noqa: SIM110 - a generator for each name takes twice as long
            if name in each:
                return True
        return False


def by_depth(module: Module) -> list[Declaration]:
    """The declarations of the module itself, then those within them, and so on: a declaration precedes those
    that are named after it.
    """
    return sorted(module.declarations, key=lambda each: len(each.within.split(".")) if each.within else 0)


def flat_names(module: Module, written: Callable[[Declaration | Service], str]) -> dict[str, str]:
    """What generated code calls declared types, by full name: a type within another declaration is called
    after both, `Outer_Inner`. `written` is the name that the schema gives a declaration.
    """
    holders = {service.name: written(service) for service in module.services}
    names: dict[str, str] = {}
    for each in by_depth(module):
        name = written(each)
        if each.within:
            # A declaration that cannot be generated is left out, maybe without what is in it.
            name = f"{holders.get(each.within, each.within.replace('.', '_'))}_{name}"
        names[each.full_name] = holders[local_name(each)] = name
    return names


def camel(name: str) -> str:
    """collection_id -> CollectionId; letters that are capital already stay so: getURL -> GetURL."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def snake(name: str) -> str:
    """NoSuchCollection -> no_such_collection, HTTPServer -> http_server."""
    spaced = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", spaced).lower()
