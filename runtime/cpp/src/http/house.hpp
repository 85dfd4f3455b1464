// Where a part of a program listens for HTTP, and what its connections share: from where it is reached, under
// which names, how many connections and how many bytes there may be at once, and for how long. What its
// requests are answered with is decided by the classes that derive from it. All but what is said otherwise
// runs on its one thread.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <compare>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "mf/core/clock.hpp"
#include "mf/core/log.hpp"
#include "mf/core/unique_function.hpp"
#include "mf/transport/tls.hpp"

namespace mf::http {

/// What is the same for all that listen for HTTP. `DoorOptions` has the meanings of the members that both
/// have.
struct HouseOptions {
  /// What the texts of errors call it: "HTTP door".
  std::string what{};
  std::string listen{};
  /// Whether it may listen beyond loopback although it does not know its clients.
  bool open = false;
  bool knows_clients = false;
  /// Why it refuses to listen beyond loopback, and what to do instead.
  std::string beyond{};
  TlsOptions tls{};
  std::vector<std::string> origins{};
  std::vector<std::string> names{};
  /// The options that give it names, and that allow origins: texts of refusals name them. Empty: there is
  /// none.
  std::string names_by{};
  std::string origins_by{};
  std::size_t max_connections = 1'024;
  std::size_t max_body = std::size_t{1} << 20U;
  std::size_t max_held_bytes = std::size_t{256} << 20U;
  std::chrono::milliseconds header_timeout{10'000};
  std::chrono::milliseconds body_timeout{30'000};
  std::chrono::milliseconds idle_timeout{60'000};
  std::chrono::milliseconds reload_interval{30'000};
  Log log{};
};

/// Throws Error(INVALID_ARGUMENT) for an address, an origin, a name or a file of TLS that cannot be used.
void check(const HouseOptions& options);

/// What was counted. Any thread.
struct Figures {
  std::atomic<std::uint64_t> connections{0};
  std::atomic<std::uint64_t> refused{0};      // above max_connections
  std::atomic<std::uint64_t> crowded_out{0};  // that answered no request, in favour of new ones
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::uint64_t> good{0};           // answers below 400
  std::atomic<std::uint64_t> client_errors{0};  // 4xx
  std::atomic<std::uint64_t> server_errors{0};  // 5xx
  std::atomic<std::size_t> open{0};
};

/// How far a connection is. Where there is no room for a new one, those of a host are ended in this order.
enum class Stage : std::uint8_t {
  closing,  // its last answer was written, and its client has to close it
  silent,   // the header fields of its first request have not come
  idle,     // it has made a request, and waits for the next one, or for the body of one
  busy,     // a request of it is being answered: it is not ended
};

/// A connection, as the house looks after it.
class Guest {
 public:
  virtual ~Guest() = default;
  /// Ends what has waited for too long, and what has no right to go on.
  virtual void look(TimePoint now) = 0;
  /// The house ends: answers what is in progress, and closes.
  virtual void drain() = 0;
  virtual void close() = 0;
  /// Its address: "tcp://10.0.0.3:5123".
  [[nodiscard]] virtual const std::string& peer() const noexcept = 0;
};

class House {
 public:
  /// Listens. Throws as check() does, and Error(UNAVAILABLE) if it cannot listen there.
  explicit House(HouseOptions options);
  virtual ~House() = default;
  House(const House&) = delete;
  House& operator=(const House&) = delete;

  /// Serves from now on.
  void begin();
  /// Accepts no more connections, and waits until the requests in progress are answered; false: the time has
  /// passed before. Any thread.
  bool drain(std::chrono::milliseconds within);
  /// Ends all connections and the thread. To be called before what derives from this is destroyed.
  void stop();
  /// Reads files of TLS again; false: one cannot be used, and those read before stay in use.
  bool reload();
  /// "http://127.0.0.1:8080"
  [[nodiscard]] const std::string& address() const noexcept { return address_; }

  // ---- for its connections

  [[nodiscard]] const HouseOptions& options() const noexcept { return options_; }
  [[nodiscard]] transport::TlsContext* tls() const noexcept { return tls_.get(); }
  [[nodiscard]] bool draining() const noexcept { return draining_; }
  /// Whether only programs of this host reach it.
  [[nodiscard]] bool at_loopback() const noexcept { return loopback_; }
  [[nodiscard]] Figures& figures() noexcept { return figures_; }
  [[nodiscard]] const Figures& figures() const noexcept { return figures_; }
  /// Runs a function later on the house's thread. Any thread.
  void post(UniqueFunction<void()> work);
  /// Why a request with this Host is not for this house; empty: it is.
  [[nodiscard]] std::string why_not_at(std::string_view header) const;
  /// Whether a page of this origin may use it; `host`: the Host of the request.
  [[nodiscard]] bool admits(std::string_view origin, std::string_view host) const;
  /// Reserves memory for a body; false: bodies that are being read hold too much.
  [[nodiscard]] bool hold(std::size_t bytes) noexcept;
  void release(std::size_t bytes) noexcept { held_ -= bytes; }
  /// Keeps the guest until it has left, also if what has kept it ends by an exception. It is silent. Throws
  /// std::bad_alloc, and does not keep the guest then.
  void entered(std::shared_ptr<Guest> guest);
  void left(Guest& guest) noexcept;
  /// The guest has reached this stage now, so that it is the youngest of the stage. Nothing happens for one
  /// that has left.
  void reached(Guest& guest, Stage stage) noexcept;
  /// The peer has not read what was written to it in time: says so in the log.
  void note_stall(const Guest& guest) const;

 protected:
  [[nodiscard]] boost::asio::io_context& context() noexcept { return context_; }
  /// Serves a new connection for as long as it lasts.
  virtual void welcome(boost::asio::ip::tcp::socket socket) = 0;
  /// Called four times a second while there are connections, and else every `rests`.
  virtual void tidy(TimePoint /*now*/) {}
  [[nodiscard]] virtual std::chrono::milliseconds rests() const { return options_.reload_interval; }
  /// It ends: called on its thread before its connections are closed, and after that.
  virtual void closing() {}
  virtual void closed() {}

 private:
  void listen();
  void accept();
  [[nodiscard]] std::vector<std::shared_ptr<Guest>> guests() const;
  /// Ends a connection of which no request is being answered, for a new one; false: there is none. It is one
  /// of the host that has most of these, so that no host can keep another one out, by silent connections or
  /// by those that it keeps alive. Of them it is one of the lowest stage, so that silent connections keep no
  /// client out that makes requests, and of those the one that reached its stage first. Of hosts that have as
  /// many, the one is chosen whose connection reached its stage first.
  bool make_room();
  void look();  // at what has waited for too long
  void look_after(std::chrono::milliseconds pause);

  const HouseOptions options_;
  boost::asio::io_context context_{1};
  boost::asio::ip::tcp::acceptor acceptor_{context_};
  boost::asio::steady_timer again_{context_};
  boost::asio::steady_timer look_again_{context_};
  std::shared_ptr<transport::TlsContext> tls_;
  std::string address_;
  bool loopback_ = true;
  bool draining_ = false;
  bool rests_ = false;  // no connection is looked at
  std::size_t held_ = 0;
  // In this order those of a host are ended.
  struct Turn {
    std::string host;
    Stage stage = Stage::silent;
    std::uint64_t since = 0;  // a number, larger than those of all that reached their stages before
    auto operator<=>(const Turn&) const = default;
  };
  using Turns = std::map<Turn, Guest*>;
  struct Entered {
    std::shared_ptr<Guest> guest;
    Turns::iterator turn;
  };
  std::map<Guest*, Entered> guests_;
  Turns turns_;  // of all guests
  std::uint64_t last_turn_ = 0;
  TimePoint read_files_at_{};  // the files of TLS, the next time
  Figures figures_;
  std::mutex mutex_;  // guards the next one
  bool empty_ = false;
  std::condition_variable emptied_;
  std::thread thread_;
};

}  // namespace mf::http
