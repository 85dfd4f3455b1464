"""F6. The files of a program, and the data that each is rendered from."""

from collections.abc import Callable, Mapping

from mfidl.emit.output import EmitOptions, GeneratedFile
from mfidl.emit.python.codec import codec_views
from mfidl.emit.python.context import Context
from mfidl.emit.python.declarations import noted, types_views
from mfidl.emit.python.facts import Facts
from mfidl.emit.python.imports import Imports
from mfidl.emit.python.layout import bracket, docstring, one_of, text_lines, unfolded
from mfidl.emit.python.literals import text_literal
from mfidl.emit.python.names import package_name
from mfidl.emit.python.services import ServiceView, TopicView
from mfidl.emit.render import render
from mfidl.model import Module, Program, Struct, Union


def generate(program: Program, options: EmitOptions) -> list[GeneratedFile]:
    """The files of all requested modules, and the `__init__.py` and `py.typed` that they share."""
    files: dict[str, GeneratedFile] = {}
    facts = Facts(program)
    for module in program.requested:
        for each in [*_module(facts, module, options), *_shared(program, module, options)]:
            files.setdefault(each.path, each)
    return list(files.values())


def _module(facts: Facts, module: Module, options: EmitOptions) -> list[GeneratedFile]:
    def file(name: str, views: Callable[[Context], Mapping[str, object]]) -> GeneratedFile:
        context = Context(facts, module, options, name)
        template = f"python/{name.strip('_')}.py.j2"
        text = render(template, **_words(context), **views(context))
        return GeneratedFile(f"{_folder(module, options)}/{name}.py", text.strip("\n") + "\n", module.name)

    files = [file("_types", types_views), file("_codec", codec_views)]
    if module.services:
        files += [file("_methods", _services), file("_client", _clients), file("_server", _clients)]
    if module.topics:
        files.append(file("_topics", _topics))
    return [*files, file("__init__", _exported)]


def _words(context: Context) -> dict[str, object]:
    """What all templates know: the module, and how to lay out what they say. `use` imports a name."""
    return {
        "generator": f"mfidlc {context.options.compiler_version}".rstrip(),
        "version": context.options.compiler_version or "0",
        "module": context.module,
        "facts": context.facts,
        "imports": context.imports,
        "use": context.imports.name,
        "bracket": bracket,
        "docstring": docstring,
        "lines": text_lines,
        "noted": noted,
        "one_of": one_of,
        "quoted": text_literal,
        "unfolded": unfolded,
    }


def _services(context: Context) -> dict[str, object]:
    return {"services": [ServiceView(context, each) for each in context.module.services]}


def _clients(context: Context) -> dict[str, object]:
    """Of clients and servants: each service twice, the second time for asyncio."""
    context.imports.module("mf")
    return {
        "services": [
            ServiceView(context, each, awaited=awaited)
            for each in context.module.services
            for awaited in (False, True)
        ]
    }


def _topics(context: Context) -> dict[str, object]:
    return {"topics": [TopicView(context, each) for each in context.module.topics]}


def _shared(program: Program, module: Module, options: EmitOptions) -> list[GeneratedFile]:
    """The packages of the prefix, which are the program's own. Those between them and the module's are
    namespace packages, without a file: others may have parts of them, as `google.protobuf` is
    one of `google`.
    """
    own = {_folder(each, options) for each in program.requested}
    prefix = options.python_package.split(".") if options.python_package else []
    files = [GeneratedFile(f"{prefix[0] if prefix else _folder(module, options)}/py.typed", "")]
    for depth in range(1, len(prefix) + 1):
        folder = "/".join(prefix[:depth])
        if folder not in own:
            files.append(GeneratedFile(f"{folder}/__init__.py", ""))
    return files


def _folder(module: Module, options: EmitOptions) -> str:
    return package_name(module.name, options.python_package).replace(".", "/")


def _exported(context: Context) -> dict[str, object]:
    """Imports all that the package offers."""
    names = context.names
    exported: list[str] = []

    def export(file: str, name: str) -> None:
        if name:
            exported.append(context.imports.name(context.place(context.module.name, file), name))

    for name in (*names.constants.values(), *names.types.values()):
        export("_types", name)
    for union in context.module.unions:
        for name in names.alternatives[union.full_name]:
            export("_types", name)
    codecs: tuple[Struct | Union, ...] = (*context.module.structs, *context.module.unions)
    for each in codecs:
        export("_codec", f"{names.stems[each.full_name].upper()}_CODEC")
    for service in context.module.services:
        own = names.services[service.full_name]
        export("_client", own.client)
        export("_client", own.scatter if service.agent else "")
        export("_client", own.async_client)
        export("_client", own.async_scatter if service.agent else "")
        export("_server", own.servant)
        export("_server", own.async_servant)
        export("_methods", own.constant)
        for method, named in zip(service.methods, own.methods, strict=True):
            if service.declares(method):
                export("_types", named.request)
                export("_types", named.result)
    for topic in context.module.topics:
        for name in names.topics[topic.full_name].exported:
            export("_topics", name)
    return {"exported": sorted(set(exported), key=Imports.order)}
