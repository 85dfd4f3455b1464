#include "relay/servers.hpp"

#include <algorithm>
#include <utility>

#include "client/attempt.hpp"
#include "mf/core/failure.hpp"

namespace mf::relay {
namespace {

// A live server on this host answers within this time; a foreign path must not keep a call from the network.
constexpr auto kLocalAnswersWithin = std::chrono::milliseconds(250);
// Between attempts at one address: a server that returns is used again within 300 ms.
constexpr auto kLongestPause = std::chrono::milliseconds(200);
// With more addresses than this, those without a connection are forgotten.
constexpr std::size_t kKeptSlots = 64;

}  // namespace

/// One connection, from its first attempt to its end.
class Servers::Counted {
 public:
  Counted(std::shared_ptr<Shared> shared, std::shared_ptr<std::atomic<std::size_t>> of_client)
      : shared_(std::move(shared)), of_client_(std::move(of_client)) {
    ++shared_->connections;
    ++*of_client_;
  }
  ~Counted() { release(); }
  void release() noexcept {
    if (released_.exchange(true)) return;
    --shared_->connections;
    --*of_client_;
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  const std::shared_ptr<Shared> shared_;
  const std::shared_ptr<std::atomic<std::size_t>> of_client_;
  std::atomic<bool> released_{false};
};

Servers::Servers(std::shared_ptr<Shared> shared, std::shared_ptr<transport::Reactor> reactor,
                 MakeOptions make_options)
    : shared_(std::move(shared)),
      reactor_(std::move(reactor)),
      make_options_(std::move(make_options)),
      count_(std::make_shared<std::atomic<std::size_t>>(0)) {}

Servers::~Servers() {
  close("the relay's client has gone");
}

void Servers::later(Opened done, Outcome<std::shared_ptr<link::ClientLink>> outcome) {
  reactor_->post(
      [done = std::move(done), outcome = std::move(outcome)]() mutable { done(std::move(outcome)); });
}

void Servers::open(const Instance& instance, TimePoint until, Opened done) {
  if (instance.local.scheme.empty()) return open(instance.address, Named::by_user, until, std::move(done));
  const bool only_way = link::LocalPaths::is_only_way(instance);
  if (auto allowed = shared_->paths->check(instance); !allowed) {
    if (only_way) return later(std::move(done), allowed.failure());
    return open(instance.address, Named::by_user, until, std::move(done));
  }
  auto then = [weak = weak_from_this(), instance, only_way, until,
               done = std::move(done)](Outcome<std::shared_ptr<link::ClientLink>>&& link) mutable {
    const auto self = weak.lock();
    if (!self || (link && link.value()->peer_nonce() == instance.nonce)) return done(std::move(link));
    if (!only_way) return self->open(instance.address, Named::by_user, until, std::move(done));
    if (link) link = link::LocalPaths::another_process(instance);
    done(std::move(link));
  };
  open(instance.local, Named::by_instance,
       only_way ? until : std::min(until, mf::now() + kLocalAnswersWithin), std::move(then));
}

void Servers::open(const Address& address, Named named, TimePoint until, Opened done) {
  if (closed_)
    return later(std::move(done), not_executed(Code::shutting_down, "the relay's client has gone"));
  auto& to = slot(address);
  if (to.link && (*to.link)->usable())
    return later(std::move(done), std::shared_ptr<link::ClientLink>(to.link, to.link->get()));
  if (to.opening) {
    to.waiting.push_back(std::move(done));
    return;
  }
  const auto now = mf::now();
  if (now < to.not_before) return later(std::move(done), to.last_failure);
  if (auto no = refusal()) return later(std::move(done), *std::move(no));
  to.waiting.push_back(std::move(done));
  to.counted = std::make_shared<Counted>(shared_, count_);
  to.opening = true;
  until = std::min(until, now + shared_->options.connect_timeout);
  to.connecting = transport::connect_later(
      address, until, reactor_, shared_->connecting,
      [weak = weak_from_this(), address, named, until](Outcome<std::unique_ptr<transport::Stream>>&& stream) {
        if (const auto self = weak.lock()) self->connected(address, named, until, std::move(stream));
      });
}

Servers::Slot& Servers::slot(const Address& address) {
  const auto found = slots_.find(address);
  if (found != slots_.end()) return found->second;
  if (slots_.size() >= kKeptSlots) {
    std::erase_if(slots_, [now = mf::now()](const auto& entry) {
      const auto& slot = entry.second;
      return !slot.opening && now >= slot.not_before && slot.former.empty() &&
             (!slot.link || (*slot.link)->broken());
    });
  }
  auto& made = slots_[address];
  made.backoff = link::Backoff(client::random_number(), kLongestPause);
  return made;
}

std::optional<Failure> Servers::refusal() {
  const auto& options = shared_->options;
  if (*count_ >= options.max_servers_of_client) drop_unused();
  if (*count_ >= options.max_servers_of_client)
    return not_executed(Code::overloaded,
                        "it has " + std::to_string(*count_) +
                            " connections to servers for this client, which is all that one "
                            "may have");
  if (shared_->connections >= options.max_servers)
    return not_executed(Code::overloaded, "it has " + std::to_string(options.max_servers) +
                                              " connections to servers, which is all that it makes");
  return std::nullopt;
}

// Ends connections without bindings and running calls. They are no longer counted at once.
void Servers::drop_unused() {
  for (auto& [address, of] : slots_) {
    if (!of.link || of.link.use_count() != 1 || (*of.link)->in_flight() != 0) continue;
    const auto link = std::exchange(of.link, nullptr);
    of.counted->release();
    (*link)->close("nothing uses the connection");
  }
}

void Servers::connected(const Address& address, Named named, TimePoint until,
                        Outcome<std::unique_ptr<transport::Stream>>&& stream) {
  auto& to = slot(address);
  to.connecting = nullptr;
  if (!stream) return failed(to, address, stream.failure());
  if (named == Named::by_instance)
    if (auto allowed = shared_->paths->check(address, *stream.value()); !allowed)
      return failed(to, address, allowed.failure());
  to.greeting = link::ClientLink::open_later(
      std::move(stream).value(), make_options_(), reactor_, until, {.standing = to.standing},
      [weak = weak_from_this(), address](Outcome<std::shared_ptr<link::ClientLink>>&& link) {
        if (const auto self = weak.lock()) self->greeted(address, std::move(link));
      });
}

void Servers::greeted(const Address& address, Outcome<std::shared_ptr<link::ClientLink>>&& opened) {
  auto& to = slot(address);
  to.greeting = nullptr;
  if (!opened) return failed(to, address, opened.failure());
  to.opening = false;
  const auto& link = opened.value();
  to.backoff.reset();
  link->learn([&](link::Standing& standing) {
    standing.connected(std::exchange(to.was_connected, true), mf::now());
  });
  std::erase_if(to.former, [](const auto& former) { return former.expired(); });
  if (to.link && !(*to.link)->broken()) to.former.push_back(*to.link);
  to.link = std::make_shared<std::shared_ptr<link::ClientLink>>(link);
  // Counted until it has ended.
  link->when_ended([counted = to.counted] { counted->release(); });
  for (auto& done : std::exchange(to.waiting, {}))
    done(std::shared_ptr<link::ClientLink>(to.link, to.link->get()));
}

void Servers::failed(Slot& to, const Address& address, const Failure& why) {
  to.last_failure = shared_->told(why, address.str());
  to.not_before = mf::now() + to.backoff.next();
  to.counted = nullptr;
  to.opening = false;
  for (auto& done : std::exchange(to.waiting, {})) done(Failure(to.last_failure));
}

void Servers::close(const std::string& reason) {
  if (std::exchange(closed_, true)) return;
  for (auto& [address, of] : std::exchange(slots_, {})) {
    if (of.connecting) of.connecting->cancel();
    if (of.greeting) of.greeting->close(reason);
    if (of.link) (*of.link)->close(reason);
    for (const auto& weak : of.former) {
      if (const auto former = weak.lock()) former->close(reason);
    }
    for (auto& done : of.waiting) later(std::move(done), not_executed(Code::shutting_down, reason));
  }
}

}  // namespace mf::relay
