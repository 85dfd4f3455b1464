"""F6. proto2 files for the archive tier: what protobuf needs to read and write our archive bytes.

The mapping is documented in docs/proto.md. `generate` returns one file for every requested module, and for
each that it needs, since protoc requires the whole closure.
"""

from mfidl import model
from mfidl.emit.output import EmitOptions, GeneratedFile
from mfidl.emit.proto.file import ProtoFile
from mfidl.emit.proto.names import proto_path
from mfidl.emit.proto.types import Closure

__all__ = ["generate"]


def generate(program: model.Program, options: EmitOptions) -> list[GeneratedFile]:
    closure = Closure(program)
    files = []
    for module in program.modules:
        if module.requested or closure.of_module(module):
            text = ProtoFile(program, closure, module, options.compiler_version).text()
            files.append(GeneratedFile(proto_path(module), text, module.name))
    return files
