#include "mf/link/adaptation.hpp"

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <utility>

#include "mf/core/failure.hpp"
#include "mf/core/service_texts.hpp"

namespace mf::link {
namespace {

// The number of remembered pairs of schemas. Above it, unused ones are dropped.
constexpr std::size_t kMostKept = 1'024;

struct Key {
  std::string service;
  Fingerprint own;
  Fingerprint own_annex;  // which fingerprints do not cover
  Fingerprint theirs;
  Fingerprint annex;  // of their schema
  std::string peer;
  auto operator<=>(const Key&) const = default;
};

class Kept {
 public:
  std::shared_ptr<const Adaptation> find(const Key& key) {
    const std::scoped_lock lock(mutex_);
    const auto found = kept_.find(key);
    return found == kept_.end() ? nullptr : found->second;
  }
  /// The first one from `key` on for the same service and fingerprints, and any peer. `any_annex`: and for
  /// any annex of theirs.
  std::shared_ptr<const Adaptation> find_any(const Key& key, bool any_annex) {
    const std::scoped_lock lock(mutex_);
    const auto found = kept_.lower_bound(key);
    if (found == kept_.end()) return nullptr;
    auto same = found->first;
    same.peer = key.peer;
    if (any_annex) same.annex = key.annex;
    return same == key ? found->second : nullptr;
  }
  /// Returns the first one if two were made at the same time.
  std::shared_ptr<const Adaptation> add(Key&& key, std::shared_ptr<const Adaptation> made) {
    const std::scoped_lock lock(mutex_);
    if (kept_.size() >= kMostKept) {
      std::erase_if(kept_, [](const auto& entry) { return entry.second.use_count() == 1; });
      if (kept_.size() >= kMostKept) return made;
    }
    return kept_.try_emplace(std::move(key), std::move(made)).first->second;
  }

  static Kept& of_process() {
    static Kept& kept = *new Kept;  // never destroyed, since clients may outlive static objects
    return kept;
  }

 private:
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<const Adaptation>> kept_;
};

Key key_of(const ServiceInfo& own, const Fingerprint& theirs, const Fingerprint& annex = {}) {
  return {.service = std::string(own.name),
          .own = own.fingerprint,
          .own_annex = fingerprint_of(annex_of(own)),
          .theirs = theirs,
          .annex = annex,
          .peer = {}};
}

std::string said_of(std::string_view peer, std::string_view words) {
  auto said = std::string(peer);
  if (!said.empty()) said += ": ";
  return said.append(words);
}

Failure differs(const std::string& peer, const std::string& how) {
  return not_executed(Code::schema_mismatch, "schemas differ from " + peer + ": " + how);
}

}  // namespace

Fingerprint fingerprint_of(std::string_view descriptor) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  ::SHA256(reinterpret_cast<const unsigned char*>(descriptor.data()), descriptor.size(), digest.data());
  Fingerprint fingerprint{};
  std::copy_n(digest.begin(), fingerprint.size(), fingerprint.begin());
  return fingerprint;
}

Adaptation::Adaptation(const ServiceInfo& own, const Fingerprint& theirs, evolution::Plan plan,
                       std::string peer)
    : peer_(std::move(peer)) {
  const auto made = std::make_shared<Made>();
  made->plan = std::move(plan);
  made->name = own.name;
  auto& methods = made->plan.methods;
  auto& names = made->names;
  made->places.resize(methods.size());
  for (std::size_t index = 0; index < methods.size(); ++index) {
    auto& method = methods[index];
    if (!method.callable()) continue;
    if (method.there.empty() && index < own.methods.size()) method.there = own.methods[index];  // for a topic
    made->places[index] = static_cast<std::uint16_t>(names.size());
    names.push_back(method.there);
  }
  // No method can be called: it is bound nevertheless, so that each call gets its own failure.
  const auto& there = *made->plan.there;
  if (names.empty() && made->plan.refusal.empty() && !there.methods().empty())
    names.push_back(there.methods().front().name);
  made->bound = {.name = made->name, .per_agent = own.per_agent, .fingerprint = theirs, .methods = names};
  made_ = made;
}

Adaptation::Adaptation(const Adaptation& other, std::string peer)
    : made_(other.made_), peer_(std::move(peer)) {}

Failure Adaptation::refusal_of(std::uint16_t index, std::string_view peer) const {
  const auto& plan = method(index);
  const bool unknown = plan.verdict == evolution::Verdict::unknown_method;
  return not_executed(unknown ? Code::unknown_method : Code::schema_mismatch, said_of(peer, plan.reason));
}

std::string Adaptation::said(std::string_view words) const {
  return said_of(peer_, words);
}

std::uint16_t Binding::adapted_route(std::uint16_t method) const noexcept {
  return static_cast<std::uint16_t>(first_ + adaptation_->place(method));
}

std::shared_ptr<const Adaptation> known_adaptation(const ServiceInfo& own, const Fingerprint& theirs) {
  return Kept::of_process().find_any(key_of(own, theirs), true);
}

std::shared_ptr<const Adaptation> adaptation_to(const ServiceInfo& own, const ClientLink::Described& theirs,
                                                const std::string& peer, std::string& why) {
  const auto fingerprint = fingerprint_of(theirs.text);
  auto key = key_of(own, fingerprint, fingerprint_of(theirs.annex));
  const auto of_another = Kept::of_process().find_any(key, false);
  key.peer = peer;
  if (auto known = Kept::of_process().find(key)) return known;
  if (of_another)
    return Kept::of_process().add(std::move(key), std::make_shared<Adaptation>(*of_another, peer));
  auto own_schema = described::Schema::read(descriptor_of(own), annex_of(own));
  if (!own_schema) {
    why = "the client's own schema cannot be read: " + own_schema.error().message();
    return nullptr;
  }
  auto their_schema = described::Schema::read(theirs.text, theirs.annex);
  if (!their_schema) {
    why = "what it says of its schema cannot be read: " + their_schema.error().message();
    return nullptr;
  }
  auto plan = evolution::make_plan(std::make_shared<described::Schema>(*std::move(own_schema)),
                                   std::make_shared<described::Schema>(*std::move(their_schema)));
  auto made = std::make_shared<Adaptation>(own, fingerprint, std::move(plan), peer);
  return Kept::of_process().add(std::move(key), std::move(made));
}

Adapted adapt_to(const ServiceInfo& own, const ClientLink::Described& theirs, const std::string& peer,
                 const Fingerprint& refused) {
  const auto fingerprint = fingerprint_of(theirs.text);
  if (fingerprint == refused)
    return {.adaptation = {},
            .failure = differs(peer, "the schema that it describes is not the one that it has")};
  if (fingerprint == own.fingerprint) return {};
  std::string why;
  auto adaptation = adaptation_to(own, theirs, peer, why);
  if (!adaptation) return {.adaptation = {}, .failure = differs(peer, why)};
  if (!adaptation->refusal().empty())
    return {.adaptation = {}, .failure = differs(peer, adaptation->refusal())};
  return {.adaptation = std::move(adaptation), .failure = {}};
}

}  // namespace mf::link
