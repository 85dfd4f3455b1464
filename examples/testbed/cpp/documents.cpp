#include "documents.hpp"

#include <chrono>
#include <mutex>
#include <span>

#include "scd.hpp"
#include "testbed/index.hpp"
#include "testbed/text.hpp"
#include "traffic.hpp"
#include "ways.hpp"

namespace testbed {

namespace {

using Tokens = text::methods::AnalyzerTokens;
using Add = index::methods::IndexAdd;

mf::Outcomes<Tokens::Result> analyze(const text::AnalyzerClient& analyzer, document::Way way,
                                     std::span<const Tokens::Request> requests) {
  return call_all<Tokens::Result>(
      way, requests, [&](const Tokens::Request& request) { return analyzer.tokens(request.text); },
      [&](std::span<const Tokens::Request> all) { return analyzer.tokens_batch(all); },
      [&](std::span<const Tokens::Request> part) { return analyzer.tokens_bulk(part); });
}

mf::Outcomes<void> add(const index::IndexClient& index, document::Way way,
                       std::span<const Add::Request> requests) {
  return call_all<void>(
      way, requests, [&](const Add::Request& request) { index.add(request.doc, request.terms); },
      [&](std::span<const Add::Request> all) { return index.add_batch(all); },
      [&](std::span<const Add::Request> part) { return index.add_bulk(part); });
}

}  // namespace

std::uint32_t Documents::load(const std::string& collection, const std::string& path) {
  auto loading = std::make_shared<Collection>();
  try {
    loading->documents = read_scd(path);
  } catch (const ScdError& error) {
    throw document::UnreadableFile(error.what());
  }
  for (std::size_t i = 0; i < loading->documents.size(); ++i)
    loading->positions.emplace(loading->documents[i].doc, i);
  const auto count = static_cast<std::uint32_t>(loading->documents.size());
  const std::unique_lock lock(mutex_);
  collections_[collection] = std::move(loading);
  return count;
}

document::IndexingReport Documents::index(const std::string& collection, document::Way way) {
  const auto from = loaded(collection);
  std::vector<Tokens::Request> texts;
  texts.reserve(from->documents.size());
  for (const auto& document : from->documents)
    texts.push_back({.text = document.title + "\n" + document.content});
  try {
    const auto start = std::chrono::steady_clock::now();
    auto terms = analyze(analyzer_, way, texts);
    const auto analyzed = std::chrono::steady_clock::now();
    std::vector<Add::Request> additions;
    additions.reserve(terms.size());
    for (std::size_t i = 0; i < terms.size(); ++i) {
      additions.push_back({.doc = from->documents[i].doc, .terms = std::move(terms[i]).value()});
    }
    const auto added = add(index_.at(collection), way, additions);
    const auto indexed = std::chrono::steady_clock::now();
    // The clock has stopped; the terms go back to where the count expects them.
    for (std::size_t i = 0; i < terms.size(); ++i) terms[i] = additions[i].terms;
    TrafficCount traffic;
    traffic.add<Tokens>(texts, terms, calls_per_message(way));
    traffic.add<Add>(additions, added, calls_per_message(way));
    return {.documents = static_cast<std::uint32_t>(texts.size()),
            .analysis = analyzed - start,
            .indexing = indexed - analyzed,
            .traffic = traffic.total()};
  } catch (const mf::Error& error) {
    throw document::IndexingFailed(collection, error.what());
  } catch (const index::DuplicateDocument& error) {
    throw document::IndexingFailed(collection,
                                   "document " + std::to_string(error.doc) + " is in the index already");
  }
}

document::Document Documents::get(std::uint32_t doc) {
  const std::shared_lock lock(mutex_);
  for (const auto& [name, collection] : collections_) {
    const auto found = collection->positions.find(doc);
    if (found != collection->positions.end()) return collection->documents[found->second];
  }
  throw document::NoSuchDocument(doc);
}

std::shared_ptr<const Documents::Collection> Documents::loaded(const std::string& name) {
  const std::shared_lock lock(mutex_);
  const auto found = collections_.find(name);
  if (found == collections_.end())
    throw document::IndexingFailed(name, "no documents are loaded for it; call load() first");
  return found->second;
}

}  // namespace testbed
