#include "relay/description.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "relay/connection.hpp"
#include "relay/destination.hpp"
#include "relay/known.hpp"

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
    if (connection_->closed()) return answer({});
    if (service_ == kController) {
      instances_ = connection_->shared().controllers;
      return go_on();
    }
    when_known(connection_, name_, until_, [self = shared_from_this()] { self->choose(); });
  }

  void choose() {
    if (connection_->closed()) return answer({});
    instances_ = instances_of(connection_->shared(), name_, "");
    if (instances_.empty() && name_ == service_) return look_for_topic();
    const auto others = std::ranges::partition(
        instances_, [this](const Instance& each) { return each.fingerprint != fingerprint_; });
    if (others.empty() && refuser_ && !refuser_->broken()) return ask(refuser_);
    go_on();
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
};

}  // namespace

void describe(const std::shared_ptr<Connection>& connection, const protocol::Describe& asked, bool is_topic,
              std::shared_ptr<Services::Use> use, std::shared_ptr<link::ClientLink> refuser) {
  const auto asking =
      std::make_shared<Asking>(connection, asked, is_topic, std::move(use), std::move(refuser));
  connection->post([asking] { asking->begin(); });
}

}  // namespace mf::relay
