#include "relay/call.hpp"

#include <string>

#include "mf/core/failure.hpp"
#include "mf/link/server_link.hpp"
#include "relay/connection.hpp"
#include "relay/destination.hpp"

namespace mf::relay {

Call::Call(std::shared_ptr<Connection> connection, std::shared_ptr<Destination> destination,
           const Request& request)
    : connection_(std::move(connection)),
      destination_(std::move(destination)),
      request_(request),
      to_client_(connection_->client_window()) {}

std::optional<Failure> Call::send(client::Route route, const link::Payload& payload, std::uint64_t oneways,
                                  const std::shared_ptr<protocol::Coming>& coming) {
  const auto link = route.link;
  const bool stream = request_.stream();
  const auto window = stream ? connection_->client_window() : 0;
  route_ = std::move(route);
  oneways_ = oneways;
  if (route_.chosen()) sent_at_ = mf::now();
  if (stream) to_server_ = protocol::SendWindow(link->peer_stream_window());
  link_ = link;
  link::Completion done(
      [self = shared_from_this()](link::Reply&& reply) { self->on_reply(std::move(reply)); });
  const protocol::RequestHead head{.route = route_.of(request_.method),
                                   .tier = static_cast<Tier>(request_.encoding),
                                   .flags = request_.flags,
                                   .count = request_.head.count};
  auto refused =
      link->try_forward(head, payload, request_.deadline, done, id_, stream ? this : nullptr, window);
  if (refused) {
    link_ = nullptr;
    route_ = {};
    return refused;
  }
  if (coming) {
    coming->watch([weak = std::weak_ptr(link)](protocol::Coming::State state) {
      const auto to = weak.lock();
      if (!to) return;
      if (state != protocol::Coming::State::lost) return to->write_now();
      to->close("the relay's client has gone within a request");
    });
  }
  if (ended_there_) link->send_end(id_);
  pass_credit();
  if (stream && link->peer_stream_window() != 0)
    connection_->link_do(
        [&](link::ServerLink& client) { client.send_credit(request_.head.id, link->peer_stream_window()); });
  return std::nullopt;
}

// Called by the thread that reads the server's link, which is not locked. Called once.
void Call::on_reply(link::Reply&& reply) {
  if (route_.chosen() && !request_.stream())
    destination_->learn(*route_.link, request_.method, request_.head.count, reply, sent_at_);
  if (reply.how == link::Ended::replied) destination_->settled(oneways_);
  route_ = {};
  if (answered_) return;
  if (reply.coming != nullptr && !connection_->passes_on(reply.coming->shared_from_this()))
    return await_rest(std::move(reply));
  answer(reply);
}

// Other calls wait for answers, too: a reply that is forwarded before it is complete would block them if the
// rest did not arrive.
void Call::await_rest(link::Reply&& reply) {
  const auto coming = reply.coming->shared_from_this();
  coming->watch([self = shared_from_this(),
                 kept = std::make_shared<link::Reply>(std::move(reply))](protocol::Coming::State state) {
    if (state == protocol::Coming::State::coming) return;
    if (state == protocol::Coming::State::complete) return self->answer(*kept);
    self->answer(link::Reply::failed(
        may_have_run(Code::connection_lost, "the connection has ended within the reply"), link::Ended::lost));
  });
}

void Call::answer(const link::Reply& reply) {
  if (answered_.exchange(true)) return;
  connection_->forget(request_.head.id);
  if (request_.tap) [[unlikely]]
    request_.tap->end({.reply = &reply, .server = link_ ? std::string_view(link_->peer()) : ""});
  if (reply.how != link::Ended::replied)
    return connection_->answer_untapped(
        request_,
        link_ ? connection_->shared().failure_for_clients(reply.failure, link_->peer()) : reply.failure);
  auto head = request_.head;
  head.count = reply.count;
  head.status = static_cast<std::uint16_t>(reply.status);
  head.encoding = reply.encoding;
  head.flags = reply.flags;
  connection_->answer(head, reply, request_.size);
}

void Call::fail(Failure why) {
  if (!answered_.exchange(true)) {
    connection_->forget(request_.head.id);
    connection_->answer(request_, why, link_ ? std::string_view(link_->peer()) : "");
  }
  if (link_) link_->cancel(id_);
}

void Call::cancel() {
  if (!answered_.exchange(true)) {
    connection_->forget(request_.head.id);
    if (request_.tap) [[unlikely]] {
      const auto why = may_have_run(Code::cancelled, "cancelled by the caller");
      request_.tap->end({.failure = &why, .server = link_ ? std::string_view(link_->peer()) : ""});
    }
    connection_->link_do([&](link::ServerLink& client) { client.end_request(request_.size); });
  }
  if (link_) link_->cancel(id_);
}

Failure Call::violation(std::string_view sender, std::string_view what) const {
  return may_have_run(Code::protocol_error, std::string(sender) + " sent " + std::string(what));
}

void Call::on_frame(const protocol::Event& event) {
  if (!request_.stream()) return;
  switch (event.type) {
    case protocol::EventType::data: {
      const auto body = event.body();
      {
        const std::scoped_lock lock(mutex_);
        if (to_server_.spend(protocol::data_cost(body.size()))) break;
      }
      return fail(violation("the client", "DATA without credit"));
    }
    case protocol::EventType::end:
      if (!std::exchange(ended_there_, true) && link_) link_->send_end(id_);
      return;
    default:
      return on_client_credit(event.credit);
  }
  link_->send_data({.id = id_,
                    .tier = static_cast<Tier>(event.header.encoding()),
                    .count = static_cast<std::uint16_t>(event.count),
                    .flags = static_cast<std::uint8_t>(event.header.flags & protocol::kMetadata)},
                   event.body());
  connection_->write_later(link_);
}

void Call::on_client_credit(std::uint32_t bytes) {
  {
    const std::scoped_lock lock(mutex_);
    if (!to_client_.add(bytes)) bytes = 0;
  }
  if (bytes == 0) return fail(violation("the client", "credit above 2^31 - 1"));
  owed_credit_ += bytes;
  pass_credit();
}

// Combines many small credits for a server that does not read.
void Call::pass_credit() {
  if (!link_ || owed_credit_ == 0 || credit_waits_) return;
  const auto again = [self = shared_from_this()] {
    self->credit_waits_ = false;
    self->pass_credit();
  };
  if (!link_->has_room_or(again)) {
    credit_waits_ = true;
    return;
  }
  link_->send_credit(id_, std::exchange(owed_credit_, 0));
}

link::StreamEvent Call::on_data(const protocol::Event& event) {
  link::StreamEvent after;
  const auto body = event.body();
  {
    const std::scoped_lock lock(mutex_);
    if (!to_client_.spend(protocol::data_cost(body.size()))) {
      after.failure = violation("it", "DATA without credit");
      return after;
    }
  }
  connection_->link_do([&](link::ServerLink& client) {
    client.send_data({.id = request_.head.id,
                      .tier = static_cast<Tier>(event.header.encoding()),
                      .count = static_cast<std::uint16_t>(event.count),
                      .flags = static_cast<std::uint8_t>(event.header.flags & protocol::kMetadata)},
                     body);
  });
  connection_->flush_soon();
  return after;
}

link::StreamEvent Call::on_credit(std::uint32_t bytes) {
  link::StreamEvent after;
  {
    const std::scoped_lock lock(mutex_);
    if (!to_server_.add(bytes)) {
      after.failure = violation("it", "credit above 2^31 - 1");
      return after;
    }
  }
  connection_->link_do([&](link::ServerLink& client) { client.send_credit(request_.head.id, bytes); });
  return after;
}

link::StreamEvent Call::on_stopped() {
  connection_->link_do([&](link::ServerLink& client) { client.send_cancel(request_.head.id); });
  return {};
}

}  // namespace mf::relay
