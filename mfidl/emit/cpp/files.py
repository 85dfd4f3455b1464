"""F6. The files of a module, their includes, and their rendering."""

from collections.abc import Iterable, Iterator
from functools import cached_property

from mfidl.emit.cpp.services import implicit_structs, method_types, service_view
from mfidl.emit.cpp.structs import Describer
from mfidl.emit.cpp.text import doc, includes, raw
from mfidl.emit.cpp.topics import topic_types, topic_view
from mfidl.emit.cpp.view import (
    AliasView,
    ArchiveView,
    ConstraintsView,
    EnumView,
    FileView,
    SchemaTypeView,
    ServiceView,
    StructView,
    TextsView,
    TopicView,
    UnionView,
)
from mfidl.emit.cpp.wrap import wrapped
from mfidl.emit.output import EmitOptions, GeneratedFile
from mfidl.emit.render import render
from mfidl.model import (
    Alias,
    CppCodec,
    CppType,
    Declaration,
    Enum,
    Field,
    Flags,
    Module,
    Primitive,
    Scalar,
    Service,
    Struct,
    Tier,
    Topic,
    Type,
    Union,
    expand,
    members,
    names_in,
)
from mfidl.plan.annex import own_annex
from mfidl.plan.fingerprint import Descriptors, fingerprint, type_lines
from mfidl.plan.reach import Reach

DeclaredView = AliasView | EnumView | StructView | UnionView


