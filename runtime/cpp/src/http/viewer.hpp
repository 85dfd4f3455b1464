// One connection of a dashboard: a browser that loads the page, or that follows its events.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/exchange.hpp"
#include "http/visitor.hpp"
#include "mf/server/gatekeeper.hpp"

namespace mf::http {

class Viewer;

/// What the connections of a dashboard need of it.
class Board : public House {
 public:
  using House::House;
  [[nodiscard]] virtual const server::Gatekeeper& gatekeeper() const noexcept = 0;
  /// Why there is no room for one more page that follows; empty: there is.
  [[nodiscard]] virtual std::string why_full() const = 0;
  /// From now on it gets what changes, after everything.
  virtual void follow(std::shared_ptr<Viewer> viewer) = 0;
  virtual void leave(Viewer& viewer) noexcept = 0;
};

class Viewer : public Exchange {
 public:
  /// An event that waits for several viewers is one text.
  using Event = std::shared_ptr<const std::string>;

  Viewer(Board& board, std::string peer) : Exchange(board, std::move(peer)), board_(board) {}

  /// It has got nothing yet, or has not read for so long that events were left out: it gets everything next.
  [[nodiscard]] bool needs_all() const noexcept { return needs_all_; }
  /// Whether everything can be sent now: nothing waits before it.
  [[nodiscard]] bool has_room() const noexcept { return !writing_; }
  void send_all(Event everything);
  void send(Event event);

 private:
  void arrived(Identity certified) override;
  void route() override;
  void forget() override { stop_following(); }
  void drop_work() override { stop_following(); }
  [[nodiscard]] bool may_go_on() override;
  [[nodiscard]] bool is_endless() const override { return following_; }
  [[nodiscard]] bool is_page(std::string_view path) const override;
  void answer(const Problem& problem) override;
  using Exchange::answer;

  void follow();
  void stop_following() noexcept;
  void write_next();

  Board& board_;
  std::optional<Visitor> visitor_;
  bool following_ = false;
  bool needs_all_ = false;
  bool writing_ = false;
  std::deque<Event> waiting_;
  std::size_t waiting_bytes_ = 0;
};

/// Serves a new connection for as long as it lasts.
void serve(Board& board, boost::asio::ip::tcp::socket socket);

}  // namespace mf::http
