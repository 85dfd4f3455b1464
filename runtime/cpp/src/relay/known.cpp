#include "relay/known.hpp"

#include <cstdint>
#include <utility>

#include "relay/connection.hpp"

namespace mf::relay {
namespace {

class Asked : public std::enable_shared_from_this<Asked> {
 public:
  Asked(std::shared_ptr<Connection> connection, std::string name, UniqueFunction<void()> then)
      : connection_(std::move(connection)), name_(std::move(name)), then_(std::move(then)) {}

  void begin(TimePoint until) {
    // The listener comes first, so that no change is missed between the look and the wait.
    listener_ = resolver().add_listener([weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self) self->connection_->post([self] { self->look(); });
    });
    look();
    if (then_) timer_ = connection_->reactor()->at(until, [self = shared_from_this()] { self->end(); });
  }

 private:
  [[nodiscard]] Resolver& resolver() const { return *connection_->shared().resolver; }

  void look() {
    if (then_ && (connection_->closed() || resolver().offers(name_)->answered)) end();
  }

  void end() {
    if (!then_) return;
    if (listener_ != 0) resolver().remove_listener(std::exchange(listener_, 0));
    connection_->reactor()->cancel(timer_);  // which keeps this, and the connection
    std::exchange(then_, nullptr)();
  }

  const std::shared_ptr<Connection> connection_;
  const std::string name_;
  UniqueFunction<void()> then_;  // empty after it was called
  std::uint64_t listener_ = 0;
  transport::Reactor::TimerId timer_ = 0;
};

}  // namespace

void when_known(const std::shared_ptr<Connection>& connection, std::string name, TimePoint until,
                UniqueFunction<void()> then) {
  std::make_shared<Asked>(connection, std::move(name), std::move(then))->begin(until);
}

}  // namespace mf::relay
