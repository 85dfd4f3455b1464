#include "servants.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <stdexcept>
#include <thread>
#include <utility>

#include "mf/core/current_call.hpp"
#include "words.hpp"

namespace conformance_test {

using conformance::Missing;
using conformance::Refused;

PlainRoom::PlainRoom(std::string name, std::shared_ptr<Nested> nested)
    : name_(std::move(name)), nested_(std::move(nested)) {}

void PlainRoom::write_down(const std::string& event) {
  const std::scoped_lock lock(mutex_);
  log_.push_back(event);
}

std::int64_t PlainRoom::twice(std::int64_t x) {
  if (x < 0) throw Refused("it is negative", x);
  if (x == 1000) throw Missing(1ULL << 40U);
  if (x == 1001) throw std::runtime_error("out of luck");
  return 2 * x;
}

std::int64_t PlainRoom::kept(std::int64_t x) {
  write_down("kept " + std::to_string(x));
  return twice(x);
}

std::int64_t PlainRoom::put(std::int64_t x) {
  write_down("put " + std::to_string(x));
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  write_down("done " + std::to_string(x));
  return twice(x);
}

void PlainRoom::note(std::int64_t x) {
  write_down("note " + std::to_string(x));
}

std::vector<std::string> PlainRoom::log() {
  const std::scoped_lock lock(mutex_);
  return log_;
}

void PlainRoom::clear() {
  const std::scoped_lock lock(mutex_);
  log_.clear();
}

std::uint32_t PlainRoom::linger() {
  linger(mf::current_call().stop_token());
  return 1;
}

void PlainRoom::linger(const std::stop_token& token) {
  write_down("began");
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  changed.wait(lock, token, [] { return false; });
  write_down("asked to stop");
}

void PlainRoom::count(std::uint32_t to, std::uint32_t breaks_at, mf::StreamWriter<std::uint32_t>& out) {
  for (std::uint32_t i = 0; i < to; ++i) {
    if (i == breaks_at) throw Refused("it breaks", i);
    out.write(i);
  }
}

void PlainRoom::texts(std::uint32_t size, std::uint32_t number, mf::StreamWriter<std::string>& out) {
  for (std::uint32_t i = 0; i < number; ++i) out.write(std::string(size, static_cast<char>('a' + i)));
}

std::uint64_t PlainRoom::sum(std::uint64_t start, mf::StreamReader<std::uint32_t>& values) {
  write_down("began");
  for (;;) {
    std::optional<std::uint32_t> value;
    try {
      value = values.next();
    } catch (...) {
      write_down("cut off");
      throw;
    }
    if (!value) return start;
    if (*value > 1'000'000'000) throw Refused("it is too large", *value);
    start += *value;
  }
}

std::uint32_t PlainRoom::first(std::uint32_t number, mf::StreamReader<std::uint32_t>& values) {
  std::uint32_t sum = 0;
  for (; number > 0; --number) {
    const auto value = values.next();
    if (!value) break;
    sum += *value;
  }
  return sum;
}

void PlainRoom::echo(mf::StreamReader<std::string>& values, mf::StreamWriter<std::string>& out) {
  for (const auto& value : values) {
    if (value == "bad") throw Refused("it is bad", 0);
    out.write(name_ + ":" + value);
  }
}

void PlainRoom::endless(mf::StreamWriter<std::uint32_t>& out) {
  endless(mf::current_call().stop_token(), out);
}

void PlainRoom::endless(const std::stop_token& token, mf::StreamWriter<std::uint32_t>& out) {
  write_down("began");
  try {
    for (std::uint32_t i = 0; !token.stop_requested() && out.write(i); ++i) {
    }
  } catch (...) {
    write_down("asked to stop");
    throw;
  }
  write_down("asked to stop");
}

std::vector<std::string> PlainRoom::seen() {
  const auto& call = mf::current_call();
  std::vector<std::string> all;
  for (const auto& [key, value] : call.metadata()) all.push_back(key + "=" + value);
  std::sort(all.begin(), all.end());
  mf::set_reply_metadata("entries", std::to_string(all.size()));
  const bool brief = call.deadline - std::chrono::steady_clock::now() < std::chrono::seconds(20);
  all.insert(all.begin(), brief ? "short" : "long");
  return all;
}

void PlainRoom::seen_stream(mf::StreamWriter<std::string>& out) {
  for (const auto& each : seen()) out.write(each);
}

std::vector<std::string> PlainRoom::relay() {
  return itself().seen();
}

conformance::ShapesClient PlainRoom::itself() const {
  return conformance::ShapesClient(*nested_->client).at(name_);
}

AsyncRoom::AsyncRoom(std::string name, std::shared_ptr<Nested> nested)
    : plain_(std::move(name), std::move(nested)) {}

AsyncRoom::~AsyncRoom() {
  for (auto& thread : threads_) {
    // The last call that is answered may be what has kept the servant alive.
    if (thread.get_id() == std::this_thread::get_id()) {
      thread.detach();
    } else {
      thread.join();
    }
  }
}

template <class T, class Work>
void AsyncRoom::later(mf::Responder<T> responder, Work work) {
  const std::scoped_lock lock(mutex_);
  threads_.emplace_back([responder = std::move(responder), work = std::move(work)]() mutable {
    responder.respond(ended(work));
  });
}

void AsyncRoom::twice(conformance::ShapesTwiceRequest request, mf::Responder<std::int64_t> responder) {
  responder.respond(ended([&] { return plain_.twice(request.x); }));
}

void AsyncRoom::kept(conformance::ShapesKeptRequest request, mf::Responder<std::int64_t> responder) {
  responder.respond(ended([&] { return plain_.kept(request.x); }));
}

void AsyncRoom::put(conformance::ShapesPutRequest request, mf::Responder<std::int64_t> responder) {
  later(std::move(responder), [this, request] { return plain_.put(request.x); });
}

void AsyncRoom::note(conformance::ShapesNoteRequest request) {
  plain_.note(request.x);
}

void AsyncRoom::log(conformance::ShapesLogRequest /*request*/,
                    mf::Responder<std::vector<std::string>> responder) {
  responder.respond(plain_.log());
}

void AsyncRoom::clear(conformance::ShapesClearRequest /*request*/, mf::Responder<void> responder) {
  plain_.clear();
  responder.respond(mf::Outcome<void>());
}

void AsyncRoom::linger(conformance::ShapesLingerRequest /*request*/, mf::Responder<std::uint32_t> responder) {
  later(std::move(responder), [this, token = mf::current_call().stop_token()] {
    plain_.linger(token);
    return 1U;
  });
}

void AsyncRoom::count(conformance::ShapesCountRequest request, mf::StreamWriter<std::uint32_t> out,
                      mf::Responder<void> responder) {
  later(std::move(responder), [this, request, out = std::move(out)]() mutable {
    plain_.count(request.to, request.breaks_at, out);
  });
}

void AsyncRoom::texts(conformance::ShapesTextsRequest request, mf::StreamWriter<std::string> out,
                      mf::Responder<void> responder) {
  later(std::move(responder),
        [this, request, out = std::move(out)]() mutable { plain_.texts(request.size, request.number, out); });
}

void AsyncRoom::sum(conformance::ShapesSumRequest request, mf::StreamReader<std::uint32_t> values,
                    mf::Responder<std::uint64_t> responder) {
  later(std::move(responder),
        [this, request, values = std::move(values)]() mutable { return plain_.sum(request.start, values); });
}

void AsyncRoom::first(conformance::ShapesFirstRequest request, mf::StreamReader<std::uint32_t> values,
                      mf::Responder<std::uint32_t> responder) {
  later(std::move(responder), [this, request, values = std::move(values)]() mutable {
    return plain_.first(request.number, values);
  });
}

void AsyncRoom::echo(conformance::ShapesEchoRequest /*request*/, mf::StreamReader<std::string> values,
                     mf::StreamWriter<std::string> out, mf::Responder<void> responder) {
  later(std::move(responder),
        [this, values = std::move(values), out = std::move(out)]() mutable { plain_.echo(values, out); });
}

void AsyncRoom::endless(conformance::ShapesEndlessRequest /*request*/, mf::StreamWriter<std::uint32_t> out,
                        mf::Responder<void> responder) {
  later(std::move(responder),
        [this, out = std::move(out), token = mf::current_call().stop_token()]() mutable {
          plain_.endless(token, out);
        });
}

void AsyncRoom::seen(conformance::ShapesSeenRequest /*request*/,
                     mf::Responder<std::vector<std::string>> responder) {
  responder.respond(plain_.seen());
}

void AsyncRoom::seen_stream(conformance::ShapesSeenStreamRequest /*request*/,
                            mf::StreamWriter<std::string> out, mf::Responder<void> responder) {
  later(std::move(responder), [seen = plain_.seen(), out = std::move(out)]() mutable {
    for (const auto& each : seen) out.write(each);
  });
}

void AsyncRoom::relay(conformance::ShapesRelayRequest /*request*/,
                      mf::Responder<std::vector<std::string>> responder) {
  plain_.itself().async_seen(
      [responder = std::move(responder)](const mf::Outcome<std::vector<std::string>>& seen) mutable {
        responder.respond(seen);
      });
}

std::shared_ptr<mf::Servant> make_room(const std::string& kind, const std::string& name,
                                       const std::shared_ptr<Nested>& nested) {
  if (kind == "async") return std::make_shared<AsyncRoom>(name, nested);
  return std::make_shared<PlainRoom>(name, nested);
}

}  // namespace conformance_test
