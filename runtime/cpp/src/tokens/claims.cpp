// The claims of a token: a JSON object whose members are texts. Other members are refused, since a claim that
// is not understood could be a restriction.
//
//     object = ws "{" ws member *(ws "," ws member) ws "}" ws
//     member = text ws ":" ws text                         (texts, ws and escapes are those of RFC 8259)

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "mf/core/error.hpp"
#include "mf/core/text.hpp"
#include "mf/tokens/token.hpp"
#include "tokens/time.hpp"
#include "tokens/verdict.hpp"

namespace mf::tokens {
namespace {

constexpr std::array<std::string_view, 7> kNames{"sub", "aud", "exp", "nbf", "iat", "iss", "jti"};
enum Claim : std::size_t { sub, aud, exp, nbf, iat, iss, jti };

class Parser {
 public:
  explicit Parser(std::string_view json) noexcept : rest_(json) {}

  /// Reads all members; the fault of the first one that has one.
  std::optional<TokenVerdict> read() {
    skip_blanks();
    if (!skip('{')) return malformed();
    do {
      if (auto fault = member()) return fault;
      skip_blanks();
    } while (skip(','));
    if (!skip('}')) return malformed();
    skip_blanks();
    if (!rest_.empty()) return malformed();
    return std::nullopt;
  }
  [[nodiscard]] std::optional<std::string>& operator[](Claim claim) { return values_[claim]; }

 private:
  static TokenVerdict malformed() {
    return refused(TokenFault::claims, "the claims of the token are no JSON object of texts");
  }

  void skip_blanks() noexcept {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n\r"), rest_.size()));
  }
  bool skip(char wanted) noexcept {
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::optional<TokenVerdict> member() {
    skip_blanks();
    std::string name;
    if (auto fault = text(name)) return fault;
    const auto known = std::ranges::find(kNames, name);
    if (known == kNames.end())
      return refused(TokenFault::claims,
                     "the token has a claim other than sub, aud, exp, nbf, iat, iss, jti");
    auto& value = values_[static_cast<std::size_t>(known - kNames.begin())];
    if (value) return refused(TokenFault::duplicate, "the token gives its " + name + " twice");
    skip_blanks();
    if (!skip(':')) return malformed();
    skip_blanks();
    return text(value.emplace());
  }

  std::optional<TokenVerdict> text(std::string& out) {
    if (!skip('"')) return malformed();
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') {
        if (is_utf8(out)) return std::nullopt;
        return refused(TokenFault::text, "the claims of the token are not UTF-8");
      }
      if (static_cast<unsigned char>(c) < 0x20) return malformed();
      if (c != '\\')
        out += c;
      else if (!escape(out))
        return malformed();
    }
    return malformed();
  }

  bool escape(std::string& out) {
    if (rest_.empty()) return false;
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c == 'u') return escaped_unit(out);
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
    const auto at = kLetters.find(c);
    if (at == std::string_view::npos) return false;
    out += kMeant[at];
    return true;
  }

  /// A surrogate without its other half is written as the bytes that it has, which are not UTF-8.
  bool escaped_unit(std::string& out) {
    auto unit = hex();
    if (!unit) return false;
    if (*unit >= 0xd800 && *unit < 0xdc00 && rest_.starts_with("\\u")) {
      const auto before = rest_;
      rest_.remove_prefix(2);
      const auto low = hex();
      if (!low) return false;
      if (*low >= 0xdc00 && *low < 0xe000)
        unit = 0x10000 + ((*unit - 0xd800) << 10U) + (*low - 0xdc00);
      else
        rest_ = before;
    }
    put(out, *unit);
    return true;
  }

  std::optional<std::uint32_t> hex() {
    if (rest_.size() < 4) return std::nullopt;
    std::uint32_t value = 0;
    for (const char c : rest_.substr(0, 4)) {
      const auto digit =
          std::string_view("0123456789abcdef").find(c >= 'A' && c <= 'F' ? static_cast<char>(c | 0x20) : c);
      if (digit == std::string_view::npos) return std::nullopt;
      value = value * 16 + static_cast<std::uint32_t>(digit);
    }
    rest_.remove_prefix(4);
    return value;
  }

