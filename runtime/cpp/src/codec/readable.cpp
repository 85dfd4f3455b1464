#include "mf/codec/readable.hpp"

#include "mf/core/error.hpp"

namespace mf::codec {

namespace detail {

std::optional<std::string> refusal_of(std::span<const std::byte> bytes, bool (*reads)(Reader& reader)) {
  Reader reader(bytes, {.decoded_bytes = SIZE_MAX});
  if (reads(reader)) {
    return std::nullopt;
  }
  return reader.error().path + ": " + reader.error().reason;
}

}  // namespace detail

std::string rooted(std::string_view root, std::string_view bad) {
  std::string text(root);
  if (text.empty()) {
    bad.remove_prefix(bad.starts_with(": ") ? 2 : 0);
  } else if (!bad.starts_with(':') && !bad.starts_with('[')) {
    text += '.';
  }
  return text.append(bad);
}

void refuse_value(std::string_view type, std::string_view bad) {
  throw Error(Code::invalid_argument, Execution::not_executed, rooted(type, bad));
}

void refuse_size(std::string_view type, std::size_t size) {
  refuse_value(type, ": its " + std::to_string(size) + " bytes are more than a message can count");
}

}  // namespace mf::codec
