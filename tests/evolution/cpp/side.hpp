// One schema of a pair in tests/vectors/evolution as a table of its methods, without their types: so the
// program (peer.cpp) that calls and serves all of the schemas is compiled once. side.cpp makes a table of a
// schema's generated code.
//
// Values are bytes as protocol.md has them: a request, a result, a value of a stream or an error, each alone.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mf/client/target.hpp"
#include "mf/core/outcome.hpp"
#include "mf/core/servant.hpp"
#include "mf/server/incoming.hpp"

namespace evolution_test {

using Value = std::vector<std::byte>;

/// What the servant answers with, and what has come; any thread.
class Answers {
 public:
  struct Error {
    std::size_t index;  // among the errors that the method declares
    Value value;
  };
  struct Planned {
    std::vector<Value> results{};   // for one request after the other, and then from the first one on
    std::vector<Value> elements{};  // the values of a stream
    std::vector<Error> errors{};    // not empty: the first one is thrown, once
  };

  void plan(std::string_view method, Planned planned);
  /// The requests and values of streams since this was asked last.
  [[nodiscard]] std::vector<Value> take();

  void came(Value value);
  [[nodiscard]] Value result(std::string_view method);
  [[nodiscard]] std::vector<Value> elements(std::string_view method);
  [[nodiscard]] std::unique_ptr<Error> error(std::string_view method);

 private:
  std::mutex mutex_;
  std::map<std::string, Planned, std::less<>> planned_;
  std::map<std::string, std::size_t, std::less<>> answered_;
  std::vector<Value> came_;
};

/// How one item of a call ended: a failure, or bytes of the client's schema.
struct Ended {
  mf::Failure failure{};  // of code OK, or of a declared error, whose bytes are the value
  std::size_t error = 0;  // which one
  Value value{};
  std::vector<Value> elements{};
};

class Echo;

struct Method {
  std::string_view name;
  /// Calls with as many requests in one message, or with one and the values of a stream.
  std::vector<Ended> (*call)(const mf::client::Target& target, std::span<const Value> requests,
                             std::span<const Value> elements);
  void (*serve)(mf::server::Incoming& incoming, Echo& servant);
};

struct Side {
  const mf::ServiceInfo* service;
  std::span<const Method> methods;

  /// Null: there is none.
  [[nodiscard]] const Method* method(std::string_view name) const;
};

/// Serves any of the schemas.
class Echo final : public mf::Servant {
 public:
  Echo(const Side& side, std::shared_ptr<Answers> answers) : side_(side), answers_(std::move(answers)) {}

  [[nodiscard]] const mf::ServiceInfo& service() const noexcept override { return *side_.service; }
  void dispatch(mf::server::Incoming& incoming) override {
    side_.methods[incoming.method()].serve(incoming, *this);
  }
  [[nodiscard]] Answers& answers() noexcept { return *answers_; }

 private:
  const Side side_;
  const std::shared_ptr<Answers> answers_;
};

}  // namespace evolution_test
