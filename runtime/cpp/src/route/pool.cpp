#include "mf/route/pool.hpp"

#include <algorithm>
#include <utility>

#include "mf/core/failure.hpp"
#include "mf/route/choice.hpp"

namespace mf::route {
namespace {

using link::ClientLink;
using namespace std::chrono_literals;

// A live server on this host answers within this time; a foreign path must not keep a call from the network.
constexpr auto kLocalAnswersWithin = 250ms;
constexpr auto kLongestPause = 2'000ms;
constexpr auto kLongestPauseOfServers = 200ms;
// A connection that lasted so long has not ended too soon.
constexpr auto kSteady = 1s;
// How long calls in flight may take at a server that is not trusted any more.
constexpr auto kUntrustedFor = 5s;
// With more addresses than this, those without a connection are forgotten.
constexpr std::size_t kKeptSlots = 1'024;

}  // namespace

/// One connection, from its first attempt to its end.
class Pool::Counted {
 public:
  Counted(std::shared_ptr<std::atomic<std::size_t>> of_pool, std::shared_ptr<std::atomic<std::size_t>> all)
      : of_pool_(std::move(of_pool)), all_(std::move(all)) {
    ++*of_pool_;
    if (all_) ++*all_;
  }
  ~Counted() { release(); }
  void release() noexcept {
    if (released_.exchange(true)) return;
    --*of_pool_;
    if (all_) --*all_;
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  const std::shared_ptr<std::atomic<std::size_t>> of_pool_;
  const std::shared_ptr<std::atomic<std::size_t>> all_;
  std::atomic<bool> released_{false};
};

Pool::Pool(std::shared_ptr<transport::Reactor> reactor, std::shared_ptr<transport::Reactor> loop,
           PoolOptions options)
    : reactor_(std::move(reactor)),
      loop_(std::move(loop)),
      options_(std::move(options)),
      count_(std::make_shared<std::atomic<std::size_t>>(0)) {}

Pool::~Pool() {
  close("the client was closed");
}

void Pool::later(Done done, Opened opened) {
  loop_->post([done = std::move(done), opened = std::move(opened)]() mutable { done(std::move(opened)); });
}

void Pool::open(const Instance& instance, Done done) {
  const auto until = mf::now() + options_.connect_timeout;
  const Place by_network{.address = instance.address, .identity = instance.identity};
  if (instance.local.scheme.empty()) return open(by_network, Named::by_user, until, std::move(done));
  const bool only_way = link::LocalPaths::is_only_way(instance);
  if (auto allowed = options_.paths->check(instance); !allowed) {
    if (!only_way) return open(by_network, Named::by_user, until, std::move(done));
    return later(std::move(done), {.link = {}, .why = allowed.failure(), .again_at = mf::now() + kSteady});
  }
  auto then = [weak = weak_from_this(), instance, by_network, only_way, until,
               done = std::move(done)](Opened&& opened) mutable {
    const auto self = weak.lock();
    if (!self || (opened.link && opened.link->peer_nonce() == instance.nonce)) return done(std::move(opened));
    if (!only_way) return self->open(by_network, Named::by_user, until, std::move(done));
    if (opened.link) {
      opened.link = nullptr;
      opened.why = link::LocalPaths::another_process(instance);
      opened.again_at = mf::now() + kSteady;
    }
    done(std::move(opened));
  };
  open({.address = instance.local, .identity = {}}, Named::by_instance,
       only_way ? until : std::min(until, mf::now() + kLocalAnswersWithin), std::move(then));
}

void Pool::open(const Place& place, Named named, TimePoint until, Done done) {
  const auto now = mf::now();
  const auto refuse = [&](Failure why) {
    later(std::move(done), {.link = {}, .why = std::move(why), .again_at = now});
  };
  if (closed_) return refuse(not_executed(Code::cancelled, *closed_));
  auto& to = slot(place);
  if (to.link && (*to.link)->usable())
    return later(std::move(done),
                 {.link = std::shared_ptr<ClientLink>(to.link, to.link->get()), .why = {}, .again_at = {}});
  if (to.opening) {
    to.waiting.push_back(std::move(done));
    return;
  }
  note_end(to, now);
  if (now < to.not_before)
    return later(std::move(done), {.link = {}, .why = to.why, .again_at = to.not_before});
  if (auto no = refusal()) return refuse(*std::move(no));
  to.waiting.push_back(std::move(done));
  to.counted = std::make_shared<Counted>(count_, options_.all);
  to.opening = true;
  to.connecting = transport::connect(
      place.address, until, loop_, options_.connecting,
      [weak = weak_from_this(), place, named, until](Outcome<std::unique_ptr<transport::Stream>>&& stream) {
        if (const auto self = weak.lock()) self->connected(place, named, until, std::move(stream));
      });
}

Pool::Slot& Pool::slot(const Place& place) {
  const auto found = slots_.find(place);
  if (found != slots_.end()) return found->second;
  if (slots_.size() >= kKeptSlots) {
    std::erase_if(slots_, [now = mf::now()](const auto& entry) {
      const auto& slot = entry.second;
      return !slot.opening && now >= slot.not_before && slot.former.empty() &&
             (!slot.link || (*slot.link)->broken());
    });
  }
  auto& made = slots_[place];
  made.backoff = link::Backoff(random_number(), kLongestPause);
  return made;
}

// Ends are noticed when another connection is wanted, and so not all at once.
void Pool::note_end(Slot& slot, TimePoint now) {
  const auto ended = std::exchange(slot.link, nullptr);
  if (ended) {
    std::erase_if(slot.former, [](const auto& former) { return former.expired(); });
    if (!(*ended)->broken()) slot.former.push_back(*ended);
  }
  if (slot.connected_at == TimePoint{}) return;
  if (now - std::exchange(slot.connected_at, TimePoint{}) >= kSteady) return slot.backoff.reset();
  slot.why.reset();
  slot.not_before = now + slot.backoff.next();
}

std::optional<Failure> Pool::refusal() {
  if (options_.most == 0) return std::nullopt;
  if (*count_ >= options_.most) drop_unused();
  if (*count_ >= options_.most)
    return not_executed(Code::overloaded,
                        "it has " + std::to_string(*count_) +
                            " connections to servers for this client, which is all that one "
                            "may have");
  if (options_.all && *options_.all >= options_.most_of_all)
    return not_executed(Code::overloaded, "it has " + std::to_string(options_.most_of_all) +
                                              " connections to servers, which is all that it makes");
  return std::nullopt;
}

// Ends connections without bindings and running calls. They are no longer counted at once.
void Pool::drop_unused() {
  for (auto& [place, of] : slots_) {
    if (!of.link || of.link.use_count() != 1 || (*of.link)->in_flight() != 0) continue;
    const auto link = std::exchange(of.link, nullptr);
    of.connected_at = {};
    of.counted->release();
    (*link)->close("nothing uses the connection");
  }
}

// Finds connections whose servers have gone while they were idle, and closes their descriptors.
void Pool::drop_ended() {
  for (auto& [place, of] : slots_) {
    if (!of.link) continue;
    if ((*of.link)->in_flight() == 0) (*of.link)->poll();
    if ((*of.link)->broken()) of.link = nullptr;
  }
}

void Pool::watch_files() {
  if (std::exchange(watches_files_, true)) return;
  loop_->at(mf::now() + options_.reload_interval, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || self->closed_) return;
    (void)transport::read_again(*self->options_.connecting.tls, transport::Reads::replaced);
    self->check_trust();
    self->watches_files_ = false;
    const auto is_used = [](const auto& entry) {
      return entry.first.address.scheme == "tls" && entry.second.link && !(*entry.second.link)->broken();
    };
    if (std::ranges::any_of(self->slots_, is_used)) self->watch_files();
  });
}

