// The leads that a server requests from its controllers.
//
// Each is a stream of one controller (`lead`), which is opened while the process is registered there, and
// again after a pause if it ends before the lead was granted. A granted lead ends with its stream, or with
// the registration there. It is requested at the first controller; while the process is not registered there,
// at one that shares the first one's store, which has the same cluster id: controllers that do not know of
// each other would grant one lead twice. Thread-safe; runs on the reactor's thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "controller/turns.hpp"
#include "mf/controller.client.hpp"
#include "mf/core/log.hpp"
#include "mf/link/backoff.hpp"
#include "mf/link/candidacy.hpp"

namespace mf::controller {

class Candidates : public std::enable_shared_from_this<Candidates> {
 public:
  static std::shared_ptr<Candidates> make(const Credential& who, const Log& log,
                                          const std::shared_ptr<transport::Reactor>& reactor);

  [[nodiscard]] const Credential& who() const noexcept { return who_; }
  /// Adds a controller, before any request; returns its number. `where`: its address, for the log.
  std::size_t add_seat(const ControllerClient& controller, std::string where);
  void add(Key key, std::shared_ptr<link::Candidacy> candidacy);
  /// The process is registered there, and may request leads.
  void registered(std::size_t seat, const Uuid& cluster);
  /// It is not registered any more: leads from there are lost, and wanted ones are requested again later, or
  /// elsewhere. No callback runs within this call.
  void lost(std::size_t seat);
  /// The server is stopped: all leads are given up, and none is requested any more.
  void stop();

 private:
  using Reader = StreamReader<Lead>;
  struct Seat {
    ControllerClient controller;
    std::string where;
    bool registered = false;
    bool lost = false;  // since the last step: all streams there belong to the previous registration
    Uuid cluster{};     // its cluster when it last answered
  };
  struct One {
    One(Key of, std::shared_ptr<link::Candidacy> shared) : key(std::move(of)), candidacy(std::move(shared)) {}
    Key key;
    std::shared_ptr<link::Candidacy> candidacy;
    std::shared_ptr<Reader> stream;
    std::size_t seat = 0;  // the controller of the stream
    bool given = false;    // whether the lead was granted, even if its holder was not notified yet
    bool refused = false;  // the controller has said before that the process does not offer this
    TimePoint retry_at{};
    link::Backoff backoff{std::random_device{}()};
  };

  Candidates(const Credential& who, const Log& log);
  TimePoint step();
  /// The controller to ask now, or null. `next` becomes the time to look again, if that is earlier.
  [[nodiscard]] Seat* seat_for(TimePoint now, TimePoint& next);
  void let_go(std::unique_lock<std::mutex>& lock);
  void read(std::uint64_t id, const std::shared_ptr<Reader>& stream);
  /// False if the stream has ended.
  bool took(std::uint64_t id, const std::shared_ptr<Reader>& stream,
            const Outcome<std::optional<Lead>>& outcome);
  void ended(std::uint64_t id, const std::shared_ptr<Reader>& stream, const Failure* why);
  void remove(std::uint64_t id);

  const Credential who_;
  const Log log_;
  std::shared_ptr<Turns> turns_;
  std::mutex mutex_;  // guards all members below
  std::vector<Seat> seats_;
  TimePoint elsewhere_at_{};  // until then the first controller may return
  std::map<std::uint64_t, One> all_;
  std::uint64_t ids_ = 0;
  bool stopped_ = false;
};

}  // namespace mf::controller
