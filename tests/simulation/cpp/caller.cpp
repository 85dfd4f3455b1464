#include "caller.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include "mf/core/failure.hpp"

namespace simulated {
namespace {

void sleep(Time time) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(time));
}

/// Asks a call to stop after a while, from a thread of its own.
class GivesUp {
 public:
  explicit GivesUp(const std::optional<Time>& after) {
    if (!after) return;
    thread_ = std::thread([this, after = *after] {
      std::unique_lock lock(mutex_);
      if (!changed_.wait_for(lock, std::chrono::nanoseconds(after), [this] { return over_; })) {
        lock.unlock();
        stop_.request_stop();
      }
    });
  }
  ~GivesUp() {
    if (!thread_.joinable()) return;
    {
      const std::scoped_lock lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  GivesUp(const GivesUp&) = delete;
  GivesUp& operator=(const GivesUp&) = delete;

  [[nodiscard]] std::stop_token token() const {
    return thread_.joinable() ? stop_.get_token() : std::stop_token();
  }

 private:
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

mf::Bytes filler(std::size_t size) {
  return mf::Bytes(std::string(size, 'x'));
}

template <class Call>
mf::Outcome<std::uint64_t> attempt(Call&& call) {
  return mf::attempt([&]() -> std::uint64_t { return call(); });
}

}  // namespace

/// Asynchronous calls that have not ended.
class Caller::Pending {
 public:
  void begin() {
    const std::scoped_lock lock(mutex_);
    ++count_;
  }
  void end() {
    const std::scoped_lock lock(mutex_);
    --count_;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

Caller::Caller(mf::Client& client, std::uint32_t number) : stub_(client), number_(number) {}

void Caller::work(const std::vector<Step>& steps) {
  Pending pending;
  for (const auto& step : steps) {
    sleep(step.pause);
    take(step, pending);
  }
  pending.wait();
}

void Caller::probe() {
  for (const auto* const place : kPlaces) {
    Step step;
    step.place = place;
    step.deadline = 10 * kSecond;
    // A client does not read an idle connection: the first call may be the one that learns that its server is
    // gone.
    mf::CallOptions options;
    options.deadline = std::chrono::nanoseconds(step.deadline);
    std::string failed;
    for (int attempts = 0; attempts == 0 || (!failed.empty() && attempts < 3); ++attempts) {
      auto& asked = record().ask("plain", step.deadline, {});
      single(step, options, asked);
      failed = asked.end.ok() ? "" : asked.end.failure().message;
    }
    if (!failed.empty())
      record().trouble("all is well, and caller " + std::to_string(number_) + " fails at " + place + ": " +
                       failed);
  }
}

void Caller::take(const Step& step, Pending& pending) {
  const GivesUp gives_up(step.gives_up_after);
  mf::CallOptions options;
  if (step.deadline != 0) options.deadline = std::chrono::nanoseconds(step.deadline);
  options.stop = gives_up.token();
  if (step.kind == "plain" || step.kind == "again") {
    single(step, options, record().ask(step.kind.c_str(), step.deadline, step.gives_up_after));
  } else if (step.kind == "tell") {
    tell(step, options);
  } else if (step.kind == "async") {
    async(step, options, pending);
    if (step.gives_up_after) sleep(*step.gives_up_after + kMillisecond);
  } else if (step.kind == "batch") {
    batch(step, options);
  } else if (step.kind == "bulk") {
    bulk(step, options);
  } else if (step.kind == "scatter") {
    scatter(step, options);
  } else if (step.kind == "down") {
    down(step, options, step.size + 1);
  } else if (step.kind == "leave") {
    down(step, options, step.size / 2);
  } else if (step.kind == "up") {
    up(step, options);
  } else {
    both(step, options);
  }
}

void Caller::single(const Step& step, const mf::CallOptions& options, Asked& asked) {
  const auto to = stub_.at(step.place);
  asked.refuse = step.refuse;
  record().end(asked, attempt([&] {
                 return asked.method == "again"
                            ? to.again(asked.call, step.nap, step.refuse, filler(step.filler), options)
                            : to.plain(asked.call, step.nap, step.refuse, filler(step.filler), options);
               }));
}

void Caller::tell(const Step& step, const mf::CallOptions& options) {
  auto& asked = record().ask("tell", step.deadline, step.gives_up_after);
  const auto order = orders_[step.place]++;
  record().end(asked, attempt([&] {
                 stub_.at(step.place).tell(asked.call, number_, order, options);
                 return std::uint64_t{0};
               }));
}

void Caller::async(const Step& step, const mf::CallOptions& options, Pending& pending) {
  auto& asked = record().ask("plain", step.deadline, step.gives_up_after);
  asked.refuse = step.refuse;
  pending.begin();
  stub_.at(step.place)
      .async_plain(asked.call, step.nap, step.refuse, filler(step.filler), options,
                   [&asked, &pending](mf::Outcome<std::uint64_t> outcome) {
                     record().end(asked, std::move(outcome));
                     pending.end();
                   });
}

void Caller::batch(const Step& step, const mf::CallOptions& options) {
  mf::BatchOptions of_batch{.deadline = options.deadline, .size = step.size / 4, .stop = options.stop};
  std::vector<Asked*> asked;
  std::vector<simulation::WorkPlainRequest> requests;
  for (std::uint32_t i = 0; i < step.size; ++i) {
    auto& each = record().ask("plain", step.deadline, step.gives_up_after);
    each.slack = 1'100 * kMillisecond;
    each.refuse = step.refuse;
    asked.push_back(&each);
    requests.push_back({each.call, step.nap, step.refuse, filler(step.filler % 5'000)});
  }
  auto outcomes = stub_.at(step.place).plain_batch(requests, of_batch).results();
  if (outcomes.size() != asked.size()) record().trouble("a batch ended with another number of outcomes");
  for (std::size_t i = 0; i < outcomes.size(); ++i) record().end(*asked[i], std::move(outcomes[i]));
}

void Caller::bulk(const Step& step, const mf::CallOptions& options) {
  std::vector<Asked*> asked;
  std::vector<simulation::WorkAgainRequest> requests;
  for (std::uint32_t i = 0; i < step.size; ++i) {
    auto& each = record().ask("again", step.deadline, step.gives_up_after);
    each.refuse = step.refuse;
    asked.push_back(&each);
    requests.push_back({each.call, step.nap, step.refuse, {}});
  }
  auto all = mf::attempt([&] { return stub_.at(step.place).again_bulk(requests, options); });
  if (!all.ok()) {  // its one message has failed, and so has each item
    for (auto* const each : asked) record().end(*each, mf::Failure(all.failure()));
    return;
  }
  auto& outcomes = all.value();
  if (outcomes.size() != asked.size()) record().trouble("a bulk call ended with another number of outcomes");
  for (std::size_t i = 0; i < outcomes.size(); ++i) record().end(*asked[i], std::move(outcomes[i]));
}

void Caller::scatter(const Step& step, const mf::CallOptions& options) {
  auto& asked = record().ask("scatter", step.deadline, step.gives_up_after);
  const std::vector<std::string> places(std::begin(kPlaces), std::end(kPlaces));
  const auto parts = stub_.on(places).again(asked.call, step.nap, step.refuse, {}, options);
  if (parts.size() != places.size()) record().trouble("a scattered call ended at another number of places");
  for (const auto& part : parts) {
    if (part.outcome.ok() && (part.outcome.value() != asked.call * 3 + 1 || step.refuse))
      record().trouble("a scattered call gave another one's result at " + part.agent);
    if (const auto* const refused = part.outcome.error_as<simulation::Refused>();
        refused != nullptr && (refused->call != asked.call || !step.refuse))
      record().trouble("a scattered call was refused as another one at " + part.agent);
  }
  record().end(asked, std::uint64_t{0});
}

void Caller::down(const Step& step, const mf::CallOptions& options, std::uint32_t most) {
  auto& asked = record().ask("down", step.deadline, step.gives_up_after);
  asked.refuse = step.refuse;
  asked.size = step.size;
  auto stream = stub_.at(step.place).down(asked.call, step.nap, step.size, step.refuse, options);
  bool left = false;
  auto end = attempt([&] {
    while (const auto value = stream.next()) {
      asked.values.push_back(*value);
      if (asked.values.size() >= most) {
        left = true;
        break;
      }
    }
    return std::uint64_t{asked.values.size()};
  });
  if (left) end = mf::may_have_run(mf::Code::cancelled, "its caller has left");
  if (!left) (void)mf::attempt([&] { asked.after_end += stream.next() ? 1 : 0; });
  stream.cancel();
  record().end(asked, std::move(end));
}

void Caller::up(const Step& step, const mf::CallOptions& options) {
  auto& asked = record().ask("up", step.deadline, step.gives_up_after);
  asked.size = step.size;
  auto stream = stub_.at(step.place).up(asked.call, step.nap, options);
  record().end(asked, attempt([&] {
                 for (std::uint64_t i = 0; i < step.size; ++i) {
                   if (!stream.write(asked.call * 1'000 + i)) break;
                 }
                 return stream.finish();
               }));
}

void Caller::both(const Step& step, const mf::CallOptions& options) {
  auto& asked = record().ask("both", step.deadline, step.gives_up_after);
  asked.size = step.size;
  auto stream = stub_.at(step.place).both(asked.call, step.nap, options);
  bool read_to_end = false;
  const auto read = [&] {
    read_to_end = true;  // unless there is a value: next() may throw
    const auto value = stream.next();
    if (value) asked.values.push_back(*value);
    read_to_end = !value;
    return value.has_value();
  };
  auto end = attempt([&] {
    for (std::uint64_t i = 0; i < step.size; ++i) {
      if (!stream.write(asked.call * 1'000 + i)) break;
      if (i % 3 == 0) {
        stream.flush();
        (void)read();
      }
    }
    stream.done_writing();
    while (read()) {
    }
    return std::uint64_t{asked.values.size()};
  });
  // If a write has thrown, the values that had arrived before are still to be read.
  if (!read_to_end) {
    (void)mf::attempt([&] {
      while (read()) {
      }
    });
  }
  (void)mf::attempt([&] { asked.after_end += stream.next() ? 1 : 0; });
  record().end(asked, std::move(end));
}

}  // namespace simulated
