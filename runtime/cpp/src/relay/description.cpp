#include "relay/description.hpp"

#include <utility>
#include <vector>

#include "relay/connection.hpp"
#include "relay/destination.hpp"

namespace mf::relay {
namespace {

constexpr auto kLookEvery = std::chrono::milliseconds(10);

class Asking : public std::enable_shared_from_this<Asking> {
 public:
  Asking(std::shared_ptr<Connection> connection, std::string service, std::string asked_for,
         std::shared_ptr<Services::Use> use, std::shared_ptr<link::ClientLink> first)
      : connection_(std::move(connection)),
        service_(std::move(service)),
        asked_for_(std::move(asked_for)),
        use_(std::move(use)),
        until_(mf::now() + connection_->shared().options.connect_timeout),
        asked_(std::move(first)) {}

  void go_on() {
    if (asked_ && !asked_->broken()) return ask();
    if (connection_->closed()) return answer({});
    if (!looked_) return look();
    if (instances_.empty()) return answer({});
    const auto instance = std::move(instances_.back());
    instances_.pop_back();
    connection_->servers().open(instance, until_, [self = shared_from_this()](auto&& link) {
      if (link) self->asked_ = std::move(link).value();
      self->go_on();
    });
  }

 private:
  void look() {
    auto& shared = connection_->shared();
    if (service_ != kController && !shared.resolver->offers(asked_for_)->answered && mf::now() < until_) {
      connection_->at(mf::now() + kLookEvery, [self = shared_from_this()] { self->go_on(); });
      return;
    }
    looked_ = true;
    instances_ = instances_of(shared, asked_for_, "");
    go_on();
  }

  void ask() {
    connection_->add(asked_);
    asked_->describe_later(service_, until_, [self = shared_from_this()](auto&& described) {
      self->answer(std::move(described).value_or(link::ClientLink::Described()));
    });
  }

  void answer(const link::ClientLink::Described& described) {
    connection_->described({.service = service_, .text = described.text, .annex = described.annex});
  }

  const std::shared_ptr<Connection> connection_;
  const std::string service_;
  const std::string asked_for_;
  const std::shared_ptr<Services::Use> use_;
  const TimePoint until_;
  std::shared_ptr<link::ClientLink> asked_;
  bool looked_ = false;
  std::vector<Instance> instances_;
};

}  // namespace

void describe(const std::shared_ptr<Connection>& connection, std::string service, std::string asked_for,
              std::shared_ptr<Services::Use> use, std::shared_ptr<link::ClientLink> first) {
  const auto asking = std::make_shared<Asking>(connection, std::move(service), std::move(asked_for),
                                               std::move(use), std::move(first));
  connection->post([asking] { asking->go_on(); });
}

}  // namespace mf::relay
