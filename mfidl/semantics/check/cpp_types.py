"""F4. Checks that no two structs name the same C++ type of the user: it can have one codec, and one name on
the wire.

The texts of @cpp.type and @cpp.codec are compared. Only a C++ compiler can see that two of them are aliases
of one type.
"""

from collections.abc import Iterable

from mfidl import model
from mfidl.diagnostics import Diagnostics, Note


def check_cpp_types(modules: Iterable[model.Module], diagnostics: Diagnostics) -> None:
    """In any of the modules: their headers may be included together."""
    first: dict[str, model.Struct] = {}
    for module in modules:
        for each in module.declarations:
            named = (each.cpp_type or each.cpp_codec) if isinstance(each, model.Struct) else None
            if named is None:
                continue
            assert isinstance(each, model.Struct)
            other = first.setdefault("".join(named.type.split()).removeprefix("::"), each)
            if other is not each:
                diagnostics.error(
                    "E0625",
                    each.span,
                    notes=[Note(f"`{other.name}` is that type here", other.span)],
                    help=f"use `{other.full_name}` in both places, or give `{each.name}` a type of its own",
                    name=each.name,
                    other=other.full_name,
                    type=named.type,
                )
