#include "mf/http/dashboard.hpp"

#include <algorithm>
#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "http/events.hpp"
#include "http/viewer.hpp"
#include "mf/controller/controller.hpp"
#include "mf/monitor/exposition.hpp"

namespace mf::http {
namespace {

constexpr std::size_t kMostPages = 16;
constexpr std::size_t kMostConnections = 256;
/// Changes of so long are one event.
constexpr std::chrono::milliseconds kTick{500};
constexpr std::chrono::seconds kMeasureEvery{2};
/// After so long without an event a comment is sent, so that both sides notice a dead connection.
constexpr std::chrono::seconds kStillEvery{15};
/// Further rows are counted, and not sent.
constexpr std::size_t kMostRows = 10'000;
/// So are those after rows with so many bytes: labels may be long, and each page keeps what it was sent last.
constexpr std::size_t kMostRowBytes = std::size_t{16} << 20U;
constexpr std::size_t kRowsAtOnce = 256;
constexpr std::size_t kMostSteps = 200;
constexpr std::size_t kMostPoints = 90;

bool is_loopback(std::string_view host) {
  if (host == "localhost") return true;
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  boost::system::error_code failed;
  const auto address = boost::asio::ip::make_address(std::string(host), failed);
  return !failed && address.is_loopback();
}

/// "127.0.0.1:7480" is of http at loopback, and elsewhere of https.
std::string address_of(const std::string& listen) {
  if (listen.find("://") != std::string::npos) return listen;
  return (is_loopback(listen.substr(0, listen.rfind(':'))) ? "http://" : "https://") + listen;
}

HouseOptions house_of(const DashboardOptions& options) {
  return {.what = "dashboard",
          .listen = address_of(options.listen),
          .knows_clients = options.knows_clients,
          .beyond =
              "shows all that is registered to every program that reaches it: take certificates by "
              "--client-ca or tokens by --token-keys, over https://, or listen at 127.0.0.1",
          .tls = options.tls,
          .names = options.names,
          .names_by = "--dashboard-name",
          .max_connections = kMostConnections,
          .max_body = 1'024,
          .max_held_bytes = kMostConnections * 1'024,
          .header_timeout = std::chrono::seconds(5),
          .body_timeout = std::chrono::seconds(30),
          .idle_timeout = std::chrono::seconds(15),
          .log = options.log};
}

}  // namespace

void check(const DashboardOptions& options) {
  check(house_of(options));
}

bool is_over_tls(const DashboardOptions& options) {
  return address_of(options.listen).starts_with("https:");
}

class Dashboard::Serving final : public Board {
 public:
  Serving(const DashboardOptions& options, std::shared_ptr<const controller::Controller> controller,
          std::shared_ptr<const server::Gatekeeper> gatekeeper)
      : Board(house_of(options)),
        where_(options.where),
        calls_(options.calls),
        controller_(std::move(controller)),
        gatekeeper_(std::move(gatekeeper)) {}

  void begin() {
    House::begin();
    this->options().log.write(Level::info, "dashboard_started",
                              {{"address", address()}, {"tls", tls() != nullptr}});
  }

  void expose(monitor::Exposition& out) const {
    using monitor::Kind;
    const auto value = [](const auto& figure) { return static_cast<double>(figure.load()); };
    out.gauge("mf_controller_dashboard_pages", "Pages that follow the dashboard.", value(pages_));
    out.counter("mf_controller_dashboard_events", "Events that were made for them; each is sent to all.",
                value(events_));
    out.family("mf_controller_dashboard_requests", Kind::counter,
               "Requests that the dashboard has answered.");
    out.sample({{"status", "2xx"}}, value(figures().good));
    out.sample({{"status", "4xx"}}, value(figures().client_errors));
    out.sample({{"status", "5xx"}}, value(figures().server_errors));
  }

  [[nodiscard]] const server::Gatekeeper& gatekeeper() const noexcept override { return *gatekeeper_; }

  [[nodiscard]] std::string why_full() const override {
    if (viewers_.size() < kMostPages) return {};
    return std::to_string(kMostPages) + " pages are open already";
  }

  void follow(std::shared_ptr<Viewer> viewer) override {
    viewers_.emplace(viewer.get(), std::move(viewer));
    pages_ = viewers_.size();
    if (!std::exchange(ticks_, true)) tick_at(std::max(mf::now(), ticked_at_ + kTick));
  }

  void leave(Viewer& viewer) noexcept override {
    viewers_.erase(&viewer);
    pages_ = viewers_.size();
  }

 private:
  void welcome(boost::asio::ip::tcp::socket socket) override { serve(*this, std::move(socket)); }
  void closing() override { tick_.cancel(); }

  void tick_at(TimePoint when) {
    tick_.expires_at(when);
    tick_.async_wait([this](boost::system::error_code ended) {
      if (!ended) tick();
    });
  }

  void tick() {
    ticked_at_ = mf::now();
    if (viewers_.empty()) {
      ticks_ = followed_ = false;
      points_.clear();
      measured_at_ = {};
      return;
    }
    tick_at(ticked_at_ + kTick);  // first, so that whatever is thrown below does not end this
    send_changes();
    Viewer::Event everything;
    for (const auto& [key, viewer] : std::map(viewers_)) {  // one may leave
      if (!viewers_.contains(key) || !viewer->needs_all() || !viewer->has_room()) continue;
      if (!everything) everything = event("all", all());
      viewer->send_all(everything);
    }
  }

