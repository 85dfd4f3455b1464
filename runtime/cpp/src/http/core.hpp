// The implementation of the door: where it listens, and what its connections share. All but what is said
// otherwise runs on its one thread.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "http/callers.hpp"
#include "http/catalogue.hpp"
#include "http/descriptions.hpp"
#include "mf/core/clock.hpp"
#include "mf/core/unique_function.hpp"
#include "mf/http/door.hpp"
#include "mf/relay/relay.hpp"
#include "mf/server/gatekeeper.hpp"
#include "mf/transport/reactor.hpp"

namespace mf::http {

class Guest;

/// What the door has counted. Any thread.
struct Figures {
  std::atomic<std::uint64_t> connections{0};
  std::atomic<std::uint64_t> refused{0};  // above max_connections
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::uint64_t> good{0};           // answers below 400
  std::atomic<std::uint64_t> client_errors{0};  // 4xx
  std::atomic<std::uint64_t> server_errors{0};  // 5xx
  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::uint64_t> messages{0};  // of streams and topics, to clients
  std::atomic<std::size_t> open{0};
};

class Core {
 public:
  Core(DoorOptions options, std::shared_ptr<relay::Relay> relay,
       std::shared_ptr<const server::Gatekeeper> gatekeeper);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  void begin();
  bool drain(std::chrono::milliseconds within);
  void stop();
  bool reload();
  void expose(monitor::Exposition& out) const;
  [[nodiscard]] const std::string& address() const noexcept { return address_; }

  // ---- for its connections

  [[nodiscard]] const DoorOptions& options() const noexcept { return options_; }
  [[nodiscard]] const relay::Relay& relay() const noexcept { return *relay_; }
  [[nodiscard]] const server::Gatekeeper& gatekeeper() const noexcept { return *gatekeeper_; }
  [[nodiscard]] transport::TlsContext* tls() const noexcept { return tls_.get(); }
  [[nodiscard]] bool draining() const noexcept { return draining_; }
  [[nodiscard]] Callers& callers() noexcept { return callers_; }
  [[nodiscard]] Descriptions& descriptions() noexcept { return descriptions_; }
  [[nodiscard]] Catalogue& catalogue() noexcept { return catalogue_; }
  [[nodiscard]] Figures& figures() noexcept { return figures_; }
  /// Runs a function later on the door's thread. Any thread.
  void post(UniqueFunction<void()> work);
  /// Why a request with this Host is not for this door; empty: it is.
  [[nodiscard]] std::string why_not_at(std::string_view header) const;
  /// Whether a page of this origin may use the door; `host`: the Host of the request.
  [[nodiscard]] bool admits(std::string_view origin, std::string_view host) const;
  /// Reserves memory for a body; false: bodies that are being read hold too much.
  [[nodiscard]] bool hold(std::size_t bytes) noexcept;
  void release(std::size_t bytes) noexcept { held_ -= bytes; }
  void entered(Guest& guest);
  void left(Guest& guest) noexcept;

 private:
  void listen();
  void accept();
  void look();  // at what has waited for too long

  const DoorOptions options_;
  const std::shared_ptr<relay::Relay> relay_;
  const std::shared_ptr<const server::Gatekeeper> gatekeeper_;
  const std::shared_ptr<transport::Reactor> reactor_;
  boost::asio::io_context context_{1};
  boost::asio::ip::tcp::acceptor acceptor_{context_};
  boost::asio::steady_timer again_{context_};
  boost::asio::steady_timer look_again_{context_};
  std::shared_ptr<transport::TlsContext> tls_;
  std::string address_;
  bool loopback_ = true;
  bool draining_ = false;
  std::size_t held_ = 0;
  std::set<Guest*> guests_;
  Callers callers_;
  Descriptions descriptions_;
  Catalogue catalogue_;
  TimePoint read_files_at_{};  // the files of TLS, the next time
  Figures figures_;
  std::mutex mutex_;  // guards the next one
  bool empty_ = false;
  std::condition_variable emptied_;
  std::thread thread_;
};

/// A connection, as the door looks after it.
class Guest {
 public:
  virtual ~Guest() = default;
  /// Ends what has waited for too long, and calls whose client has gone.
  virtual void look(TimePoint now) = 0;
  /// The door ends: answers what is in progress, and closes.
  virtual void drain() = 0;
  virtual void close() = 0;
};

}  // namespace mf::http