void Pool::check_trust() {
  for (auto& [place, of] : slots_) {
    if (!of.link || !(*of.link)->usable() || (*of.link)->trusted()) continue;
    (*of.link)->retire();
    loop_->at(mf::now() + kUntrustedFor, [weak = std::weak_ptr(*of.link), where = place.address.str()] {
      if (const auto link = weak.lock())
        link->abandon("the certificate of " + where + " has expired or is not accepted any more");
    });
  }
}

// TLS has verified its peer before this. The socket of another user of this host is not trusted.
bool Pool::is_verified(const Address& address, const transport::Stream& stream) const {
  if (address.local()) return options_.paths->trusts(address, stream);
  return address.scheme == "tls" || address.scheme == "memory";
}

void Pool::connected(const Place& place, Named named, TimePoint until,
                     Outcome<std::unique_ptr<transport::Stream>>&& stream) {
  auto& to = slot(place);
  to.connecting = nullptr;
  if (!stream) return failed(to, place.address, stream.failure());
  // Before HELLO is sent, which has what this client is authenticated by.
  if (named == Named::by_instance)
    if (auto allowed = options_.paths->check(place.address, *stream.value()); !allowed)
      return failed(to, place.address, allowed.failure());
  if (!place.identity.empty()) {
    const auto shown = stream.value()->identity();
    if (shown.name != place.identity)
      return failed(
          to, place.address,
          not_executed(Code::unauthenticated, "connect " + place.address.str() +
                                                  ": the server has registered as " + place.identity +
                                                  ", and the certificate there is that of " + shown.str()));
  }
  auto session = options_.make_session();
  if (options_.credential && is_verified(place.address, *stream.value())) {
    auto credential = options_.credential();
    if (!credential) return failed(to, place.address, credential.failure());
    session.credential = std::move(credential).value();
  }
  to.greeting = ClientLink::open(
      std::move(stream).value(), std::move(session), reactor_, until,
      {.dead_after = options_.dead_after, .standing = to.standing},
      [weak = weak_from_this(), place](Outcome<std::shared_ptr<ClientLink>>&& link) {
        if (const auto self = weak.lock()) self->greeted(place, std::move(link));
      },
      loop_);
}

