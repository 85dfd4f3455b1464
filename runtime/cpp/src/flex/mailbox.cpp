#include "flex/mailbox.hpp"

#include <algorithm>
#include <unordered_map>

#include "flex/seconds.hpp"
#include "mf/codec/flex/tags.hpp"
#include "mf/core/failure.hpp"

namespace mf::flex {
namespace {

// The part of a mailbox that is kept for senders without messages in it.
constexpr std::size_t kReserved = 16;
// The part of the reserve that one sender may use.
constexpr std::size_t kSmall = 256;
constexpr std::chrono::seconds kTellEvery{10};

/// Whether there is room for `size` more from a sender to which `share` of `held` belongs.
bool has_room_for(std::size_t size, std::size_t share, std::size_t held, std::size_t most) {
  const auto reserved = most / kReserved;
  if (share != 0) return held + size + share + size <= most - reserved;
  return held + size <= most - (size > reserved / kSmall ? reserved : 0);
}

/// Sorted by their senders' numbers; those without one come first, in their order.
std::vector<ParcelRef> in_order(std::vector<ParcelRef> parcels) {
  std::map<std::pair<std::uint64_t, std::size_t>, ParcelRef> sorted;
  for (auto& each : parcels) {
    const auto sequence = each->sequence;
    sorted.emplace(std::pair(sequence, sorted.size()), std::move(each));
  }
  parcels.clear();
  for (auto& [key, each] : sorted) parcels.push_back(std::move(each));
  return parcels;
}

}  // namespace

Mailbox::Mailbox(std::string name, const Bounds& bounds, std::shared_ptr<client::Core> core)
    : name_(std::move(name)), bounds_(bounds), core_(std::move(core)) {
  if (bounds_.max_messages < 2 || bounds_.max_bytes < 2 * kOverhead)
    refuse("a mailbox has room for 2 messages at least, not " + std::to_string(bounds_.max_messages) +
           " in " + std::to_string(bounds_.max_bytes) + " bytes");
}

Mailbox::~Mailbox() = default;

Error Mailbox::closed() const {
  return {Code::cancelled, Execution::not_executed, "the mailbox of " + quoted(name_) + " is closed"};
}

void Mailbox::check_open() const {
  if (closed_) throw closed();
}

void Mailbox::check_may_block() const {
  if (core_->reactor().on_own_thread())
    refuse("this would hold up the thread that it waits for: use the function that begins with async_");
}

Error Mailbox::none_came(const std::string& words, std::chrono::nanoseconds timeout) const {
  return {Code::deadline_exceeded, Execution::not_executed,
          "nothing that matches " + words + " came to " + quoted(name_) + " within " + seconds(timeout) +
              " s; " + std::to_string(waiting()) + " others wait"};
}

std::size_t Mailbox::waiting() const {
  const std::scoped_lock lock(mutex_);
  return queue_.size();
}

// --- putting

bool Mailbox::has_room(const Parcel& parcel) const {
  if (parcel.size > bounds_.max_bytes / 2)
    throw Error(Code::message_too_large, Execution::not_executed,
                "the message takes " + std::to_string(parcel.size) + " bytes; " + quoted(name_) + " takes " +
                    std::to_string(bounds_.max_bytes / 2) + " of one sender");
  const auto found = by_sender_.find(parcel.sender);
  const auto share = found == by_sender_.end() ? Share() : found->second;
  return has_room_for(1, share.messages, held_, bounds_.max_messages) &&
         has_room_for(parcel.size, share.bytes, bytes_, bounds_.max_bytes);
}

/// Logs that the mailbox is full, at most once in kTellEvery.
void Mailbox::tell_full() {
  std::size_t messages = 0;
  std::size_t senders = 0;
  {
    const std::scoped_lock lock(mutex_);
    const auto now = mf::now();
    if (told_full_ && now - *told_full_ < kTellEvery) return;
    told_full_ = now;
    messages = held_;
    senders = by_sender_.size();
  }
  core_->options().log.write(Level::warning, "mailbox_full",
                             {{"mailbox", name_}, {"messages", messages}, {"senders", senders}});
}

void Mailbox::hold(const Parcel& parcel) {
  ++held_;
  bytes_ += parcel.size;
  auto& share = by_sender_[parcel.sender];
  ++share.messages;
  share.bytes += parcel.size;
}

Mailbox::Calls Mailbox::release(const Parcel& parcel) {
  --held_;
  bytes_ -= parcel.size;
  const auto share = by_sender_.find(parcel.sender);
  share->second.bytes -= parcel.size;
  if (--share->second.messages == 0) by_sender_.erase(share);
  return std::exchange(for_room_, {});
}

bool Mailbox::put(ParcelRef parcel) {
  std::vector<Waiters::Ref> woken;
  bool full = false;
  {
    const std::scoped_lock lock(mutex_);
    check_open();
    full = !has_room(*parcel);
    if (!full) {
      hold(*parcel);
      if (claim(parcel)) return true;
      const auto number = queue_.put(parcel);
      woken = waiters_.of(parcel->message, number);
    }
  }
  if (full) {
    tell_full();
    return false;
  }
  for (const auto& each : woken) each->wake();
  return true;
}

void Mailbox::when_room(UniqueFunction<void()> call) {
  {
    const std::scoped_lock lock(mutex_);
    if (!closed_) {
      for_room_.push_back(std::move(call));
      return;
    }
  }
  call();
}

std::vector<ParcelRef> Mailbox::close_mailbox() {
  std::vector<ParcelRef> left;
  std::vector<Waiters::Ref> waiting;
  Calls calls;
  std::thread caller;
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    left = queue_.take_all();
    for (const auto& each : callbacks_) {
      left.insert(left.end(), each->backlog.begin(), each->backlog.end());
      each->backlog.clear();
    }
    waiting = waiters_.all();
    calls.swap(for_room_);
    caller.swap(caller_);
    to_call_.notify_all();
  }
  for (const auto& each : waiting) each->wake();
  for (auto& each : calls) each();
  if (caller.joinable()) {
    if (caller.get_id() == std::this_thread::get_id()) {
      caller.detach();
    } else {
      blocking();
      caller.join();
    }
  }
  Lock lock(mutex_);
  told_.wait(lock, [this] { return in_hand_ == 0; });
  return in_order(std::move(left));
}

