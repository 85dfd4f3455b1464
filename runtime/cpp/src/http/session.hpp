// One connection of the relay's door. What a request wants is decided here; what every request goes through
// is that of exchange.hpp.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "http/calls.hpp"
#include "http/core.hpp"
#include "http/exchange.hpp"
#include "http/feed.hpp"
#include "http/problem.hpp"
#include "http/visit.hpp"
#include "http/visitor.hpp"

namespace mf::http {

/// Serves a new connection for as long as it lasts.
void serve(Core& core, boost::asio::ip::tcp::socket socket);

class Session : public Exchange {
 public:
  Session(Core& core, std::string peer) : Exchange(core, std::move(peer)), core_(core) {}

 protected:
  /// Hands the stream over to a WebSocket.
  virtual void upgrade(Request&& request, Visit visit, Visitor visitor) = 0;
  [[nodiscard]] Core& core() noexcept { return core_; }

 private:
  void arrived(Identity certified) override;
  void route() override;
  void forget() override;
  void drop_work() override;
  [[nodiscard]] bool may_go_on() override;
  [[nodiscard]] bool is_endless() const override { return feed_ != nullptr; }
  [[nodiscard]] bool is_page(std::string_view path) const override;
  using Exchange::answer;
  [[nodiscard]] std::shared_ptr<Session> shared_from_this() {
    return std::static_pointer_cast<Session>(Exchange::shared_from_this());
  }

  void preflight();
  void find();
  void on_described(const Descriptions::Known& known, const std::shared_ptr<Caller>& caller);
  void call(const Callee& callee, std::size_t item, std::string_view arguments);
  void call_many(const Callee& callee);
  void go_on_with_batch();
  void on_answer(std::size_t item, Answer&& given);
  void answer_batch();
  void choose_events();
  void begin_stream(const Callee& callee);
  void begin_feed(const Descriptions::Known& topic, const std::shared_ptr<Caller>& caller);
  void pump();
  void pump_feed();
  void on_message(Outcome<topics::Receiver::Taken>&& taken);
  /// Appends an event of the answer in its format.
  void append_event(std::string& to, std::string_view name, std::string_view json) const;
  void end_events(const Answer& given);
  void openapi();
  using Named = std::pair<bool, std::string>;  // whether it is a topic, and its name
  void describe(const std::shared_ptr<Caller>& caller, std::vector<Named> names, TimePoint until);

  Core& core_;
  std::optional<Visitor> visitor_;

  // Of the present request.
  Visit visit_;
  enum class Events : std::uint8_t { none, lines, server_sent } events_ = Events::none;
  /// The items of a batch, whose texts are those of the request.
  struct Batch {
    Callee callee;
    std::vector<std::string_view> items;
    TimePoint until;
    std::size_t next = 0;  // the first one that was not started
    bool starts = false;   // it is being gone on with
  };
  std::shared_ptr<Caller> caller_;          // while its calls run: those that nothing holds are ended
  std::map<std::size_t, Running> running_;  // by their items
  std::vector<std::string> answers_;        // of a batch
  std::optional<Batch> batch_;
  std::size_t batch_bytes_ = 0;  // of the results that are there
  std::size_t missing_ = 0;
  std::shared_ptr<Streaming> streaming_;
  std::unique_ptr<Feed> feed_;
};

}  // namespace mf::http
