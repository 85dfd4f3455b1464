// The replicated calls of a client to one group: the machine of caller.hpp over links to all replicas.
//
// A client has one of these for each (service, agent) that it sends replicated messages to. It holds a link
// to each replica from the first call on, over which acknowledgements come from wherever the pattern lets
// them come. Only the client and the calls under way hold it: a client that knows too many forgets one
// without calls, whose links end with it.
//
// Threads. Any may begin calls. The machine is used under a lock, what it asks for is carried out without it,
// by one thread at a time.
//
// Exceptions. Each call ends once, whatever is thrown: an exception of a callback affects no other call, one
// of a link ends that link, and any other one ends all calls under way.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "mf/client/core.hpp"
#include "mf/client/target.hpp"
#include "mf/core/one_at_a_time.hpp"
#include "mf/replicated/call.hpp"
#include "replicated/adapting.hpp"
#include "replicated/caller.hpp"
#include "replicated/outgoing.hpp"

namespace mf::replicated {

class Replication final : public client::Shared, public std::enable_shared_from_this<Replication> {
 public:
  struct Request {
    std::string_view method;
    std::uint16_t index = 0;  // of the method
    Pattern pattern = Pattern::no_versioning;
    Require require = Require::majority;
    TimePoint deadline{};
    Bytes payload;
  };

  Replication(std::shared_ptr<client::Core> core, const ServiceInfo& service, const std::string& agent);

  /// `stop`: ends it as CANCELLED. `done` must not throw; what it throws is logged.
  void start(Request&& request, const std::vector<std::stop_token>& stop, Callback<Finished>&& done);
  /// Calls under way end as CANCELLED.
  void on_close() noexcept override;

 private:
  struct Link;
  struct Waiter;
  struct Sending;
  struct Work;

  [[nodiscard]] client::Target replicas(std::string_view agent) const;
  void begin(const std::shared_ptr<Waiter>& waiter, mf::Outcome<replication::Group>&& group);
  void begin(const replication::Group& group);
  [[nodiscard]] std::optional<Failure> adapt(const replication::Group& group);
  void begin_call(const std::shared_ptr<Waiter>& waiter);
  void stop_with(const std::shared_ptr<Waiter>& waiter, const std::vector<std::stop_token>& stop);
  void end(const std::shared_ptr<Waiter>& waiter, mf::Outcome<Finished>&& outcome) noexcept;
  void on_opened(const std::string& member);
  void on_closed(const std::string& member);
  void on_readable(Link& from) noexcept;
  void read(Link& from);
  void carry_out() noexcept;
  [[nodiscard]] std::optional<Work> take_work();
  [[nodiscard]] mf::Outcome<Finished> outcome_of(const Waiter& waiter, Done& done) const;
  void send(std::vector<Sending>& messages) const noexcept;
  void fail_all() noexcept;
  void tick_later();
  void tick();

  const std::shared_ptr<client::Core> core_;
  const ServiceInfo& service_;
  const std::string base_;

  OneAtATime carrying_out_;

  std::mutex mutex_;                              // all below
  std::optional<const AdaptedMessages> adapted_;  // to replicas of another schema; set before caller_ is
  std::optional<Caller> caller_;
  std::map<std::string, std::shared_ptr<Link>> links_;
  std::map<std::uint64_t, std::shared_ptr<Waiter>> waiting_;
  bool ticking_ = false;
  bool closed_ = false;
};

/// Behind which any replica of a group is, in the service mf.replication.Replica.
[[nodiscard]] std::string group_agent(std::string_view service, std::string_view agent);

}  // namespace mf::replicated