// --- taking

Message Mailbox::taken(const ParcelRef& parcel) {
  Calls calls;
  {
    const std::scoped_lock lock(mutex_);
    calls = release(*parcel);
  }
  for (auto& each : calls) each();
  if (parcel->owner) parcel->owner->taken(*parcel);
  const std::scoped_lock lock(mutex_);
  if (--in_hand_ == 0 && closed_) told_.notify_all();
  return parcel->message;
}

ParcelRef Mailbox::take_first(const Asked& asked) {
  const auto number = queue_.first(asked);
  return number == Queue::kNone ? nullptr : take_number(number);
}

ParcelRef Mailbox::take_number(std::uint64_t number) {
  auto parcel = queue_.take(number);
  if (parcel) ++in_hand_;
  return parcel;
}

ParcelRef Mailbox::take_if_passes(const Asked& asked, std::uint64_t number) {
  ParcelRef parcel;
  {
    const std::scoped_lock lock(mutex_);
    parcel = queue_.find(number);
  }
  if (!parcel || !asked.passes(parcel->message)) return nullptr;
  const std::scoped_lock lock(mutex_);
  return take_number(number);
}

ParcelRef Mailbox::take_tested(const Asked& asked) {
  std::unordered_map<std::string, bool> answers;
  for (bool lost = true; lost;) {
    lost = false;
    std::vector<Queue::Candidate> candidates;
    {
      const std::scoped_lock lock(mutex_);
      candidates = queue_.candidates(asked);
    }
    for (const auto& [number, tested] : candidates) {
      auto answer = answers.find(tested);
      if (answer == answers.end()) {
        ParcelRef parcel;
        {
          const std::scoped_lock lock(mutex_);
          parcel = queue_.find(number);
        }
        answer = answers.emplace(tested, parcel && asked.passes(parcel->message)).first;
      }
      if (!answer->second) continue;
      const std::scoped_lock lock(mutex_);
      if (auto parcel = take_number(number)) return parcel;
      lost = true;  // another call has taken it: the next message may be another one of its kind
      break;
    }
  }
  return nullptr;
}

ParcelRef Mailbox::at_once(const Asked& asked) {
  if (asked.tested()) return take_tested(asked);
  const std::scoped_lock lock(mutex_);
  return take_first(asked);
}

ParcelRef Mailbox::begin(const std::shared_ptr<Waiter>& waiter) {
  {
    const std::scoped_lock lock(mutex_);
    check_open();
    waiters_.add(waiter);
    if (!waiter->asked.tested()) return take_first(waiter->asked);
  }
  return take_tested(waiter->asked);
}

ParcelRef Mailbox::take(Waiter& waiter) {
  std::vector<std::uint64_t> fresh;
  {
    const std::scoped_lock lock(mutex_);
    check_open();
    waiter.woken = false;
    if (!waiter.asked.tested()) return take_first(waiter.asked);
    fresh.swap(waiter.fresh);
  }
  for (const auto number : fresh)
    if (auto parcel = take_if_passes(waiter.asked, number)) return parcel;
  return nullptr;
}

