// `mf-controller token key | new | show`: keys and tokens where there is no authority for certificates.
//
// No token and no key is an argument, since all users of a host see those.
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>

#include "app/program.hpp"
#include "mf/core/error.hpp"
#include "mf/core/log.hpp"
#include "mf/tokens/keys.hpp"

namespace mf::app {

class TokenCommand {
 public:
  explicit TokenCommand(CLI::App& app) : token_(add(app)) {
    add_key();
    add_new();
    add_show();
  }

  [[nodiscard]] bool asked() const { return token_->parsed(); }

  /// Returns the exit code: 1 for a token that is refused.
  int run() const {
    if (key_->parsed()) return make_key();
    return new_->parsed() ? make_token() : show_token();
  }

 private:
  using Clock = std::chrono::system_clock;

  static CLI::App* add(CLI::App& app) {
    auto* const token = app.add_subcommand("token", "Make and show tokens, and the keys that sign them");
    token->require_subcommand(1);
    return token;
  }

  void add_key() {
    key_ = token_->add_subcommand(
        "key", "Make a private key in FILE, and in FILE.pub the public one for servers that verify tokens");
    add_file_argument(*key_, "FILE", file_, "Where to write them; neither file may exist");
  }
  void add_new() {
    new_ = token_->add_subcommand("new", "Make a token, and print it unless --out is given");
    add_file(*new_, "--key", file_, "The private key that signs it")->required();
    new_->add_option("--sub", claims_.subject, "The identity of its bearer")->type_name("NAME")->required();
    new_->add_option("--aud", claims_.audience, "The service that it is for")
        ->type_name("SERVICE")
        ->required();
    new_->add_option("--for", period_, "How long it is valid, such as 90s, 30m, 1h or 7d")
        ->type_name("TIME")
        ->required();
    new_->add_option("--iss", claims_.issuer, "A name for its issuer")->type_name("NAME");
    add_file(*new_, "--out", out_, "A file that is made for it, with mode 0600");
  }
  void add_show() {
    show_ = token_->add_subcommand("show", "Show what a token says, and whether it is valid now");
    add_file_argument(*show_, "FILE", file_, "The file that holds it; unless given, standard input");
    show_->get_option("FILE")->required(false);
    add_file(*show_, "--keys", keys_, "The public keys by which its signature is verified");
  }
  static void add_file_argument(CLI::App& app, const char* name, std::string& path, const char* meaning) {
    app.add_option(name, path, meaning)->required();
  }

  [[noreturn]] static void refuse(const std::string& why) {
    throw Error(Code::invalid_argument, Execution::not_executed, why);
  }

  static std::chrono::seconds period(std::string_view text) {
    std::uint32_t count = 0;
    const char* const end = text.data() + text.size();
    const auto [unit, error] = std::from_chars(text.data(), end, count);
    constexpr std::string_view kUnits = "smhd";
    constexpr std::int64_t kSeconds[] = {1, 60, 3'600, 86'400};
    const auto at = unit + 1 == end ? kUnits.find(*unit) : std::string_view::npos;
    constexpr std::chrono::seconds kMost{std::int64_t{366} * 86'400};
    const std::chrono::seconds found{
        error == std::errc() && at != std::string_view::npos ? count * kSeconds[at] : 0};
    if (found.count() == 0 || found > kMost)
      refuse("--for is a number with s, m, h or d behind it, such as 1h, and at most 366d");
    return found;
  }

  int make_key() const {
    const auto signer = TokenSigner::generate();
    tokens::write_new(file_, signer.private_pem().reveal());
    tokens::write_new(file_ + ".pub", signer.public_pem(), true);
    std::cout << signer.id() << '\n';
    return 0;
  }

  int make_token() const {
    auto claims = claims_;
    claims.issued = std::chrono::floor<std::chrono::seconds>(Clock::now());
    claims.expires = *claims.issued + period(period_);
    const Secret token = TokenSigner::read(file_).sign(claims);
    if (out_.empty())
      std::cout << token.reveal() << '\n';
    else
      tokens::write_new(out_, std::string(token.reveal()) + "\n");
    return 0;
  }

  [[nodiscard]] Secret token() const {
    if (!file_.empty()) return tokens::read_token(file_);
    std::string line;
    std::getline(std::cin, line);
    return Secret(line);
  }

  int show_token() const {
    const Secret shown = token();
    const auto verdict = keys_.empty() ? tokens::read_unverified(shown.reveal())
                                       : TokenKeys::read(keys_).check_signature(shown.reveal());
    if (!verdict) refuse(verdict.message);
    const TokenClaims& claims = *verdict.claims;
    const auto line = [](const char* name, std::string_view value) {
      std::cout << name << ": " << log_quoted(value) << '\n';
    };
    line("sub", claims.subject);
    line("aud", claims.audience);
    if (!claims.issuer.empty()) line("iss", claims.issuer);
    if (claims.issued) line("iat", tokens::in_words(*claims.issued));
    if (claims.not_before) line("nbf", tokens::in_words(*claims.not_before));
    line("exp", tokens::in_words(claims.expires));
    line("key", claims.key_id);
    line("signature", keys_.empty() ? "not verified: give --keys" : "valid");
    const auto now = std::chrono::floor<std::chrono::seconds>(Clock::now());
    const bool early =
        claims.not_before.value_or(claims.expires) > now + kTokenSkew && claims.not_before.has_value();
    const bool late = claims.expires + kTokenSkew <= now;
    line("now", early ? "not valid yet" : late ? "expired" : "valid");
    return early || late ? 1 : 0;
  }

  CLI::App* token_;
  CLI::App* key_ = nullptr;
  CLI::App* new_ = nullptr;
  CLI::App* show_ = nullptr;
  std::string file_;
  std::string out_;
  std::string keys_;
  std::string period_;
  TokenClaims claims_;
};

}  // namespace mf::app
