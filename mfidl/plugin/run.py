"""F6. One generator: the program as a request to it, its answer as files."""

from mfidl import model
from mfidl.descriptor.write import to_message
from mfidl.diagnostics import Diagnostics
from mfidl.emit.output import GeneratedFile
from mfidl.plugin import OUTPUT_LIMIT, Generator
from mfidl.plugin import plugin_pb2 as pb
from mfidl.plugin.answer import FORMAT, files_of, read_answer, report
from mfidl.plugin.process import Failed, answer

_HELP = {
    "E0901": "`--plugin {name}=PATH` names another program",
    "E0902": "what it wrote to standard error is above; nothing was written",
    "E0904": "`--plugin-timeout SECONDS` gives generators more time",
}


def generate(
    generator: Generator, program: model.Program, version: str, diagnostics: Diagnostics
) -> list[GeneratedFile]:
    """The files that the generator wants written; none, and an error among the diagnostics, if it failed."""
    modules = [module.name for module in program.requested]
    request = pb.Request(
        format=FORMAT,
        compiler_version=version,
        modules=modules,
        options=[pb.Option(key=key, value=value) for key, value in generator.options],
        program=to_message(program),
    )
    try:
        data = request.SerializeToString(deterministic=True)
        response = read_answer(answer(generator.program, data, generator.timeout, OUTPUT_LIMIT))
        report(generator.name, response, program, diagnostics)
        return files_of(response, modules)
    except Failed as failure:
        hint = _HELP.get(failure.code)
        help_ = None if hint is None else hint.format(name=generator.name)
        diagnostics.error(failure.code, None, help=help_, name=generator.name, **failure.values)
        return []
