#include "mf/protocol/control.hpp"

#include <algorithm>
#include <cstring>

#include "mf/protocol/limits.hpp"

namespace mf::protocol {
namespace {

constexpr std::array<unsigned char, 8> kMagic{0x89, 'M', 'F', 'I', 'D', 'L', '\r', '\n'};

/// Takes fields from the front; each gives false if the bytes do not reach.
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

bool parse_hello(Payload payload, Hello& hello, const char*& reason) {
  Take take(payload);
  std::array<unsigned char, 8> magic{};
  std::uint16_t size = 0;
  if (!take.raw(magic.data(), magic.size()) || magic != kMagic) {
    reason = "the HELLO does not begin with MF's magic: the peer speaks something else";
    return false;
  }
  if (!take.number(hello.lowest_version) || !take.number(hello.highest_version) ||
      !take.number(hello.max_payload) || !take.number(hello.max_in_flight) || !take.number(hello.client_id) ||
      !take.raw(hello.nonce.data(), hello.nonce.size()) || !take.number(size) || take.left() != size) {
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
  if (size > kMaxAuthentication) {
    reason = "the HELLO's authentication field is longer than 16 KiB";
    return false;
  }
  const Payload authentication = payload.last(size);
  hello.authentication.assign(authentication.begin(), authentication.end());
  return true;
}

void write_hello(Buffer& out, const Hello& hello) {
  put(out, kMagic);
  put(out, hello.lowest_version);
  put(out, hello.highest_version);
  put(out, hello.max_payload);
  put(out, hello.max_in_flight);
  put(out, hello.client_id);
  put(out, hello.nonce);
  put(out, static_cast<std::uint16_t>(hello.authentication.size()));
  out.append(hello.authentication);
}

bool parse_bind(Payload payload, Bind& bind, const char*& reason) {
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
  if (take.left() != 0) {
    reason = "the BIND's payload goes on behind the last method";
    return false;
  }
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

bool parse_descriptor(Payload payload, Descriptor& descriptor, const char*& reason) {
  Take take(payload);
  std::uint32_t size = 0;
  if (!take.str16(descriptor.service) || !take.number(size) || take.left() != size ||
      !take.text(descriptor.text, size)) {
    reason = "the DESCRIPTOR's payload has not the size that it should have";
    return false;
  }
  if (!is_utf8(descriptor.service) || !is_utf8(descriptor.text)) {
    reason = "the DESCRIPTOR is not UTF-8";
    return false;
  }
  return true;
}

void write_descriptor(Buffer& out, const Descriptor& descriptor) {
  write_text(out, descriptor.service, 0xffff);
  put(out, static_cast<std::uint32_t>(descriptor.text.size()));
  put_bytes(out, descriptor.text);
}

}  // namespace mf::protocol