  [[nodiscard]] Viewer::Event event(std::string_view name, std::string_view json) {
    ++events_;
    return std::make_shared<const std::string>(event_of(name, json));
  }

  void to_all(const Viewer::Event& event) {
    sent_at_ = ticked_at_;
    for (const auto& [key, viewer] : std::map(viewers_))
      if (viewers_.contains(key) && !viewer->needs_all()) viewer->send(event);
  }

  /// What has changed since the last time, for those that have had everything.
  void send_changes() {
    JsonObject change;
    bool is_any = false;
    const auto add = [&](std::string_view name, std::string_view json) {
      change.json(name, json);
      is_any = true;
    };
    if (!std::exchange(followed_, true)) {
      revision_ = controller_->status().revision;
      refused_ = 0;
      facts_ = facts();
      sent_at_ = ticked_at_;
      (void)take_refused();
      (void)measure();
      return;  // they all need everything
    }
    const auto news = controller_->news(revision_);
    revision_ = news.revision;
    if (!news.complete) return to_all(event("all", all()));
    if (!news.put.empty()) add("put", json_array(news.put, [](const auto& each) { return row_of(*each); }));
    if (!news.gone.empty()) add("gone", json_array(news.gone, row_key_of));
    if (!news.steps.empty()) add("steps", json_array(news.steps, step_of));
    if (auto now = facts(); now != facts_) {
      facts_ = std::move(now);
      add("controller", facts_);
    }
    if (take_refused()) add("denials", denials_);
    if (measure()) add("points", "[" + points_.back() + "]");
    if (is_any) return to_all(event("change", change.end()));
    if (sent_at_ + kStillEvery <= ticked_at_) to_all(std::make_shared<const std::string>(": still here\n\n"));
  }

  [[nodiscard]] std::string facts() const { return facts_of(controller_->status(), where_); }

  bool take_refused() {
    const auto refused = controller_->refused(refused_);
    if (refused.empty()) return false;
    refused_ = refused.back().number;
    denials_ = json_array(refused, denial_of);
    return true;
  }

  /// Adds a point to the charts if it is time.
  bool measure() {
    if (!calls_ || (measured_at_ != TimePoint{} && measured_at_ + kMeasureEvery > ticked_at_)) return false;
    const auto calls = calls_();
    const auto since = std::chrono::duration<double>(ticked_at_ - measured_at_).count();
    const bool is_first = std::exchange(measured_at_, ticked_at_) == TimePoint{};
    const auto before = std::exchange(counted_, calls);
    if (is_first) return false;
    points_.push_back(JsonObject()
                          .number("number", ++point_)
                          .real("calls", static_cast<double>(calls.ended - before.ended) / since)
                          .real("errors", static_cast<double>(calls.failed - before.failed) / since)
                          .end());
    if (points_.size() > kMostPoints) points_.pop_front();
    return true;
  }

  [[nodiscard]] std::string all() const {
    std::string rows = "[";
    std::size_t sent = 0;
    std::optional<controller::Place> after;
    do {
      auto page = controller_->listed(after, std::min(kRowsAtOnce, kMostRows - sent));
      for (const auto& each : page.instances) {
        if (rows.size() > kMostRowBytes) break;
        rows.append(rows.size() == 1 ? "" : ",").append(row_of(*each));
        ++sent;
      }
      after = std::move(page.last);
    } while (after && sent < kMostRows && rows.size() <= kMostRowBytes);
    rows += "]";
    const auto offers = controller_->status().offers;
    return JsonObject()
        .text("server", "controller")
        .text("run", std::to_string(controller_->run()))
        .real("at", seconds_of(std::chrono::system_clock::now()))
        .json("rows", rows)
        .number("left_out", offers > sent ? offers - sent : 0)
        .json("steps", json_array(controller_->recent(revision_, kMostSteps), step_of))
        .json("controller", facts_)
        .json("denials", denials_)
        .json("points", json_array(points_, [](const auto& each) { return each; }))
        .json("monitors", calls_ ? R"([{"name":"this controller","trouble":""}])" : "[]")
        .end();
  }

  const std::string where_;
  const std::function<DashboardOptions::Calls()> calls_;
  const std::shared_ptr<const controller::Controller> controller_;
  const std::shared_ptr<const server::Gatekeeper> gatekeeper_;
  boost::asio::steady_timer tick_{context()};
  std::map<Viewer*, std::shared_ptr<Viewer>> viewers_;
  bool ticks_ = false;
  bool followed_ = false;  // what follows is of the state at the last tick
  TimePoint ticked_at_{};
  TimePoint sent_at_{};
  TimePoint measured_at_{};
  std::uint64_t revision_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t point_ = 0;
  DashboardOptions::Calls counted_;
  std::string facts_ = "{}";
  std::string denials_ = "[]";
  std::deque<std::string> points_;
  std::atomic<std::size_t> pages_{0};
  std::atomic<std::uint64_t> events_{0};
};

Dashboard::Dashboard(const DashboardOptions& options,
                     std::shared_ptr<const controller::Controller> controller,
                     std::shared_ptr<const server::Gatekeeper> gatekeeper)
    : serving_(std::make_shared<Serving>(options, std::move(controller), std::move(gatekeeper))) {
  serving_->begin();
}

Dashboard::~Dashboard() {
  serving_->stop();
}

const std::string& Dashboard::address() const noexcept {
  return serving_->address();
}

bool Dashboard::reload() {
  return serving_->reload();
}

void Dashboard::expose(monitor::Exposition& out) const {
  serving_->expose(out);
}

}  // namespace mf::http
