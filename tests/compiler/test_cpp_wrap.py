"""The lines of generated C++ that are too long are broken as the tree's own are, and nothing else changes."""

import pytest

from mfidl.emit.cpp.text import WIDTH
from mfidl.emit.cpp.wrap import wrapped

CASES = {
    "parameters beside the bracket": (
        "void Febird<::sf1::search::IndexFindRequest>::write(Writer& writer, "
        "const ::sf1::search::IndexFindRequest* values, std::size_t count) noexcept {",
        "void Febird<::sf1::search::IndexFindRequest>::write(Writer& writer,\n"
        "                                                    const ::sf1::search::IndexFindRequest* values,\n"
        "                                                    std::size_t count) noexcept {",
    ),
    "a parameter below the bracket": (
        "std::size_t Febird<::sf1::text::DuplicateTerm0123>::size("
        "const ::sf1::text::DuplicateTerm0123& value) noexcept {",
        "std::size_t Febird<::sf1::text::DuplicateTerm0123>::size(\n"
        "    const ::sf1::text::DuplicateTerm0123& value) noexcept {",
    ),
    "the terms of a sum": (
        "  return archive::size(1, value.first_of_them) + archive::size(2, value.second_of_them) + "
        "unknown_size(value.unknown_fields);",
        "  return archive::size(1, value.first_of_them) + archive::size(2, value.second_of_them) +\n"
        "         unknown_size(value.unknown_fields);",
    ),
    "the terms of an assertion": (
        "static_assert(sizeof(::sf1::search::IndexScoreRequest) == 16 && "
        "alignof(::sf1::search::IndexScoreRequest) == 8);",
        "static_assert(sizeof(::sf1::search::IndexScoreRequest) == 16 &&\n"
        "              alignof(::sf1::search::IndexScoreRequest) == 8);",
    ),
    "a statement behind its condition": (
        "        if (!archive::merged(message, cursor, seen[10], value.the_name_of_a_field, rows)) return "
        'reader.inside("the_name_of_a_field");',
        "        if (!archive::merged(message, cursor, seen[10], value.the_name_of_a_field, rows)) {\n"
        '          return reader.inside("the_name_of_a_field");\n'
        "        }",
    ),
    "a function of one statement": (
        "  [[nodiscard]] static Value of_terms(std::vector<std::string> value) { return "
        "Value(std::in_place_index<2>, std::move(value)); }",
        "  [[nodiscard]] static Value of_terms(std::vector<std::string> value) {\n"
        "    return Value(std::in_place_index<2>, std::move(value));\n"
        "  }",
    ),
    "the members of a constructor": (
        "  WrongKind(Value value_in, std::vector<std::string> texts_in, Field fields_in) : "
        "value(std::move(value_in)), texts(std::move(texts_in)), fields(fields_in) {}",
        "  WrongKind(Value value_in, std::vector<std::string> texts_in, Field fields_in)\n"
        "      : value(std::move(value_in)), texts(std::move(texts_in)), fields(fields_in) {}",
    ),
    "the base of a class": (
        'class [[deprecated("use (these), or those")]] AdditionsSubscriber final : public '
        "mf::topics::PerAgentSubscriber<Additions> {",
        'class [[deprecated("use (these), or those")]] AdditionsSubscriber final\n'
        "    : public mf::topics::PerAgentSubscriber<Additions> {",
    ),
    "alternatives": (
        "  std::variant<std::vector<std::string>, std::map<std::string, std::uint32_t>, ::sf1::Postings_, "
        "double> value_;",
        "  std::variant<std::vector<std::string>, std::map<std::string, std::uint32_t>, ::sf1::Postings_,\n"
        "               double> value_;",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_line_is_broken(case: str) -> None:
    line, lines = CASES[case]
    assert len(line) > WIDTH
    assert wrapped(line) == lines


@pytest.mark.parametrize(
    "line",
    [
        "// " + "a word, another, " * 10,
        '#include "' + "folder/" * 20 + 'file.hpp"',
        "std::string_view " + "x" * 120 + ";",
        "x" * 109,
    ],
)
def test_a_line_without_a_place_to_be_broken_at_stays(line: str) -> None:
    assert wrapped(line) == line


def test_the_lines_of_a_raw_string_stay() -> None:
    text = 'constexpr std::string_view kText =\n    R"mf(type a\n field map<' + "u32, " * 40 + '>\n)mf";\n'
    assert wrapped(text) == text
