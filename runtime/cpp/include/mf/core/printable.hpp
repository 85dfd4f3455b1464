#pragma once
// Text of generated values, for logs and test failures: Hit{doc: 3, title: "x"}.
//
// A generated type has a function print_to(mf::Printer&, const T&), which argument-dependent lookup finds; a
// generated namespace imports to_string() and operator<< from here. The text is bounded (printer.hpp) and is
// meant for people, not for programs. Generated types need only this header for it.

#include <concepts>
#include <iosfwd>
#include <string>

namespace mf {

class Printer;

template <class T>
concept Printable = requires(Printer& printer, const T& value) {
  { print_to(printer, value) } -> std::same_as<void>;
};

namespace detail {

using PrintAny = void (*)(Printer& printer, const void* value);
[[nodiscard]] std::string printed(PrintAny print, const void* value);
std::ostream& print_on(std::ostream& stream, PrintAny print, const void* value);

template <class T>
void print_any(Printer& printer, const void* value) {
  print_to(printer, *static_cast<const T*>(value));
}

}  // namespace detail

template <Printable T>
[[nodiscard]] std::string to_string(const T& value) {
  return detail::printed(&detail::print_any<T>, &value);
}

template <Printable T>
std::ostream& operator<<(std::ostream& stream, const T& value) {
  return detail::print_on(stream, &detail::print_any<T>, &value);
}

}  // namespace mf
