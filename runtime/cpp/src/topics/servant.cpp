#include "mf/topics/servant.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <stop_token>
#include <vector>

#include "mf/codec/value.hpp"
#include "mf/core/failure.hpp"
#include "mf/link/server_link.hpp"
#include "mf/link/typed.hpp"
#include "mf/server/stream.hpp"

namespace mf::topics {
namespace {

using Subscribe = methods::AnyTopicSubscribe;

// How many entries are taken out of the queue under one lock.
constexpr std::size_t kAtOnce = 64;
// A message that comes so long after the one before is written by its publisher's own thread, which saves the
// hand-over; those that follow each other faster are left to the connection's thread, which writes many at
// once.
constexpr auto kLone = std::chrono::microseconds(100);

/// One subscription. It lives as long as its queue or its stream will call it.
class Outgoing final : public std::enable_shared_from_this<Outgoing> {
 public:
  Outgoing(std::shared_ptr<Subscriptions> topic, std::shared_ptr<Inbox> inbox,
           std::shared_ptr<TopicServant::Open> open, std::shared_ptr<server::Call> call,
           std::shared_ptr<link::ServerLink> link, Responder<void> responder)
      : topic_(std::move(topic)),
        inbox_(std::move(inbox)),
        open_(std::move(open)),
        call_(std::move(call)),
        link_(std::move(link)),
        responder_(std::move(responder)) {
    call_->set_results(Subscribe::kResultElementTier, link::kMethod<Subscribe>);
    inbox_->charge_to(*call_);
    const std::scoped_lock lock(open_->mutex);
    open_->inboxes.insert(inbox_);
  }
  ~Outgoing() { forget(); }
  Outgoing(const Outgoing&) = delete;
  Outgoing& operator=(const Outgoing&) = delete;

  void start(const std::stop_token& stop) {
    stopping_.emplace(stop, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->leave();
    });
    inbox_->when_cut([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->cut();
    });
    await();
  }

 private:
  void await() {
    inbox_->when_ready([self = shared_from_this()] { self->ready(); });
  }

  /// On a publisher's thread, without any lock.
  void ready() {
    const auto now = mf::now();
    const bool lone = now - last_ > kLone;
    last_ = now;
    if (lone) return write();
    link_->post([self = shared_from_this()] { self->write(); });
  }

  /// One at a time: after when_ready(), or when there is room in the stream again.
  void write() {
    for (;;) {
      Failure why;
      switch (link::pump(
          call_->output(), [this](Buffer& out) { return append(out); },
          [self = shared_from_this()] { self->write(); }, why)) {
        case link::Pumped::full:
          return;  // write() is called again, and perhaps has been, by another thread
        case link::Pumped::dry:
          return got_ == Inbox::Got::ended ? end() : await();
        case link::Pumped::ended:
          return leave();  // the subscriber wants no more
        case link::Pumped::too_large:
          if (too_large()) continue;  // what the subscriber does not accept is missed
          fail(why);
          return leave();
      }
    }
  }

  /// False: what was appended last was no message.
  bool too_large() {
    auto& entry = entries_[at_ - 1];
    if (entry.kind != Inbox::Kind::message) return false;
    inbox_->count_undeliverable();
    entry = {.first = sequence_, .count = 1, .source = entry.source, .kind = Inbox::Kind::missed};
    --at_;
    return true;
  }

  bool append(Buffer& out) {
    if (at_ == count_) {
      at_ = 0;
      count_ = inbox_->take_some(entries_, kAtOnce, got_);
      if (count_ == 0) return false;
    }
    auto& entry = entries_[at_++];
    switch (entry.kind) {
      case Inbox::Kind::message:
        append_message(out, entry);
        entry.item = ItemRef();
        break;
      case Inbox::Kind::source: {
        const auto origin = inbox_->origin(entry.source);
        append_value(out, Delivery::of_source({.source = entry.source,
                                               .publisher = origin->publisher,
                                               .agent = origin->agent,
                                               .next = entry.first,
                                               .live = entry.first + entry.count,
                                               .keep = origin->keep}));
        break;
      }
      case Inbox::Kind::missed:
        append_value(
            out, Delivery::of_missed(
                     {.first = entry.first, .count = entry.count, .source = entry.source, .why = entry.why}));
        break;
      case Inbox::Kind::ended:
        append_value(out, Delivery::of_ended({.source = entry.source}));
        break;
    }
    return true;
  }

