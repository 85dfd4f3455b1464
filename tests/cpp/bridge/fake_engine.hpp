// An engine in the memory of the test: what it keeps, and what it does not take, the test says.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "mf/bridge/engine.hpp"
#include "mf/core/error.hpp"

namespace mftest {

class FakeEngine final : public mf::bridge::Engine {
 public:
  std::unique_ptr<mf::bridge::Writer> writer() override;
  std::unique_ptr<mf::bridge::Reader> reader(const std::string& name) override;

  /// In words: it takes nothing, until that is empty.
  void refuse(std::string why) {
    const std::scoped_lock lock(mutex_);
    refuses_ = std::move(why);
  }
  /// It never takes a payload that is larger.
  void take_at_most(std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    largest_ = bytes;
  }
  /// How often it was asked to append while it took nothing.
  [[nodiscard]] std::size_t refused() const {
    const std::scoped_lock lock(mutex_);
    return refused_;
  }
  void go_away(bool away) {
    const std::scoped_lock lock(mutex_);
    away_ = away;
  }
  void add(mf::bridge::Record record, std::string fault = {}) {
    const std::scoped_lock lock(mutex_);
    kept_.push_back({.record = std::move(record), .fault = std::move(fault)});
    kept_.back().offset = static_cast<std::int64_t>(kept_.size());
  }
  [[nodiscard]] std::vector<mf::bridge::Record> records() const {
    const std::scoped_lock lock(mutex_);
    std::vector<mf::bridge::Record> records;
    for (const auto& each : kept_) records.push_back(each.record);
    return records;
  }
  /// The offset that it keeps for a reader; 0: none.
  [[nodiscard]] std::int64_t offset(const std::string& name) const {
    const std::scoped_lock lock(mutex_);
    const auto found = offsets_.find(name);
    return found == offsets_.end() ? 0 : found->second;
  }
  /// How often readers were opened.
  [[nodiscard]] std::size_t opened() const {
    const std::scoped_lock lock(mutex_);
    return opened_;
  }

 private:
  class FakeWriter;
  class FakeReader;

  mutable std::mutex mutex_;
  std::vector<mf::bridge::Reader::Read> kept_;
  std::set<std::string> ids_;
  std::map<std::string, std::int64_t> offsets_;
  std::string refuses_;
  std::size_t refused_ = 0;
  std::size_t largest_ = SIZE_MAX;
  std::size_t opened_ = 0;
  bool away_ = false;
};

class FakeEngine::FakeWriter final : public mf::bridge::Writer {
 public:
  explicit FakeWriter(FakeEngine& engine) : engine_(engine) {}
  std::size_t append(std::span<const mf::bridge::Record> records, mf::TimePoint /*until*/,
                     mf::bridge::Refusal& refusal) override {
    refusal = {};
    const std::scoped_lock lock(engine_.mutex_);
    std::size_t count = 0;
    for (const auto& record : records) {
      if (!engine_.refuses_.empty()) {
        ++engine_.refused_;
        refusal.why = engine_.refuses_;
        break;
      }
      if (record.payload.size() > engine_.largest_) {
        refusal = {.why = "it is too large", .for_good = true};
        break;
      }
      ++count;
      if (!engine_.ids_.insert(mf::bridge::id_of(record)).second) continue;
      engine_.kept_.push_back({.record = record});
      engine_.kept_.back().offset = static_cast<std::int64_t>(engine_.kept_.size());
    }
    return count;
  }

 private:
  FakeEngine& engine_;
};

class FakeEngine::FakeReader final : public mf::bridge::Reader {
 public:
  FakeReader(FakeEngine& engine, std::string name) : engine_(engine), name_(std::move(name)) {
    at_ = engine_.offset(name_);
  }
  std::vector<Read> read(std::size_t most, mf::TimePoint until) override {
    for (;;) {
      {
        const std::scoped_lock lock(engine_.mutex_);
        if (engine_.away_)
          throw mf::Error(mf::Code::unavailable, mf::Execution::unknown, "the engine is away");
        std::vector<Read> read;
        while (read.size() < most && static_cast<std::size_t>(at_) < engine_.kept_.size())
          read.push_back(engine_.kept_[static_cast<std::size_t>(at_++)]);
        if (!read.empty() || mf::now() >= until) return read;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  void keep(const mf::bridge::Offsets& read) override {
    const std::scoped_lock lock(engine_.mutex_);
    engine_.offsets_[name_] = read.at(0);
  }

 private:
  FakeEngine& engine_;
  const std::string name_;
  std::int64_t at_ = 0;
};

inline std::unique_ptr<mf::bridge::Writer> FakeEngine::writer() {
  const std::scoped_lock lock(mutex_);
  if (away_) throw mf::Error(mf::Code::unavailable, mf::Execution::unknown, "the engine is away");
  return std::make_unique<FakeWriter>(*this);
}

inline std::unique_ptr<mf::bridge::Reader> FakeEngine::reader(const std::string& name) {
  {
    const std::scoped_lock lock(mutex_);
    ++opened_;
  }
  return std::make_unique<FakeReader>(*this, name);
}

}  // namespace mftest
