// The connections of the relay's door: over plain sockets and TLS, and the WebSockets that some become.
#include <boost/beast/websocket/ssl.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <deque>

#include "http/conversation.hpp"
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
    stream_.text(true);
    stream_.auto_fragment(false);  // a message is a frame
    request_ = std::move(request);
    stream_.async_accept(request_, [this, self = this->shared_from_this()](Failed failed) {
      request_ = {};
      if (failed) return end_socket(socket_of(stream_.next_layer()));
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
  void write(std::string text, Then then) override {
    out_.push_back({std::move(text), std::move(then)});
    if (out_.size() == 1) write_next();
  }
  void write_next() {
    stream_.async_write(asio::buffer(out_.front().text),
                        [this, self = this->shared_from_this()](Failed failed, std::size_t) {
                          if (failed) return on_lost();
                          auto then = std::move(out_.front().then);
                          out_.pop_front();
                          if (!out_.empty()) {
                            write_next();
                          } else if (goodbye_) {
                            close_stream();
                          }
                          if (then) then();
                        });
  }
  void say_goodbye(std::uint16_t code, std::string_view why) override {
    if (goodbye_) return;
    goodbye_.emplace(static_cast<websocket::close_code>(code), beast::string_view(why.data(), why.size()));
    if (out_.empty()) close_stream();
  }
  void close_stream() {
    stream_.async_close(*goodbye_, [this, self = this->shared_from_this()](Failed) { close(); });
  }
  void shut() override { end_socket(socket_of(stream_.next_layer())); }
  bool trusted() override { return is_trusted(core(), stream_.next_layer(), checked_); }

  struct Outgoing {
    std::string text;
    Then then;
  };

  websocket::stream<Stream> stream_;
  Session::Request request_;
  beast::flat_buffer in_;
  std::deque<Outgoing> out_;  // the first one is being written
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
