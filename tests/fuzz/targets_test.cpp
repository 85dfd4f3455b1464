// The fuzz targets without libFuzzer, in builds with a sanitizer: each seed is a value, each beginning of a
// seed and each seed with random changes is whatever the target takes it for, and no step takes more memory
// at once than its budget allows. MF_FUZZ_RUNS asks for more changes.

#include "targets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace fuzz {

void PrintTo(const Target& target, std::ostream* out) {
  *out << target.name;
}

}  // namespace fuzz

namespace {

using Input = std::vector<std::uint8_t>;

std::vector<Input> seeds(std::string_view target) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(MF_FUZZ_SEEDS) / target))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Input> all;
  for (const auto& path : files) {
    std::ifstream file(path, std::ios::binary);
    all.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return all;
}

std::size_t rounds() {
  const char* const asked = std::getenv("MF_FUZZ_RUNS");
  return asked != nullptr ? std::strtoul(asked, nullptr, 10) : 2000;
}

class FuzzTarget : public testing::TestWithParam<fuzz::Target> {
 protected:
  static bool run(const Input& input) { return GetParam().run(std::as_bytes(std::span(input))); }
  std::vector<Input> seeds_ = seeds(GetParam().name);
  std::mt19937 random_{1};

  std::size_t below(std::size_t limit) { return random_() % limit; }

  void change(Input& input) {
    const auto at =
        static_cast<std::ptrdiff_t>(1 + below(input.size()));  // behind the byte that picks the type
    const auto left = static_cast<std::ptrdiff_t>(input.size()) - at;
    switch (below(4)) {
      case 0:
        input.insert(input.begin() + at, 1 + below(3), static_cast<std::uint8_t>(random_()));
        break;
      case 1:
        input.erase(input.begin() + at, input.begin() + at + std::min<std::ptrdiff_t>(left, 4));
        break;
      default:
        if (left > 0) input[static_cast<std::size_t>(at)] = static_cast<std::uint8_t>(random_());
    }
  }
};

TEST_P(FuzzTarget, TakesEverySeedForAValue) {
  EXPECT_GE(seeds_.size(), 16U);
  for (std::size_t i = 0; i < seeds_.size(); ++i) EXPECT_TRUE(run(seeds_[i])) << "seed " << i;
}

TEST_P(FuzzTarget, TakesNoBeginningOfAValueForOneUnlessItMayBeShorter) {
  for (const Input& seed : seeds_) {
    const std::size_t step = 1 + seed.size() / 50;
    for (std::size_t size = 1; size < seed.size(); size += step) {
      const bool read = run(Input(seed.begin(), seed.begin() + static_cast<std::ptrdiff_t>(size)));
      EXPECT_TRUE(!read || GetParam().may_be_shorter);
    }
  }
}

TEST_P(FuzzTarget, HoldsWhateverIsChanged) {
  std::size_t read = 0;
  for (std::size_t round = 0; round < rounds(); ++round) {
    Input input = seeds_[below(seeds_.size())];
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) change(input);
    read += run(input) ? 1 : 0;
  }
  EXPECT_GT(read, 0U);
  EXPECT_LT(read, rounds());
}

INSTANTIATE_TEST_SUITE_P(Tiers, FuzzTarget, testing::ValuesIn(fuzz::kTargets),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
