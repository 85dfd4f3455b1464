// One collection's inverted index as a servant. In memory only: after a restart it is empty until documents
// are added again.
//
// Documents are numbered densely in the order of arrival, so that a query adds up scores in an array instead
// of a map. Any thread: queries share the lock, additions own it, a batch of additions takes it once.
#pragma once

#include <cstdint>
#include <shared_mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "testbed/index.server.hpp"

namespace testbed {

class Index final : public index::IndexServant {
 public:
  void add(std::uint32_t doc, const std::vector<std::string>& terms) override;
  mf::Outcomes<void> add_items(std::span<const index::IndexAddRequest> requests) override;
  std::vector<index::Hit> query(const std::vector<std::string>& terms, std::uint32_t limit) override;
  index::IndexStatsResult stats() override;
  void clear() override;

 private:
  struct Posting {
    std::uint32_t position;  // in documents_
    std::uint32_t count;
  };

  /// Under the lock. False: the document is in the index already.
  [[nodiscard]] bool insert(std::uint32_t doc, const std::vector<std::string>& terms);

  std::shared_mutex mutex_;
  std::vector<std::uint32_t> documents_;
  std::unordered_map<std::uint32_t, std::uint32_t> positions_;  // by document
  std::unordered_map<std::string, std::vector<Posting>> postings_;
};

}  // namespace testbed