class ModuleFiles:
    """The files of one module."""

    def __init__(self, describer: Describer, module: Module, options: EmitOptions) -> None:
        self._describer = describer
        self._module = module
        self._options = options
        self._stem = module.name.replace(".", "/")
        self._services = tuple(service_view(describer, each, module) for each in module.services)
        self._topics = tuple(topic_view(describer, each, module) for each in module.topics)
        self._declared = tuple(describer.declaration(each, module) for each in module.declarations)
        self._implicit = tuple(
            struct for each in module.services for struct in implicit_structs(describer, each, module)
        )

    def all(self) -> list[GeneratedFile]:
        files = [self._header(), self._source()]
        if self._stubs and self._module.services:
            files += [self._client_header(), self._server_header()]
        if self._stubs and self._module.topics:
            files.append(self._topics_header())
        return files

    @property
    def _stubs(self) -> bool:
        return self._options.stubs

    def _header(self) -> GeneratedFile:
        """Types, codecs, what values say of their types, and the descriptions of methods."""
        module, describer = self._module, self._describer
        return self._file(
            "hpp",
            self._type_headers() | self._codec_headers() | self._schema_headers() | self._method_headers(),
            early=tuple(self._early()),
            constants=tuple(describer.constant(each, module) for each in module.constants),
            declared=tuple(map(self._declaration, module.declarations, self._declared)),
            printable=bool(self._structs or self._unions or self._enums or self._printed_results),
            enums=self._enums,
            coded=self._coded,
            existing=self._existing,
            services=self._services,
            implicit=self._implicit,
            constrained=[each for each in (*self._coded, *self._implicit) if each.constraints.checks],
            texts=self._module_texts(),
            types=tuple(self._schema_type(each) for each in self._with_texts),
        )

    def _declaration(self, declaration: Declaration, view: DeclaredView) -> DeclaredView:
        if isinstance(declaration, Struct) and isinstance(view, StructView) and view.existing:
            return self._describer.of_existing(view, declaration)
        return view

    def _early(self) -> Iterator[EnumView | UnionView | StructView]:
        """The types that are named before they are defined, since they hold each other."""
        module = self._module
        places = {each.full_name: i for i, each in enumerate(module.declarations)}
        early = {
            name
            for i, each in enumerate(module.declarations)
            for name in self._described_names(each)
            if places.get(name, -1) >= i
        }
        for declaration, view in zip(module.declarations, self._declared, strict=True):
            if declaration.full_name not in early or isinstance(view, AliasView):
                continue
            if isinstance(view, EnumView) or not view.existing:
                yield view

    def _described_names(self, declaration: Declaration) -> Iterator[str]:
        """The full names of the types that a declaration's class says."""
        yield from names_in(_mentioned(declaration))
        for _, inner in self._describer.names.module(self._module.name).inner(declaration.full_name):
            yield inner.full_name
            if isinstance(inner, Alias):
                yield from names_in(_mentioned(inner))

    def _type_headers(self) -> set[str]:
        module = self._module
        types = [each.spelled for each in module.constants]
        headers = self._included(types)
        for declaration in module.declarations:
            types += _mentioned(declaration)
            headers |= _needed(declaration) | self._held(declaration)
        headers |= {'"mf/codec/graph.hpp"', "<span>"} if any(each.tables for each in self._coded) else set()
        if any(expand(each.type) == Primitive(Scalar.STRING) for each in module.constants):
            headers.add("<string_view>")
        return headers | self._imported(types, "hpp")

    def _codec_headers(self) -> set[str]:
        headers = {"<cstddef>", '"mf/codec/febird.hpp"'}
        tiers = {each.codec.tier for each in self._coded}
        headers |= {"<cstring>"} if "memcpy" in tiers else set()
        headers |= {'"mf/codec/archive.hpp"'} if "archive" in tiers else set()
        headers |= {'"mf/codec/custom.hpp"'} if "custom" in tiers else set()
        if self._existing:
            headers.add('"mf/core/printer.hpp"')
        headers |= self._constraint_headers(each.constraints for each in self._coded)
        return headers | _readable_header(self._coded)

    def _source(self) -> GeneratedFile:
        return self._file(
            "cpp",
            self._source_headers(),
            enums=self._enums,
            coded=self._coded,
            own=tuple(each for each in self._coded if isinstance(each, UnionView) or not each.existing),
            existing=self._existing,
            implicit=self._implicit,
            printed=self._printed_results,
            services=self._services,
            topics=self._topics if self._stubs else (),
            texts=self._module_texts(),
            stubs=self._stubs,
        )

    def _source_headers(self) -> set[str]:
        headers = {"<cstddef>", "<type_traits>"}
        if self._enums:
            headers |= {"<array>", "<string_view>"}
        if self._enums or self._coded or self._printed_results:
            headers.add('"mf/core/printer.hpp"')
        archives = [each.codec for each in self._coded if isinstance(each.codec, ArchiveView)]
        headers |= {"<array>", "<bitset>", "<cstdint>"} if archives else set()
        if any(slot.coded for each in archives for slot in each.slots):
            headers.add('"mf/codec/archive_coded.hpp"')
        if any(each.tables for each in self._coded):
            headers.add("<span>")
        if self._services:
            headers |= {"<array>", "<string_view>"}
        if not self._stubs:
            return headers
        if self._services:
            headers |= {"<utility>", f'"{self._stem}.client.hpp"', f'"{self._stem}.server.hpp"'}
            headers |= {'"mf/server/run.hpp"'} | ({'"mf/server/stream.hpp"'} if self._streams else set())
        if any(each.agent and each.agent.type != "std::string" for each in self._services):
            headers.add('"mf/core/agent.hpp"')
        if self._topics:
            headers |= {f'"{self._stem}.topics.hpp"', "<string_view>"}
        return headers

    @property
    def _described(self) -> tuple[ServiceView | TopicView, ...]:
        return (*self._services, *self._topics)

    @property
    def _existing(self) -> tuple[StructView, ...]:
        return tuple(each for each in self._structs if each.existing)

    @property
    def _with_texts(self) -> list[Struct | Union | Enum | Flags]:
        return [each for each in self._module.declarations if not isinstance(each, Alias)]

    def _schema_headers(self) -> set[str]:
        return {'"mf/codec/schema_type.hpp"', "<string_view>"} if self._module_texts() else set()

    def _module_texts(self) -> TextsView | None:
        """What values, services and topics say of types: one text for those of the module."""
        if not self._with_texts and not any(each.parted for each in self._described):
            return None
        describer, program = self._describer, self._describer.program.declarations
        held = [field.type for each in self._with_texts for field in _fields_of(each)]
        held += [type_ for each in self._module.services for type_ in method_types(each)]
        held += [type_ for each in self._module.topics for type_ in topic_types(each) if self._stubs]
        owners = {describer.names.owner(name).module for name in names_in(held)}
        lines = (f"{line}\n" for each in self._with_texts for line in type_lines(each, as_written=True))
        annexes = ((each.full_name, own_annex(each, program)) for each in self._with_texts)
        return TextsView(
            types=raw("".join(lines)),
            annex=raw("".join(f"type {name}\n{annex}" for name, annex in annexes if annex)),
            customs=tuple(
                self._schema_type(each) for each in self._module.structs if each.tier is Tier.CUSTOM
            ),
            imports=tuple(
                f"::mf::module_texts::{describer.names.module(name).namespace}::kTexts"
                for name in sorted(owners - {self._module.name})
            ),
        )

    @cached_property
    def _descriptors(self) -> Descriptors:
        return Descriptors(Reach(self._describer.program.declarations))

    def _schema_type(self, declaration: Struct | Union | Enum | Flags) -> SchemaTypeView:
        digest = fingerprint(self._descriptors.type(declaration.reference))
        return SchemaTypeView(
            qualified=self._describer.types.declared(declaration.full_name),
            full_name=declaration.full_name,
            fingerprint=digest.hex(),
        )

    def _method_headers(self) -> set[str]:
        if not self._services:
            return set()
        types = [type_ for each in self._module.services for type_ in method_types(each)]
        headers = {"<chrono>", "<cstddef>", "<cstdint>", "<cstring>"}
        headers |= {'"mf/codec/tiered.hpp"', '"mf/core/handler.hpp"', '"mf/core/service.hpp"'}
        headers |= {'"mf/core/printable.hpp"'} if self._printed_results else set()
        headers |= self._constraint_headers(each.constraints for each in self._implicit)
        headers |= _readable_header(self._implicit)
        headers |= self._constraint_headers(
            check.constraints for each in self._services for method in each.methods for check in method.checks
        )
        headers |= {'"mf/core/stream.hpp"'} if self._streams else set()
        headers |= {'"mf/replicated/options.hpp"'} if self._replicated else set()
        headers |= self._extended("hpp")
        return headers | self._included(types) | self._imported(types, "hpp")

    @property
    def _printed_results(self) -> tuple[StructView, ...]:
        return tuple(each for each in self._implicit if each.printed)

    def _client_header(self) -> GeneratedFile:
        headers = {"<span>", "<utility>", '"mf/client/call.hpp"', f'"{self._stem}.hpp"'}
        headers |= {'"mf/client/stream.hpp"'} if self._streams else set()
        headers |= {'"mf/replicated/call.hpp"'} if self._replicated else set()
        if any(method.cached for service in self._module.services for method in service.methods):
            headers |= {'"mf/client/cached.hpp"'}
        if any(each.agent is not None for each in self._module.services):
            headers |= {"<string>", "<string_view>", "<vector>"}
        return self._file("client.hpp", headers, services=self._services)

    def _server_header(self) -> GeneratedFile:
        headers = {
            "<span>",
            "<utility>",
            '"mf/core/handler.hpp"',
            '"mf/core/servant.hpp"',
            f'"{self._stem}.hpp"',
        }
        headers |= {'"mf/replicated/applying.hpp"'} if self._replicated else set()
        headers |= self._extended("server.hpp")
        headers |= {'"mf/core/extension.hpp"'} if any(each.extended for each in self._services) else set()
        return self._file("server.hpp", headers, services=self._services)

    def _topics_header(self) -> GeneratedFile:
        types = [each for topic in self._module.topics for each in topic_types(topic)]
        headers = {
            '"mf/topics/publisher.hpp"',
            '"mf/topics/subscriber.hpp"',
            '"mf/topics/topic.hpp"',
            f'"{self._stem}.hpp"',
        }
        headers |= {"<string>"} if any(each.agent is not None for each in self._module.topics) else set()
        return self._file("topics.hpp", headers | self._imported(types, "hpp"), topics=self._topics)

    @property
    def _streams(self) -> bool:
        return any(method.streams for each in self._module.services for method in each.methods)

    @property
    def _replicated(self) -> bool:
        return any(each.replicated for each in self._services)

    @property
    def _coded(self) -> tuple[StructView | UnionView, ...]:
        return tuple(each for each in self._declared if isinstance(each, StructView | UnionView))

    @property
    def _unions(self) -> tuple[UnionView, ...]:
        return tuple(each for each in self._declared if isinstance(each, UnionView))

    @property
    def _structs(self) -> tuple[StructView, ...]:
        return tuple(each for each in self._declared if isinstance(each, StructView))

    @property
    def _enums(self) -> tuple[EnumView, ...]:
        return tuple(each for each in self._declared if isinstance(each, EnumView))

    def _constraint_headers(self, constraints: Iterable[ConstraintsView]) -> set[str]:
        used = [each for each in constraints if each.checks]
        headers = {"<cstdint>", "<limits>", "<optional>", "<string>", '"mf/codec/constraints.hpp"'}
        if any(each.patterns for each in used):
            headers.add('"mf/codec/pattern.hpp"')
        return headers if used else set()

    def _held(self, declaration: Declaration) -> set[str]:
        """Headers for the content of the declaration: archives hold some of it in another form."""
        types = self._describer.types
        if isinstance(declaration, Struct | Union):
            types = types.within(declaration)
        return {header for type_ in _mentioned(declaration) for header in types.includes(type_)}

    def _included(self, types: Iterable[Type]) -> set[str]:
        return {header for type_ in types for header in self._describer.types.includes(type_)}

    def _extended(self, kind: str) -> set[str]:
        """Headers of other modules that have services which those of this module extend."""
        program = self._describer.program
        modules = {each.module for service in self._module.services for each in program.extended(service)}
        return {f'"{name.replace(".", "/")}.{kind}"' for name in modules - {self._module.name}}

    def _imported(self, types: Iterable[Type], kind: str) -> set[str]:
        modules = self._describer.types.modules_of(types) - {self._module.name}
        return {f'"{name.replace(".", "/")}.{kind}"' for name in modules}

    def _file(self, kind: str, headers: set[str], **values: object) -> GeneratedFile:
        module, path = self._module, f"{self._stem}.{kind}"
        banner = [f"Generated by mfidlc {self._options.compiler_version} from {module.path}. Do not edit."]
        described: list[Service | Topic] = [*module.services, *module.topics]
        banner += [f"{each.full_name}: fingerprint {each.fingerprint.hex()}" for each in described]
        once, own = kind.endswith("hpp"), f'"{path[:-4]}.hpp"'
        included = includes(headers) if once else f"#include {own}\n\n{includes(headers - {own})}"
        view = FileView(
            banner="".join(f"// {line}\n" for line in banner),
            once=once,
            version=_number(self._options.compiler_version) if kind == "hpp" else None,
            includes="".join(f"{line}\n" for line in included.rstrip().split("\n") if included),
            namespace=self._describer.names.module(module.name).namespace,
            quieted="".join(f"{line}\n" for line in self._quieted(kind)),
        )
        text = render(f"cpp/{kind}.j2", file=view, module_doc=doc(module.doc), **values)
        return GeneratedFile(path, wrapped(text), module.name)

    def _quieted(self, kind: str) -> list[str]:
        """Warnings for users of the generated code, which files that include it should not get."""
        lines = []
        if self._mentions_deprecated():
            lines.append('#pragma GCC diagnostic ignored "-Wdeprecated-declarations"')
        facts = self._describer.codecs.facts
        if kind == "hpp" and any(facts.holds_existing(each) for each in _all_fields(self._module)):
            # Comparisons exist if the existing type has them.
            lines += ["#ifdef __clang__"]
            lines += ['#pragma clang diagnostic ignored "-Wdefaulted-function-deleted"', "#endif"]
        return lines

    def _mentions_deprecated(self) -> bool:
        """Whether this module's code may mention something deprecated, its own or another module's."""
        program = self._describer.program
        neighbours = [program.module(each.module) for each in self._module.imports]
        return any(map(_has_deprecated, [self._module, *neighbours]))


