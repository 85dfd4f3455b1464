// The implementation of the relay's door: what its connections share beyond that they come by HTTP. All but
// what is said otherwise runs on its one thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "http/callers.hpp"
#include "http/catalogue.hpp"
#include "http/descriptions.hpp"
#include "http/house.hpp"
#include "mf/http/door.hpp"
#include "mf/relay/relay.hpp"
#include "mf/server/gatekeeper.hpp"
#include "mf/transport/reactor.hpp"

namespace mf::http {

class Core final : public House {
 public:
  Core(const DoorOptions& options, std::shared_ptr<relay::Relay> relay,
       std::shared_ptr<const server::Gatekeeper> gatekeeper);

  void begin();
  void stop();
  void expose(monitor::Exposition& out) const;

  // ---- for its connections

  /// How long a call may take unless its request says so.
  [[nodiscard]] std::chrono::milliseconds deadline() const noexcept { return deadline_; }
  [[nodiscard]] const relay::Relay& relay() const noexcept { return *relay_; }
  [[nodiscard]] const server::Gatekeeper& gatekeeper() const noexcept { return *gatekeeper_; }
  [[nodiscard]] Callers& callers() noexcept { return callers_; }
  [[nodiscard]] Descriptions& descriptions() noexcept { return descriptions_; }
  [[nodiscard]] Catalogue& catalogue() noexcept { return catalogue_; }
  /// A call was started. Any thread, as for the next one.
  void count_call() noexcept { ++calls_; }
  /// So many values of streams and topics were sent.
  void count_messages(std::size_t more) noexcept { messages_ += more; }

 private:
  void welcome(boost::asio::ip::tcp::socket socket) override;
  void tidy(TimePoint now) override;
  [[nodiscard]] std::chrono::milliseconds rests() const override { return std::chrono::milliseconds(250); }
  void closing() override;
  void closed() override;

  const std::chrono::milliseconds deadline_;
  const std::shared_ptr<relay::Relay> relay_;
  const std::shared_ptr<const server::Gatekeeper> gatekeeper_;
  const std::shared_ptr<transport::Reactor> reactor_;
  Callers callers_;
  Descriptions descriptions_;
  Catalogue catalogue_;
  std::atomic<std::uint64_t> calls_{0};
  std::atomic<std::uint64_t> messages_{0};
};

}  // namespace mf::http
