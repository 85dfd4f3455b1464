// A generated topic, and its description as `mfidlc descriptor --topic` writes it.
#pragma once

#include <memory>
#include <string>

#include "mf/bridge/record.hpp"
#include "mf/codec/value.hpp"
#include "mf/core/service_texts.hpp"
#include "mf/topics/described_topic.hpp"
#include "topics/events.topics.hpp"

namespace mftest {

template <class Topic>
std::unique_ptr<mf::topics::DescribedTopic> described() {
  const auto& service = Topic::kTopic.service;
  return std::make_unique<mf::topics::DescribedTopic>(std::string(mf::descriptor_of(service)) +
                                                      std::string(mf::annex_of(service)));
}

/// Of topics.events.Additions, with a document of that size.
inline mf::bridge::Record record_of(const mf::topics::DescribedTopic& topic, std::string agent,
                                    std::uint64_t sequence, std::uint8_t publisher = 7) {
  return {.topic = std::string(topic.info().name()),
          .agent = std::move(agent),
          .publisher = {.bytes = {publisher}},
          .sequence = sequence,
          .time = mf::Timestamp(mf::Duration(1'000 + static_cast<std::int64_t>(sequence))),
          .tier = topic.tier(),
          .schema = topic.info().service.fingerprint,
          .payload = mf::Bytes(mf::to_bytes(
              topics::events::Added{.title = "t", .size = static_cast<std::uint32_t>(sequence)}))};
}

}  // namespace mftest
