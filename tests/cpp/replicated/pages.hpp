// The journal of tests/python/replicated/journal.mfidl as a servant of replicas; with JOURNAL_LATER, that of
// tests/replicated/later.mfidl.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "journal.server.hpp"
#include "mf/codec/value.hpp"

namespace mftest {

/// Keeps the texts in the order in which they were applied, and their versions.
class Pages : public journal::JournalServant, public mf::Snapshots {
 public:
  std::uint64_t on_apply_no_versioning(const mf::Version& version,
                                       const journal::JournalNoVersioningRequest& request) override {
    return keep(version, request.text);
  }
  std::uint64_t on_apply_version_request(const mf::Version& version,
                                         const journal::JournalVersionRequestRequest& request) override {
    return keep(version, request.text);
  }
  std::uint64_t on_apply_message_returns_version(
      const mf::Version& version, const journal::JournalMessageReturnsVersionRequest& request) override {
    return keep(version, request.text);
  }
#ifdef JOURNAL_LATER
  std::uint64_t on_apply_more(const mf::Version& version,
                              const journal::JournalMoreRequest& request) override {
    return keep(version, request.text);
  }
  std::uint32_t on_apply_one_hop(const mf::Version& version,
                                 const journal::JournalOneHopRequest& request) override {
    return static_cast<std::uint32_t>(keep(version, request.text));
  }
  std::uint64_t on_apply_put(const mf::Version& version, const journal::JournalPutRequest& request) override {
    return keep(version, request.text);
  }
#else
  std::uint64_t on_apply_one_hop(const mf::Version& version,
                                 const journal::JournalOneHopRequest& request) override {
    return keep(version, request.text);
  }
  std::uint64_t on_apply_one_hop_ack_client(const mf::Version& version,
                                            const journal::JournalOneHopAckClientRequest& request) override {
    if (request.text == "too much") throw journal::Full(3);
    return keep(version, request.text);
  }
#endif
  std::uint64_t on_apply_wait_for_version(const mf::Version& version,
                                          const journal::JournalWaitForVersionRequest& request) override {
    return keep(version, request.text);
  }
  std::uint64_t on_apply_chain(const mf::Version& version,
                               const journal::JournalChainRequest& request) override {
    return keep(version, request.text);
  }
  std::vector<std::string> texts() override {
    const std::scoped_lock lock(mutex_);
    return state_.kept;
  }

  mf::Bytes on_snapshot() override {
    const std::scoped_lock lock(mutex_);
    return mf::to_bytes(state_);
  }
  void on_restore(const std::optional<mf::Bytes>& snapshot) override {
    auto state = snapshot ? mf::from_bytes<journal::State>(snapshot->span()).value() : journal::State();
    const std::scoped_lock lock(mutex_);
    state_ = std::move(state);
    restored_ += snapshot.has_value() ? 1U : 0U;
  }

  /// Called with each text before it is kept. Set before anything is sent.
  std::function<void(const std::string&)> on_text;

  journal::State state() {
    const std::scoped_lock lock(mutex_);
    return state_;
  }
  /// How many snapshots it has begun from.
  unsigned restored() {
    const std::scoped_lock lock(mutex_);
    return restored_;
  }

 private:
  std::uint64_t keep(const mf::Version& version, const std::string& text) {
    if (text == "bug") throw std::runtime_error("a bug of the servant");
    if (on_text) on_text(text);
    const std::scoped_lock lock(mutex_);
    state_.kept.push_back(text);
    state_.epochs.push_back(version.epoch);
    state_.counters.push_back(version.counter);
    return state_.kept.size();
  }

  std::mutex mutex_;
  journal::State state_;
  unsigned restored_ = 0;
};

}  // namespace mftest
