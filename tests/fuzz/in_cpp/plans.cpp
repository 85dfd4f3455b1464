// Two descriptors, each with its annex, zeros between the four: what a consumer and a provider with these
// schemas make of each other. Seeds are valid pairs.

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "in_cpp/input.hpp"
#include "mf/codec/described/schema.hpp"
#include "mf/evolution/plan.hpp"
#include "targets.hpp"

namespace fuzz {

bool plans(std::span<const std::byte> input) {
  using mf::described::Schema;
  std::string_view text = text_of(rest_of(input));
  std::array<std::string_view, 4> parts;
  for (auto& part : parts) {
    const auto zero = std::min(text.find('\0'), text.size());
    part = text.substr(0, zero);
    text.remove_prefix(std::min(zero + 1, text.size()));
  }
  auto here = Schema::read(parts[0], parts[1]);
  auto there = Schema::read(parts[2], parts[3]);
  require(here.ok() || !here.error().reason.empty());
  require(there.ok() || !there.error().reason.empty());
  if (!here.ok() || !there.ok()) return false;
  const auto ours = std::make_shared<const Schema>(std::move(*here));
  const auto theirs = std::make_shared<const Schema>(std::move(*there));
  require(mf::evolution::make_plan(ours, ours).refusal.empty());
  (void)mf::evolution::make_plan(ours, theirs);
  (void)mf::evolution::make_plan(theirs, ours);
  return true;
}

}  // namespace fuzz
