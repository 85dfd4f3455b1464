"""F6. Which files a module has, what each includes, and its rendering."""

from collections.abc import Iterable

from mfidl.emit.cpp.services import implicit_structs, method_types, service_view
from mfidl.emit.cpp.structs import Describer
from mfidl.emit.cpp.text import includes
from mfidl.emit.cpp.types import modules_of
from mfidl.emit.cpp.view import ConstraintsView, EnumView, FileView, MemcpyView, StructView
from mfidl.emit.output import EmitOptions, GeneratedFile
from mfidl.emit.render import render
from mfidl.model import Alias, Module, Primitive, Scalar, Struct, Type, expand


class ModuleFiles:
    """The files of one module."""

    def __init__(self, describer: Describer, module: Module, options: EmitOptions) -> None:
        self._describer = describer
        self._module = module
        self._options = options
        self._stem = module.name.replace(".", "/")
        self._services = tuple(service_view(describer, each, module) for each in module.services)
        self._declared = tuple(describer.declaration(each, module) for each in module.declarations)
        self._implicit = tuple(
            struct for each in module.services for struct in implicit_structs(describer, each, module)
        )

    def all(self) -> list[GeneratedFile]:
        files = [self._types(), self._codec_header(), self._codec_source()]
        if self._module.services:
            files += [self._methods()]
            files += [self._client_header(), self._client_source()]
            files += [self._server_header(), self._server_source()]
        return files

    def _types(self) -> GeneratedFile:
        module = self._module
        types = [each.spelled for each in module.constants]
        headers: set[str] = set()
        for declaration in module.declarations:
            if isinstance(declaration, Struct):
                types += [kind for field in declaration.fields for kind in (field.spelled, field.type)]
                headers |= {'"mf/core/error.hpp"'} if declaration.is_error else set()
                headers |= {"<utility>"} if declaration.is_error and declaration.fields else set()
            elif isinstance(declaration, Alias):
                types.append(declaration.spelled)
            else:
                types.append(declaration.base)
                headers.add("<string_view>")
        if any(expand(each.type) == Primitive(Scalar.STRING) for each in module.constants):
            headers.add("<string_view>")
        forward = [self._describer.names.of(each.full_name) for each in module.structs if each.cycle]
        return self._file(
            "types.hpp",
            headers | self._included(types) | self._imported(types, "types.hpp"),
            constants=tuple(self._describer.constant(each, module) for each in module.constants),
            forward=forward,
            declarations=self._declared,
        )

    def _codec_header(self) -> GeneratedFile:
        types = [field.type for struct in self._module.structs for field in struct.fields]
        headers = {"<cstddef>", f'"{self._stem}.types.hpp"', '"mf/codec/febird.hpp"'}
        if any(isinstance(each.codec, MemcpyView) for each in self._structs):
            headers.add("<cstring>")
        headers |= self._constraint_headers(each.constraints for each in self._structs)
        return self._file(
            "codec.hpp",
            headers | self._imported(types, "codec.hpp"),
            enums=self._enums,
            structs=self._structs,
        )

    def _codec_source(self) -> GeneratedFile:
        equalities = tuple(each for each in self._structs if each.equality)
        return self._file(
            "codec.cpp", {"<cstddef>", "<type_traits>"}, structs=self._structs, equalities=equalities
        )

    def _methods(self) -> GeneratedFile:
        types = [type_ for each in self._module.services for type_ in method_types(each)]
        headers = {
            "<array>",
            "<chrono>",
            "<cstddef>",
            "<cstdint>",
            "<cstring>",
            "<span>",
            "<string_view>",
            "<type_traits>",
            '"mf/codec/tiered.hpp"',
            '"mf/core/handler.hpp"',
            '"mf/core/service.hpp"',
            f'"{self._stem}.codec.hpp"',
        }
        headers |= self._constraint_headers(each.constraints for each in self._implicit)
        headers |= self._constraint_headers(
            method.result_checks for each in self._services for method in each.methods
        )
        return self._file(
            "methods.hpp",
            headers | self._included(types) | self._imported(types, "codec.hpp"),
            services=self._services,
            structs=self._implicit,
        )

    def _client_header(self) -> GeneratedFile:
        headers = {"<span>", "<utility>", '"mf/client/call.hpp"', f'"{self._stem}.server.hpp"'}
        if any(each.agent is not None for each in self._module.services):
            headers |= {"<string>", "<string_view>", "<vector>"}
        return self._file("client.hpp", headers, services=self._services)

    def _client_source(self) -> GeneratedFile:
        return self._file("client.cpp", {"<utility>"}, services=self._services)

    def _server_header(self) -> GeneratedFile:
        headers = {
            "<span>",
            "<utility>",
            '"mf/core/handler.hpp"',
            '"mf/core/servant.hpp"',
            f'"{self._stem}.methods.hpp"',
        }
        return self._file("server.hpp", headers, services=self._services)

    def _server_source(self) -> GeneratedFile:
        headers = {'"mf/server/outcome_of.hpp"', '"mf/server/run.hpp"'}
        return self._file("server.cpp", headers, services=self._services)

    @property
    def _structs(self) -> tuple[StructView, ...]:
        return tuple(each for each in self._declared if isinstance(each, StructView))

    @property
    def _enums(self) -> tuple[EnumView, ...]:
        return tuple(each for each in self._declared if isinstance(each, EnumView))

    def _constraint_headers(self, constraints: Iterable[ConstraintsView]) -> set[str]:
        used = [each for each in constraints if each.statements]
        headers = {"<cstdint>", "<limits>", "<optional>", "<string>", '"mf/codec/constraints.hpp"'}
        if any(each.patterns for each in used):
            headers.add('"mf/codec/pattern.hpp"')
        return headers if used else set()

    def _included(self, types: Iterable[Type]) -> set[str]:
        return {header for type_ in types for header in self._describer.types.includes(type_)}

    def _imported(self, types: Iterable[Type], kind: str) -> set[str]:
        modules = modules_of(types) - {self._module.name}
        return {f'"{name.replace(".", "/")}.{kind}"' for name in modules}

    def _file(self, kind: str, headers: set[str], **values: object) -> GeneratedFile:
        module, path = self._module, f"{self._stem}.{kind}"
        banner = [f"Generated by mfidlc {self._options.compiler_version} from {module.path}. Do not edit."]
        banner += [f"{each.full_name}: fingerprint {each.fingerprint.hex()}" for each in module.services]
        lines = list(includes(headers))
        if kind.endswith(".cpp"):
            own = f'#include "{path[:-4]}.hpp"'
            lines = [own, "", *(line for line in lines if line != own)] if lines else [own]
        view = FileView(
            banner=tuple(banner),
            includes=tuple(lines),
            namespace=self._describer.names.module(module.name).namespace,
        )
        text = render(f"cpp/{kind}.j2", file=view, module_doc=module.doc, **values)
        return GeneratedFile(path, text, module.name)
