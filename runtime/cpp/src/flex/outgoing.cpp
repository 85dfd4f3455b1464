#include "flex/outgoing.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "flex/mailbox.hpp"
#include "mf/codec/flex/tags.hpp"
#include "mf/codec/tiered.hpp"
#include "mf/core/code_class.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/random.hpp"
#include "mf/flex.hpp"
#include "mf/link/typed.hpp"

namespace mf::flex {
namespace {

using Deliver = methods::MailboxDeliver;

constexpr std::chrono::milliseconds kLongestPause{200};
// A message that comes so long after the one before has left is written at once. Those that follow each other
// faster, as in a loop that sends, are left to the connection's thread, which writes many together.
constexpr std::chrono::microseconds kLone{10};

/// A code that this runtime does not know is one of a later one.
Error refusal_of(const Refused& refused) {
  return not_executed_error(refused.code <= kLastCode ? static_cast<Code>(refused.code) : Code::internal,
                            refused.why);
}

}  // namespace

Message message_of(const Carried& carried) {
  return {carried.source, carried.dest, decode_attributes(carried.attributes).value()};
}

Outgoing::Outgoing(std::shared_ptr<client::Core> core, std::string dest,
                   std::function<void(const Outgoing&)> ended, std::chrono::nanoseconds patience)
    : core_(std::move(core)),
      target_(client::Target(core_, methods::kMailboxService).at(dest)),
      receiver_(std::make_shared<Receiver>(std::move(dest))),
      ended_(std::move(ended)),
      patience_(patience),
      sender_(random_uuid()),
      standing_(core_, kLongestPause),
      lost_(mf::now()) {}

// --- for any thread

bool Outgoing::closed() const {
  const Lock lock(mutex_);
  return closed_;
}

Outgoing::Went Outgoing::submit(const OutboundRef& outbound) {
  Stream stream;
  bool lone = false;
  bool first = false;
  {
    const Lock lock(mutex_);
    if (closed_) return Went::closed;
    const bool full = messages_ >= kWindowMessages || bytes_ + outbound->size > kWindowBytes;
    if (full && messages_ != 0) return Went::full;
    ++messages_;
    bytes_ += outbound->size;
    outbound->carried.sequence = next_++;
    pending_.push_back(outbound);
    first = !std::exchange(begun_, true);
    if (connected_ && !writing_) {
      stream = stream_;
      writing_ = true;
      lone = mf::now() - submitted_ > kLone;
    }
  }
  if (first) {
    session();
  } else if (stream && lone) {
    write(stream);
  } else if (stream) {
    core_->reactor().post([self = shared_from_this(), stream] { self->write(stream); });
  }
  const Lock lock(mutex_);
  submitted_ = mf::now();
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
  standing_.leave();
  tell(std::move(news));
}

// --- sessions

void Outgoing::session() {
  Stream stream;
  try {
    stream = begin_session();
  } catch (const Error& error) {
    return on_lost(nullptr, error);
  }
  if (!stream) return;
  bool closed = false;
  {
    const Lock lock(mutex_);
    closed = closed_;
    if (!closed) stream_ = stream;
    told_ = {};
  }
  if (closed) return stream->call->abandon();
  read(stream);
}

/// What the stub's deliver() does. Its stream is written here without a copy of each message, and without a
/// turn of the loop for each.
Outgoing::Stream Outgoing::begin_session() {
  const auto call = standing_.make<Deliver>(target_, sender_);
  if (!call) return nullptr;
  StreamReader<Receipt> receipts(client::detail::values_of<Deliver>(call));
  standing_.launch(call);
  return std::make_shared<Session>(Session{.call = call, .receipts = std::move(receipts)});
}

void Outgoing::read(const Stream& stream) {
  stream->receipts.async_next([self = shared_from_this(), stream](Outcome<std::optional<Receipt>>&& next) {
    if (!next) return self->on_lost(stream, error_of(next.failure()));
    auto receipt = std::move(next).value();
    if (!receipt)
      return self->on_lost(
          stream, not_executed_error(Code::unavailable, quoted(self->dest()) + " has ended the stream"));
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
      standing_.came_up();
      writes = !writing_;
      writing_ = true;
    }
    receive(receipt, news);
  }
  tell(std::move(news));
  if (receipt.closing)
    return on_lost(stream, not_executed_error(Code::unavailable, quoted(dest()) + " has closed its mailbox"));
  if (writes) write(stream);
  read(stream);
}

void Outgoing::on_lost(const Stream& stream, const Error& why) {
  News news;
  bool again = false;
  {
    const Lock lock(mutex_);
    if (closed_ || stream_ != stream) return;
    stream_.reset();
    writing_ = false;
    if (connected_) lost_ = mf::now();
    connected_ = false;
    receiver_->is_full = false;
    if (pending_.empty() && under_way_.empty()) {  // the next send() makes another one
      closed_ = true;
      news.ended = true;
      news.calls.swap(for_room_);
    } else if (!may_come_back(why.code()) || mf::now() - lost_ > patience_) {
      // What was sent may have been taken; what was not, surely was not.
      fail_all(Error(why.code(), Execution::unknown, why.message()),
               not_executed_error(why.code(), why.message()), news);
    } else {
      again = true;
    }
  }
  if (stream) stream->call->abandon();
  tell(std::move(news));
  if (again) {
    standing_.again([self = shared_from_this()] { self->session(); });
  } else {
    standing_.leave();
  }
}

/// Called by the thread that has set writing_, or when there is room in the stream again.
void Outgoing::write(const Stream& stream) {
  for (;;) {
    Failure why;
    const auto went = mf::link::pump(
        stream->call->output(), [&](Buffer& out) { return append(stream, out); },
        [self = shared_from_this(), stream] { self->write(stream); }, why);
    if (went == mf::link::Pumped::too_large) {
      lose_last(error_of(why));
      continue;
    }
    if (went == mf::link::Pumped::ended) return;  // the reader gets the reason
    if (went == mf::link::Pumped::full) return;   // this is called again
    const Lock lock(mutex_);
    if (stream_ != stream) return;
    if (pending_.empty()) {
      writing_ = false;
      return;
    }
  }
}

/// False: there is no message to write.
bool Outgoing::append(const Stream& stream, Buffer& out) {
  OutboundRef outbound;
  std::optional<Carried> types;
  {
    const Lock lock(mutex_);
    if (stream_ != stream || pending_.empty()) return false;
    types = untold(*pending_.front());
    if (!types) {
      outbound = std::move(pending_.front());
      pending_.pop_front();
      under_way_.emplace(outbound->carried.sequence, outbound);
    }
  }
  const auto& carried = types ? *types : outbound->carried;
  codec::append_value<Deliver::kParamElementTier>(out, carried);
  return true;
}

/// The message that was appended last is larger than the receiver takes.
void Outgoing::lose_last(const Error& why) {
  News news;
  {
    const Lock lock(mutex_);
    if (!under_way_.empty())
      lose(under_way_.rbegin()->first, not_executed_error(why.code(), why.message()), news);
  }
  tell(std::move(news));
}

/// The descriptions of those types of a message that were not sent on this stream before.
std::optional<Carried> Outgoing::untold(const Outbound& outbound) {
  Carried carried;
  for (const auto& [fingerprint, texts] : outbound.types) {
    if (!told_.add(fingerprint, *texts)) continue;
    CarriedType type;
    type.descriptor = texts->descriptor;
    type.annex = texts->annex;
    carried.types.push_back(std::move(type));
  }
  if (carried.types.empty()) return std::nullopt;
  carried.source = outbound.carried.source;
  carried.dest = outbound.carried.dest;
  return carried;
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
                      quoted(dest()) + " was lost, and another process has the name now");
    while (!under_way_.empty()) lose(under_way_.begin()->first, error, news);
  }
  mailbox_ = receipt.mailbox;
  received_ = 0;
}

void Outgoing::receive(const Receipt& receipt, News& news) {
  received_ = receipt.received;
  receiver_->is_full = receipt.full;
  for (const auto& each : receipt.refused) lose(each.sequence, refusal_of(each), news);
  for (const auto sequence : receipt.taken) {
    const auto found = under_way_.find(sequence);
    if (found == under_way_.end()) continue;
    leave(found->second, news);
    news.taken.push_back(std::move(found->second));
    under_way_.erase(found);
  }
  if (receipt.closing) {
    const auto error = not_executed_error(
        Code::cancelled, quoted(dest()) + " has closed its mailbox without taking the message");
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

/// It was sent, and no receipt will come any more.
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
