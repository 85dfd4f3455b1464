// The streams of a controller: what each represents, and its next value. All functions require the
// controller's lock, except for writing.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "mf/controller/controller.hpp"
#include "mf/controller/cursor.hpp"
#include "mf/core/current_call.hpp"
#include "mf/core/peer.hpp"

namespace mf::controller {

struct Controller::Feed : std::enable_shared_from_this<Feed> {
  /// For the call that this thread runs.
  explicit Feed(Responder<void> to)
      : connection(current_call().connection),
        peer(current_call().peer),
        identity(current_call().identity()),
        host(host_of(peer)),
        responder(std::move(to)) {}
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;
  virtual ~Feed() = default;

  /// Takes the next value and returns the function that writes it; null: there is none now.
  using Written = UniqueFunction<void(Outcome<bool>&&)>;
  virtual UniqueFunction<void(Written)> next(Controller& controller) = 0;
  /// The stream has ended, and so does what it represents.
  virtual void on_end(Controller& controller, Work& work) = 0;
  /// The registration that the stream represents; null if it represents something else.
  [[nodiscard]] virtual Registration* registration() noexcept { return nullptr; }

  struct Left {
    Controller* controller;
    Id id;
    void operator()() const noexcept { controller->left(id); }
  };

  const Owner connection;
  const std::string peer;
  const Identity identity;
  const std::string host;
  Responder<void> responder;
  Id id = 0;
  bool writing = false;
  bool ended = false;
  bool ends_when_written = false;  // no values follow, and the stream should end
  std::unique_ptr<std::stop_callback<Left>> on_left;

 protected:
  /// Writes the value.
  template <class T>
  UniqueFunction<void(Written)> writes(StreamWriter<T>& writer, T value) {
    return [self = shared_from_this(), &writer, value = std::move(value)](Written written) mutable {
      writer.async_write(
          value, [written = std::move(written)](Outcome<bool>&& how) mutable { written(std::move(how)); });
    };
  }
};

struct Controller::Registration final : Feed {
  Registration(StreamWriter<Standing> out, Responder<void> to, const Uuid& of)
      : Feed(std::move(to)), writer(std::move(out)), nonce(of) {}

  UniqueFunction<void(Written)> next(Controller& controller) override;
  void on_end(Controller& controller, Work& work) override;
  [[nodiscard]] Registration* registration() noexcept override { return this; }

  StreamWriter<Standing> writer;
  const Uuid nonce;
  bool told = false;     // that it is registered
  bool doubted = false;  // its process may still be there although its connection has ended
  std::vector<Warning> warnings;
};

struct Controller::Watch final : Feed {
  Watch(StreamWriter<Change> out, Responder<void> to, Cursor from)
      : Feed(std::move(to)), writer(std::move(out)), cursor(std::move(from)) {}

  UniqueFunction<void(Written)> next(Controller& controller) override;
  void on_end(Controller& controller, Work& work) override;

  StreamWriter<Change> writer;
  Cursor cursor;
};

struct Controller::Candidate final : Feed {
  Candidate(StreamWriter<Lead> out, Responder<void> to, const Uuid& of, Key what)
      : Feed(std::move(to)), writer(std::move(out)), nonce(of), key(std::move(what)) {}

  UniqueFunction<void(Written)> next(Controller& controller) override;
  void on_end(Controller& controller, Work& work) override;

  StreamWriter<Lead> writer;
  const Uuid nonce;
  const Key key;
  std::optional<Lead> given;
  std::uint64_t epoch = 0;  // 0: it does not lead
};

struct Controller::Listing final : Feed {
  Listing(StreamWriter<Entry> out, Responder<void> to) : Feed(std::move(to)), writer(std::move(out)) {}

  UniqueFunction<void(Written)> next(Controller& controller) override;
  void on_end(Controller& /*controller*/, Work& /*work*/) override {}

  StreamWriter<Entry> writer;
  std::deque<std::shared_ptr<const Instance>> page;
  std::optional<Place> after;
  bool last_page = false;
};

}  // namespace mf::controller
