// One replica of a group: what it holds, applies and acknowledges.
//
// Messages go in with the time, effects come out of take(). A replica holds a log whose order is that of the
// versions; what comes early waits, what is missing is asked for, and everything is applied once, in order,
// when all before it is there. It is normal in an epoch once it has taken over that epoch's log, and then it
// acknowledges: under that epoch, since only what a majority holds under one epoch is certain to be in the
// log of the next.
//
//     blank (normal is 0, nothing counts) -> Recovered by a majority -> Prepare, Sync -> normal in an epoch
//     normal -> Prepare of a later epoch: takes nothing of the older one any more -> Sync or Restore
//            -> normal in that one
//
// A process that has lost its memory may have promised something before. So it first asks the others which
// epoch is the latest, and takes no log of an older one.
//
// Pure data: it knows no socket, no clock and no thread. messages: replica_messages.cpp; epochs and what is
// missing: replica_epochs.cpp; what is to be applied and acknowledged: replica.cpp.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mf/core/clock.hpp"
#include "mf/replicated/settings.hpp"
#include "replicated/log.hpp"
#include "replicated/messages.hpp"
#include "replicated/states.hpp"
#include "replicated/versioner.hpp"
#include "replicated/waiting.hpp"

namespace mf::replicated {

class Replica final : Holder {
 public:
  /// `life`: of this run of the process alone. Throws std::invalid_argument for members that do not fit.
  Replica(std::string me, std::vector<std::string> members, const Uuid& schema, const Uuid& life,
          bool can_snapshot = false, const ReplicaSettings& settings = {});
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  // What the driver calls

  /// The effects since the last call, in their order.
  [[nodiscard]] std::vector<Effect> take() { return std::exchange(effects_, {}); }
  /// A message of a peer. What makes no sense now is dropped: senders repeat.
  void receive(const PeerId& sender, Message message, TimePoint now);
  void connected(const PeerId& peer, TimePoint now);
  void disconnected(const PeerId& peer, TimePoint now);
  /// This process has got the lead. It has it until a later epoch begins, or it resigns: replicas are fenced
  /// by what they have promised, so that nothing is lost by one who no longer has the controller's word.
  void lead(std::uint64_t epoch, TimePoint now);
  /// Now and then, a few times in ReplicaSettings::repeat: repeats what was not answered.
  void tick(TimePoint now);
  /// The servant has done the oldest of what it was asked for.
  void done(Outcome outcome, TimePoint now);
  /// From now on clients may send messages of these schemas.
  void accept(std::set<Uuid> schemas) { schemas_ = std::move(schemas); }
  /// Takes part no more: the servant cannot apply what others have applied.
  void give_up(std::string reason) { get_stuck(std::move(reason)); }

  [[nodiscard]] const std::string& me() const noexcept override { return me_; }
  [[nodiscard]] const std::vector<std::string>& members() const noexcept override { return members_; }
  [[nodiscard]] const std::vector<std::string>& others() const noexcept { return others_; }
  [[nodiscard]] const Log& log() const noexcept override { return log_; }
  /// The latest epoch that it knows of.
  [[nodiscard]] std::uint64_t promised() const noexcept override { return promised_; }
  /// The latest whose log it has taken over; 0: none.
  [[nodiscard]] std::uint64_t normal() const noexcept override { return normal_; }
  /// Whether it takes and acknowledges what is sent under its epoch.
  [[nodiscard]] bool is_normal() const noexcept { return normal_ != 0 && normal_ == promised_; }
  /// Whether it gives out the versions, as far as it knows.
  [[nodiscard]] bool leads() const noexcept { return versioner_ && versioner_->ready(); }
  [[nodiscard]] std::uint64_t applied() const noexcept override {
    return unapplied_.empty() ? log_.counter() : unapplied_.front() - 1;
  }

 private:
  /// What the servant was asked for.
  struct Job {
    enum class Kind : std::uint8_t { apply, restore, snapshot };
    Kind kind = Kind::apply;
    /// Of the state that it is about.
    std::uint64_t generation = 0;
    /// Which entry it is to apply, up to which its state is restored, or up to which a snapshot goes; 0 for a
    /// message without a version.
    std::uint64_t counter = 0;
    std::shared_ptr<Seen> seen{};
    Origin origin{};
    std::string wanted_by{};  // of a snapshot
    Report report{};
    std::optional<Origins> origins{};
  };
  struct Early {
    PeerId sender;
    Stamped message;
  };

