// The headers of a message that an engine kept: seven lines of text, in the order of bridge/record.hpp. What
// is read is written and read again as itself.

#include <algorithm>
#include <optional>

#include "in_cpp/input.hpp"
#include "mf/bridge/record.hpp"
#include "targets.hpp"

namespace fuzz {

bool headers(std::span<const std::byte> input) {
  using mf::bridge::kHeaders;
  const auto line = [&](std::string_view name) -> std::optional<std::string_view> {
    std::string_view text = text_of(rest_of(input));
    for (const std::string_view each : kHeaders) {
      const auto end = text.find('\n');
      if (end == std::string_view::npos) return std::nullopt;
      if (each == name) return text.substr(0, end);
      text.remove_prefix(end + 1);
    }
    return std::nullopt;
  };
  mf::bridge::Record record;
  if (const auto refusal = mf::bridge::read_headers(line, record)) {
    require(refusal->starts_with("it has no header mf-") || refusal->starts_with("its header mf-"));
    return false;
  }
  const auto written = mf::bridge::headers_of(record);
  const auto same = [&](std::string_view name) -> std::optional<std::string_view> {
    const auto at = std::find(kHeaders.begin(), kHeaders.end(), name) - kHeaders.begin();
    return written[static_cast<std::size_t>(at)];
  };
  mf::bridge::Record again;
  require(!mf::bridge::read_headers(same, again) && mf::bridge::headers_of(again) == written);
  require(again.agent == record.agent && mf::bridge::id_of(again) == mf::bridge::id_of(record));
  return true;
}

}  // namespace fuzz
