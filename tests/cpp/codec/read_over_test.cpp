// Every vector of tests/vectors/wide, read into what other vectors of its type, whole or in part, have left
// there: the value is that of a fresh object, with its unknown fields, and nothing of before.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "bytes.hpp"
#include "wide_subjects.hpp"
#include "wide_vectors.hpp"

namespace mf::codec {
namespace {

std::map<std::string, std::vector<ByteVector>> by_type(const std::string& file) {
  std::map<std::string, std::vector<ByteVector>> all;
  for (const Vector& vector : load(file)) all[vector.at("type")].push_back(from_hex(vector.at("hex")));
  return all;
}

class ReadOver : public testing::TestWithParam<const char*> {};

TEST_P(ReadOver, IsAsIfNothingHadBeenThere) {
  for (const auto& [type, values] : by_type(GetParam())) {
    SCOPED_TRACE(type);
    const Subject& subject = subject_of(type);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::string wanted = to_hex(*subject.rewrite(values[i], {}));
      for (const std::size_t distance :
           {std::size_t{0}, std::size_t{1}, values.size() - 1, values.size() / 2}) {
        const std::span<const std::byte> before = values[(i + distance) % values.size()];
        for (const std::size_t part : {before.size(), before.size() / 2, before.size() * 4 / 5}) {
          const auto read = subject.rewrite_after(before.first(part), values[i], {});
          ASSERT_TRUE(read) << read.error().message();
          ASSERT_EQ(to_hex(*read), wanted)
              << "value " << i << " over " << part << " bytes of another, " << distance << " behind it";
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Each, ReadOver,
                         testing::Values("memcpy", "archive", "graphs", "febird", "custom", "custom_hand"),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace mf::codec
