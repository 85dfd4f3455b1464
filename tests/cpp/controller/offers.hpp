// Names for offers and processes in the tests of this folder.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mf/controller/registry.hpp"

namespace mf::controller::testing_offers {

inline Uuid nonce(std::uint8_t number) {
  Uuid nonce;
  nonce.bytes[0] = number;
  return nonce;
}

/// The credential of a process, with its own secret unless another one is named.
inline Credential who(std::uint8_t process, std::uint8_t secret = 0) {
  Credential who;
  who.nonce = nonce(process);
  who.secret.bytes[0] = process;
  who.secret.bytes[1] = secret;
  return who;
}

inline Key key(std::string name, std::string agent = "") {
  Key key;
  key.name = std::move(name);
  key.agent = std::move(agent);
  return key;
}

inline Offer offer(std::string name, std::string agent = "", std::string address = "tcp://h:1") {
  Offer offer;
  offer.key = key(std::move(name), std::move(agent));
  offer.addresses = {std::move(address)};
  return offer;
}

inline Offer alone(std::string name, std::string agent = "") {
  Offer made = offer(std::move(name), std::move(agent));
  made.alone = true;
  return made;
}

/// This many offers, for agents "0", "1", …
inline std::vector<Offer> many(std::size_t count, const std::string& name = "Index") {
  std::vector<Offer> offers;
  for (std::size_t i = 0; i < count; ++i) offers.push_back(offer(name, std::to_string(i)));
  return offers;
}

inline Filter filter(std::string name) {
  Filter filter;
  filter.name = std::move(name);
  return filter;
}

inline Filter filter(std::string name, std::string agent) {
  Filter made = filter(std::move(name));
  made.agent = std::move(agent);
  return made;
}

/// "books@1": agent and process.
inline std::string shown(const Key& key, const Uuid& instance) {
  return key.agent + "@" + std::to_string(instance.bytes[0]);
}
inline std::vector<std::string> shown(const std::vector<Instance>& instances) {
  std::vector<std::string> texts;
  for (const Instance& instance : instances) texts.push_back(shown(instance.offer.key, instance.instance));
  return texts;
}
inline std::vector<std::string> shown(const std::vector<Gone>& gone) {
  std::vector<std::string> texts;
  for (const Gone& one : gone) texts.push_back(shown(one.key, one.instance));
  return texts;
}
/// The matching instances, in one page.
inline std::vector<std::string> found(const Registry& registry, const Filter& what) {
  std::vector<std::string> texts;
  for (const auto& instance : registry.page(what, std::nullopt, 100'000, std::size_t{1} << 30).instances)
    texts.push_back(shown(instance->offer.key, instance->instance));
  return texts;
}

}  // namespace mf::controller::testing_offers
