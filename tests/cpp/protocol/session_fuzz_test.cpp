// The fuzz target of the session, without libFuzzer: its seeds, and each of them with random changes. It
// keeps target and seeds working in every build.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "../../fuzz/session_fuzz.cpp"

namespace {

std::vector<std::vector<std::uint8_t>> seeds() {
  std::vector<std::vector<std::uint8_t>> all;
  for (const auto& entry : std::filesystem::directory_iterator(MF_SOURCE_DIR "/tests/fuzz/seeds/session")) {
    std::ifstream file(entry.path(), std::ios::binary);
    all.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return all;
}

TEST(SessionFuzz, EverySeedAndItsCorruptionsHoldWhatTheTargetRequires) {
  const char* asked = std::getenv("MF_FUZZ_RUNS");
  const int rounds = asked != nullptr ? std::atoi(asked) : 2000;
  const auto all = seeds();
  ASSERT_GE(all.size(), 50U);
  for (const auto& seed : all) EXPECT_EQ(LLVMFuzzerTestOneInput(seed.data(), seed.size()), 0);
  std::mt19937 random(1);
  for (int round = 0; round < rounds; ++round) {
    auto bytes = all[random() % all.size()];
    for (std::size_t i = random() % 4; i > 0; --i)
      bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
    bytes.resize(random() % (bytes.size() + 1));
    EXPECT_EQ(LLVMFuzzerTestOneInput(bytes.data(), bytes.size()), 0);
  }
}

}  // namespace
