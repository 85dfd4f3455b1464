// Servants of flow.mfidl: a plain one, and one that answers later, from its own threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "mf/core/current_call.hpp"
#include "mf/core/unique_function.hpp"
#include "mftest/flow.server.hpp"

namespace mftest {

class PlainFlow : public flow::FlowServant {
 public:
  void count(std::uint32_t to, std::uint32_t breaks_at, mf::StreamWriter<std::uint32_t>& out) override {
    for (std::uint32_t i = 0; i < to; ++i) {
      if (i == breaks_at) throw flow::Broke(i);
      out.write(i);
    }
  }
  void flags(std::uint32_t count, mf::StreamWriter<bool>& out) override {
    for (std::uint32_t i = 0; i < count; ++i) out.write(i % 2 == 0);
  }
  std::uint64_t sum(std::uint64_t start, mf::StreamReader<std::uint32_t>& values) override {
    for (const auto value : values) {
      if (value == 999'999'999) throw flow::Broke(value);
      start += value;
    }
    return start;
  }
  void echo(mf::StreamReader<mf::Bytes>& values, mf::StreamWriter<mf::Bytes>& out) override {
    for (const auto& value : values) out.write(value);
  }
  void notes(std::uint32_t count, const std::string& text, mf::StreamWriter<flow::Note>& out) override {
    for (std::uint32_t i = 0; i < count; ++i) out.write({.text = text, .of = i});
  }
  std::uint32_t first(std::uint32_t count, mf::StreamReader<std::uint32_t>& values) override {
    if (count == 7'777) return code_after_cancel(values);
    std::uint32_t sum = 0;
    while (count-- > 0) {
      const auto value = values.next();
      if (!value) break;
      sum += *value;
    }
    return sum;
  }
  void endless(mf::StreamWriter<std::uint32_t>& out) override {
    const auto token = mf::current_call().stop_token();
    try {
      for (std::uint32_t i = 0; !token.stop_requested() && out.write(i); ++i) {
      }
    } catch (...) {
      ++stops;
      throw;
    }
    ++stops;
  }
  std::uint32_t linger() override {
    const auto token = mf::current_call().stop_token();
    ++lingering;
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock lock(mutex);
    changed.wait(lock, token, [] { return false; });
    ++stops;
    return 1;
  }
  std::uint32_t stopped() override { return stops; }
  std::string metadata(const std::string& key) override {
    const auto* const value = mf::current_call().metadata().find(key);
    mf::set_reply_metadata("echo", value != nullptr ? *value : "-");
    return value != nullptr ? *value : "";
  }
  void metadata_stream(const std::string& key, mf::StreamWriter<std::string>& out) override {
    kept = out;
    out.write(metadata(key));
  }
  /// The error of a reader that was cancelled while values were available.
  static std::uint32_t code_after_cancel(mf::StreamReader<std::uint32_t>& values) {
    (void)values.next();
    values.cancel();
    try {
      (void)values.next();
    } catch (const mf::Error& error) {
      return static_cast<std::uint32_t>(error.code());
    }
    return 0;
  }

  std::optional<mf::StreamWriter<std::string>> kept;  // of the last metadata_stream()
  std::atomic<std::uint32_t> stops{0};
  std::atomic<std::uint32_t> lingering{0};
};

/// Does nothing in the calling function: each call continues as a chain of completions, and is answered from
/// there. It keeps threads that could not be joined earlier; they are joined at the end of the program, since
/// a thread that still frees its thread-local objects would be reported as a leak.
class LeftBehind {
 public:
  ~LeftBehind() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return running_ == 0; });
    for (auto& thread : threads_) thread.join();
  }
  void started() {
    const std::scoped_lock lock(mutex_);
    ++running_;
  }
  void ended() {
    const std::scoped_lock lock(mutex_);
    --running_;
    changed_.notify_all();
  }
  void keep(std::thread thread) {
    const std::scoped_lock lock(mutex_);
    threads_.push_back(std::move(thread));
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t running_ = 0;
  std::vector<std::thread> threads_;
};
inline LeftBehind left_behind;