void Mailbox::end(const Waiter& waiter, bool empty_handed) {
  std::vector<Waiters::Ref> others;
  {
    const std::scoped_lock lock(mutex_);
    waiters_.remove(waiter);
    // It was to have a message, and does not take it.
    if (!empty_handed || !waiter.woken) return;
    others = waiters_.all();
    for (const auto& each : others) {
      each->woken = true;
      if (each->asked.tested()) each->fresh = queue_.numbers();
    }
  }
  for (const auto& each : others) each->wake();
}

std::optional<Message> Mailbox::recv_now(const Asked& asked) {
  const auto parcel = at_once(asked);
  if (parcel) return taken(parcel);
  const std::scoped_lock lock(mutex_);
  check_open();
  return std::nullopt;
}

std::optional<Message> Mailbox::recv(const Asked& asked, TimePoint until) {
  if (auto found = recv_now(asked)) return found;
  check_may_block();
  const auto waiter = std::make_shared<BlockingWaiter>(asked);
  ParcelRef parcel;
  struct Entered {
    ~Entered() { mailbox.end(waiter, parcel == nullptr); }
    Mailbox& mailbox;
    const Waiter& waiter;
    const ParcelRef& parcel;
  } const entered{*this, *waiter, parcel};
  parcel = begin(waiter);
  while (!parcel) {
    if (!waiter->wait(until)) return std::nullopt;
    parcel = take(*waiter);
  }
  return taken(parcel);
}

bool Mailbox::peek(const Asked& asked) {
  std::vector<Queue::Candidate> candidates;
  {
    const std::scoped_lock lock(mutex_);
    if (!asked.tested()) return queue_.first(asked) != Queue::kNone;
    candidates = queue_.candidates(asked);
  }
  return std::ranges::any_of(candidates, [&](const Queue::Candidate& each) {
    ParcelRef parcel;
    {
      const std::scoped_lock lock(mutex_);
      parcel = queue_.find(each.number);
    }
    return parcel && asked.passes(parcel->message);
  });
}

/// An asynchronous operation. It looks where completions run, one look at a time.
class AsyncWaiter final : public Waiter, public std::enable_shared_from_this<AsyncWaiter> {
 public:
  AsyncWaiter(std::shared_ptr<Mailbox> mailbox, Asked asked, std::chrono::nanoseconds timeout,
              std::string words, Callback<Message> done)
      : Waiter(std::move(asked)),
        mailbox_(std::move(mailbox)),
        timeout_(timeout),
        words_(std::move(words)),
        done_(std::move(done)) {}

  void start(const std::stop_token& stop) {
    if (stop.stop_possible()) {
      stopping_.emplace(stop, [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->mailbox_->core().complete(
            [self] { self->finish(not_executed(Code::cancelled, "the receiver was cancelled")); });
      });
    }
    mailbox_->core().complete([self = shared_from_this()] { self->begin(); });
  }
  void wake() override {
    mailbox_->core().complete(
        [self = shared_from_this()] { self->look([&] { return self->mailbox_->take(*self); }); });
  }

 private:
  void begin() {
    if (finished_) return;
    if (timeout_ != kInfinite) {
      timer_ = mailbox_->core().reactor().at(deadline_after(mf::now(), timeout_), [weak = weak_from_this()] {
        if (const auto self = weak.lock())
          self->finish(self->mailbox_->none_came(self->words_, self->timeout_));
      });
    }
    // It is one of the waiting calls from here on.
    look([this] { return mailbox_->begin(shared_from_this()); });
  }
  template <class Take>
  void look(Take take) {
    if (finished_) return;
    ParcelRef parcel;
    try {
      parcel = take();
    } catch (...) {
      return finish(Failure::from_current_exception());
    }
    if (parcel) finish(mailbox_->taken(parcel));
  }
  void finish(Outcome<Message> outcome) {
    if (finished_.exchange(true)) return;
    if (timer_ != 0) mailbox_->core().reactor().cancel(timer_);
    mailbox_->end(*this, !outcome.ok());
    auto done = std::move(done_);
    done(std::move(outcome));
  }

  const std::shared_ptr<Mailbox> mailbox_;
  const std::chrono::nanoseconds timeout_;
  const std::string words_;
  Callback<Message> done_;
  std::atomic<bool> finished_{false};
  transport::Reactor::TimerId timer_ = 0;
  // As long as this lives. It may be called while it is being constructed, and must not be destroyed then.
  std::optional<std::stop_callback<std::function<void()>>> stopping_;
};

void Mailbox::async_recv(Asked asked, std::chrono::nanoseconds timeout, std::string words,
                         Callback<Message> done, const std::stop_token& stop) {
  std::make_shared<AsyncWaiter>(shared_from_this(), std::move(asked), timeout, std::move(words),
                                std::move(done))
      ->start(stop);
}

}  // namespace mf::flex
