#include "flex/outgoing.hpp"

#include <algorithm>
#include <set>

#include "codec/flex/tags.hpp"
#include "flex/mailbox.hpp"
#include "mf/core/random.hpp"

namespace mf::flex {
namespace {

constexpr std::chrono::milliseconds kLongestPause{200};
// A message that comes so long after the one before is written at once; those that follow each other faster
// are left to the connection's thread, which writes many together.
constexpr std::chrono::microseconds kLone{100};

bool may_come_back(Code code) noexcept {
  switch (code) {
    case Code::unavailable:
    case Code::connection_lost:
    case Code::shutting_down:
    case Code::unknown_agent:
    case Code::unknown_service:
    case Code::overloaded:
    case Code::cancelled:
    case Code::deadline_exceeded:
      return true;
    default:
      return false;
  }
}

Error not_executed(Code code, const std::string& text) {
  return {code, Execution::not_executed, text};
}

Error error_of(const Failure& failure) {
  return {failure.code, failure.execution, failure.message};
}

/// A code that this runtime does not know is one of a later one.
Error refusal_of(const Refused& refused) {
  return not_executed(refused.code <= kLastCode ? static_cast<Code>(refused.code) : Code::internal,
                      refused.why);
}

}  // namespace

Message message_of(const Carried& carried) {
  return {carried.source, carried.dest, decode_attributes(carried.attributes).value()};
}

Outgoing::Outgoing(std::shared_ptr<client::Core> core, const MailboxClient& stub, std::string dest,
                   std::function<void(const Outgoing&)> ended, std::chrono::nanoseconds patience)
    : core_(std::move(core)),
      stub_(stub.at(dest)),
      dest_(std::move(dest)),
      ended_(std::move(ended)),
      patience_(patience),
      sender_(random_uuid()),
      backoff_(random_number(), kLongestPause),
      lost_(mf::now()) {}

// --- for any thread

bool Outgoing::closed() const {
  const Lock lock(mutex_);
  return closed_;
}

Outgoing::Went Outgoing::submit(const OutboundRef& outbound) {
  Stream stream;
  {
    const Lock lock(mutex_);
    if (closed_) return Went::closed;
    const bool full = messages_ >= kWindowMessages || bytes_ + outbound->size > kWindowBytes;
    if (full && messages_ != 0) return Went::full;
    ++messages_;
    bytes_ += outbound->size;
    outbound->carried.sequence = next_++;
    pending_.push_back(outbound);
    if (connected_ && !writing_) stream = stream_;
    writing_ = writing_ || stream != nullptr;
  }
  if (stream) write(stream);
  return Went::yes;
}

void Outgoing::when_room(UniqueFunction<void()> call) {
  {
    const Lock lock(mutex_);
    if (!closed_) {
      for_room_.push_back(std::move(call));
      return;
    }
  }
  call();
}

bool Outgoing::await_arrived(TimePoint until) {
  Lock lock(mutex_);
  return transport::wait_until(arrived_, lock, until, [this] {
    return pending_.empty() && (under_way_.empty() || under_way_.rbegin()->first <= received_);
  });
}

void Outgoing::close(const Error& error) {
  News news;
  Stream stream;
  {
    const Lock lock(mutex_);
    stream.swap(stream_);
    connected_ = false;
    const Error nobody_tells(error.code(), Execution::unknown,
                             error.message() + ": the message has come to its mailbox, and may be taken yet");
    while (!under_way_.empty() && under_way_.begin()->first <= received_)
      lose(under_way_.begin()->first, nobody_tells, news);
    fail_all(error, error, news);
  }
  if (stream) stream->cancel();
  tell(std::move(news));
}

// --- sessions

void Outgoing::begin() {
  session();
}

void Outgoing::session() {
  CallOptions options;
  options.deadline = kInfinite;
  Stream stream;
  try {
    auto begun = stub_.deliver(sender_, options);
    stream = std::make_shared<DuplexStream<Carried, Receipt>>(std::move(begun));
  } catch (const Error& error) {
    return on_lost(nullptr, error);
  }
  {
    const Lock lock(mutex_);
    if (closed_) return;
    stream_ = stream;
  }
  read(stream);
}

void Outgoing::read(const Stream& stream) {
  stream->async_next([self = shared_from_this(), stream](Outcome<std::optional<Receipt>>&& next) {
    if (!next) return self->on_lost(stream, error_of(next.failure()));
    auto receipt = std::move(next).value();
    if (!receipt)
      return self->on_lost(stream,
                           not_executed(Code::unavailable, quoted(self->dest_) + " has ended the stream"));
    self->on_receipt(stream, std::move(*receipt));
  });
}

void Outgoing::on_receipt(const Stream& stream, Receipt&& receipt) {
  News news;
  bool writes = false;
  {
    const Lock lock(mutex_);
    if (stream_ != stream) return;  // it was given up
    if (!connected_) {
      meet(receipt, news);
      connected_ = true;
      backoff_.reset();
      writes = !writing_;
      writing_ = true;
    }
    receive(receipt, news);
  }
  tell(std::move(news));
  if (receipt.closing)
    return on_lost(stream, not_executed(Code::unavailable, quoted(dest_) + " has closed its mailbox"));
  if (writes) write(stream);
  read(stream);
}

void Outgoing::on_lost(const Stream& stream, const Error& why) {
  News news;
  std::optional<TimePoint> again;
  {
    const Lock lock(mutex_);
    if (closed_ || stream_ != stream) return;
    stream_.reset();
    writing_ = false;
    if (connected_) lost_ = mf::now();
    connected_ = false;
    if (pending_.empty() && under_way_.empty()) {  // who sends again makes another one
      closed_ = true;
      news.ended = true;
      news.calls.swap(for_room_);
    } else if (!may_come_back(why.code()) || mf::now() - lost_ > patience_) {
      // What was sent may have been taken; what was not, surely was not.
      fail_all(Error(why.code(), Execution::unknown, why.message()), not_executed(why.code(), why.message()),
               news);
    } else {
      again = mf::now() + backoff_.next();
    }
  }
  if (stream) stream->cancel();
  tell(std::move(news));
  if (again) core_->reactor().at(*again, [self = shared_from_this()] { self->session(); });
}

/// By who has set writing_.
void Outgoing::write(const Stream& stream) {
  OutboundRef outbound;
  bool lone = false;
  {
    const Lock lock(mutex_);
    if (stream_ != stream) return;
    if (pending_.empty()) {
      writing_ = false;
      return;
    }
    outbound = std::move(pending_.front());
    pending_.pop_front();
    under_way_.emplace(outbound->carried.sequence, outbound);
    const auto now = mf::now();
    lone = now - submitted_ > kLone && pending_.empty();
    submitted_ = now;
  }
  stream->async_write(outbound->carried, [self = shared_from_this(), stream](Outcome<bool>&& went) {
    if (went && went.value()) self->write(stream);  // if not, who reads learns why
  });
  if (lone) stream->flush();
}

/// What was sent before goes on, or is sent again, or is lost with the mailbox that had it.
void Outgoing::meet(const Receipt& receipt, News& news) {
  if (mailbox_ == receipt.mailbox) {
    while (!under_way_.empty() && under_way_.rbegin()->first > receipt.received) {
      const auto last = std::prev(under_way_.end());
      pending_.push_front(std::move(last->second));
      under_way_.erase(last);
    }
    std::set<std::uint64_t> waiting(receipt.waiting.begin(), receipt.waiting.end());
    for (const auto& each : receipt.refused) waiting.insert(each.sequence);
    for (auto at = under_way_.begin(); at != under_way_.end();) {
      if (waiting.contains(at->first)) {
        ++at;
        continue;
      }
      leave(at->second, news);
      news.taken.push_back(std::move(at->second));
      at = under_way_.erase(at);
    }
  } else {
    const Error error(Code::connection_lost, Execution::unknown,
                      quoted(dest_) + " was lost, and another process has the name now");
    while (!under_way_.empty()) lose(under_way_.begin()->first, error, news);
  }
  mailbox_ = receipt.mailbox;
  received_ = 0;
}

void Outgoing::receive(const Receipt& receipt, News& news) {
  received_ = receipt.received;
  for (const auto& each : receipt.refused) lose(each.sequence, refusal_of(each), news);
  for (const auto sequence : receipt.taken) {
    const auto found = under_way_.find(sequence);
    if (found == under_way_.end()) continue;
    leave(found->second, news);
    news.taken.push_back(std::move(found->second));
    under_way_.erase(found);
  }
  if (receipt.closing) {
    const auto error =
        not_executed(Code::cancelled, quoted(dest_) + " has closed its mailbox without taking the message");
    while (!under_way_.empty() && under_way_.begin()->first <= receipt.received)
      lose(under_way_.begin()->first, error, news);
    for (; !under_way_.empty(); under_way_.erase(std::prev(under_way_.end())))
      pending_.push_front(std::move(under_way_.rbegin()->second));
  }
  arrived_.notify_all();
}

void Outgoing::leave(const OutboundRef& outbound, News& news) {
  --messages_;
  bytes_ -= outbound->size;
  for (auto& each : for_room_) news.calls.push_back(std::move(each));
  for_room_.clear();
}

/// It was sent, and nobody will say any more that it was taken.
void Outgoing::lose(std::uint64_t sequence, const Error& error, News& news) {
  const auto found = under_way_.find(sequence);
  if (found == under_way_.end()) return;
  leave(found->second, news);
  news.failed.push_back({.outbound = std::move(found->second), .error = error});
  under_way_.erase(found);
}

void Outgoing::fail_all(const Error& sent, const Error& unsent, News& news) {
  while (!under_way_.empty()) lose(under_way_.begin()->first, sent, news);
  for (; !pending_.empty(); pending_.pop_front()) {
    leave(pending_.front(), news);
    news.failed.push_back({.outbound = std::move(pending_.front()), .error = unsent});
  }
  news.ended = !closed_;
  closed_ = true;
  for (auto& each : for_room_) news.calls.push_back(std::move(each));
  for_room_.clear();
  arrived_.notify_all();
}

void Outgoing::tell(News&& news) {
  for (const auto& each : news.taken) each->sent->one_taken();
  for (const auto& each : news.failed) each.outbound->report(*each.outbound, each.error);
  if (news.ended) ended_(*this);
  for (auto& each : news.calls) each();
}

}  // namespace mf::flex
