#include "relay/description.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "relay/connection.hpp"
#include "relay/destination.hpp"

namespace mf::relay {
namespace {

class Asking : public std::enable_shared_from_this<Asking> {
 public:
  Asking(std::shared_ptr<Connection> connection, const protocol::Describe& asked, bool is_topic,
         std::shared_ptr<Services::Use> use, std::shared_ptr<link::ClientLink> refuser)
      : connection_(std::move(connection)),
        service_(asked.service),
        fingerprint_(asked.fingerprint),
        name_(is_topic ? topic_view(service_) : service_),
        use_(std::move(use)),
        until_(mf::now() + connection_->shared().options.connect_timeout),
        refuser_(std::move(refuser)) {}

  void begin() {
    if (fingerprint_ != Fingerprint()) return look();
    if (refuser_ && !refuser_->broken()) return ask(refuser_);
    look();
  }

 private:
  void look() {
    auto& shared = connection_->shared();
    if (connection_->closed()) {
      stop_waiting();
      return answer({});
    }
    if (service_ == kController) {
      instances_ = shared.controllers;
      return go_on();
    }
    const auto offers = shared.resolver->offers(name_);
    if (!offers->answered && mf::now() < until_) return wait_for_answer();
    stop_waiting();
    instances_ = instances_of(shared, name_, "");
    if (instances_.empty() && name_ == service_) return look_for_topic();
    const auto others = std::ranges::partition(
        instances_, [this](const Instance& each) { return each.fingerprint != fingerprint_; });
    if (others.empty() && refuser_ && !refuser_->broken()) return ask(refuser_);
    go_on();
  }

  /// Looks again when the resolver says something, and at the end.
  void wait_for_answer() {
    if (std::exchange(waiting_, true)) return;
    const auto look_again = [](const std::shared_ptr<Asking>& self) {
      if (self->waiting_) self->look();
    };
    connection_->at(until_, [self = shared_from_this(), look_again] { look_again(self); });
    listener_ = connection_->shared().resolver->add_listener([weak = weak_from_this(), look_again] {
      if (const auto self = weak.lock()) self->connection_->post([self, look_again] { look_again(self); });
    });
  }

  void stop_waiting() {
    if (!std::exchange(waiting_, false)) return;
    if (listener_ != 0) connection_->shared().resolver->remove_listener(std::exchange(listener_, 0));
  }

  void look_for_topic() {
    std::string why;
    name_ = topic_view(service_);
    use_ = connection_->use(name_, why);
    if (!use_) return answer({});
    look();
  }

  void go_on() {
    if (connection_->closed() || instances_.empty()) return answer({});
    const auto instance = std::move(instances_.back());
    instances_.pop_back();
    connection_->servers()->open(instance, [self = shared_from_this()](route::Pool::Opened&& opened) {
      if (opened.link) return self->ask(opened.link);
      self->go_on();
    });
  }

  void ask(const std::shared_ptr<link::ClientLink>& server) {
    connection_->add(server);
    server->describe(service_, fingerprint_, until_, [self = shared_from_this()](auto&& described) {
      self->answer(std::move(described).value_or(link::ClientLink::Described()));
    });
  }

  void answer(const link::ClientLink::Described& described) {
    connection_->described(
        {.service = service_, .text = described.text, .annex = described.annex, .fingerprint = fingerprint_});
  }

  const std::shared_ptr<Connection> connection_;
  const std::string service_;
  const Fingerprint fingerprint_;
  std::string name_;  // by which the resolver is asked
  std::shared_ptr<Services::Use> use_;
  const TimePoint until_;
  const std::shared_ptr<link::ClientLink> refuser_;
  std::vector<Instance> instances_;
  bool waiting_ = false;  // for the resolver's answer
  std::uint64_t listener_ = 0;
};

}  // namespace

void describe(const std::shared_ptr<Connection>& connection, const protocol::Describe& asked, bool is_topic,
              std::shared_ptr<Services::Use> use, std::shared_ptr<link::ClientLink> refuser) {
  const auto asking =
      std::make_shared<Asking>(connection, asked, is_topic, std::move(use), std::move(refuser));
  connection->post([asking] { asking->begin(); });
}

}  // namespace mf::relay