class AsyncFlow final : public flow::FlowAsyncServant {
 public:
  void count(flow::FlowCountRequest request, mf::StreamWriter<std::uint32_t> out,
             mf::Responder<void> responder) override {
    struct Counting : std::enable_shared_from_this<Counting> {
      Counting(flow::FlowCountRequest what, mf::StreamWriter<std::uint32_t> to, mf::Responder<void> then)
          : request(what), out(std::move(to)), responder(std::move(then)) {}
      void go_on() {
        if (at == request.breaks_at) return responder.respond(flow::Broke(at));
        if (at == request.to) return responder.respond(mf::Outcome<void>());
        out.async_write(at++, [self = shared_from_this()](mf::Outcome<bool> more) {
          if (more && more.value()) self->again();
        });
      }
      // Avoids recursion for each value, though a completion may run within go_on() or on another thread.
      void again() {
        if (due.fetch_add(1) != 0) return;
        do go_on();
        while (due.fetch_sub(1) != 1);
      }
      flow::FlowCountRequest request;
      mf::StreamWriter<std::uint32_t> out;
      mf::Responder<void> responder;
      std::uint32_t at = 0;
      std::atomic<int> due{0};
    };
    std::make_shared<Counting>(request, std::move(out), std::move(responder))->again();
  }
  void sum(flow::FlowSumRequest request, mf::StreamReader<std::uint32_t> values,
           mf::Responder<std::uint64_t> responder) override {
    struct Summing : std::enable_shared_from_this<Summing> {
      Summing(std::uint64_t start, mf::StreamReader<std::uint32_t> from, mf::Responder<std::uint64_t> then)
          : sum(start), values(std::move(from)), responder(std::move(then)) {}
      void go_on() {
        values.async_next([self = shared_from_this()](mf::Outcome<std::optional<std::uint32_t>> next) {
          if (!next) return;  // the call has ended
          if (!next.value()) return self->responder.respond(self->sum);
          if (*next.value() == 999'999'999) return self->responder.respond(flow::Broke(*next.value()));
          self->sum += *next.value();
          self->go_on();
        });
      }
      std::uint64_t sum;
      mf::StreamReader<std::uint32_t> values;
      mf::Responder<std::uint64_t> responder;
    };
    std::make_shared<Summing>(request.start, std::move(values), std::move(responder))->go_on();
  }
  // The others are served as the plain servant does, on a thread each.
  void echo(flow::FlowEchoRequest /*request*/, mf::StreamReader<mf::Bytes> values,
            mf::StreamWriter<mf::Bytes> out, mf::Responder<void> responder) override {
    later(std::move(responder),
          [this, values = std::move(values), out = std::move(out)]() mutable { plain_.echo(values, out); });
  }
  void flags(flow::FlowFlagsRequest request, mf::StreamWriter<bool> out,
             mf::Responder<void> responder) override {
    later(std::move(responder),
          [this, request, out = std::move(out)]() mutable { plain_.flags(request.count, out); });
  }
  void notes(flow::FlowNotesRequest request, mf::StreamWriter<flow::Note> out,
             mf::Responder<void> responder) override {
    later(std::move(responder), [this, request, out = std::move(out)]() mutable {
      plain_.notes(request.count, request.text, out);
    });
  }
  void first(flow::FlowFirstRequest request, mf::StreamReader<std::uint32_t> values,
             mf::Responder<std::uint32_t> responder) override {
    later(std::move(responder), [this, request, values = std::move(values)]() mutable {
      const auto sum = plain_.first(request.count, values);
      return sum;
    });
  }
  void endless(flow::FlowEndlessRequest /*request*/, mf::StreamWriter<std::uint32_t> out,
               mf::Responder<void> responder) override {
    later(std::move(responder),
          [this, out = std::move(out), token = mf::current_call().stop_token()]() mutable {
            try {
              for (std::uint32_t i = 0; !token.stop_requested() && out.write(i); ++i) {
              }
            } catch (...) {
            }
            ++plain_.stops;
          });
  }
  void linger(flow::FlowLingerRequest /*request*/, mf::Responder<std::uint32_t> responder) override {
    ++plain_.lingering;
    later(std::move(responder), [this, token = mf::current_call().stop_token()] {
      std::mutex mutex;
      std::condition_variable_any changed;
      std::unique_lock lock(mutex);
      changed.wait(lock, token, [] { return false; });
      ++plain_.stops;
      return 1U;
    });
  }
  void stopped(flow::FlowStoppedRequest /*request*/, mf::Responder<std::uint32_t> responder) override {
    responder.respond(plain_.stops.load());
  }
  void metadata(flow::FlowMetadataRequest request, mf::Responder<std::string> responder) override {
    responder.respond(plain_.metadata(request.key));
  }
  void metadata_stream(flow::FlowMetadataStreamRequest request, mf::StreamWriter<std::string> out,
                       mf::Responder<void> responder) override {
    plain_.metadata_stream(request.key, out);
    responder.respond(mf::Outcome<void>());
  }

  ~AsyncFlow() override {
    for (auto& thread : threads_) {
      // The last answered call may have kept the servant alive.
      if (thread.get_id() == std::this_thread::get_id()) {
        left_behind.keep(std::move(thread));
      } else {
        thread.join();
      }
    }
  }
  PlainFlow plain_;

 private:
  template <class T, class Work>
  void later(mf::Responder<T> responder, Work work) {
    mf::UniqueFunction<void()> job = [responder = std::move(responder), work = std::move(work)]() mutable {
      try {
        if constexpr (std::is_void_v<T>) {
          work();
          responder.respond(mf::Outcome<void>());
        } else {
          responder.respond(work());
        }
      } catch (const std::exception& error) {
        responder.respond(mf::Error(mf::Code::internal, mf::Execution::unknown, error.what()));
      }
    };
    left_behind.started();
    const std::scoped_lock lock(mutex_);
    threads_.emplace_back([job = std::move(job)]() mutable {
      job();
      job = {};  // may destroy this servant
      left_behind.ended();
    });
  }

  std::mutex mutex_;
  std::vector<std::thread> threads_;
};

}  // namespace mftest
