// What the driver of a random schema does with each type. The program reads lines and answers each with one:
//
//   W index json   the value in a JSON text: `V hex hash37 hash64 violation json`, tabs between, or a fault
//   R index hex    the value in bytes: the same
//
// A fault is `F number offset path`, a constraint that keeps a value from being written `C words`; `-` means
// no bytes, or no constraint violated.
#pragma once

#include <cstdio>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "mf/codec/constraints.hpp"
#include "mf/codec/hash.hpp"
#include "mf/codec/json.hpp"
#include "mf/codec/tiered.hpp"
#include "mf/codec/value.hpp"
#include "mf/core/error.hpp"
#include "mf/core/hex.hpp"

namespace driver {

struct Subject {
  std::function<std::string(std::string_view text)> write;
  std::function<std::string(std::span<const std::byte> bytes)> read;
};

inline std::string hex(std::span<const std::byte> bytes) {
  return bytes.empty() ? "-" : mf::to_hex(bytes);
}

inline std::vector<std::byte> from_hex(std::string_view text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; text != "-" && i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(digit(text[i]) * 16 + digit(text[i + 1])));
  }
  return bytes;
}

inline std::string fault(const mf::DecodeError& error) {
  std::ostringstream line;
  line << "F\t" << static_cast<int>(error.fault) << '\t' << error.offset << '\t' << error.path;
  return line.str();
}

inline std::string value(const std::vector<std::byte>& bytes, std::uint32_t hash37, std::uint64_t hash64,
                         const std::string& violation, const std::string& json) {
  std::ostringstream line;
  line << "V\t" << hex(bytes) << '\t' << hash37 << '\t' << hash64 << '\t' << violation << '\t' << json;
  return line.str();
}

template <class T>
std::string of(const T& value) {
  return driver::value(mf::to_bytes(value), mf::hash37(value), mf::hash64(value),
                       mf::codec::violation(value).value_or("-"), mf::to_json(value));
}

/// A declared type.
template <class T>
Subject declared() {
  return {
      [](std::string_view text) {
        const auto value = mf::from_json<T>(text);
        return value ? of(*value) : fault(value.error());
      },
      [](std::span<const std::byte> bytes) {
        const auto value = mf::from_bytes<T>(bytes);
        return value ? of(*value) : fault(value.error());
      },
  };
}

/// The parameters or results of a method, as calls read them: there is no JSON of them. `violation` gives
/// words, or nothing.
template <mf::Tier kTier, class T, class Violation>
Subject parts(std::string_view root, Violation violation) {
  return {
      [](std::string_view) { return std::string("E\tno JSON"); },
      [root, violation](std::span<const std::byte> bytes) {
        T value{};
        mf::codec::Reader reader(bytes);
        if (!mf::codec::decode<kTier>(reader, value) || !reader.finish()) {
          const mf::codec::Fault fault = reader.error().fault;
          // A value of tier memcpy is taken whole, before anything in it has a name.
          const bool whole = kTier == mf::Tier::memcpy && fault == mf::codec::Fault::truncated;
          if (!root.empty() && !whole && fault != mf::codec::Fault::trailing_bytes) {
            reader.inside(root);
          }
          return driver::fault(reader.error());
        }
        const std::vector<std::byte> again = mf::codec::to_bytes<kTier>(value);
        return driver::value(again, mf::codec::hash_bytes(again), mf::codec::xxh64(again),
                             violation(value).value_or("-"), "");
      },
  };
}

template <class M>
Subject request() {
  using T = typename M::Request;
  return parts<M::kRequestTier, T>("", [](const T& value) { return mf::codec::violation(value); });
}

/// `root`: what a result without a name is called in paths.
template <class M>
Subject result(std::string_view root = "") {
  using T = std::conditional_t<std::is_void_v<typename M::Result>, std::monostate, typename M::Result>;
  return parts<M::kResultTier, T>(root, [](const T& value) { return mf::codec::result_violation<M>(value); });
}

inline int run(const std::vector<Subject>& subjects) {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    const std::size_t space = line.find(' ', 2);
    const Subject& subject = subjects.at(std::stoul(line.substr(2, space - 2)));
    const std::string_view rest = std::string_view(line).substr(space + 1);
    std::string answer;
    try {
      answer = line[0] == 'W' ? subject.write(rest) : subject.read(from_hex(rest));
    } catch (const mf::Error& error) {
      answer = std::string(error.code() == mf::Code::invalid_argument ? "C\t" : "E\t") + error.what();
    } catch (const std::exception& error) {
      answer = std::string("E\t") + error.what();
    }
    std::cout << answer << std::endl;
  }
  return 0;
}

}  // namespace driver
