// `mf-controller access check`: what an access file allows, and by which line.
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>

#include "app/program.hpp"
#include "mf/access/names.hpp"
#include "mf/access/rules.hpp"
#include "mf/core/error.hpp"
#include "mf/core/weight.hpp"

namespace mf::app {

class AccessCommand {
 public:
  explicit AccessCommand(CLI::App& app)
      : access_(app.add_subcommand("access", "Answer questions about access files")) {
    access_->require_subcommand(1);
    check_ = access_->add_subcommand(
        "check",
        "Say whether an identity may do something, and by which line: exit code 0 if it may, 3 if not");
    add_file(*check_, "--access", file_, "The access file")->required();
    check_
        ->add_option("--as", identity_,
                     "The identity that asks: uid:1000, dns:a.example, token:alice, a URI, or none")
        ->type_name("IDENTITY")
        ->required();
    check_->add_option("ACTION", action_, "What it would do, such as call or register")->required();
    check_->add_option("OBJECT", object_, "To what: a service, topic or key; for calls SERVICE.METHOD");
    check_->add_option("--per", agent_, "For which agent")->type_name("AGENT");
    check_->add_option("--at", address_, "Where it registers")->type_name("ADDRESS");
    check_->add_option("--weight", weight_, "With which weight it registers")
        ->check(CLI::Range(1U, kMostWeight))
        ->capture_default_str();
  }

  [[nodiscard]] bool asked() const { return access_->parsed(); }

  [[nodiscard]] int run() const {
    if (const auto why = objection(); !why.empty()) {
      std::cerr << "mf-controller: " << why << '\n';
      return kUsage;
    }
    const auto rules = access::Rules::load(file_).value();
    const auto decision = rules->decide(
        identity(),
        {.action = action(), .object = object_, .agent = agent_, .address = address_, .weight = weight_});
    std::cout << (decision.allowed ? "allowed" : "denied") << " by " << file_;
    if (decision.line != 0)
      std::cout << ':' << decision.line << '\n';
    else
      std::cout << ": no line fits\n";
    return decision.allowed ? 0 : kDenied;
  }

 private:
  static constexpr int kUsage = 2;
  static constexpr int kDenied = 3;

  [[noreturn]] static void refuse(const std::string& why) {
    throw Error(Code::invalid_argument, Execution::not_executed, why);
  }

  [[nodiscard]] Identity identity() const {
    using Kind = Identity::Kind;
    if (identity_ == "none") return {};
    const auto kind = identity_.starts_with("uid:")     ? Kind::uid
                      : identity_.starts_with("token:") ? Kind::token
                                                        : Kind::certificate;
    return {.kind = kind, .name = identity_, .issuer = {}};
  }

  /// Why no peer can have this identity; empty if one can.
  [[nodiscard]] std::string objection() const {
    const auto asked = identity();
    if (!asked.known()) return {};
    const auto why = access::objection_to_name(identity_);
    if (why.empty() && is_name_of(asked.kind, identity_)) return {};
    return "--as '" + identity_ + "' is no identity: " +
           (why.empty() ? "uid:1000, dns:a.example, token:alice, a URI, or none" : why);
  }

  [[nodiscard]] access::Action action() const {
    std::string known;
    for (std::size_t i = 0; i < access::kActions; ++i) {
      const auto each = static_cast<access::Action>(i);
      if (access::name_of(each) == action_) return each;
      known.append(known.empty() ? "" : ", ").append(access::name_of(each));
    }
    refuse("'" + action_ + "' is no action: " + known);
  }

  CLI::App* access_;
  CLI::App* check_ = nullptr;
  std::string file_;
  std::string identity_;
  std::string action_;
  std::string object_;
  std::string agent_;
  std::string address_;
  std::uint32_t weight_ = 1;
};

}  // namespace mf::app
