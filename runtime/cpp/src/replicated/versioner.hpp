// What a replica does besides while it has the lead: it gives out the versions of its epoch.
//
//     preparing -> a majority (or, where some are blank, everybody) has reported -> the best log is taken
//     over -> ready
//
// "Best" is the log that was normal in the latest epoch, and of these the longest: whatever a majority has
// acknowledged under one epoch is part of it. From then on each new message gets the next counter, and
// travels as its pattern says. Part of a replica, as that has the log; a class of its own, since it is a role
// of its own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mf/core/clock.hpp"
#include "mf/core/error.hpp"
#include "mf/replicated/settings.hpp"
#include "replicated/log.hpp"
#include "replicated/messages.hpp"
#include "replicated/waiting.hpp"

namespace mf::replicated {

/// What a versioner knows of the replica that it belongs to (replica.hpp).
class Holder {
 public:
  virtual ~Holder() = default;

  [[nodiscard]] virtual const std::string& me() const = 0;
  [[nodiscard]] virtual const std::vector<std::string>& members() const = 0;
  [[nodiscard]] virtual const ReplicaSettings& settings() const = 0;
  [[nodiscard]] virtual const Log& log() const = 0;
  [[nodiscard]] virtual const Origins& origins() const = 0;
  [[nodiscard]] virtual std::uint64_t promised() const = 0;
  [[nodiscard]] virtual std::uint64_t normal() const = 0;
  /// The counter up to which the servant has applied.
  [[nodiscard]] virtual std::uint64_t applied() const = 0;
  [[nodiscard]] virtual TimePoint now() const = 0;
  /// Of the others.
  [[nodiscard]] virtual std::vector<std::string> members_connected() const = 0;
  [[nodiscard]] virtual Report own_report() const = 0;

  virtual void send(const PeerId& to, Message message) = 0;
  virtual void refuse(const PeerId& to, const Origin& origin, Code code, std::string text) = 0;
  /// Ends the versioner.
  virtual void resign(std::string reason) = 0;
  virtual void promise(std::uint64_t epoch) = 0;
  /// The log is that of this epoch now.
  virtual void become_normal(std::uint64_t epoch) = 0;
  virtual void set_leader(std::uint64_t epoch, const std::string& member) = 0;
  /// A message with a version, of the epoch that it is sent under.
  virtual void hold(const PeerId& sender, Stamped message) = 0;
  /// Sends a member what its log lacks.
  virtual void supply(const std::string& to, const Report& report) = 0;
};

class Versioner {
 public:
  Versioner(Holder& replica, std::uint64_t epoch);

  [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
  /// It gives out versions.
  [[nodiscard]] bool ready() const noexcept { return ready_; }

  // Taking the lead

  void begin();
  void connected(const PeerId& member);
  /// The reports of the member are void: it may return with another state.
  void disconnected(const std::string& member);
  void reported(const std::string& member, const Report& report);
  [[nodiscard]] bool pulls_from(const std::string& member) const { return pulls_ == member; }
  /// More of the best log is there. `whole`: all of it.
  void pulled(bool whole);
  /// More of what it has pulled is here, and more is on its way.
  void progressed() { asked_at_ = replica_.now(); }

  // Giving out versions

  /// A client wants a version, and will send the message with it to all.
  void ask(const PeerId& client, const Origin& origin);
  /// A client's message: it gets a version, and goes on as its pattern says. One that came before does so
  /// again, for those that have missed it.
  void submit(const PeerId& client, const Body& body);
  /// A replica has applied a message (one hop).
  void acknowledged(const Ack& ack);

  // Versions that are not used

  void sealed(const std::string& member, const Sealed& message);

  void tick();

 private:
  /// A version that its client has, and the log has not.
  struct GivenOut {
    Origin origin;
    TimePoint since;
    std::set<std::string> sealed{};
    TimePoint asked_at{};
  };
  /// Acknowledgements of one message that the versioning server passes on together (one hop).
  struct Gathered {
    std::size_t need = 0;
    std::set<std::string> applied{};
  };

  [[nodiscard]] Message prepared() const;
  void prepare();
  void choose();
  void pull(const std::string& best);
  void send_pull(const std::string& member);
  void start();
  void tell(const std::string& member);
  void supply(const std::string& member, const Report& report);
  [[nodiscard]] bool takes(const PeerId& client, const Origin& origin);
  [[nodiscard]] bool has_room(const PeerId& client, const Origin& origin);
  void spread(const PeerId& client, const Entry& entry, const Body& body);
  [[nodiscard]] std::vector<std::string> chain() const;
  void gather(const Body& body);
  void seal_unused();
  void leave_empty(const Version& version, const GivenOut& given);
  [[nodiscard]] std::optional<std::string> ahead(std::uint64_t head) const;
  [[nodiscard]] const Report* report_of(const std::string& member) const;
  [[nodiscard]] std::size_t majority() const { return replicated::majority(replica_.members().size()); }

  Holder& replica_;
  const std::uint64_t epoch_;
  bool ready_ = false;
  std::vector<std::pair<std::string, Report>> reports_;  // in the order in which they came first
  std::optional<std::string> pulls_;
  TimePoint asked_at_;
  std::optional<TimePoint> alone_since_;
  std::map<std::uint64_t, GivenOut> given_;  // by counter
  std::map<OriginKey, std::uint64_t> given_to_;
  Waiting<Gathered> gathered_;
  std::uint64_t next_ = 0;
  std::set<std::string> supplied_;              // members that have had some of its log
  std::map<std::string, std::uint64_t> blank_;  // members, and which version was the last when they said so
  std::map<std::string, TimePoint> told_at_;    // members, and when this epoch was last told them
};

}  // namespace mf::replicated
