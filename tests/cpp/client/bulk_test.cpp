// Large payloads: which object holds their bytes on the way from one process to the other.
#include <gtest/gtest.h>

#include <future>
#include <span>
#include <utility>
#include <vector>

#include "mf/core/blocks.hpp"
#include "support/joined.hpp"

namespace mftest::bulk_test {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20U;

mf::Bytes counted(std::size_t size, unsigned from = 0) {
  mf::Bytes bytes(size);
  for (unsigned i = from; auto& byte : bytes.mutate()) byte = static_cast<std::byte>(i++ * 7U >> 3U);
  return bytes;
}

/// Keeps its arguments, so that the test can compare their memory.
class Keeping final : public Echo {
 public:
  mf::Outcomes<mf::Bytes> blob_items(std::span<const calls::EchoBlobRequest> requests) override {
    mf::Outcomes<mf::Bytes> outcomes;
    for (const auto& request : requests) {
      kept.push_back(request.data);
      outcomes.emplace_back(request.data);
    }
    return outcomes;
  }
  mf::Bytes blob(const mf::Bytes& data) override {
    kept.push_back(data);
    return data;
  }

  std::vector<mf::Bytes> kept;
};

class Bulk : public testing::TestWithParam<mf::Where> {};
INSTANTIATE_TEST_SUITE_P(Where, Bulk, testing::Values(mf::Where::worker, mf::Where::io_thread),
                         [](const auto& info) {
                           return info.param == mf::Where::worker ? "Worker" : "IoThread";
                         });

TEST_P(Bulk, EverySizeAroundTheThresholdsComesBack) {
  Calling calling(GetParam());
  for (const std::size_t around : {std::size_t{4096}, mf::Gathered::kFrom, mf::kKeptFrom, 3 * kMiB}) {
    for (std::size_t size = around - 24; size <= around + 1; ++size) {
      const auto sent = counted(size);
      ASSERT_TRUE(calling.stub.blob(sent) == sent) << size;
    }
  }
}

TEST_P(Bulk, TheItemsOfAMessageShareTheBufferThatItWasReceivedIn) {
  const auto servant = std::make_shared<Keeping>();
  mf::Server server;
  server.offer(servant, {.where = GetParam()});
  server.start();
  mf::Client client(server.address().str());
  const calls::EchoClient stub(client);
  const std::vector<calls::EchoBlobRequest> requests{
      {.data = counted(100'000)}, {.data = counted(20)}, {.data = counted(200'000, 5)}};
  const auto outcomes = stub.blob_bulk(requests);
  ASSERT_EQ(servant->kept.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(servant->kept[i] == requests[i].data);
    EXPECT_TRUE(outcomes[i].value() == requests[i].data);
  }
  EXPECT_TRUE(servant->kept[0].shares_with(servant->kept[2]));
  EXPECT_FALSE(servant->kept[0].shares_with(servant->kept[1]));  // small values share no memory
  EXPECT_TRUE(outcomes[0].value().shares_with(outcomes[2].value()));
  EXPECT_FALSE(outcomes[0].value().shares_with(outcomes[1].value()));
}

TEST_P(Bulk, WhatAUserKeepsStaysAsItWasWhileOthersComeAndGo) {
  Calling calling(GetParam());
  std::vector<mf::Bytes> kept;
  for (unsigned i = 0; i < 20; ++i) kept.push_back(calling.stub.blob(counted(300'000, i)));
  kept[3].mutate()[0] = std::byte{99};
  for (unsigned i = 0; i < 20; ++i) {
    auto wanted = counted(300'000, i);
    if (i == 3) wanted.mutate()[0] = std::byte{99};
    EXPECT_TRUE(kept[i] == wanted) << i;
  }
}

TEST_P(Bulk, ManyAtOnceInBothDirections) {
  Calling calling(GetParam());
  std::vector<std::promise<mf::Outcome<mf::Bytes>>> ends(16);
  for (unsigned i = 0; i < ends.size(); ++i) {
    calling.stub.async_blob(counted(kMiB + i, i), [&, i](mf::Outcome<mf::Bytes> outcome) {
      ends[i].set_value(std::move(outcome));
    });
  }
  for (unsigned i = 0; i < 4; ++i) {
    const auto sent = counted(2 * kMiB, 100 + i);
    EXPECT_TRUE(calling.stub.blob(sent) == sent);
  }
  for (unsigned i = 0; i < ends.size(); ++i)
    EXPECT_TRUE(ends[i].get_future().get().value() == counted(kMiB + i, i)) << i;
}

TEST_P(Bulk, MemoryIsUsedAgainWhileLargeMessagesComeAndGoesBackAfterwards) {
  const auto before = mf::block_counts();
  {
    Calling calling(GetParam());
    const auto sent = counted(kMiB);
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(calling.stub.blob(sent) == sent);
    const auto counts = mf::block_counts();
    EXPECT_GT(counts.reused - before.reused, 50U);
    EXPECT_LE(counts.kept_bytes, mf::kMostKept);
    EXPECT_LE(counts.kept_blocks, 8U);
    EXPECT_TRUE(eventually([] { return mf::block_counts().kept_blocks == 0; }));
  }
  EXPECT_TRUE(eventually([&] { return mf::block_counts().large_in_use <= before.large_in_use; }));
}

}  // namespace
}  // namespace mftest::bulk_test
