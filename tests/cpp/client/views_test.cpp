// Views: lists that stay in the memory where their message was received, alone, in structs, and through
// calls.
#include "mf/core/view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "mf/client/client.hpp"
#include "mf/codec/hash.hpp"
#include "mf/codec/json.hpp"
#include "mf/codec/value.hpp"
#include "mf/server/server.hpp"
#include "mftest/views.client.hpp"
#include "mftest/views.hpp"
#include "mftest/views.server.hpp"

namespace mftest::views {
namespace {

using testing::HasSubstr;

std::vector<double> numbers(std::size_t count) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), 0.5);
  return values;
}

TEST(View, IsARandomAccessRangeOfValues) {
  static_assert(std::random_access_iterator<mf::View<double>::Iterator>);
  const mf::View<double> view(numbers(1'000));
  EXPECT_EQ(view.size(), 1'000U);
  EXPECT_EQ(view[7], 7.5);
  EXPECT_EQ(view.front(), 0.5);
  EXPECT_EQ(view.back(), 999.5);
  EXPECT_EQ(std::accumulate(view.begin(), view.end(), 0.0), 500'000.0);
  EXPECT_EQ(*std::ranges::lower_bound(view, 41.0), 41.5);
  EXPECT_EQ(view.to_vector(), numbers(1'000));
  EXPECT_EQ(view, mf::View<double>(numbers(1'000)));
  EXPECT_LT(view, (mf::View<double>{1.0}));
  EXPECT_NE((mf::View<double>{std::nan("")}), (mf::View<double>{std::nan("")}));  // compared as lists are
}

TEST(View, TakesAVectorOverAndSharesItsMemory) {
  auto values = numbers(1'000);
  const auto* const at = values.data();
  const mf::View<double> view(std::move(values));
  ASSERT_TRUE(view.span());
  EXPECT_EQ(view.span()->data(), at);
  const auto copy = view;
  EXPECT_TRUE(copy.bytes().shares_with(view.bytes()));
}

TEST(View, OfMisalignedBytesHasNoSpanUntilItIsAligned) {
  auto bytes = mf::Bytes::with_size(8 * 1'000 + 1);
  const auto values = numbers(1'000);
  std::memcpy(bytes.mutate().data() + 1, values.data(), 8'000);
  const mf::View<double> view(bytes.slice(1));
  EXPECT_TRUE(view.bytes().shares_with(bytes));
  EXPECT_FALSE(view.span());
  EXPECT_EQ(view.to_vector(), values);
  EXPECT_TRUE(std::ranges::equal(view, values));
  const auto aligned = view.aligned();
  ASSERT_TRUE(aligned.span());
  EXPECT_TRUE(std::ranges::equal(*aligned.span(), values));
  EXPECT_TRUE(aligned.aligned().bytes().shares_with(aligned.bytes()));
  EXPECT_THROW(mf::View<double>(mf::Bytes(7)), std::invalid_argument);
}

Run run() {
  return {.name = "odd",
          .first = numbers(700),
          .maybe = Samples{},
          .marks = {{"a", {true, false}}, {"b", {}}},
          .tracks = std::vector<Point>{{.x = 1, .ok = true}, {.x = 2, .ok = false}},
          .many = {numbers(3), {}, numbers(900)}};
}

PlainRun plain() {
  return {.name = "odd",
          .first = numbers(700),
          .maybe = std::vector<double>(),
          .marks = {{"a", {true, false}}, {"b", {}}},
          .tracks = {{.x = 1, .ok = true}, {.x = 2, .ok = false}},
          .many = {numbers(3), {}, numbers(900)}};
}

TEST(View, HasTheBytesTheHashesAndTheTextsOfTheList) {
  EXPECT_EQ(mf::to_bytes(run()), mf::to_bytes(plain()));
  EXPECT_EQ(mf::to_bytes(views::Run{}), mf::to_bytes(PlainRun{}));
  EXPECT_EQ(mf::hash64(run()), mf::hash64(plain()));
  EXPECT_EQ(mf::to_json(run()), mf::to_json(plain()));
  EXPECT_EQ(to_string(run()).substr(3), to_string(plain()).substr(8));
  EXPECT_EQ(mf::from_json<views::Run>(mf::to_json(run())).value(), run());
  EXPECT_EQ(mf::from_bytes<views::Run>(mf::to_bytes(run())).value(), run());
}

TEST(View, OfBytesThatAreSharedLooksIntoThem) {
  const mf::Bytes bytes = mf::to_bytes(run());
  const auto read = mf::from_bytes<views::Run>(bytes).value();
  EXPECT_EQ(read, run());
  EXPECT_TRUE(read.first.bytes().shares_with(bytes));
  EXPECT_TRUE(read.many[2].bytes().shares_with(bytes));
  EXPECT_FALSE(read.many[0].bytes().shares_with(bytes));  // small ones share no memory
}

TEST(View, PaddingIsZeroOnTheWire) {
  std::vector<Point> points(500);
  std::memset(static_cast<void*>(points.data()), 0xff, points.size() * sizeof(Point));
  for (auto& point : points) point = {.x = 1, .ok = true};
  std::memset(reinterpret_cast<std::byte*>(points.data()) + sizeof(double) + 1, 0xee, 7);
  views::Run with;
  with.tracks = points;
  PlainRun without;
  without.tracks = points;
  EXPECT_EQ(mf::to_bytes(with), mf::to_bytes(without));
}

TEST(View, HostileBytesAreRefusedAsThoseOfTheList) {
  const auto good = mf::to_bytes(run());
  for (std::size_t size = 0; size < good.size(); ++size) {
    const auto as_view = mf::from_bytes<views::Run>(std::span(good).first(size));
    const auto as_list = mf::from_bytes<PlainRun>(std::span(good).first(size));
    ASSERT_FALSE(as_view) << size;
    ASSERT_EQ(as_view.error().reason, as_list.error().reason) << size;
    ASSERT_EQ(as_view.error().offset, as_list.error().offset) << size;
  }
  for (std::size_t at = 0; at < good.size(); ++at) {
    auto bad = good;
    bad[at] ^= std::byte{0xff};
    const auto as_view = mf::from_bytes<views::Run>(bad);
    const auto as_list = mf::from_bytes<PlainRun>(bad);
    ASSERT_EQ(static_cast<bool>(as_view), static_cast<bool>(as_list)) << at;
    if (!as_view) {
      ASSERT_EQ(as_view.error().reason, as_list.error().reason) << at;
    }
  }
  // A count that would overflow, and one without elements.
  for (const auto count : {std::uint8_t{0x0f}, std::uint8_t{0x01}}) {
    std::vector<std::byte> huge(5, std::byte{0xff});
    huge.back() = std::byte{count};
    mf::codec::Reader reader(huge);
    Samples samples;
    EXPECT_FALSE(mf::codec::Febird<Samples>::read(reader, samples));
    EXPECT_TRUE(samples.empty());
  }
}

class Servant final : public SeriesServant {
 public:
  Samples echo(const Samples& samples) override {
    seen = samples;
    return samples;
  }
  SeriesShiftedResult shifted(const std::string& name, const Samples& samples) override {
    std::vector<double> values(samples.size());
    std::ranges::transform(samples, values.begin(),
                           [&](double x) { return x + static_cast<double>(name.size()); });
    return {.samples = std::move(values), .tracks = {{.x = samples[0], .ok = true}}};
  }

  SeriesPassResult pass(const mf::Bytes& first, const Crate& crate,
                        const std::vector<mf::Bytes>& last) override {
    return {.first = first, .crate = crate, .last = last};
  }

  Samples seen;
};

TEST(View, BytesAreGatheredAroundArchivesAndNotOutOfThem) {
  mf::Server server;
  server.offer(std::make_shared<Servant>());
  server.start();
  mf::Client client(server.address().str());
  const SeriesClient stub(client);
  const auto filled = [](std::size_t size, unsigned with) {
    return mf::Bytes(size, static_cast<std::byte>(with));
  };
  for (const std::size_t size : {10U, 5'000U, 20'000U, 100'000U, 1'000'000U}) {
    const Crate crate{.blob = {.data = filled(size, 2)}, .data = filled(size, 3)};
    const std::vector<mf::Bytes> last{filled(size, 4), filled(1, 5), {}, filled(2 * size, 6)};
    const auto same = stub.pass(filled(size, 1), crate, last);
    EXPECT_TRUE(same.first == filled(size, 1)) << size;
    EXPECT_TRUE(same.crate == crate) << size;
    EXPECT_TRUE(same.last == last) << size;
  }
}

TEST(View, GoesThroughCallsWithoutACopy) {
  const auto servant = std::make_shared<Servant>();
  mf::Server server;
  server.offer(servant);
  server.start();
  mf::Client client(server.address().str());
  const SeriesClient stub(client);
  for (const std::size_t count : {0U, 1U, 100U, 1'000U, 10'000U, 1'000'000U}) {
    const Samples sent(numbers(count));
    const auto same = stub.echo(sent);
    ASSERT_TRUE(same == sent) << count;
    ASSERT_TRUE(servant->seen == sent) << count;
    // In light, the test simulates two processes.
    ASSERT_FALSE(count != 0 && servant->seen.bytes().shares_with(same.bytes()));
  }
  const auto shifted = stub.shifted("four", numbers(100'000));
  EXPECT_EQ(shifted.samples[99'999], 100'003.5);
  EXPECT_EQ(shifted.tracks[0].x, 0.5);
  try {
    (void)stub.shifted("", numbers(1'000'001));
    ADD_FAILURE();
  } catch (const mf::Error& error) {
    EXPECT_EQ(error.code(), mf::Code::invalid_argument);
    EXPECT_THAT(error.what(), HasSubstr("samples"));
  }
}

}  // namespace
}  // namespace mftest::views
