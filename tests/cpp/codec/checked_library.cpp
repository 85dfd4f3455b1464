// The codecs over containers of the standard library that check themselves (_GLIBCXX_DEBUG), whose insides
// must not be touched: what vector_place.hpp, tree_walk.hpp and text.cpp do by them is done by other means
// here. By itself, since GoogleTest was compiled for the containers that do not.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "mf/codec/value.hpp"
#include "sample.hpp"

#ifndef _GLIBCXX_DEBUG
#error "compile this with -D_GLIBCXX_DEBUG"
#endif

namespace {

int failures = 0;

template <class T>
void expect_same(const T& value, T into, const char* what) {
  const auto bytes = mf::to_bytes(value);
  const auto fresh = mf::from_bytes<T>(bytes);
  if (!fresh.ok() || *fresh != value || !mf::from_bytes_into(bytes, into).ok() || into != value) {
    std::printf("%s: another value came back\n", what);
    ++failures;
  }
}

}  // namespace

int main() {
  std::mt19937_64 random(1);
  const auto text = [&random](std::size_t size) {
    std::string made(size, ' ');
    for (char& letter : made) letter = static_cast<char>('!' + random() % 90);
    return made;
  };
  for (std::size_t size = 0; size < 100; ++size) {
    for (std::size_t before = 0; before < 100; before += 9) {
      expect_same(std::vector<std::string>{text(size), text(before)}, {text(before), text(size)}, "texts");
    }
    std::vector<sample::Hit> hits(size);
    std::map<std::int32_t, std::uint64_t> numbers;
    std::map<std::string, std::uint32_t> words;
    for (std::size_t i = 0; i < size; ++i) {
      hits[i] = {1, 2.0F, text(i), std::vector<std::uint32_t>(i * size, 300)};
      numbers[static_cast<std::int32_t>(random())] = random();
      words[text(i)] = static_cast<std::uint32_t>(i);
    }
    expect_same(hits, {{3, 4.0F, text(50), {1, 2}}}, "structs");
    expect_same(numbers, {{1, 2}}, "a map of numbers");
    expect_same(words, {{"x", 1}}, "a map of texts");
    std::set<std::uint32_t> row;
    std::set<std::string> names;
    for (std::size_t i = 0; i < size * 7; ++i) {
      row.insert(static_cast<std::uint32_t>(random()));
      names.insert(text(i % 20));
    }
    expect_same(row, {1, 2}, "a set of numbers");
    expect_same(names, {"x"}, "a set of texts");
    std::vector<std::string> backwards;
    for (const std::string& name : mf::codec::detail::backwards(names)) backwards.push_back(name);
    if (backwards != std::vector<std::string>(names.rbegin(), names.rend())) {
      std::puts("a set backwards: something else");
      ++failures;
    }
  }
  return failures == 0 ? 0 : 1;
}
