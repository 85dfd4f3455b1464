#include "flex/arrivals.hpp"

#include <algorithm>
#include <atomic>

#include "flex/described.hpp"
#include "flex/outgoing.hpp"
#include "mf/core/random.hpp"
#include "mf/core/text.hpp"
#include "mf/link/adaptation.hpp"

namespace mf::flex {
namespace {

constexpr std::chrono::milliseconds kGather{5};
constexpr std::size_t kMostSenders = 4096;
constexpr std::size_t kMostRefused = 1024;
constexpr std::size_t kLongestWhy = 1024;

/// One stream of a sender. Its values change under the sender's lock.
struct Delivery {
  Delivery(StreamReader<Carried> from, StreamWriter<Receipt> to, Responder<void> answer, Admitted names)
      : messages(std::move(from)),
        receipts(std::move(to)),
        responder(std::move(answer)),
        admitted(std::move(names)) {}

  StreamReader<Carried> messages;
  StreamWriter<Receipt> receipts;
  Responder<void> responder;
  Admitted admitted;
  ParcelRef held{};  // a message for which there is no room
  bool first = true;
  bool writing = false;
  std::atomic<bool> ended{false};  // the reader and the writer may both find that it is over
};

}  // namespace

/// One sender: what has come from it, and the receipts that it has yet to get.
class Sender final : public Owner, public std::enable_shared_from_this<Sender> {
 public:
  Sender(std::shared_ptr<Mailbox> mailbox, const Uuid& id, const Uuid& incarnation)
      : mailbox_(std::move(mailbox)), id_(id), incarnation_(incarnation) {}

  using Ref = std::shared_ptr<Delivery>;

  [[nodiscard]] bool idle() {
    const std::scoped_lock lock(mutex_);
    return delivery_ == nullptr;
  }
  void begin(const Ref& delivery) {
    Ref former;
    {
      const std::scoped_lock lock(mutex_);
      former = std::exchange(delivery_, delivery);
    }
    if (former) end(*former);
    tell();
    read(delivery);
  }
  void close() {
    {
      const std::scoped_lock lock(mutex_);
      closing_ = true;
    }
    tell();
  }

  void taken(const Parcel& parcel) override {
    const std::scoped_lock lock(mutex_);
    waiting_.erase(parcel.sequence);
    taken_.push_back(parcel.sequence);
    arm();
  }
  void failed(const Parcel& /*parcel*/, const Error& /*error*/) override {}  // the last receipt says it

 private:
  static void end(Delivery& delivery) {
    if (!delivery.ended.exchange(true)) delivery.responder.respond({});
    delivery.messages.cancel();
  }
  void on_end(const Ref& delivery) {
    {
      const std::scoped_lock lock(mutex_);
      if (delivery_ == delivery) delivery_.reset();
    }
    end(*delivery);
  }

  void read(const Ref& delivery) {
    delivery->messages.async_next(
        [self = shared_from_this(), delivery](Outcome<std::optional<Carried>>&& next) {
          if (!next || !next.value()) return self->on_end(delivery);
          self->on_message(delivery, std::move(*next.value()));
        });
  }
  void on_message(const Ref& delivery, Carried&& carried) {
    {
      const std::scoped_lock lock(mutex_);
      for (auto& type : carried.types) {
        const auto fingerprint = link::fingerprint_of(type.descriptor);
        told_.add(fingerprint, {.descriptor = std::move(type.descriptor), .annex = std::move(type.annex)});
      }
      if (carried.sequence > received_) {
        auto attributes = decode_attributes(carried.attributes, {}, &told_.types());
        if (!delivery->admitted(carried.source)) {
          refuse(
              carried.sequence, Code::permission_denied,
              delivery->admitted.identity().str() + " may not send as '" + shortened(carried.source) + "'");
        } else if (!attributes) {
          refuse(carried.sequence, Code::decode_error, attributes.error().message());
        } else {
          delivery->held = std::make_shared<const Parcel>(Parcel{
              .message =
                  Message(std::move(carried.source), std::move(carried.dest), std::move(attributes).value()),
              .size = carried.attributes.size() + Mailbox::kOverhead,
              .sender = id_,
              .owner = shared_from_this(),
              .sequence = carried.sequence});
        }
      }
    }
    put(delivery, Attempt::first);
  }
  /// `again`: it was called because there may be room; `recheck`: it will be called again when there is, and
  /// there may have been some just before.
  enum class Attempt : std::uint8_t { first, again, recheck };
  void put(const Ref& delivery, Attempt attempt) {
    bool full = false;
    {
      const std::scoped_lock lock(mutex_);
      if (delivery_ != delivery || closing_) return;
      if (!delivery->held && attempt != Attempt::first) return;  // another thread was faster, and reads on
      full = delivery->held && !put_held(*delivery);
      if (closing_) return;
      if (full && attempt == Attempt::recheck) {  // it waits, and its sender is notified
        full_ = true;
        arm();
      }
    }
    if (!full) return read(delivery);
    if (attempt == Attempt::recheck) return;
    mailbox_->when_room([weak = weak_from_this(), delivery] {
      if (const auto self = weak.lock()) self->put(delivery, Attempt::again);
    });
    put(delivery, Attempt::recheck);
  }
  [[nodiscard]] bool put_held(Delivery& delivery) {
    const auto sequence = delivery.held->sequence;
    waiting_.insert(sequence);
    try {
      if (!mailbox_->put(delivery.held)) {
        waiting_.erase(sequence);
        return false;
      }
      received_ = sequence;
    } catch (const Error& error) {
      waiting_.erase(sequence);
      if (error.code() == Code::cancelled) {
        closing_ = true;  // it says so itself in a moment
      } else {
        refuse(sequence, error.code(), error.message());
      }
    }
    delivery.held.reset();
    full_ = false;
    arm();
    return true;
  }
  void refuse(std::uint64_t sequence, Code code, const std::string& why) {
    Refused refused;
    refused.sequence = sequence;
    refused.code = static_cast<std::uint16_t>(code);
    refused.why = cut_at_character(why, kLongestWhy);
    refused_.push_back(refused);
    ever_refused_.push_back(std::move(refused));
    if (ever_refused_.size() > kMostRefused) ever_refused_.pop_front();
    received_ = sequence;
    arm();
  }

