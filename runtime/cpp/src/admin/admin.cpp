// The servant of the service for operators that every server has (runtime/idl/mf/admin.mfidl). Access is
// decided when a peer binds it (server/access.hpp).
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "admin/tapping.hpp"
#include "mf/admin.server.hpp"
#include "mf/core/current_call.hpp"
#include "mf/core/error.hpp"
#include "mf/core/log.hpp"

namespace mf::admin {
namespace {

class AdminOfServer final : public AdminServant {
 public:
  explicit AdminOfServer(server::Steering steering) noexcept : steering_(std::move(steering)) {}

  void drain() override {
    note("drain");
    steering_.drain();
  }

  // The numbers of both enums are the same.
  Level log_level() override { return static_cast<Level>(steering_.log.level()); }

  void set_log_level(Level level) override {
    const auto text = name(level);
    if (text.empty())
      throw Error(Code::invalid_argument, Execution::not_executed,
                  std::to_string(static_cast<unsigned>(level)) + " is no level of a log");
    note("log level " + std::string(text));
    mf::set_log_level(static_cast<mf::Level>(level));
  }

  void tap(const Filter& what, StreamWriter<Tapped>& out) override {
    note("tap");
    const auto unwanted = current_call().stop_token();
    const Open open(*steering_.taps, what);
    for (;;) {
      const auto taken = open.tapping->take(unwanted);
      if (taken.empty()) return;
      for (const auto& each : taken)
        if (!out.write(each)) return;
      out.flush();
    }
  }

 private:
  /// A tap while it is open.
  struct Open {
    Open(server::Taps& of, const Filter& what) : tapping(std::make_shared<Tapping>(what)), taps(of) {
      taps.add(tapping);
    }
    ~Open() { taps.remove(*tapping); }
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;

    const std::shared_ptr<Tapping> tapping;
    server::Taps& taps;
  };

  /// Each request is in the log, with its peer.
  void note(std::string_view what) const {
    const auto& call = current_call();
    steering_.log.write(mf::Level::warning, "administered",
                        {{"what", what}, {"peer", call.peer}, {"identity", call.identity().str()}});
  }

  const server::Steering steering_;
};

}  // namespace
}  // namespace mf::admin

namespace mf::server {

std::shared_ptr<Servant> make_admin(Steering steering) {
  return std::make_shared<admin::AdminOfServer>(std::move(steering));
}

}  // namespace mf::server
