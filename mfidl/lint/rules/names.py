"""L01: spelling of names."""

import re
from collections.abc import Iterator, Mapping

from mfidl import model
from mfidl.lint.subject import Finding, Subject, fields, named
from mfidl.semantics.symbols import BUILTIN_TYPES
from mfidl.syntax import ast

_CAMEL = re.compile(r"[A-Z][A-Za-z0-9]*")
_SNAKE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*_?")
_UPPER = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+|[0-9]+")
_LITERALS = ("true", "false", "inf", "nan")


def _words(name: str) -> list[str]:
    return _WORD.findall(name)


def _help(better: str, name: str) -> str | None:
    return f"call it `{better}`" if better and better != name else None


def _camel(name: str) -> str:
    return "".join(word[:1].upper() + word[1:].lower() for word in _words(name))


def _snake(name: str) -> str:
    return "_".join(word.lower() for word in _words(name))


def types_in_camel_case(subject: Subject) -> Iterator[Finding]:
    for kind, each in named(subject.file):
        name = each.name.text
        if kind not in ("constant", "agent") and not _CAMEL.fullmatch(name):
            yield Finding("L0101", each.name.span, {"kind": kind, "name": name}, _help(_camel(name), name))


def _snake_names(file: ast.File) -> Iterator[tuple[str, ast.Name]]:
    yield from ((kind, each.name) for kind, each in fields(file))
    for each in file.declarations:
        match each:
            case ast.AgentDecl():
                yield "agent", each.name
            case ast.EnumDecl():
                yield from (("member", member.name) for member in each.members)
            case ast.ServiceDecl():
                yield from (("method", method.name) for method in each.methods)
            case _:
                pass


def names_in_snake_case(subject: Subject) -> Iterator[Finding]:
    for kind, name in _snake_names(subject.file):
        if not _SNAKE.fullmatch(name.text):
            better = _snake(name.text)
            yield Finding("L0102", name.span, {"kind": kind, "name": name.text}, _help(better, name.text))


def constants_in_upper_case(subject: Subject) -> Iterator[Finding]:
    for kind, each in named(subject.file):
        name = each.name.text
        if kind == "constant" and not _UPPER.fullmatch(name):
            yield Finding("L0103", each.name.span, {"name": name}, _help(_snake(name).upper(), name))


def modules_in_lower_case(subject: Subject) -> Iterator[Finding]:
    for each in subject.file.declarations:
        if isinstance(each, ast.ModuleDecl):
            for part in each.path.parts:
                if not _SNAKE.fullmatch(part.text):
                    yield Finding(
                        "L0104", part.span, {"name": part.text}, _help(_snake(part.text), part.text)
                    )


def names_like_built_in_words(subject: Subject) -> Iterator[Finding]:
    known = {word.lower(): word for word in (*BUILTIN_TYPES, *_LITERALS)}
    for kind, each in named(subject.file):
        word = known.get(each.name.text.lower())
        if word is not None and kind != "agent":
            yield Finding("L0105", each.name.span, {"kind": kind, "name": each.name.text, "word": word})


def members_that_repeat_the_enum(subject: Subject) -> Iterator[Finding]:
    for each in subject.enums():
        prefix = _snake(each.name.text) + "_"
        for member in each.members:
            name = member.name.text
            rest = name.lower().removeprefix(prefix)
            if rest != name.lower() and rest[:1].isalpha():
                values: dict[str, object] = {"name": name, "kind": each.keyword}
                yield Finding("L0106", member.name.span, values, _help(rest, name))


def files_not_named_like_modules(subject: Subject) -> Iterator[Finding]:
    file = subject.file.source.name.replace("\\", "/").rpartition("/")[2]
    for each in subject.file.declarations:
        if isinstance(each, ast.ModuleDecl) and file.endswith(".mfidl"):
            name = each.path.parts[-1].text
            if file != f"{name}.mfidl":
                hint = f"call the file `{name}.mfidl`"
                yield Finding("L0107", each.path.span, {"name": each.path.text, "file": file}, hint)


def classes_that_give_way(subject: Subject) -> Iterator[Finding]:
    """Reports the first class of each service and topic in each language. The compiler adds names without `_`
    at their ends; it puts one there if a name is taken."""
    name = subject.module.name
    cpp, python = subject.whole.cpp_names.module(name), subject.whole.python_names[name]
    declared: list[model.Service | model.Topic] = [*subject.module.services, *subject.module.topics]
    meanings = {each.name: each for each in declared}
    for kind, each in named(subject.file):
        meaning = meanings.get(each.name.text) if kind in ("service", "topic") else None
        match meaning:
            case model.Service():
                of_cpp, of_python = cpp.service(meaning), python.services[meaning.full_name]
                made = {
                    "C++": (of_cpp.client, of_cpp.scatter, of_cpp.servant, of_cpp.async_servant),
                    "Python": (
                        of_python.client,
                        of_python.scatter,
                        of_python.async_client,
                        of_python.async_scatter,
                        of_python.servant,
                        of_python.async_servant,
                    ),
                }
            case model.Topic():
                topic, classes = cpp.topic(meaning), python.topics[meaning.full_name].exported[:4]
                made = {"C++": (topic.description, topic.publisher, topic.subscriber), "Python": classes}
            case _:
                continue
        for language, found in _given_way(made).items():
            values: dict[str, object] = {"kind": kind, "name": each.name.text}
            values |= {"class_": found, "language": language}
            yield Finding(
                "L0108", each.name.span, values, f"rename it, or what is called `{found.rstrip('_')}`"
            )


def _given_way(made: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Of each language the first class; one language, "C++ and Python", if it is the same."""
    first = {
        language: next((each for each in names if each.endswith("_")), "") for language, names in made.items()
    }
    if len(set(first.values())) == 1:
        first = {" and ".join(first): next(iter(first.values()))}
    return {language: found for language, found in first.items() if found}
