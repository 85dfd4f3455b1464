"""F6. The C++ generator: `generate` gives the files of every requested module (docs/generated-code.md)."""

from mfidl.emit.cpp.codecs import Codecs
from mfidl.emit.cpp.facts import Facts
from mfidl.emit.cpp.files import ModuleFiles
from mfidl.emit.cpp.graphs import Graphs
from mfidl.emit.cpp.literals import Literals
from mfidl.emit.cpp.names import Names
from mfidl.emit.cpp.structs import Describer
from mfidl.emit.cpp.types import CppTypes
from mfidl.emit.output import EmitOptions, GeneratedFile
from mfidl.model import Program

__all__ = ["generate"]


def generate(program: Program, options: EmitOptions) -> list[GeneratedFile]:
    names = Names(program)
    graphs = Graphs(program)
    types = CppTypes(program, names, graphs)
    literals = Literals(program, names, types)
    codecs = Codecs(program, Facts(program, graphs), types, names, literals)
    describer = Describer(program, names, types, literals, codecs)
    files: list[GeneratedFile] = []
    for module in program.requested:
        files += ModuleFiles(describer, module, options).all()
    return files
