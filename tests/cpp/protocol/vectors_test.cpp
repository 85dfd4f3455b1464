// tests/vectors/frames.json: bytes and events on which all runtimes agree. Reads them whole, byte by byte and
// cut in two at every position, and writes them again from their events.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <fstream>
#include <sstream>

#include "protocol/drive.hpp"

namespace mf::protocol {
namespace {

namespace json = boost::json;
using drive::Octets;

constexpr std::array<std::string_view, 4> kKinds{"none", "uid", "certificate", "token"};

const json::array& all_vectors() {
  static const json::value kVectors = [] {
    std::ifstream file(MF_SOURCE_DIR "/tests/vectors/frames.json");
    std::stringstream text;
    text << file.rdbuf();
    return json::parse(text.str());
  }();
  return kVectors.as_array();
}

std::string text(const json::object& object, std::string_view key) {
  return std::string(object.at(key).as_string());
}

template <class T>
T number(const json::object& object, std::string_view key) {
  return object.at(key).to_number<T>();
}

const json::object& named(std::string_view name) {
  for (const json::value& vector : all_vectors())
    if (vector.at("name").as_string() == name) return vector.as_object();
  throw std::runtime_error("no vector of that name");
}

Code code_named(std::string_view text) {
  for (unsigned i = 0; i <= kLastCode; ++i)
    if (text == mf::name(static_cast<Code>(i))) return static_cast<Code>(i);
  throw std::runtime_error("no code of that name");
}

Session receiver_of(const json::object& vector) {
  Session session(text(vector, "role") == "client" ? Role::client : Role::server, drive::options());
  session.send_hello();
  if (const json::value* after = vector.if_contains("after"))
    for (const json::value& name : after->as_array()) {
      const Octets before = drive::octets(text(named(name.as_string()), "hex"));
      drive::feed(session, before);
    }
  drive::take_output(session);
  return session;
}

/// An event in the form of the vectors.
json::object described(const Session& session, const drive::Seen& event) {
  json::object out{{"type", name(event.type)}};
  const Header& header = event.header;
  const Octets payload = drive::octets(event.payload);
  const char* reason = nullptr;
  std::string room;
  const auto fingerprint_hex = [](const auto& bytes) { return drive::hex(std::as_bytes(std::span(bytes))); };
  switch (event.type) {
    case EventType::hello: {
      const Hello& hello = session.peer();
      out["lowest_version"] = hello.lowest_version;
      out["highest_version"] = hello.highest_version;
      out["max_payload"] = hello.max_payload;
      out["max_in_flight"] = hello.max_in_flight;
      out["client_id"] = hello.client_id;
      out["nonce"] = drive::hex(hello.nonce);
      out["authentication"] = drive::hex(hello.authentication);
      const Hello usual;
      if (hello.max_bindings != usual.max_bindings) out["max_bindings"] = hello.max_bindings;
      if (hello.max_streams != usual.max_streams) out["max_streams"] = hello.max_streams;
      if (hello.stream_window != usual.stream_window) out["stream_window"] = hello.stream_window;
      if (!hello.name.empty()) out["name"] = hello.name;
      if (hello.calls_open != 0) out["calls_open"] = hello.calls_open;
      if (hello.calls_at_once != 0) out["calls_at_once"] = hello.calls_at_once;
      if (hello.features != 0) out["features"] = hello.features;
      if (hello.passed) {
        json::array via;
        for (const auto& relay : hello.passed->via) via.emplace_back(relay);
        out["passed"] = {{"kind", kKinds.at(static_cast<std::size_t>(hello.passed->kind))},
                         {"name", hello.passed->name},
                         {"issuer", hello.passed->issuer},
                         {"via", std::move(via)}};
      }
      EXPECT_EQ(session.version(), 1);
      break;
    }
    case EventType::bind: {
      Bind bind;
      EXPECT_TRUE(parse_bind(payload, bind, reason, room));
      out["route"] = header.route;
      out["fingerprint"] = fingerprint_hex(bind.fingerprint);
      out["service"] = bind.service;
      out["agent"] = bind.agent;
      json::array methods;
      for (const std::string_view method : bind.methods) methods.emplace_back(method);
      out["methods"] = methods;
      break;
    }
    case EventType::bound:
      out["route"] = header.route;
      [[fallthrough]];
    case EventType::goaway:
      if (header.id != 0) out["id"] = header.id;
      [[fallthrough]];
    case EventType::refused:
      out["code"] = mf::name(event.code);
      out["text"] = event.text;
      break;
    case EventType::broken:
      out["code"] = mf::name(event.code);
      break;
    case EventType::request:
      out["deadline_us"] = decode_deadline_us(header.deadline());
      out["bulk"] = header.bulk();
      out["oneway"] = header.oneway();
      if (header.stream()) out["stream"] = true;
      [[fallthrough]];
    case EventType::reply:
      if (event.type == EventType::reply) out["status"] = header.status();
      out["route"] = header.route;
      out["id"] = header.id;
      out["encoding"] = header.encoding();
      out["count"] = event.count;
      out["payload"] = event.payload;
      break;
    case EventType::data:
      out["id"] = header.id;
      out["encoding"] = header.encoding();
      out["count"] = event.count;
      out["payload"] = event.payload;
      break;
    case EventType::credit:
      out["id"] = header.id;
      out["bytes"] = event.credit;
      break;
    case EventType::cancel:
    case EventType::end:
      out["id"] = header.id;
      break;
    case EventType::unbind:
      out["route"] = header.route;
      break;
    case EventType::begun:  // not requested
    case EventType::pong:
      out["payload"] = event.payload;
      break;
    case EventType::describe: {
      Describe describe;
      EXPECT_TRUE(parse_describe(payload, describe, reason, room));
      out["text"] = describe.service;
      if (describe.fingerprint != Fingerprint()) out["fingerprint"] = fingerprint_hex(describe.fingerprint);
      break;
    }
    case EventType::descriptor: {
      Descriptor descriptor;
      EXPECT_TRUE(parse_descriptor(payload, descriptor, reason, room));
      if (descriptor.fingerprint != Fingerprint())
        out["fingerprint"] = fingerprint_hex(descriptor.fingerprint);
      out["service"] = descriptor.service;
      out["text"] = descriptor.text;
      out["annex"] = descriptor.annex;
      break;
    }
  }
  if (event.metadata_fault) {
    out["metadata_fault"] = true;
  } else if (header.metadata() && event.type != EventType::broken) {
    json::array entries;
    for (const auto& [key, value] : event.metadata) entries.push_back(json::array{key, value});
    out["metadata"] = entries;
  }
  return out;
}

json::array events_of(Session& session, std::span<const std::byte> first, std::span<const std::byte> second,
                      std::size_t step) {
  json::array out;
  for (const auto part : {first, second})
    for (const drive::Seen& event : drive::feed(session, part, step))
      out.push_back(described(session, event));
  return out;
}

/// The payload as it is sent: after its metadata block, if there is one.
Buffer payload_of(const json::object& event) {
  Buffer payload;
  if (const json::value* entries = event.if_contains("metadata")) {
    Metadata metadata;
    for (const json::value& entry : entries->as_array())
      metadata.set(entry.at(0).as_string(), entry.at(1).as_string());
    payload.resize(metadata_size(metadata));
    write_metadata(payload.data(), metadata);
  }
  payload.append(drive::octets(text(event, "payload")));
  return payload;
}

void send(Session& session, const json::object& event) {
  const std::string type = text(event, "type");
  const auto code = [&] { return code_named(text(event, "code")); };
  const std::uint8_t metadata_flag = event.contains("metadata") ? kMetadata : std::uint8_t{0};
  const auto fingerprint = [&] {
    Fingerprint found{};
    if (!event.contains("fingerprint")) return found;
    const Octets bytes = drive::octets(text(event, "fingerprint"));
    std::memcpy(found.data(), bytes.data(), found.size());
    return found;
  };
  if (type == "bind") {
    const std::string service = text(event, "service");
    const std::string agent = text(event, "agent");
    Bind bind{.fingerprint = fingerprint(), .service = service, .agent = agent};
    for (const json::value& method : event.at("methods").as_array())
      bind.methods.emplace_back(method.as_string());
    session.send_bind(number<std::uint16_t>(event, "route"), bind);
  } else if (type == "bound") {
    session.send_bound(number<std::uint16_t>(event, "route"), code(), text(event, "text"));
  } else if (type == "request") {
    const unsigned flags = (event.at("bulk").as_bool() ? kBulk : 0U) |
                           (event.at("oneway").as_bool() ? kOneway : 0U) |
                           (event.contains("stream") ? kStream : 0U) | metadata_flag;
    const auto deadline = number<std::uint64_t>(event, "deadline_us");
    const RequestHead head{.route = number<std::uint16_t>(event, "route"),
                           .tier = static_cast<Tier>(number<int>(event, "encoding")),
                           .flags = static_cast<std::uint8_t>(flags),
                           .count = number<std::uint32_t>(event, "count"),
                           .deadline = deadline == 0 ? kNoDeadline : encode_deadline_us(deadline),
                           .id = number<std::uint32_t>(event, "id")};
    session.send_request(head, payload_of(event));
  } else if (type == "reply") {
    session.send_reply({.route = number<std::uint16_t>(event, "route"),
                        .id = number<std::uint32_t>(event, "id"),
                        .count = number<std::uint32_t>(event, "count"),
                        .status = number<std::uint16_t>(event, "status"),
                        .encoding = number<std::uint8_t>(event, "encoding"),
                        .flags = metadata_flag},
                       payload_of(event));
  } else if (type == "data") {
    session.send_data({.id = number<std::uint32_t>(event, "id"),
                       .tier = static_cast<Tier>(number<int>(event, "encoding")),
                       .count = number<std::uint16_t>(event, "count"),
                       .flags = metadata_flag},
                      payload_of(event));
  } else if (type == "credit") {
    session.send_credit(number<std::uint32_t>(event, "id"), number<std::uint32_t>(event, "bytes"));
  } else if (type == "end") {
    session.send_end(number<std::uint32_t>(event, "id"));
  } else if (type == "unbind") {
    session.send_unbind(number<std::uint16_t>(event, "route"));
  } else if (type == "cancel") {
    session.send_cancel(number<std::uint32_t>(event, "id"));
  } else if (type == "goaway") {
    session.send_goaway(code(), text(event, "text"));
  } else if (type == "describe") {
    const std::string service = text(event, "text");
    session.send_describe({.service = service, .fingerprint = fingerprint()});
  } else if (type == "descriptor") {
    const std::string service = text(event, "service");
    const std::string descriptor = text(event, "text");
    const std::string annex = text(event, "annex");
    session.send_descriptor(
        {.service = service, .text = descriptor, .annex = annex, .fingerprint = fingerprint()});
  } else if (type == "refused") {
    session.fail(code(), text(event, "text"));
  } else {
    FAIL() << "no way to send " << type;
  }
}

Octets written(const json::object& vector) {
  const Role sender = text(vector, "role") == "client" ? Role::server : Role::client;
  const json::array& events = vector.at("events").as_array();
  if (text(events.at(0).as_object(), "type") == "hello") {
    const json::object& hello = events.at(0).as_object();
    SessionOptions options;
    options.limits.max_payload = number<std::uint32_t>(hello, "max_payload");
    options.limits.max_in_flight = number<std::uint32_t>(hello, "max_in_flight");
    const auto limit = [&](const char* key, std::uint32_t& value) {
      if (hello.contains(key)) value = number<std::uint32_t>(hello, key);
    };
    limit("max_bindings", options.limits.max_bindings);
    limit("max_streams", options.limits.max_streams);
    limit("stream_window", options.limits.stream_window);
    limit("calls_open", options.calls_open);
    limit("calls_at_once", options.calls_at_once);
    if (hello.contains("name")) options.name = text(hello, "name");
    if (const auto* const passed = hello.if_contains("passed")) {
      const auto& of = passed->as_object();
      const auto kind = std::ranges::find(kKinds, text(of, "kind")) - kKinds.begin();
      auto& client = options.passed.emplace();
      client = {
          .kind = static_cast<Identity::Kind>(kind), .name = text(of, "name"), .issuer = text(of, "issuer")};
      for (const auto& relay : of.at("via").as_array()) client.via.emplace_back(relay.as_string());
      EXPECT_TRUE(may_be_passed(client));
    }
    options.client_id = number<std::uint32_t>(hello, "client_id");
    options.authentication = drive::octets(text(hello, "authentication"));
    const Octets nonce = drive::octets(text(hello, "nonce"));
    std::copy(nonce.begin(), nonce.end(), options.nonce.begin());
    Session session(sender, options);
    session.send_hello();
    return drive::take_output(session);
  }
  auto options = drive::options();
  // A server names the latest received request; there is none here.
  if (const auto* id = events.at(0).as_object().if_contains("id"); id != nullptr && sender == Role::server)
    options.first_id = id->to_number<std::uint32_t>() + 1;
  Session session(sender, options);
  if (vector.contains("after")) session.send_hello();
  drive::take_output(session);
  for (const json::value& event : events) send(session, event.as_object());
  return drive::take_output(session);
}

/// Calls test(vector, its bytes, its events) for each, with its name in every failure.
template <class Test>
void for_each_vector(Test&& test) {
  for (const json::value& value : all_vectors()) {
    const json::object& vector = value.as_object();
    SCOPED_TRACE(text(vector, "name"));
    test(vector, drive::octets(text(vector, "hex")), vector.at("events"));
  }
}

bool ends_broken(const json::value& events) {
  const json::array& list = events.as_array();
  return !list.empty() && list.back().at("type").as_string() == "broken";
}

TEST(Vectors, AreManyAndFifteenByHandAtLeast) {
  const auto by_hand = [](const json::value& vector) { return vector.at("by").as_string() == "hand"; };
  EXPECT_GE(std::count_if(all_vectors().begin(), all_vectors().end(), by_hand), 15);
}

TEST(Vectors, AreReadAtOnce) {
  for_each_vector([](const json::object& vector, const Octets& bytes, const json::value& events) {
    Session session = receiver_of(vector);
    EXPECT_EQ(json::value(events_of(session, bytes, {}, SIZE_MAX)), events);
  });
}

TEST(Vectors, AreReadByteByByte) {
  for_each_vector([](const json::object& vector, const Octets& bytes, const json::value& events) {
    Session session = receiver_of(vector);
    EXPECT_EQ(json::value(events_of(session, bytes, {}, 1)), events);
  });
}

TEST(Vectors, AreReadCutAnywhere) {
  for_each_vector([](const json::object& vector, const Octets& bytes, const json::value& events) {
    const std::span<const std::byte> all = bytes;
    for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
      Session session = receiver_of(vector);
      EXPECT_EQ(json::value(events_of(session, all.first(cut), all.subspan(cut), SIZE_MAX)), events)
          << "cut at " << cut;
    }
  });
}

TEST(Vectors, AreAnsweredAsTheySay) {
  for_each_vector([](const json::object& vector, const Octets& bytes, const json::value& events) {
    Session session = receiver_of(vector);
    drive::feed(session, bytes);
    const Octets answers = drive::take_output(session);
    if (ends_broken(events)) {
      ASSERT_GE(answers.size(), kHeaderSize);
      EXPECT_EQ(decode_header(answers.data()).type, FrameType::refuse);
      EXPECT_TRUE(session.closed());
    } else {
      const std::string wanted = vector.contains("answers") ? text(vector, "answers") : "";
      EXPECT_EQ(drive::hex(answers), drive::hex(drive::octets(wanted)));
    }
  });
}

TEST(Vectors, AreWrittenFromTheirEvents) {
  for_each_vector([](const json::object& vector, const Octets& bytes, const json::value&) {
    const json::value* write = vector.if_contains("write");
    if (write != nullptr && !write->as_bool()) return;
    EXPECT_EQ(drive::hex(written(vector)), drive::hex(bytes));
  });
}

}  // namespace
}  // namespace mf::protocol