  /// As append_value() of a Delivery that has the message, but without a copy of its payload.
  void append_message(Buffer& out, const Inbox::Entry& entry) {
    constexpr auto kKind = static_cast<std::uint32_t>(Delivery::Kind::message);
    auto& item = *entry.item;
    sequence_ = item.sequence;
    const auto payload = item.payload();
    const std::size_t room = codec::febird_bound(kKind, entry.source, sequence_, item.time, payload.size());
    codec::Writer writer(out.append(room + payload.size()));
    codec::febird_write(writer, kKind, entry.source, sequence_, item.time, payload.size());
    writer.bytes(payload.data(), payload.size());
    out.cut_at(writer.position());
  }
  static void append_value(Buffer& out, const Delivery& delivery) {
    codec::append_value<Subscribe::kResultElementTier>(out, delivery);
  }

  /// All has been taken, and nothing more comes.
  void end() {
    const auto why = inbox_->why();
    if (why && why->code != Code::shutting_down) {
      responder_.respond(Failure(*why));
    } else {
      responder_.respond({});
    }
    leave();
  }
  void fail(const Failure& failure) {
    try {
      call_->fail(failure);
    } catch (const Error&) {  // the subscriber got it, too
    }
  }
  /// On a publisher's thread: the subscriber takes nothing, and learns at once that it has lost its place.
  void cut() {
    fail(*inbox_->why());
    leave();
  }
  void forget() {
    inbox_->close();
    topic_->unsubscribe(*inbox_);
    const std::scoped_lock lock(open_->mutex);
    open_->inboxes.erase(inbox_);
  }
  /// The subscriber reads no more.
  void leave() {
    forget();
    if (!answered_.exchange(true)) responder_.respond({});
  }

  const std::shared_ptr<Subscriptions> topic_;
  const std::shared_ptr<Inbox> inbox_;
  const std::shared_ptr<TopicServant::Open> open_;
  const std::shared_ptr<server::Call> call_;
  const std::shared_ptr<link::ServerLink> link_;
  Responder<void> responder_;
  std::atomic<bool> answered_{false};  // a publisher and a reader may both find that it is over
  std::optional<std::stop_callback<std::function<void()>>> stopping_;
  std::chrono::steady_clock::time_point last_{};
  // Of write():
  std::vector<Inbox::Entry> entries_;
  std::size_t at_ = 0;
  std::size_t count_ = 0;
  std::uint64_t sequence_ = 0;  // of the message that was appended last
  Inbox::Got got_ = Inbox::Got::nothing;
};

Failure stops() {
  return not_executed(Code::shutting_down, "the publisher's server stops");
}

}  // namespace

void TopicServant::stop() {
  decltype(open_->inboxes) inboxes;
  {
    const std::scoped_lock lock(open_->mutex);
    inboxes.swap(open_->inboxes);
  }
  for (const auto& inbox : inboxes) {
    if (inbox->end(mf::detail::shared(stops()))) inbox->wake();
  }
}

void TopicServant::dispatch(server::Incoming& in) {
  auto request = fresh<Subscribe::Request>();
  if (!server::detail::begin_stream<Subscribe>(in, request)) return;
  const auto& what = request.what;
  std::shared_ptr<Inbox> inbox;
  try {
    const auto& link = *in.ticket().link();
    link.check_subscription(topic_->service().name, what.agents);
    inbox = topic_->make_inbox(
        {.max_messages = what.max_messages, .max_bytes = what.max_bytes, .overflow = what.overflow});
    topic_->subscribe(inbox, {.agents = what.agents,
                              .peer = in.info().peer,
                              .authentication = link.hello().authentication,
                              .identity = &link.identity(),
                              .remote = true,
                              .replay = what.replay,
                              .seen = &what.seen,
                              .path = what.path});
  } catch (const Error& error) {
    return in.ticket().fail(error.code(), error.execution(), error.message());
  }
  const auto call = in.ticket().call();
  const auto link = in.ticket().link();
  const auto stop = in.stop_token();
  const auto answers =
      server::detail::stream_answers(in, link::kMethod<Subscribe>,
                                     std::unique_ptr<server::detail::Encoder>(
                                         new server::detail::EncoderOf<void, Subscribe::kResultTier>(1)));
  std::make_shared<Outgoing>(topic_, inbox, open_, call, link, Responder<void>(answers, 0))->start(stop);
}

}  // namespace mf::topics
