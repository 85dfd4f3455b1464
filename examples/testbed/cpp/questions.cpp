#include "questions.hpp"

#include <algorithm>
#include <span>

#include "testbed/document.hpp"
#include "testbed/index.hpp"
#include "testbed/text.hpp"
#include "ways.hpp"

namespace testbed {

namespace {

using Tokens = text::methods::AnalyzerTokens;
using Query = index::methods::IndexQuery;
using Get = document::methods::DocumentsGet;
using Hits = std::vector<index::Hit>;

/// The answer over all collections from each one's best: document numbers are unique, so this is exact.
void merge(Hits& hits, std::size_t limit) {
  const auto wanted = static_cast<std::ptrdiff_t>(std::min(limit, hits.size()));
  std::partial_sort(hits.begin(), hits.begin() + wanted, hits.end(),
                    [](const index::Hit& a, const index::Hit& b) {
                      return a.score != b.score ? a.score > b.score : a.doc < b.doc;
                    });
  hits.resize(static_cast<std::size_t>(wanted));
}

}  // namespace

Answer Questions::ask(const Question& question, TrafficCount* count) const {
  Answer answer;
  const auto terms = analyzer_.tokens(question.text);
  if (count != nullptr) count->add_one<Tokens>({.text = question.text}, terms);
  find(question, terms, answer, count);
  merge(answer.hits, question.limit);
  fetch(question, answer, count);
  return answer;
}

void Questions::find(const Question& question, const std::vector<std::string>& terms, Answer& answer,
                     TrafficCount* count) const {
  mf::Scattered<Hits> outcomes;
  if (question.collections.size() == 1) {
    const auto& collection = question.collections.front();
    try {
      outcomes.push_back(
          {.agent = collection, .outcome = index_.at(collection).query(terms, question.limit)});
    } catch (const mf::Error&) {
      outcomes.push_back({.agent = collection, .outcome = mf::Failure::from_current_exception()});
    }
  } else {
    outcomes = index_.on(question.collections).query(terms, question.limit);
  }
  for (auto& [collection, outcome] : outcomes) {
    if (!outcome.ok()) {
      answer.skipped.push_back({.collection = collection, .failure = outcome.failure()});
      continue;
    }
    if (count != nullptr) count->add_one<Query>({.terms = terms, .limit = question.limit}, outcome);
    answer.hits.insert(answer.hits.end(), outcome.value().begin(), outcome.value().end());
  }
}

void Questions::fetch(const Question& question, Answer& answer, TrafficCount* count) const {
  std::vector<Get::Request> requests;
  requests.reserve(answer.hits.size());
  for (const auto& hit : answer.hits) requests.push_back({.doc = hit.doc});
  auto documents = call_all<Get::Result>(
      question.way, std::span<const Get::Request>(requests),
      [&](const Get::Request& request) { return documents_.get(request.doc); },
      [&](std::span<const Get::Request> all) { return documents_.get_batch(all); },
      [&](std::span<const Get::Request> part) { return documents_.get_bulk(part); });
  if (count != nullptr) count->add<Get>(requests, documents, calls_per_message(question.way));
  answer.documents.reserve(documents.size());
  for (auto& document : documents) answer.documents.push_back(std::move(document).value());
}

}  // namespace testbed
