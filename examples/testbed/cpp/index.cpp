#include "index.hpp"

#include <algorithm>
#include <mutex>
#include <set>

namespace testbed {

namespace {

bool ranks_before(const index::Hit& a, const index::Hit& b) noexcept {
  return a.score != b.score ? a.score > b.score : a.doc < b.doc;
}

}  // namespace

void Index::add(std::uint32_t doc, const std::vector<std::string>& terms) {
  const std::unique_lock lock(mutex_);
  if (!insert(doc, terms)) throw index::DuplicateDocument(doc);
}

mf::Outcomes<void> Index::add_items(std::span<const index::IndexAddRequest> requests) {
  mf::Outcomes<void> outcomes(requests.size());
  const std::unique_lock lock(mutex_);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!insert(requests[i].doc, requests[i].terms)) outcomes[i] = index::DuplicateDocument(requests[i].doc);
  }
  return outcomes;
}

bool Index::insert(std::uint32_t doc, const std::vector<std::string>& terms) {
  const auto position = static_cast<std::uint32_t>(documents_.size());
  if (!positions_.emplace(doc, position).second) return false;
  documents_.push_back(doc);
  for (const auto& term : terms) {
    auto& list = postings_[term];
    if (list.empty() || list.back().position != position) {
      list.push_back({.position = position, .count = 1});
    } else {
      ++list.back().count;
    }
  }
  return true;
}

std::vector<index::Hit> Index::query(const std::vector<std::string>& terms, std::uint32_t limit) {
  const std::shared_lock lock(mutex_);
  std::vector<std::uint32_t> scores(documents_.size(), 0);
  for (const auto& term : std::set<std::string>(terms.begin(), terms.end())) {
    const auto found = postings_.find(term);
    if (found == postings_.end()) continue;
    for (const auto& posting : found->second) scores[posting.position] += posting.count;
  }
  std::vector<index::Hit> hits;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] != 0) hits.push_back({.doc = documents_[i], .score = scores[i]});
  }
  const auto wanted = std::min<std::size_t>(limit, hits.size());
  std::partial_sort(hits.begin(), hits.begin() + static_cast<std::ptrdiff_t>(wanted), hits.end(),
                    ranks_before);
  hits.resize(wanted);
  return hits;
}

index::IndexStatsResult Index::stats() {
  const std::shared_lock lock(mutex_);
  return {.documents = documents_.size(), .terms = postings_.size()};
}

void Index::clear() {
  const std::unique_lock lock(mutex_);
  documents_.clear();
  positions_.clear();
  postings_.clear();
}

}  // namespace testbed
