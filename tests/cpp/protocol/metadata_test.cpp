#include "mf/protocol/metadata.hpp"

#include <gtest/gtest.h>

#include "protocol/drive.hpp"

namespace mf::protocol {
namespace {

Buffer written(const Metadata& metadata) {
  Buffer block;
  block.resize(metadata_size(metadata));
  write_metadata(block.data(), metadata);
  return block;
}

TEST(Metadata, IsReadAsItWasWritten) {
  const Metadata metadata{{"tenant", "acme"}, {"x-empty", ""}, {"traceparent", "00-aa"}};
  Buffer block = written(metadata);
  block.append(drive::octets("0102"));
  const auto split = split_metadata(block.span());
  ASSERT_EQ(split.fault, nullptr);
  EXPECT_EQ(drive::hex(split.payload), "0102");
  EXPECT_EQ(read_metadata(split.entries), metadata);
}

TEST(Metadata, AKeyHasOneValueTheLatest) {
  Metadata metadata;
  EXPECT_EQ(metadata.find("a"), nullptr);
  metadata.set("a", "1");
  metadata.set("b", "2");
  metadata.set("a", "3");
  EXPECT_EQ(metadata.size(), 2U);
  EXPECT_EQ(*metadata.find("a"), "3");
}

TEST(Metadata, WhatMayNotTravelIsRefusedWhereItIsSet) {
  Metadata metadata;
  for (const std::string key : {"", "Tenant", "a b", "a:b", "\xc3\xa9"})
    EXPECT_THROW(metadata.set(key, "x"), Error) << key;
  EXPECT_THROW(metadata.set(std::string(65, 'k'), "x"), Error);
  EXPECT_THROW(metadata.set("k", "\xff"), Error);
  metadata.set(std::string(64, 'k'), "x");
  EXPECT_EQ(metadata.size(), 1U);
}

TEST(Metadata, ThatIsTooLargeIsRefusedByItsSender) {
  Metadata metadata{{"k", std::string(kMaxMetadata - 4 - 4, 'v')}};
  EXPECT_EQ(written(metadata).size(), kMaxMetadata);
  metadata.set("k", std::string(kMaxMetadata - 4 - 3, 'v'));
  try {
    (void)metadata_size(metadata);
    FAIL() << "it was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::message_too_large);
    EXPECT_EQ(error.execution(), Execution::not_executed);
  }
  Metadata many;
  for (int i = 0; i < 64; ++i) many.set("k" + std::to_string(i), "");
  EXPECT_EQ(split_metadata(written(many).span()).fault, nullptr);
  many.set("k64", "");
  EXPECT_THROW((void)metadata_size(many), Error);
}

TEST(Metadata, EveryBeginningOfABlockIsFaultyOrABlock) {
  const Buffer block = written({{"tenant", "acme"}, {"b", "h\xc3\xa9"}});
  for (std::size_t size = 0; size < block.size(); ++size)
    EXPECT_NE(split_metadata(block.span().first(size)).fault, nullptr) << size;
}

}  // namespace
}  // namespace mf::protocol
