#include "mf/light/light.hpp"

#include "mf/core/agent.hpp"
#include "mf/core/error.hpp"
#include "mf/core/extension.hpp"
#include "mf/transport/reactor.hpp"
#include "mf/transport/workers.hpp"

namespace mf {
namespace {

// Handlers of streams that run at once; more wait.
constexpr std::size_t kMostThreads = 1024;

}  // namespace

class Light::Hub final : public LocalServants {
 public:
  Hub(const Log& log, const Interceptors& interceptors)
      : failures_(log),
        interceptors_(mf::detail::interceptors_of(interceptors, log)),
        threads_(0, kMostThreads, log) {}

  void offer(std::shared_ptr<Servant> servant, const std::string& written) {
    const auto& service = servant->service();
    const auto agent = sent_agent(service, written);
    const auto refuse = [](const std::string& why) {
      throw Error(Code::invalid_argument, Execution::not_executed, why);
    };
    if (const auto reason = agent_refusal(service, agent)) refuse(*reason);
    const std::scoped_lock lock(mutex_);
    const auto services = services_of(*servant);
    for (const auto* each : services) {
      if (servants_.contains(std::pair(std::string(each->name), agent)))
        refuse(std::string(each->name) + " is offered already for \"" + shown_agent(service, agent) + "\"");
    }
    for (const auto* each : services) servants_[{std::string(each->name), agent}] = servant;
  }

  [[nodiscard]] std::shared_ptr<Servant> find(std::string_view service,
                                              const std::string* agent) const override {
    const std::scoped_lock lock(mutex_);
    auto at = servants_.lower_bound({std::string(service), agent != nullptr ? *agent : std::string()});
    if (at == servants_.end() || at->first.first != service) return nullptr;
    return agent == nullptr || at->first.second == *agent ? at->second : nullptr;
  }

  [[nodiscard]] std::vector<std::string> agents(std::string_view service) const override {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> found;
    for (auto at = servants_.lower_bound({std::string(service), std::string()});
         at != servants_.end() && at->first.first == service; ++at) {
      found.push_back(at->first.second);
    }
    return found;
  }

  [[nodiscard]] std::vector<std::string> services() const override {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> found;  // sorted: the agents of one service stand together
    for (const auto& [key, servant] : servants_)
      if (found.empty() || found.back() != key.first) found.push_back(key.first);
    return found;
  }

  void run(UniqueFunction<void()> work) const override { threads_.submit(std::move(work)); }

  void at(TimePoint when, UniqueFunction<void()> work) const override {
    std::call_once(timer_made_, [this] { timer_.emplace(); });
    timer_->at(when, std::move(work));
  }

  [[nodiscard]] link::HandlerFailures& failures() const noexcept override { return failures_; }
  [[nodiscard]] const std::shared_ptr<const mf::detail::InterceptorList>& interceptors()
      const noexcept override {
    return interceptors_;
  }

 private:
  mutable link::HandlerFailures failures_;
  const std::shared_ptr<const mf::detail::InterceptorList> interceptors_;
  mutable std::mutex mutex_;
  mutable transport::Workers threads_;
  mutable std::once_flag timer_made_;
  mutable std::optional<transport::Reactor> timer_;  // made for the first call that needs it
  std::map<std::pair<std::string, std::string>, std::shared_ptr<Servant>> servants_;
};

Light::Light(Log log, Interceptors interceptors) : hub_(std::make_shared<Hub>(log, interceptors)) {}

void Light::offer(std::shared_ptr<Servant> servant, LightOffer options) {
  hub_->offer(std::move(servant), options.agent);
}

Light::operator std::shared_ptr<const LocalServants>() const {
  return hub_;
}

}  // namespace mf
