"""F6. The input of a generator besides the program, and its output. Generators never access the disk."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EmitOptions:
    """Options of one `mfidlc compile` run, the same object for every generator.

    `python_package` is the dotted prefix below which the Python tree is imported ("" for none). With
    `is_relative`, Python modules import each other relative to themselves.
    `compiler_version` goes into the banner of generated files. Without `stubs`, C++ has no clients, servants
    and topics, but the types and codecs of their methods.
    """

    python_package: str = ""
    compiler_version: str = ""
    stubs: bool = True
    is_relative: bool = False


@dataclass(frozen=True, slots=True)
class GeneratedFile:
    """One file to write below an output root.

    `path` is relative, with forward slashes, and has no `..`. `module` is the full name of the schema module
    that the file was made from; "" marks a file that several runs may share and must then agree on
    (`__init__.py`, `py.typed`).
    """

    path: str
    text: str
    module: str = ""
