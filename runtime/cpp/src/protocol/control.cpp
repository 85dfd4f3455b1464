#include "mf/protocol/control.hpp"

#include <algorithm>
#include <cstring>

#include "mf/protocol/limits.hpp"

namespace mf::protocol {
namespace {

/// Reads fields from the front; each function returns false if bytes are missing.
class Take {
 public:
  explicit Take(Payload bytes) noexcept : bytes_(bytes) {}

  template <class T>
  [[nodiscard]] bool number(T& value) noexcept {
    return raw(&value, sizeof value);
  }
  [[nodiscard]] bool raw(void* to, std::size_t n) noexcept {
    if (bytes_.size() < n) return false;
    std::memcpy(to, bytes_.data(), n);
    bytes_ = bytes_.subspan(n);
    return true;
  }
  [[nodiscard]] bool text(std::string_view& text, std::size_t n) noexcept {
    if (bytes_.size() < n) return false;
    text = {reinterpret_cast<const char*>(bytes_.data()), n};
    bytes_ = bytes_.subspan(n);
    return true;
  }
  [[nodiscard]] bool str16(std::string_view& text16) noexcept {
    std::uint16_t n = 0;
    return number(n) && text(text16, n);
  }
  [[nodiscard]] bool bytes(Payload& bytes, std::size_t n) noexcept {
    if (bytes_.size() < n) return false;
    bytes = bytes_.first(n);
    bytes_ = bytes_.subspan(n);
    return true;
  }
  [[nodiscard]] bool str32(std::string_view& text32) noexcept {
    std::uint32_t n = 0;
    return number(n) && text(text32, n);
  }
  [[nodiscard]] std::size_t left() const noexcept { return bytes_.size(); }

