#include "flex/process_core.hpp"

#include "mf/codec/flex/tags.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/random.hpp"
#include "mf/core/text.hpp"
#include "mf/link/waiter.hpp"

namespace mf::flex {
namespace {

// Bytes of attributes: a message is one value of a stream, which a receiver bounds.
constexpr std::size_t kLargest = (std::size_t{16} << 20U) - 4096;
// Undelivered messages that undelivered() has not returned yet.
constexpr std::size_t kMostKept = 1024;
constexpr std::chrono::seconds kLoggedEvery{10};
// "GROUP/NAME"
constexpr std::size_t kLongestDest = 511;
// Ways that end just when something is to be sent, one behind the other.
constexpr int kMostTried = 8;

Error no_room_in_time(const Copy& copy) {
  return not_executed_error(Code::deadline_exceeded, "there was no room for the message on the way to " +
                                                         quoted(copy.dest) + " in time" + copy.why_full());
}

bool is_group(std::string_view dest) {
  return dest.ends_with("/*");
}

/// The sender of a message within a node, which is notified of what becomes of it.
class Local final : public Owner {
 public:
  Local(std::shared_ptr<ProcessCore> from, std::shared_ptr<SentState> sent)
      : from_(std::move(from)), sent_(std::move(sent)) {}
  void taken(const Parcel& /*parcel*/) override { sent_->one_taken(); }
  void failed(const Parcel& parcel, const Error& error) override {
    from_->not_delivered(parcel.message, *sent_, error);
  }

