// The connections of the relay's door: over plain sockets and TLS, and the WebSockets that some become.
#include <boost/beast/websocket/stream.hpp>

#include "http/conversation.hpp"
#include "http/outlet.hpp"
#include "http/session.hpp"
#include "http/stream_of.hpp"

namespace mf::http {
namespace {

namespace websocket = boost::beast::websocket;

// A WebSocket that is silent gets a ping, and is ended when it does not answer.
constexpr auto kSilence = std::chrono::seconds(60);

template <class Stream>
class ConversationOf final : public Conversation {
 public:
  ConversationOf(Core& core, Visitor visitor, Visit visit, Stream&& stream)
      : Conversation(core, std::move(visitor), std::move(visit)), stream_(std::move(stream)) {}

  void accept(Session::Request&& request) {
    websocket::stream_base::timeout times{};
    times.handshake_timeout = core().options().header_timeout;
    times.idle_timeout = kSilence;
    times.keep_alive_pings = true;
    stream_.set_option(times);
    stream_.read_message_max(core().options().max_body);
    stream_.set_option(websocket::stream_base::decorator(
        [](websocket::response_type& answer) { answer.set(bhttp::field::server, "mf"); }));
    request_ = std::move(request);
    stream_.async_accept(request_, [this, self = this->shared_from_this()](Failed failed) {
      request_ = {};
      if (failed) return shut();
      ready();
    });
  }

 private:
  void read() override {
    stream_.async_read(in_, [this, self = this->shared_from_this()](Failed failed, std::size_t) {
      if (failed) return on_lost();
      if (!stream_.got_text()) return say_goodbye(websocket::close_code::unknown_data, "messages are text");
      std::string text(static_cast<const char*>(in_.data().data()), in_.data().size());
      in_.consume(in_.size());
      on_text(std::move(text));
    });
  }
  void write(std::string_view frames, Then then) override {
    stream_.next_layer().write(frames);
    stream_.next_layer().when_written(
        [this, self = this->shared_from_this(), then = std::move(then)](Failed failed) mutable {
          if (failed) return on_lost();
          then();
        });
  }
  [[nodiscard]] std::optional<TimePoint> writes_since() const override {
    return stream_.next_layer().writes_since();
  }
  void say_goodbye(std::uint16_t code, std::string_view why) override {
    if (goodbye_) return;
    this->core().reached(*this, Stage::closing);
    goodbye_.emplace(static_cast<websocket::close_code>(code), beast::string_view(why.data(), why.size()));
    stream_.next_layer().when_written([this, self = this->shared_from_this()](Failed) {
      stream_.async_close(*goodbye_, [this, self](Failed) { close(); });
    });
  }
  void shut() override { end_socket(socket_of(stream_.next_layer().next_layer())); }
  bool trusted() override { return is_trusted(core(), stream_.next_layer().next_layer(), checked_); }

  websocket::stream<Outlet<Stream>> stream_;
  Session::Request request_;
  beast::flat_buffer in_;
  std::uint64_t checked_ = 0;
  std::optional<websocket::close_reason> goodbye_;
};

template <class Stream>
class SessionOf final : public StreamOf<Stream, Session> {
 public:
  using StreamOf<Stream, Session>::StreamOf;

 private:
  void upgrade(Session::Request&& request, Visit visit, Visitor visitor) override {
    auto stream = this->take_stream();
    if (!stream) return;  // frames before there is a WebSocket
    std::make_shared<ConversationOf<Stream>>(this->core(), std::move(visitor), std::move(visit),
                                             *std::move(stream))
        ->accept(std::move(request));
  }
};

}  // namespace

void serve(Core& core, tcp::socket socket) {
  serve_by<SessionOf<Plain>, SessionOf<Tls>>(core, core, std::move(socket));
}

}  // namespace mf::http
