// The beginnings of links, bindings and descriptions, for which no thread waits: the loop reads for them.
#include <algorithm>
#include <utility>

#include "mf/core/failure.hpp"
#include "mf/link/client_link.hpp"

namespace mf::link {

/// Reads on the loop's thread. It holds no link, whose end forgets it.
class ClientLink::LoopReader final : public transport::Watched {
 public:
  explicit LoopReader(std::weak_ptr<ClientLink> link) : link_(std::move(link)) {}
  void on_ready(transport::Ready /*ready*/) override {
    const auto link = link_.lock();
    if (!link) return;
    {
      const Lock lock(link->pipe_.mutex);
      link->loop_armed_ = false;
    }
    link->poll();  // arms again while something is awaited, and so does a thread that leads when it leaves
  }

 private:
  const std::weak_ptr<ClientLink> link_;
};

std::shared_ptr<ClientLink> ClientLink::open(std::unique_ptr<transport::Stream> stream,
                                             protocol::SessionOptions options,
                                             std::shared_ptr<transport::Reactor> reactor, TimePoint deadline,
                                             Liveness liveness, Opened done,
                                             std::shared_ptr<transport::Reactor> loop) {
  std::shared_ptr<ClientLink> link(new ClientLink(std::move(stream), std::move(options), std::move(reactor),
                                                  std::move(liveness), std::move(loop)));
  Lock lock(link->pipe_.mutex);
  link->pipe_.session.send_hello();
  link->await(
      &link->hello_, nullptr, deadline,
      [done = std::move(done)](ClientLink& self) mutable {
        Outcome<void> shaken;
        {
          const Lock later(self.pipe_.mutex);
          shaken = self.greeted();
        }
        if (shaken) return done(self.shared_from_this());
        self.close("handshake failed");
        done(shaken.failure());
      },
      lock);
  return link;
}

Outcome<std::shared_ptr<Binding>> ClientLink::begin_bind(
    const ServiceInfo& service, const std::string& agent, std::span<const std::byte> via,
    const std::shared_ptr<const Adaptation>& adaptation) {
  auto begun = bindings_.begin(service, agent, via, adaptation, why_broken());
  if (bindings_.awaited() && !silence_watched_) watch_silence(mf::now());
  return begun;
}

void ClientLink::bind(const ServiceInfo& service, const std::string& agent, TimePoint deadline,
                      std::span<const std::byte> via, Bound done,
                      const std::shared_ptr<const Adaptation>& adaptation) {
  Lock lock(pipe_.mutex);
  auto begun = begin_bind(service, agent, via, adaptation);
  if (!begun || begun.value()->bound_.load()) {
    loop_->post([begun = std::move(begun), done = std::move(done)]() mutable { done(std::move(begun)); });
    return;
  }
  auto binding = std::move(begun).value();
  auto* const waiters = &binding->waiters_;
  auto then = [binding = std::move(binding), name = std::string(service.name),
               done = std::move(done)](ClientLink& self) mutable {
    std::optional<Failure> why;
    {
      const Lock later(self.pipe_.mutex);
      why = self.bindings_.why_not_bound(*binding, name, self.why_broken());
      if (!why) binding->touch();
    }
    if (!why) return done(std::move(binding));
    binding->unpin();
    done(*std::move(why));
  };
  // The list lives as long as the binding, which `then` holds.
  await(nullptr, waiters, deadline, std::move(then), lock);
}

void ClientLink::describe(std::string_view service, const Fingerprint& asked, TimePoint deadline,
                          UniqueFunction<void(std::optional<Described>&&)> done) {
  Lock lock(pipe_.mutex);
  if (broken()) {
    loop_->post([done = std::move(done)]() mutable { done(std::nullopt); });
    return;
  }
  const auto [key, description] = *bindings_.ask(service, asked);
  auto* const waiters = &description->waiters;
  auto then = [key = key, description = description, done = std::move(done)](ClientLink& self) mutable {
    std::optional<Described> said;
    {
      const Lock later(self.pipe_.mutex);
      said = self.bindings_.take(key, *description);
    }
    done(std::move(said));
  };
  // The list lives as long as the description, which `then` holds.
  await(nullptr, waiters, deadline, std::move(then), lock);
}

void ClientLink::when_ended(UniqueFunction<void()> done) {
  Lock lock(pipe_.mutex);
  if (broken()) {
    loop_->post(std::move(done));
    return;
  }
  await(nullptr, nullptr, kNever, [done = std::move(done)](ClientLink& /*self*/) mutable { done(); }, lock);
}

void ClientLink::await(Waiter* waiter, std::vector<Waiter*>* list, TimePoint deadline, Then then,
                       Lock& lock) {
  const auto number = ++last_awaited_;
  auto& awaited = awaited_[number];
  awaited.waiter = waiter != nullptr ? waiter : &awaited.own;
  awaited.list = list;
  awaited.then = std::move(then);
  if (list != nullptr) list->push_back(&awaited.own);
  if (deadline != kNever) {
    loop_->at(deadline, [weak = weak_from_this(), number] {
      const auto self = weak.lock();
      if (!self) return;
      Lock later(self->pipe_.mutex);
      const auto found = self->awaited_.find(number);
      if (found == self->awaited_.end()) return;
      auto over = self->take_awaited(found);
      later.unlock();
      over.mapped().then(*self);
    });
  }
  if (!written_later()) flush(lock);
  if (!leading_ && !broken()) arm(lock);
}

ClientLink::AwaitedList::node_type ClientLink::take_awaited(AwaitedList::iterator at) {
  if (at->second.list != nullptr) std::erase(*at->second.list, &at->second.own);
  return awaited_.extract(at);
}

void ClientLink::post_awaited() noexcept {
  for (auto at = awaited_.begin(); at != awaited_.end();) {
    const auto over = at++;
    if (!broken() && !over->second.waiter->done()) continue;
    loop_->post(
        [self = shared_from_this(), node = take_awaited(over)]() mutable { node.mapped().then(*self); });
  }
}

void ClientLink::arm_loop(Lock& lock) {
  if (leading_ || held_ || broken()) return;
  try {
    if (pipe_.stream->has_input())  // which makes no descriptor readable
      loop_->post([weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->poll();
      });
    if (loop_armed_) return;
    if (!loop_watches_)
      loop_->watch(pipe_.stream->fd(), std::make_shared<LoopReader>(weak_from_this()), true);
    loop_watches_ = true;
    loop_->arm(pipe_.stream->fd(), transport::Interest::read);
    loop_armed_ = true;
  } catch (const std::exception& error) {
    break_off(may_have_run(Code::connection_lost, error.what()), lock);
  }
}

void ClientLink::forget_loop() noexcept {
  if (std::exchange(loop_watches_, false)) loop_->forget(pipe_.stream->fd());
  loop_armed_ = false;
}

}  // namespace mf::link
