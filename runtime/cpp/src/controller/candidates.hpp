// The leads that a server asks one controller for.
//
// Each is a stream of the controller (`lead`), which is opened while the process is registered there, and
// again after a pause if it ends before the lead was given. A lead that was given ends with its stream, or
// with the registration. Thread-safe; runs on the reactor's thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <utility>

#include "controller/turns.hpp"
#include "mf/controller.client.hpp"
#include "mf/core/log.hpp"
#include "mf/link/backoff.hpp"
#include "mf/link/candidacy.hpp"

namespace mf::controller {

class Candidates : public std::enable_shared_from_this<Candidates> {
 public:
  /// `where`: the controller's address, for the log.
  static std::shared_ptr<Candidates> make(const ControllerClient& controller, const Credential& who,
                                          const Log& log, std::string where,
                                          const std::shared_ptr<transport::Reactor>& reactor);

  void add(Key key, std::shared_ptr<link::Candidacy> candidacy);
  /// The process is registered: it may ask.
  void registered();
  /// It is not any more: what it has is lost, and what it waits for is asked for again when it is. Nobody is
  /// told within this call.
  void lost();
  /// The server is stopped: nothing is held and nothing is asked for any more.
  void stop();

 private:
  using Reader = StreamReader<Lead>;
  struct One {
    One(Key of, std::shared_ptr<link::Candidacy> shared) : key(std::move(of)), candidacy(std::move(shared)) {}
    Key key;
    std::shared_ptr<link::Candidacy> candidacy;
    std::shared_ptr<Reader> stream;
    bool given = false;  // whatever its holder has been told by now
    TimePoint retry_at{};
    link::Backoff backoff{std::random_device{}()};
  };

  Candidates(const ControllerClient& controller, const Credential& who, const Log& log, std::string where);
  TimePoint step();
  void let_go(std::unique_lock<std::mutex>& lock);
  void read(std::uint64_t id, const std::shared_ptr<Reader>& stream);
  /// False: the stream has ended.
  bool took(std::uint64_t id, const std::shared_ptr<Reader>& stream,
            const Outcome<std::optional<Lead>>& outcome);
  void ended(std::uint64_t id, const std::shared_ptr<Reader>& stream, const Failure* why);
  void remove(std::uint64_t id);

  const ControllerClient controller_;
  const Credential who_;
  const Log log_;
  const std::string where_;
  std::shared_ptr<Turns> turns_;
  std::mutex mutex_;  // all below
  std::map<std::uint64_t, One> all_;
  std::uint64_t ids_ = 0;
  bool registered_ = false;
  bool lost_ = false;  // since the last step: all streams are of the registration before
  bool stopped_ = false;
};

}  // namespace mf::controller