void Pool::greeted(const Place& place, Outcome<std::shared_ptr<ClientLink>>&& opened) {
  if (closed_) return;
  auto& to = slot(place);
  to.greeting = nullptr;
  if (!opened) return failed(to, place.address, opened.failure());
  to.opening = false;
  const auto& link = opened.value();
  const auto now = mf::now();
  to.connected_at = now;
  link->learn([&](link::Standing& standing) { standing.connected(to.was_connected, now); });
  if (!std::exchange(to.was_connected, true))
    to.backoff = link::Backoff(random_number(), kLongestPauseOfServers);
  to.link = std::make_shared<std::shared_ptr<ClientLink>>(link);
  if (place.address.scheme == "tls") watch_files();
  if (options_.most != 0) {
    link->when_ended([counted = to.counted] { counted->release(); });
  } else {
    drop_ended();
  }
  // What is called may change the slot.
  const auto held = to.link;  // null: it has ended already
  const Opened got{
      .link = held ? std::shared_ptr<ClientLink>(held, held->get()) : link, .why = {}, .again_at = {}};
  for (auto& done : std::exchange(to.waiting, {})) done(Opened(got));
}

void Pool::failed(Slot& to, const Address& address, const Failure& why) {
  to.why = options_.translate(why, address);
  to.not_before = mf::now() + to.backoff.next();
  to.counted = nullptr;
  to.opening = false;
  const Opened opened{.link = {}, .why = to.why, .again_at = to.not_before};
  for (auto& done : std::exchange(to.waiting, {})) done(Opened(opened));
}

void Pool::reset_rest(const Address& address) {
  for (auto at = slots_.lower_bound({.address = address, .identity = {}});
       at != slots_.end() && at->first.address == address; ++at) {
    if (at->second.opening) continue;
    at->second.not_before = {};
    at->second.backoff.reset();
  }
}

void Pool::close(const std::string& reason) {
  if (closed_) return;
  closed_ = reason;
  for (auto& [place, of] : std::exchange(slots_, {})) {
    if (of.connecting) of.connecting->cancel();
    if (of.greeting) of.greeting->close(reason);
    if (of.link) (*of.link)->close(reason);
    for (const auto& weak : of.former) {
      if (const auto former = weak.lock()) former->close(reason);
    }
    for (auto& done : of.waiting)
      later(std::move(done),
            {.link = {}, .why = not_executed(Code::cancelled, reason), .again_at = mf::now()});
  }
}

}  // namespace mf::route
