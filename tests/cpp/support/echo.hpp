// Servants of calls.mfidl that count their calls.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "mf/core/current_call.hpp"
#include "mf/core/error.hpp"
#include "mftest/calls.server.hpp"

namespace mftest {

class Echo : public calls::EchoServant {
 public:
  std::int32_t twice(std::int32_t x) override {
    ++ran;
    return 2 * x;
  }
  std::string text(const std::string& value) override {
    ++ran;
    return value;
  }
  mf::Bytes blob(const mf::Bytes& data) override {
    ++ran;
    return data;
  }
  std::int32_t fail(const std::string& how) override {
    ++ran;
    if (how == "nope") throw calls::Nope("because");
    if (how == "many") throw calls::TooMany(7);
    if (how == "std") throw std::runtime_error("boom");
    if (how == "latin") throw std::runtime_error("cannot open caf\xe9.txt");
    if (how == "int") throw 42;
    if (how == "denied") throw mf::Error(mf::Code::permission_denied, mf::Execution::not_executed, "not you");
    if (how == "nested") throw mf::Error(mf::Code::unavailable, mf::Execution::not_executed, "no backend");
    if (how == "other") throw Undeclared();
    return 1;
  }
  void wait(std::uint32_t ms) override {
    ++ran;
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
  }
  std::int32_t again(std::int32_t x) override {
    ++ran;
    return x;
  }
  bool even(std::int32_t x) override {
    ++ran;
    return x % 2 == 0;
  }
  calls::EchoBothResult both(std::int32_t x) override {
    ++ran;
    return {.plus = x + 1, .minus = x - 1};
  }
  void note(std::int32_t x) override {
    ++ran;
    const std::scoped_lock lock(mutex_);
    notes_.push_back(x);
  }
  void note_wait(std::int32_t x, std::uint32_t ms) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
    note(x);
  }

  std::vector<std::int32_t> notes() const {
    const std::scoped_lock lock(mutex_);
    return notes_;
  }

  std::atomic<int> ran{0};

 private:
  struct Undeclared : mf::DeclaredErrorBase<Undeclared> {
    static constexpr const char* kName = "mftest.Undeclared";
  };

  mutable std::mutex mutex_;
  std::vector<std::int32_t> notes_;
};

/// Its batches of even() return two outcomes, whatever the number of items.
class Miscounting : public Echo {
 public:
  mf::Outcomes<bool> even_items(std::span<const calls::EchoEvenRequest> /*requests*/) override {
    return {true, true};
  }
};

class Other : public calls::OtherServant {
 public:
  explicit Other(std::string name = "other") : name_(std::move(name)) {}
  void note(std::int32_t x) override {
    const std::scoped_lock lock(mutex);
    notes.push_back(x);
  }
  std::string name() override { return name_; }

  std::mutex mutex;
  std::vector<std::int32_t> notes;

 private:
  std::string name_;
};

class Part : public calls::PartServant {
 public:
  explicit Part(std::string name) : name_(std::move(name)) {}
  std::string name() override {
    ++ran;
    return name_;
  }
  void fail() override { throw calls::Nope(name_); }

  std::atomic<int> ran{0};

 private:
  std::string name_;
};

}  // namespace mftest