  /// Soon there will be something to tell.
  void arm() {
    if (std::exchange(armed_, true)) return;
    mailbox_->core().reactor().at(mf::now() + kGather, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      {
        const std::scoped_lock lock(self->mutex_);
        self->armed_ = false;
      }
      self->tell();
    });
  }
  /// Writes a receipt with all that the sender does not have yet, unless one is being written.
  void tell() {
    Ref delivery;
    Receipt receipt;
    {
      const std::scoped_lock lock(mutex_);
      delivery = delivery_;
      if (!delivery || delivery->writing) return;
      if (!compose(*delivery, receipt)) return;
      delivery->writing = true;
      said_ = received_;
      said_full_ = full_;
    }
    delivery->receipts.async_write(
        receipt, [self = shared_from_this(), delivery, last = receipt.closing](Outcome<bool>&& went) {
          if (last || !went || !went.value()) return self->on_end(delivery);
          {
            const std::scoped_lock lock(self->mutex_);
            delivery->writing = false;
            delivery->first = false;
          }
          self->tell();
        });
  }
  [[nodiscard]] bool compose(Delivery& delivery, Receipt& receipt) {
    receipt.mailbox = incarnation_;
    receipt.received = received_;
    receipt.full = full_;
    if (delivery.first) {  // all that the sender may not know
      receipt.refused.assign(ever_refused_.begin(), ever_refused_.end());
      receipt.waiting.assign(waiting_.begin(), waiting_.end());
      taken_.clear();
      refused_.clear();
      return true;
    }
    receipt.closing = closing_;
    if (taken_.empty() && refused_.empty() && received_ == said_ && full_ == said_full_ && !closing_)
      return false;
    receipt.taken.swap(taken_);
    receipt.refused.swap(refused_);
    return true;
  }

  const std::shared_ptr<Mailbox> mailbox_;
  const Uuid id_;
  const Uuid incarnation_;
  std::mutex mutex_;  // all below
  Ref delivery_;
  std::uint64_t received_ = 0;
  std::uint64_t said_ = 0;  // how many of these a receipt has confirmed
  bool full_ = false;       // its next message waits for room
  bool said_full_ = false;
  std::vector<std::uint64_t> taken_;
  std::set<std::uint64_t> waiting_;
  std::vector<Refused> refused_;
  std::deque<Refused> ever_refused_;
  Told told_;  // types of which there are values in messages
  bool armed_ = false;
  bool closing_ = false;
};

/// The arrivals of one mailbox.
class Incarnation {
 public:
  explicit Incarnation(std::shared_ptr<Mailbox> mailbox) : mailbox_(std::move(mailbox)), id_(random_uuid()) {}

  [[nodiscard]] std::shared_ptr<Sender> sender(const Uuid& id) {
    const std::scoped_lock lock(mutex_);
    auto& place = senders_[id];
    if (place) return place;
    place = std::make_shared<Sender>(mailbox_, id, id_);
    if (closed_) place->close();
    auto made = place;
    if (senders_.size() > kMostSenders) {
      const auto idle = std::ranges::find_if(
          senders_, [&](const auto& each) { return each.second != made && each.second->idle(); });
      if (idle != senders_.end()) senders_.erase(idle);
    }
    return made;
  }
  void close() {
    std::map<Uuid, std::shared_ptr<Sender>> senders;
    {
      const std::scoped_lock lock(mutex_);
      closed_ = true;
      senders = senders_;
    }
    for (const auto& [id, sender] : senders) sender->close();
  }

 private:
  const std::shared_ptr<Mailbox> mailbox_;
  const Uuid id_;
  std::mutex mutex_;
  std::map<Uuid, std::shared_ptr<Sender>> senders_;
  bool closed_ = false;
};

void Arrivals::open(std::shared_ptr<Mailbox> mailbox) {
  const std::scoped_lock lock(mutex_);
  latest_ = std::make_shared<Incarnation>(std::move(mailbox));
}

void Arrivals::close() {
  std::shared_ptr<Incarnation> latest;
  {
    const std::scoped_lock lock(mutex_);
    latest = latest_;
  }
  if (latest) latest->close();
}

void Arrivals::deliver(MailboxDeliverRequest request, StreamReader<Carried> messages,
                       StreamWriter<Receipt> out, Responder<void> responder) {
  if (access_)
    if (auto no = access_->denied(process_)) return responder.respond(std::move(*no));
  std::shared_ptr<Incarnation> latest;
  {
    const std::scoped_lock lock(mutex_);
    latest = latest_;
  }
  if (!latest) return responder.respond({});
  latest->sender(request.sender)
      ->begin(std::make_shared<Delivery>(std::move(messages), std::move(out), std::move(responder),
                                         Admitted(access_)));
}

}  // namespace mf::flex
