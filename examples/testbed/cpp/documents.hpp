// The document server as a servant: keeps documents, and as a client of the others has them analyzed and
// indexed.
//
// The same service as python/document_server.py, for two purposes: to stand beside the other servants in one
// process (light), and to take that server's place while everything else goes on. Any thread; a collection is
// immutable once it is loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "mf/client/client.hpp"
#include "testbed/document.server.hpp"
#include "testbed/index.client.hpp"
#include "testbed/text.client.hpp"

namespace testbed {

class Documents final : public document::DocumentsServant {
 public:
  explicit Documents(mf::Client& client) : analyzer_(client), index_(client) {}

  std::uint32_t load(const std::string& collection, const std::string& path) override;
  document::IndexingReport index(const std::string& collection, document::Way way) override;
  document::Document get(std::uint32_t doc) override;

 private:
  struct Collection {
    std::vector<document::Document> documents;
    std::unordered_map<std::uint32_t, std::size_t> positions;  // by number
  };

  [[nodiscard]] std::shared_ptr<const Collection> loaded(const std::string& name);

  const text::AnalyzerClient analyzer_;
  const index::IndexClient index_;
  std::shared_mutex mutex_;
  std::map<std::string, std::shared_ptr<const Collection>> collections_;
};

}  // namespace testbed