 private:
  const std::shared_ptr<ProcessCore> from_;
  const std::shared_ptr<SentState> sent_;
};

}  // namespace

bool Copy::attempt(Office& office) {
  if (here) return here->put(parcel);
  for (int i = 0; i < kMostTried; ++i) {
    switch (way->submit(outbound)) {
      case Outgoing::Went::yes:
        return true;
      case Outgoing::Went::full:
        return false;
      case Outgoing::Went::closed:
        way = office.way(way->dest());
    }
  }
  throw not_executed_error(Code::unavailable, "the ways to " + quoted(dest) + " end at once");
}

std::string Copy::why_full() const {
  return here ? ": the mailbox of " + quoted(here->name()) + " is full" : way->receiver()->why_full();
}

void Copy::when_room(UniqueFunction<void()> call) {
  if (here) {
    here->when_room(std::move(call));
  } else {
    way->when_room(std::move(call));
  }
}

ProcessCore::ProcessCore(std::weak_ptr<Office> office, std::string name, const ProcessOptions& options,
                         std::shared_ptr<client::Core> core)
    : Mailbox(std::move(name), {.max_messages = options.max_messages, .max_bytes = options.max_bytes},
              std::move(core)),
      office_(std::move(office)),
      options_(options),
      id_(random_uuid()) {}

std::shared_ptr<Office> ProcessCore::office() const {
  auto found = office_.lock();
  if (!found) throw closed();
  return found;
}

ProcessCore::Prepared ProcessCore::prepared(Attributes&& attributes) const {
  const auto dest = attributes.take("dest");
  const auto* const text = dest.get_if<std::string>();
  if (text == nullptr || text->empty())
    refuse("name the receiver: {\"dest\", \"B\"}, or {\"dest\", \"GROUP/*\"}");
  if (text->size() > kLongestDest || !is_utf8(*text))
    refuse("no process has such a name: a name has 1 to 255 bytes of UTF-8, not " +
           std::to_string(text->size()));
  auto [bytes, types] = encode_with_types(attributes);
  if (bytes.size() > kLargest)
    throw not_executed_error(Code::message_too_large, "the attributes take " + std::to_string(bytes.size()) +
                                                          " bytes; a message has at most " +
                                                          std::to_string(kLargest) + ": send it in pieces");
  {
    const std::scoped_lock lock(mutex_);
    if (left_) throw closed();
  }
  return {.dest = *text, .attributes = std::move(bytes), .types = std::move(types)};
}

std::vector<std::string> ProcessCore::receivers(const std::string& dest, bool wait) {
  if (!is_group(dest)) return {dest};
  const auto group = dest.substr(0, dest.size() - 2);
  auto found = office()->members(group, wait);
  if (found.empty() && wait)
    throw not_executed_error(Code::unknown_agent, "no process is in the group " + quoted(group));
  return found;
}

std::vector<Copy> ProcessCore::copies(const Prepared& prepared, const std::vector<std::string>& to,
                                      const std::shared_ptr<SentState>& sent) {
  std::vector<Copy> all;
  const auto office = this->office();
  const auto size = prepared.attributes.size() + kOverhead;
  for (const auto& each : to) {
    Copy copy;
    copy.dest = prepared.dest;
    copy.here = office->local(each);
    if (copy.here) {
      copy.parcel = std::make_shared<const Parcel>(
          Parcel{.message = {name(), prepared.dest, decode_attributes(prepared.attributes).value()},
                 .size = size,
                 .sender = id_,
                 .owner = std::make_shared<Local>(self(), sent)});
    } else {
      copy.way = office->way(each);
      copy.outbound = std::make_shared<Outbound>();
      copy.outbound->carried.source = name();
      copy.outbound->carried.dest = prepared.dest;
      copy.outbound->carried.attributes = prepared.attributes;
      copy.outbound->types = prepared.types;
      copy.outbound->sent = sent;
      sent->add_receiver(copy.way->receiver());
      copy.outbound->size = size;
      copy.outbound->report = [process = self()](const Outbound& lost, const Error& error) {
        process->not_delivered(message_of(lost.carried), *lost.sent, error);
      };
    }
    all.push_back(std::move(copy));
  }
  return all;
}

bool ProcessCore::gives_up(const Copy& copy, SentState& sent, Full when_full) {
  if (when_full == Full::fail)
    throw not_executed_error(Code::overloaded, "there is no room for this message on the way to " +
                                                   quoted(copy.dest) + copy.why_full());
  if (when_full == Full::drop) sent.one_dropped();
  return when_full == Full::drop;
}

Sent ProcessCore::send(Attributes attributes, const SendOptions& options) {
  const auto what = prepared(std::move(attributes));
  if (is_group(what.dest)) check_may_block();
  const auto to = receivers(what.dest, true);
  const auto sent = std::make_shared<SentState>(to.size(), shared_core());
  const auto until = deadline_after(mf::now(), options.timeout);
  const auto office = this->office();
  for (auto& copy : copies(what, to, sent)) {
    while (!copy.attempt(*office)) {
      if (gives_up(copy, *sent, options.when_full.value_or(options_.when_full))) break;
      check_may_block();
      const auto waiter = std::make_shared<link::Waiter>();
      copy.when_room([waiter] { waiter->finish(); });
      if (copy.attempt(*office)) break;
      waiter->wait_until(until);
      if (!waiter->done()) throw no_room_in_time(copy);
    }
  }
  return Sent(sent);
}

/// A send that waits on no thread: it tries when it begins, on the caller's thread, and then when there may
/// be room.
class AsyncSend final : public std::enable_shared_from_this<AsyncSend> {
 public:
  AsyncSend(std::shared_ptr<ProcessCore> process, ProcessCore::Prepared what, const SendOptions& options,
            Callback<Sent> done)
      : process_(std::move(process)),
        what_(std::move(what)),
        when_full_(options.when_full.value_or(process_->options_.when_full)),
        timeout_(options.timeout),
        done_(std::move(done)) {}

  void start(const std::stop_token& stop) {
    if (stop.stop_possible()) {
      stopping_.emplace(stop, [weak = weak_from_this()] {
        if (const auto self = weak.lock())
          self->finish(not_executed_error(Code::cancelled, "the send was cancelled"));
      });
    }
    try {
      auto to = process_->receivers(what_.dest, false);
      if (!to.empty()) return go(to);
    } catch (...) {
      return finish(Failure::from_current_exception());
    }
    process_->core().in_background([self = shared_from_this()] {
      try {
        self->go(self->process_->receivers(self->what_.dest, true));
      } catch (...) {
        self->finish(Failure::from_current_exception());
      }
    });
  }

