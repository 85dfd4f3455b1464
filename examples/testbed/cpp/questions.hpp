// What Main does with a query: its terms from the text analysis, hits from the index of one or several
// collections, and each hit's document.
//
// A collection that does not answer is skipped and named; the others are served. It depends on no processes:
// the same code runs over connections and in light.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mf/client/client.hpp"
#include "testbed/document.client.hpp"
#include "testbed/index.client.hpp"
#include "testbed/text.client.hpp"
#include "traffic.hpp"

namespace testbed {

struct Question {
  std::string text;
  std::vector<std::string> collections;
  std::uint32_t limit = 10;
  document::Way way = document::Way::single;  // of fetching the documents
};

struct Skipped {
  std::string collection;
  mf::Failure failure;
};

struct Answer {
  std::vector<index::Hit> hits;
  std::vector<document::Document> documents;  // one a hit
  std::vector<Skipped> skipped;
};

class Questions {
 public:
  explicit Questions(mf::Client& client) : analyzer_(client), index_(client), documents_(client) {}

  /// Throws what the text analysis or the document server end with. A count is for calls that are not timed.
  [[nodiscard]] Answer ask(const Question& question, TrafficCount* count = nullptr) const;

 private:
  void find(const Question& question, const std::vector<std::string>& terms, Answer& answer,
            TrafficCount* count) const;
  void fetch(const Question& question, Answer& answer, TrafficCount* count) const;

  const text::AnalyzerClient analyzer_;
  const index::IndexClient index_;
  const document::DocumentsClient documents_;
};

}  // namespace testbed
