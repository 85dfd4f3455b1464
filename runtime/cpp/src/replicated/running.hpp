// A replica at work: the machine of replica.hpp over links to the others and to clients, with the lead that
// the controller gives.
//
// Threads. The machine, the servant and all links are used on one thread of its own, to which everything else
// posts. What users ask is answered from a copy.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "mf/client/client.hpp"
#include "mf/core/handler.hpp"
#include "mf/replicated/replica.hpp"
#include "mf/replication.server.hpp"
#include "mf/server/server.hpp"
#include "mf/transport/workers.hpp"
#include "replicated/access.hpp"
#include "replicated/outgoing.hpp"
#include "replicated/replica.hpp"
#include "replicated/schemas.hpp"
#include "replicated/wire.hpp"

namespace mf::replicated {

/// A link that somebody else has opened.
struct IncomingLink {
  PeerId peer;
  std::shared_ptr<Wire> wire;
  Responder<void> ended;
};

class Running final : public std::enable_shared_from_this<Running> {
 public:
  Running(std::shared_ptr<Servant> servant, std::shared_ptr<Applies> applies,
          std::shared_ptr<Snapshots> snapshots, ReplicaOptions options);
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  void start();
  void stop();
  bool reload();

  struct Status {
    bool serves = false;
    bool leads = false;
    Version version;
    std::string stuck;
  };
  [[nodiscard]] Status status() const;
  [[nodiscard]] bool until_serving(TimePoint until) const;

  // ---- for what it offers

  [[nodiscard]] replication::Group group() const;
  [[nodiscard]] bool is_other(const std::string& member) const;
  /// Null: every peer may be everything.
  [[nodiscard]] const GroupAccess* access() const noexcept { return access_ ? &*access_ : nullptr; }
  /// Somebody has opened a link.
  void linked(std::shared_ptr<IncomingLink> link);

 private:
  class Offered;
  class Job;

  void post(UniqueFunction<void()> work);
  void tick_later();
  void open_links();

  void read(const std::shared_ptr<IncomingLink>& link);
  void end(const std::shared_ptr<IncomingLink>& link);
  void read_other(const std::string& member);

  void carry_out();
  void send(const PeerId& to, Message message);
  void learn_from(const std::string& member);
  void learn(const std::string& member, const std::vector<replication::Schema>& schemas);
  [[nodiscard]] const std::variant<AdaptedMessages, std::string>& adapted_messages(const Uuid& schema);
  [[nodiscard]] bool is_ready();
  void give_up(const Apply& message, const std::string& why);
  void apply(const Apply& message);
  void begin_job();
  void job_done(replication::Outcome outcome);
  void publish();

  void seek_lead();
  void seek_lead_later();
  void lead_ended(std::uint64_t epoch);

  const std::shared_ptr<Servant> servant_;
  const std::shared_ptr<Applies> applies_;
  const std::shared_ptr<Snapshots> snapshots_;
  const ReplicaOptions options_;
  const std::string base_;
  const std::shared_ptr<link::HandlerFailures> failures_;
  std::optional<GroupAccess> access_;  // set by the constructor

  // Of its own thread:
  Replica machine_;
  std::map<std::string, std::shared_ptr<OutgoingLink>> links_;  // to the others
  std::set<std::shared_ptr<IncomingLink>> incoming_;
  std::map<Uuid, std::shared_ptr<IncomingLink>> clients_;
  std::set<Wire*> wires_touched_;
  std::set<OutgoingLink*> links_touched_;
  std::deque<Effect> jobs_;
  std::set<std::string> learning_;  // from whom
  bool working_ = false;
  std::string stuck_;
  std::optional<Lead> lead_;
  bool seeking_ = false;

  std::unique_ptr<Client> client_;
  std::shared_ptr<client::Core> core_;  // the client's, for callbacks that may come while it is closed
  std::optional<Server> server_;
  std::stop_source seeks_;
  std::unique_ptr<transport::Workers> thread_;
  std::atomic<std::thread::id> thread_id_{};  // once it has run

  mutable std::mutex mutex_;  // all below
  mutable std::condition_variable changed_;
  Schemas schemas_;  // only its own thread changes it
  Status status_;
  bool started_ = false;
  bool stopped_ = false;
};

}  // namespace mf::replicated