 private:
  void go(const std::vector<std::string>& to) {
    sent_ = std::make_shared<SentState>(to.size(), process_->shared_core());
    copies_ = process_->copies(what_, to, sent_);
    if (timeout_ != kInfinite) {
      timer_ = process_->core().reactor().at(deadline_after(mf::now(), timeout_), [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->too_late();
      });
    }
    run();
  }
  void run() {
    try {
      const std::scoped_lock lock(mutex_);
      const auto office = process_->office();
      for (; at_ < copies_.size(); ++at_) {
        if (finished_) return;
        if (copies_[at_].attempt(*office)) continue;
        if (ProcessCore::gives_up(copies_[at_], *sent_, when_full_)) continue;
        copies_[at_].when_room([weak = weak_from_this()] {
          const auto self = weak.lock();
          if (self) self->process_->core().reactor().post([self] { self->run(); });
        });
        if (!copies_[at_].attempt(*office)) return keep();
      }
    } catch (...) {
      return finish(Failure::from_current_exception());
    }
    finish(Sent(sent_));
  }
  void too_late() {
    std::optional<Error> why;
    {
      const std::scoped_lock lock(mutex_);
      if (at_ < copies_.size()) why = no_room_in_time(copies_[at_]);
    }
    if (why) finish(*why);
  }
  /// Until it is called again, which its callback alone does not see to.
  void keep() {
    if (!finished_) kept_ = shared_from_this();
  }
  void finish(Outcome<Sent> outcome) {
    if (finished_.exchange(true)) return;
    if (timer_ != 0) process_->core().reactor().cancel(timer_);
    process_->core().complete([self = shared_from_this(), outcome = std::move(outcome)]() mutable {
      std::shared_ptr<AsyncSend> kept;
      {
        const std::scoped_lock lock(self->mutex_);
        kept.swap(self->kept_);
      }
      auto done = std::move(self->done_);
      done(std::move(outcome));
    });
  }

  const std::shared_ptr<ProcessCore> process_;
  const ProcessCore::Prepared what_;
  const Full when_full_;
  const std::chrono::nanoseconds timeout_;
  Callback<Sent> done_;
  std::mutex mutex_;  // the next four
  std::shared_ptr<SentState> sent_;
  std::vector<Copy> copies_;
  std::size_t at_ = 0;
  std::shared_ptr<AsyncSend> kept_;
  std::atomic<transport::Reactor::TimerId> timer_{0};
  std::atomic<bool> finished_{false};
  // As long as this lives. It may be called while it is being constructed, and must not be destroyed then.
  std::optional<std::stop_callback<std::function<void()>>> stopping_;
};

void ProcessCore::async_send(Attributes attributes, const SendOptions& options, Callback<Sent> done,
                             const std::stop_token& stop) {
  std::optional<Prepared> what;
  try {
    what = prepared(std::move(attributes));
  } catch (...) {
    core().complete([failure = Failure::from_current_exception(), done = std::move(done)]() mutable {
      done(Outcome<Sent>(std::move(failure)));
    });
    return;
  }
  std::make_shared<AsyncSend>(self(), std::move(*what), options, std::move(done))->start(stop);
}

void ProcessCore::not_delivered(const Message& message, SentState& sent, const Error& error) {
  const Undelivered undelivered(error, {message});
  if (options_.on_undelivered) {
    try {
      options_.on_undelivered(undelivered);
    } catch (...) {
      log_escaped_exception(core().options().log, "on_undelivered");
    }
  } else {
    const std::scoped_lock lock(mutex_);
    undelivered_.push_back(undelivered);
    log(undelivered);
    if (undelivered_.size() > kMostKept) undelivered_.pop_front();
  }
  sent.one_failed(error, message);
}

/// One line at first, and then one with their number every ten seconds: they may be many at once.
void ProcessCore::log(const Undelivered& undelivered) {
  ++unlogged_;
  const auto now = mf::now();
  if (logged_ != TimePoint{} && now - logged_ < kLoggedEvery) return;
  logged_ = now;
  core().options().log.write(Level::warning, "undelivered",
                             {{"dest", undelivered.messages().front().dest()},
                              {"execution", mf::name(undelivered.execution())},
                              {"reason", undelivered.message()},
                              {"count", std::exchange(unlogged_, 0)}});
}

std::vector<Undelivered> ProcessCore::undelivered() {
  const std::scoped_lock lock(mutex_);
  std::vector<Undelivered> all(undelivered_.begin(), undelivered_.end());
  undelivered_.clear();
  return all;
}

void ProcessCore::leave() {
  {
    const std::scoped_lock lock(mutex_);
    if (left_) return;
    left_ = true;
  }
  const auto error = not_executed_error(
      Code::cancelled, quoted(name()) + " has closed its mailbox without taking the message");
  for (const auto& parcel : close_mailbox()) parcel->owner->failed(*parcel, error);
  if (const auto office = office_.lock()) office->leave(self());
}

}  // namespace mf::flex
