#include "mf/codec/febird_scalar.hpp"

#include <span>

namespace mf::codec::detail {

bool check_utf8(Reader& reader, std::string_view text) {
  const std::size_t good = valid_utf8_prefix(std::as_bytes(std::span(text)));
  return good == text.size() ||
         reader.fail(Fault::invalid_utf8, "a string is not UTF-8", reader.offset() - text.size() + good);
}

}  // namespace mf::codec::detail