def _number(version: str) -> int:
    """A version as mf/core/generated.hpp compares it."""
    major, minor, patch = [*map(int, version.split(".")), 0, 0][:3] if version else (0, 0, 0)
    return major * 10_000 + minor * 100 + patch


def _readable_header(coded: Iterable[StructView | UnionView]) -> set[str]:
    return {'"mf/codec/readable.hpp"'} if any(each.readable for each in coded) else set()


def _all_fields(module: Module) -> list[tuple[Field, ...]]:
    methods = [method for service in module.services for method in service.own_methods]
    return [
        *(struct.fields for struct in module.structs),
        *(union.alternatives for union in module.unions),
        *(struct.fields for method in methods for struct in (method.params, method.results)),
    ]


def _mentioned(declaration: Declaration) -> list[Type]:
    match declaration:
        case Struct():
            return [kind for field in declaration.fields for kind in (field.spelled, field.type)]
        case Union():
            return [kind for field in declaration.alternatives for kind in (field.spelled, field.type)]
        case Alias():
            return [declaration.spelled]
        case Enum() | Flags():
            return [declaration.base]


def _needed(declaration: Declaration) -> set[str]:
    """Headers that a declaration needs besides those of its types."""
    match declaration:
        case Struct(cpp_type=CppType(header=header)) | Struct(cpp_codec=CppCodec(header=header)):
            return {header if header.startswith("<") else f'"{header}"'}
        case Struct():
            headers = {"<compare>", '"mf/core/printable.hpp"'}
            headers |= {'"mf/codec/unknown_fields.hpp"'} if declaration.tier is Tier.ARCHIVE else set()
            headers |= {'"mf/core/error.hpp"'} if declaration.is_error else set()
            return headers | ({"<utility>"} if declaration.is_error and declaration.fields else set())
        case Union():
            headers = {"<array>", "<compare>", "<cstddef>", "<cstdint>", "<utility>", "<variant>"}
            headers |= {'"mf/codec/boxed.hpp"'} if declaration.cycle else set()
            return headers | {'"mf/core/printable.hpp"'}
        case Flags():
            return {"<string_view>", '"mf/core/flags.hpp"', '"mf/core/printable.hpp"'}
        case Enum():
            return {"<string_view>", '"mf/core/printable.hpp"'}
        case Alias(cpp_view=True):
            return {'"mf/core/view.hpp"'}
        case Alias():
            return set()


def _has_deprecated(module: Module) -> bool:
    declared = [*module.declarations, *module.constants, *module.agents, *module.services, *module.topics]
    inner = [field for each in module.structs for field in each.fields]
    inner += [field for each in module.unions for field in each.alternatives]
    members = [member for each in module.enums for member in each.members]
    bits = [member for each in module.flags for member in each.members]
    methods = [method for each in module.services for method in each.methods]
    inner += [f for each in methods for f in (*each.params.fields, *each.results.fields)]
    return any(each.deprecated is not None for each in (*declared, *inner, *members, *bits, *methods))


def _fields_of(declaration: Declaration) -> tuple[Field, ...]:
    return members(declaration) if isinstance(declaration, Struct | Union) else ()