 private:
  Payload bytes_;
};

template <class T>
void put(Buffer& out, const T& value) {
  std::memcpy(out.append(sizeof value), &value, sizeof value);
}

void put_bytes(Buffer& out, std::string_view text) {
  out.append(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace

namespace {

enum Tag : std::uint16_t {
  kTagBindings = 1,
  kTagStreams = 2,
  kTagStreamWindow = 3,
  kTagName = 4,
  kTagLoad = 5,
  kTagFeatures = 6,
  kTagCredential = 7,
  kTagPassed = 8,
};
/// Of a BIND.
constexpr std::uint16_t kTagVia = 1;
/// Of a DESCRIBE and a DESCRIPTOR.
constexpr std::uint16_t kTagSchema = 1;
constexpr std::uint16_t kCritical = 0x8000;
constexpr std::size_t kLongestName = 255;
constexpr std::size_t kMostTags = 64;
constexpr auto kLastKind = static_cast<std::uint8_t>(Identity::Kind::token);

bool is_name_of_any_kind(std::string_view name) noexcept {
  return is_name_of(Identity::Kind::uid, name) || is_name_of(Identity::Kind::certificate, name) ||
         is_name_of(Identity::Kind::token, name);
}

template <class T>
bool whole(Payload bytes, T& value) noexcept {
  if (bytes.size() != sizeof value) return false;
  std::memcpy(&value, bytes.data(), sizeof value);
  return true;
}

/// kind, name, issuer, and the relays to the end.
bool take_passed(Payload value, Identity& client) {
  Take take(value);
  std::uint8_t kind = 0;
  std::string_view name;
  std::string_view issuer;
  if (value.size() > kMaxPassedIdentity || !take.number(kind) || kind > kLastKind || !take.str16(name) ||
      !take.str16(issuer))
    return false;
  client = {
      .kind = static_cast<Identity::Kind>(kind), .name = std::string(name), .issuer = std::string(issuer)};
  while (take.left() != 0) {
    std::string_view relay;
    if (!take.str16(relay) || !is_name_of_any_kind(relay)) return false;
    client.via.emplace_back(relay);
  }
  return client.via.size() < kMostRelays && is_name_of(client.kind, name) && is_utf8(issuer) &&
         (client.known() || issuer.empty());
}

Buffer passed_value(const Identity& client) {
  Buffer value;
  put(value, static_cast<std::uint8_t>(client.kind));
  write_text(value, client.name, 0xffff);
  write_text(value, client.issuer, 0xffff);
  for (const auto& relay : client.via) write_text(value, relay, 0xffff);
  return value;
}

/// False if the value is invalid for this tag.
bool take_value(Hello& hello, std::uint16_t tag, Payload value, bool& known) {
  switch (tag) {
    case kTagBindings:
      return whole(value, hello.max_bindings);
    case kTagStreams:
      return whole(value, hello.max_streams);
    case kTagStreamWindow:
      return whole(value, hello.stream_window) && hello.stream_window <= kMaxCredit;
    case kTagName:
      hello.name.assign(reinterpret_cast<const char*>(value.data()), value.size());
      return value.size() <= kLongestName && is_utf8(hello.name);
    case kTagLoad: {
      std::array<std::uint32_t, 2> load{};
      if (!whole(value, load)) return false;
      hello.calls_open = load[0];
      hello.calls_at_once = load[1];
      return true;
    }
    case kTagFeatures:
      return whole(value, hello.features);
    case kTagCredential: {
      const std::string_view text(reinterpret_cast<const char*>(value.data()), value.size());
      hello.credential = Secret(text);
      return text.size() <= kMaxCredential && std::ranges::all_of(text, [](char c) { return c > 0; });
    }
    case kTagPassed:
      return take_passed(value, hello.passed.emplace());
    default:
      known = false;
      return true;
  }
}

/// False if the value is invalid for this tag.
bool take_value(Bind& bind, std::uint16_t tag, Payload value, bool& known) {
  known = tag == kTagVia;
  if (!known) return true;
  bind.via = value;
  return value.size() % sizeof(Nonce) == 0;
}

/// False if the value is invalid for this tag. DESCRIBE, DESCRIPTOR.
template <class T>
bool take_value(T& into, std::uint16_t tag, Payload value, bool& known) {
  known = tag == kTagSchema;
  return !known || whole(value, into.fingerprint);
}

/// Reads tags to the end of the payload. `of`: the frame's name in messages.
template <class T>
bool parse_tags(Take& take, T& into, const std::string& of, const char*& reason, std::string& room) {
  const auto refuse = [&](std::string why) {
    reason = (room = std::move(why)).c_str();
    return false;
  };
  std::array<std::uint16_t, kMostTags> seen{};
  std::size_t count = 0;
  while (take.left() != 0) {
    std::uint16_t tag = 0;
    std::uint16_t size = 0;
    Payload value;
    if (!take.number(tag) || !take.number(size) || !take.bytes(value, size))
      return refuse("a tagged value of the " + of + " is cut short");
    const bool critical = (tag & kCritical) != 0;
    tag &= static_cast<std::uint16_t>(~kCritical);
    const auto known_tags = std::span(seen).first(count);
    if (count == seen.size() || std::ranges::find(known_tags, tag) != known_tags.end())
      return refuse("a tag of the " + of + " comes twice, or there are more than 64");
    seen[count++] = tag;
    bool known = true;
    if (!take_value(into, tag, value, known))
      return refuse("the " + of + "'s value with the tag " + std::to_string(tag) + " is not what it may be");
    if (!known && critical)
      return refuse("the " + of + " has the critical tag " + std::to_string(tag) +
                    ", which this side does not know");
  }
  return true;
}

template <class T>
void put_tag(Buffer& out, std::uint16_t tag, const T& value) {
  put(out, tag);
  put(out, static_cast<std::uint16_t>(sizeof value));
  put(out, value);
}

}  // namespace

bool parse_hello(Payload payload, Hello& hello, const char*& reason, std::string& room) {
  Take take(payload);
  std::array<unsigned char, 8> magic{};
  std::uint16_t size = 0;
  Payload authentication;
  if (!take.raw(magic.data(), magic.size()) || magic != kMagic) {
    reason = "the HELLO does not begin with MF's magic: the peer speaks something else";
    return false;
  }
  if (!take.number(hello.lowest_version) || !take.number(hello.highest_version) ||
      !take.number(hello.max_payload) || !take.number(hello.max_in_flight) || !take.number(hello.client_id) ||
      !take.raw(hello.nonce.data(), hello.nonce.size()) || !take.number(size)) {
    reason = "the HELLO's payload has not the size that it should have";
    return false;
  }
  if (hello.lowest_version > hello.highest_version) {
    reason = "the HELLO's lowest protocol version is above its highest";
    return false;
  }
  if (hello.max_payload < kLeastMaxPayload) {
    reason = "the HELLO's max_payload is below 4,096";
    return false;
  }
  if (size > kMaxAuthentication || !take.bytes(authentication, size)) {
    reason = "the HELLO's authentication field is longer than 16 KiB, or cut short";
    return false;
  }
  hello.authentication.assign(authentication.begin(), authentication.end());
  return parse_tags(take, hello, "HELLO", reason, room);
}

void write_hello(Buffer& out, const Hello& hello) {
  const Hello usual;
  put(out, kMagic);
  put(out, hello.lowest_version);
  put(out, hello.highest_version);
  put(out, hello.max_payload);
  put(out, hello.max_in_flight);
  put(out, hello.client_id);
  put(out, hello.nonce);
  put(out, static_cast<std::uint16_t>(hello.authentication.size()));
  out.append(hello.authentication);
  if (hello.max_bindings != usual.max_bindings) put_tag(out, kTagBindings, hello.max_bindings);
  if (hello.max_streams != usual.max_streams) put_tag(out, kTagStreams, hello.max_streams);
  if (hello.stream_window != usual.stream_window) put_tag(out, kTagStreamWindow, hello.stream_window);
  if (!hello.name.empty()) {
    put(out, static_cast<std::uint16_t>(kTagName));
    write_text(out, hello.name, kLongestName);
  }
  if (hello.calls_open != 0 || hello.calls_at_once != 0)
    put_tag(out, kTagLoad, std::array<std::uint32_t, 2>{hello.calls_open, hello.calls_at_once});
  if (hello.features != 0) put_tag(out, kTagFeatures, hello.features);
  if (!hello.credential.empty()) {
    put(out, static_cast<std::uint16_t>(kTagCredential));
    write_text(out, hello.credential.reveal(), kMaxCredential);
  }
  if (!hello.passed) return;
  const auto passed = passed_value(*hello.passed);
  put(out, static_cast<std::uint16_t>(kTagPassed));
  put(out, static_cast<std::uint16_t>(passed.size()));
  out.append(passed.span());
}

bool may_be_passed(const Identity& client) {
  Identity read;
  const auto value = passed_value(client);
  return take_passed(value.span(), read);
}

std::uint16_t common_version(const Hello& ours, const Hello& theirs) noexcept {
  const auto highest = std::min(ours.highest_version, theirs.highest_version);
  const auto lowest = std::max(ours.lowest_version, theirs.lowest_version);
  return highest < lowest ? std::uint16_t{0} : highest;
}

bool parse_bind(Payload payload, Bind& bind, const char*& reason, std::string& room) {
  Take take(payload);
  std::uint16_t count = 0;
  reason = "the BIND's payload is cut short";
  if (!take.raw(bind.fingerprint.data(), bind.fingerprint.size()) || !take.str16(bind.service) ||
      !take.str16(bind.agent) || !take.number(count) || take.left() < std::size_t{count} * 2)
    return false;
  bind.methods.clear();
  bind.methods.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    if (!take.str16(bind.methods.emplace_back())) return false;
  bind.via = {};
  if (!parse_tags(take, bind, "BIND", reason, room)) return false;
  const bool text = is_utf8(bind.service) && is_utf8(bind.agent) &&
                    std::all_of(bind.methods.begin(), bind.methods.end(), is_utf8);
  if (!text) reason = "a name in the BIND is not UTF-8";
  return text;
}

void write_bind(Buffer& out, const Bind& bind) {
  put(out, bind.fingerprint);
  write_text(out, bind.service, 0xffff);
  write_text(out, bind.agent, 0xffff);
  put(out, static_cast<std::uint16_t>(bind.methods.size()));
  for (const std::string_view method : bind.methods) write_text(out, method, 0xffff);
  if (bind.via.empty()) return;
  put(out, kTagVia);
  put(out, static_cast<std::uint16_t>(bind.via.size()));
  out.append(bind.via);
}

bool parse_text(Payload payload, std::string_view& text, const char*& reason) {
  Take take(payload);
  if (!take.str16(text) || take.left() != 0) {
    reason = "the payload is not one text";
    return false;
  }
  if (!is_utf8(text)) {
    reason = "the payload's text is not UTF-8";
    return false;
  }
  return true;
}

void write_text(Buffer& out, std::string_view text, std::size_t limit) {
  text = cut_at_character(text, limit);
  std::string marked;
  if (!is_utf8(text)) text = marked = with_marks(text);
  put(out, static_cast<std::uint16_t>(text.size()));
  put_bytes(out, text);
}

bool parse_describe(Payload payload, Describe& describe, const char*& reason, std::string& room) {
  Take take(payload);
  if (!take.str16(describe.service)) {
    reason = "the DESCRIBE's payload is cut short";
    return false;
  }
  if (!is_utf8(describe.service)) {
    reason = "the name in the DESCRIBE is not UTF-8";
    return false;
  }
  describe.fingerprint = {};
  return parse_tags(take, describe, "DESCRIBE", reason, room);
}

void write_describe(Buffer& out, const Describe& describe) {
  write_text(out, describe.service, kMaxControlPayload - 64);
  if (describe.fingerprint != Fingerprint()) put_tag(out, kTagSchema, describe.fingerprint);
}

bool parse_descriptor(Payload payload, Descriptor& descriptor, const char*& reason, std::string& room) {
  Take take(payload);
  if (!take.str16(descriptor.service) || !take.str32(descriptor.text) || !take.str32(descriptor.annex)) {
    reason = "the DESCRIPTOR's payload is cut short";
    return false;
  }
  descriptor.fingerprint = {};
  if (!parse_tags(take, descriptor, "DESCRIPTOR", reason, room)) return false;
  if (!is_utf8(descriptor.service) || !is_utf8(descriptor.text) || !is_utf8(descriptor.annex)) {
    reason = "the DESCRIPTOR is not UTF-8";
    return false;
  }
  return true;
}

void write_descriptor(Buffer& out, const Descriptor& descriptor) {
  write_text(out, descriptor.service, 0xffff);
  for (const std::string_view text : {descriptor.text, descriptor.annex}) {
    put(out, static_cast<std::uint32_t>(text.size()));
    put_bytes(out, text);
  }
  if (descriptor.fingerprint != Fingerprint()) put_tag(out, kTagSchema, descriptor.fingerprint);
}

}  // namespace mf::protocol