  // Holder
  [[nodiscard]] const ReplicaSettings& settings() const noexcept override { return settings_; }
  [[nodiscard]] const Origins& origins() const noexcept override { return origins_; }
  [[nodiscard]] TimePoint now() const noexcept override { return now_; }
  [[nodiscard]] std::vector<std::string> members_connected() const override;
  [[nodiscard]] Report own_report() const override { return report(false); }
  void send(const PeerId& to, Message message) override;
  void refuse(const PeerId& to, const Origin& origin, Code code, std::string text) override;
  void resign(std::string reason) override;
  void promise(std::uint64_t epoch) override;
  void become_normal(std::uint64_t epoch) override;
  void set_leader(std::uint64_t epoch, const std::string& member) override;
  void hold(const PeerId& sender, Stamped message) override;
  void supply(const std::string& to, const Report& report) override;

  // Messages of clients
  void receive_of_client(const Uuid& sender, Message&& message);
  void on_ask(const Uuid& sender, const Ask& message);
  void on_submit(const Uuid& sender, const Body& body);
  void on_tagged(const Uuid& sender, Tagged&& message);
  void on_direct(const Uuid& sender, const Body& body);
  void on_stamped_by_client(const Uuid& sender, Stamped&& message);
  [[nodiscard]] bool fits(const Uuid& sender, const Body& body);
  [[nodiscard]] bool leads_or_tells(const PeerId& client);

  // Messages of members
  void receive_of_member(const std::string& sender, Message&& message);
  void on_ack(const std::string& sender, const Ack& message);
  void on_numbered(const std::string& sender, const Numbered& message);
  void on_prepare(const std::string& sender, const Prepare& message);
  void on_report(const std::string& sender, const Report& message);
  void on_pull(const std::string& sender, const Pull& message);
  void on_sync(const std::string& sender, Sync&& message);
  void on_part(const std::string& sender, const Part& message);
  void on_took(const std::string& sender, const Took& message);
  void on_restore(const std::string& sender, Restore&& message);
  void on_seal(const std::string& sender, const Seal& message);
  void on_sealed(const std::string& sender, const Sealed& message);
  void on_recover(const std::string& sender, const Recover& message);
  void on_recovered(const std::string& sender, const Recovered& message);

  // What is to be applied, and who is to hear of it
  void drain();
  void append(Entry entry);
  void ask_servant(Job job, Effect effect);
  void owe(std::uint64_t counter, Stamped message);
  void pay();
  void pay_one(const Stamped& message);
  void acknowledge_unversioned(const Origin& origin, const Outcome& outcome);

  // Epochs, and what is missing
  [[nodiscard]] Report report(bool missing) const;
  [[nodiscard]] std::optional<std::size_t> new_of(const Sync& message) const;
  [[nodiscard]] bool takes_from(const std::string& sender, std::uint64_t epoch) const;
  void taken_over(const std::string& sender, std::uint64_t epoch, bool whole);
  [[nodiscard]] bool lacks_something() const;
  void send_sync(const std::string& to, const Head& after);
  [[nodiscard]] bool has_gaps(const std::string& sender, const Head& behind,
                              const std::vector<Entry>& entries, std::size_t first);
  [[nodiscard]] bool keeps(const Head& head) const;
  void give(Job&& job, Bytes state);
  void send_state(const std::string& to, Giving& giving);
  void send_restore(const std::string& to, const Giving& giving, bool with_state);
  void get_stuck(std::string reason);

  const std::string me_;
  const std::vector<std::string> members_;
  const std::vector<std::string> others_;
  std::set<Uuid> schemas_;  // of messages that clients may send
  const Uuid life_;
  const bool can_snapshot_;
  const ReplicaSettings settings_;
  Log log_;
  Origins origins_;
  std::uint64_t promised_ = 0;
  std::uint64_t normal_ = 0;
  std::optional<Leading> leader_;
  std::shared_ptr<Versioner> versioner_;  // shared: one that resigns is still within its function
  TimePoint now_{};
  bool stuck_ = false;
  bool resolved_;  // whether it knows what it may have promised before
  std::map<std::string, Recovered> recovered_;
  std::set<std::string> linked_members_;
  std::set<Uuid> linked_clients_;
  std::map<std::uint64_t, Early> early_;  // by counter
  std::set<std::uint64_t> sealed_;
  Waiting<Body> tagged_;
  Waiting<Numbered> numbered_;
  std::map<std::uint64_t, std::vector<Stamped>> owed_;  // by counter
  Origins direct_;
  std::deque<Job> jobs_;
  std::deque<std::uint64_t> unapplied_;
  std::uint64_t generation_ = 0;
  bool state_is_new_ = true;
  TimePoint asked_at_{};
  std::uint64_t states_taken_ = 0;
  std::map<std::string, Giving> giving_;  // to whom
  std::optional<Taking> taking_;
  std::vector<Effect> effects_;
};

}  // namespace mf::replicated
