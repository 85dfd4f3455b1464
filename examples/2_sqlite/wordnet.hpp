// Synsets of WordNet's data.noun: `offset lex_filenum n count (word lex_id)… | gloss`, the count in
// hexadecimal.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

struct Noun {
  std::uint32_t offset = 0;
  std::vector<std::string> words;
  std::string gloss;
};

inline Noun read_noun(const std::string& line) {
  Noun noun;
  std::istringstream fields(line);
  std::string skipped;
  unsigned count = 0;
  fields >> noun.offset >> skipped >> skipped >> std::hex >> count;
  for (; count > 0; --count) {
    noun.words.emplace_back();
    fields >> noun.words.back() >> skipped;
    std::replace(noun.words.back().begin(), noun.words.back().end(), '_', ' ');
  }
  noun.gloss = line.substr(line.find(" | ") + 3);
  noun.gloss.erase(noun.gloss.find_last_not_of(' ') + 1);
  return noun;
}

/// Calls `take` with the first `count` synsets.
template <class Take>
void each_noun(std::size_t count, const Take& take) {
  std::ifstream lines("/usr/share/wordnet/data.noun");
  if (!lines) throw std::runtime_error("/usr/share/wordnet/data.noun is missing: install wordnet-base");
  for (std::string line; count > 0 && std::getline(lines, line);) {
    if (line.starts_with("  ")) continue;  // the licence
    take(read_noun(line));
    --count;
  }
}

/// Takes the sentences in quotes behind a gloss away from it.
inline std::vector<std::string> cut_examples(std::string& gloss) {
  std::vector<std::string> examples;
  const std::size_t end = std::min(gloss.find("; \""), gloss.size());
  for (std::size_t open = gloss.find('"', end); open != std::string::npos;) {
    const std::size_t close = gloss.find('"', open + 1);
    if (close == std::string::npos) break;
    examples.push_back(gloss.substr(open + 1, close - open - 1));
    open = gloss.find('"', close + 1);
  }
  gloss.erase(end);
  return examples;
}
