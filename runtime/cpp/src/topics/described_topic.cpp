#include "mf/topics/described_topic.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <vector>

#include "mf/core/error.hpp"
#include "mf/core/hex.hpp"
#include "mf/core/text.hpp"
#include "mf/link/adaptation.hpp"

namespace mf::topics {
namespace {

constexpr std::array kTiers{Tier::memcpy, Tier::febird, Tier::archive, Tier::custom};
constexpr std::size_t kLargestFile = std::size_t{16} << 20U;

Error no_topic(const std::string& why) {
  return {Code::invalid_argument, Execution::not_executed,
          "this is no description of a topic, as `mfidlc descriptor --topic NAME` writes it: " + why};
}

std::string_view next_line(std::string_view& text) {
  const auto end = text.find('\n');
  const auto line = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return line;
}

/// What follows `start`; nothing (with a null pointer) if the line does not start so.
std::string_view behind(std::string_view line, std::string_view start) {
  return line.starts_with(start) ? line.substr(start.size()) : std::string_view();
}

std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const auto end = line.find(' ');
    if (end != 0) words.push_back(line.substr(0, end));
    line = end == std::string_view::npos ? std::string_view() : line.substr(end + 1);
  }
  return words;
}

/// "type NAME struct febird" is the line that says it.
Tier tier_of(std::string_view descriptor, std::string_view type) {
  while (!descriptor.empty()) {
    const auto said = words(next_line(descriptor));
    if (said.size() < 4 || said[0] != "type" || said[1] != type) continue;
    const auto* const tier = std::ranges::find_if(kTiers, [&](Tier each) { return name(each) == said[3]; });
    if (tier != kTiers.end()) return *tier;
  }
  throw no_topic("it does not say the tier of its value " + shortened(type));
}

void read_annex(std::string_view annex, TopicInfo& info) {
  (void)next_line(annex);
  while (annex.starts_with(' ')) {
    const auto said = words(next_line(annex));
    if (said.size() == 2 && said[0] == "replay") {
      std::from_chars(said[1].data(), said[1].data() + said[1].size(), info.replay);
    } else if (said.size() > 1 && said[0] == "overflow") {
      info.overflow = 0;
      for (const auto each :
           {Overflow::drop_oldest, Overflow::drop_newest, Overflow::block, Overflow::disconnect}) {
        if (std::ranges::find(said, name(each)) != said.end())
          info.overflow = static_cast<std::uint8_t>(info.overflow | bit(each));
        if (said[1] == name(each)) info.default_overflow = each;
      }
    }
  }
  // A subscriber that chooses none gets this one wherever it is allowed.
  if ((info.overflow & bit(Overflow::drop_oldest)) != 0) info.default_overflow = Overflow::drop_oldest;
}

}  // namespace

std::string_view name(Tier tier) noexcept {
  constexpr std::array<std::string_view, 4> names{"memcpy", "febird", "archive", "custom"};
  return names[static_cast<std::size_t>(tier) - 1];
}

DescribedTopic::DescribedTopic(std::string text) : text_(std::move(text)), info_{.service = service_} {
  const std::string_view all = text_;
  const auto annex_at = all.find("\nannex ");
  if (!all.starts_with("topic ")) throw no_topic("it does not begin with \"topic\"");
  if (annex_at == std::string_view::npos) throw no_topic("it has no annex");
  const auto descriptor = all.substr(0, annex_at + 1);
  const auto annex = all.substr(annex_at + 1);
  auto rest = descriptor;
  const auto topic = behind(next_line(rest), "topic ");
  auto line = next_line(rest);
  if (line.starts_with(" per ")) {
    info_.per_agent = true;
    line = next_line(rest);
  }
  const auto value = behind(line, " value ");
  if (topic.empty() || value.empty()) throw no_topic("it does not say what its values are");
  tier_ = tier_of(rest, value);
  service_ = {.name = topic,
              .descriptor = descriptor,
              .annex = annex,
              .fingerprint = link::fingerprint_of(descriptor),
              .methods = kMethods};
  read_annex(annex, info_);
}

std::unique_ptr<DescribedTopic> DescribedTopic::of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file.is_open() || file.bad() || text.size() > kLargestFile)
    throw Error(Code::invalid_argument, Execution::not_executed,
                "the description of the topic cannot be read: " + path);
  return std::make_unique<DescribedTopic>(std::move(text));
}

}  // namespace mf::topics