  static void put(std::string& out, std::uint32_t point) {
    const auto byte = [&out](std::uint32_t value) { out += static_cast<char>(value); };
    if (point < 0x80) return byte(point);
    if (point < 0x800) {
      byte(0xc0U | (point >> 6U));
    } else if (point < 0x10000) {
      byte(0xe0U | (point >> 12U));
      byte(0x80U | ((point >> 6U) & 0x3fU));
    } else {
      byte(0xf0U | (point >> 18U));
      byte(0x80U | ((point >> 12U) & 0x3fU));
      byte(0x80U | ((point >> 6U) & 0x3fU));
    }
    byte(0x80U | (point & 0x3fU));
  }

  std::string_view rest_;
  std::array<std::optional<std::string>, kNames.size()> values_;
};

bool is_name(std::string_view text) noexcept {
  return !text.empty() && text.size() <= kMaxTokenClaim && is_utf8(text) &&
         std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

/// Sets `time` if the claim is given; false if it is no time.
bool take_time(const std::optional<std::string>& claim, std::optional<std::chrono::sys_seconds>& time) {
  if (!claim) return true;
  time = parse_time(*claim);
  return time.has_value();
}

void append(std::string& json, std::string_view name, std::string_view value) {
  json += json.empty() ? "{\"" : ",\"";
  json.append(name).append("\":\"");
  for (const char c : value) {
    if (c == '"' || c == '\\') json += '\\';
    json += c;
  }
  json += '"';
}

}  // namespace

TokenVerdict read_claims(std::string_view json) {
  if (!is_utf8(json)) return refused(TokenFault::text, "the claims of the token are not UTF-8");
  Parser parser(json);
  if (auto fault = parser.read()) return *fault;
  for (const Claim claim : {sub, aud, iss}) {
    const auto& value = parser[claim];
    if (claim == iss && !value) continue;
    if (!value || !is_name(*value))
      return refused(TokenFault::claims,
                     "the token's " + std::string(kNames[claim]) + " is missing, empty, longer than " +
                         std::to_string(kMaxTokenClaim) + " bytes, or has control characters");
  }
  TokenClaims claims{.subject = *parser[sub], .audience = *parser[aud], .issuer = parser[iss].value_or("")};
  std::optional<std::chrono::sys_seconds> expires;
  if (!take_time(parser[exp], expires) || !expires || !take_time(parser[nbf], claims.not_before) ||
      !take_time(parser[iat], claims.issued))
    return refused(TokenFault::claims, "the token's exp is missing, or its exp, nbf or iat is no time");
  claims.expires = *expires;
  return {.claims = std::move(claims)};
}

std::string write_claims(const TokenClaims& claims) {
  if (!is_name(claims.subject) || !is_name(claims.audience) ||
      (!claims.issuer.empty() && !is_name(claims.issuer)))
    throw Error(Code::invalid_argument, Execution::not_executed,
                "sub, aud and iss of a token have 1 to " + std::to_string(kMaxTokenClaim) +
                    " bytes of UTF-8 without control characters");
  constexpr std::chrono::sys_seconds kFrom{};
  const std::chrono::sys_seconds until = std::chrono::sys_days(std::chrono::year(9999) / 12 / 31);
  const auto is_time = [&](std::chrono::sys_seconds time) { return time >= kFrom && time < until; };
  if (!is_time(claims.expires) || !is_time(claims.not_before.value_or(kFrom)) ||
      !is_time(claims.issued.value_or(kFrom)))
    throw Error(Code::invalid_argument, Execution::not_executed, "times of a token are from 1970 until 9999");
  std::string json;
  append(json, "sub", claims.subject);
  append(json, "aud", claims.audience);
  append(json, "exp", in_words(claims.expires));
  if (claims.not_before) append(json, "nbf", in_words(*claims.not_before));
  if (claims.issued) append(json, "iat", in_words(*claims.issued));
  if (!claims.issuer.empty()) append(json, "iss", claims.issuer);
  return json + "}";
}

}  // namespace mf::tokens
