// dictionary fill DB COUNT | look DB WORD | note DB WORD TEXT
//
// The same program as main.py, over the same file. It is built with either release of the schema:
// `dictionary` with today's, `dictionary-first` with the first.
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "dictionary.hpp"
#include "table.hpp"
#include "wordnet.hpp"

using dictionary::Part;
using dictionary::Place;
using dictionary::Uses;

// A template, so that it may ask which fields this release has.
template <class Entry>
class Dictionary {
 public:
  explicit Dictionary(Database& database) : entries_(database, "entries"), uses_(database, "uses") {}

  void fill(std::size_t count) {
    each_noun(count, [this](const Noun& noun) {
      const Place place{.part = Part::noun, .offset = noun.offset};
      entries_.put(place, new_entry(noun));
      for (std::size_t position = 0; position < noun.words.size(); ++position) {
        Uses uses = uses_.get(noun.words[position]).value_or(Uses{});
        uses.entries.push_back(place);
        uses.positions.push_back(static_cast<std::uint16_t>(position));
        uses_.put(noun.words[position], uses);
      }
    });
    std::cout << entries_.size() << " entries, " << uses_.size() << " words\n";
  }

  void look(const std::string& word) const {
    const auto found = of(word);
    for (const auto& [place, entry] : found) print(place, entry);
    if (found.empty()) std::cout << "no entry has " << word << '\n';
  }

  void note(const std::string& word, const std::string& note) {
    auto found = of(word);
    for (auto& [place, entry] : found) {
      entry.notes.push_back(note);
      entries_.put(place, entry);
    }
    std::cout << "noted in " << found.size() << " of " << entries_.size() << " entries\n";
  }

 private:
  static Entry new_entry(const Noun& noun) {
    Entry entry;
    entry.words = noun.words;
    entry.gloss = noun.gloss;
    if constexpr (requires { entry.examples; }) {  // since the second release
      entry.examples = cut_examples(entry.gloss);
    }
    return entry;
  }

  static void print(const Place& place, const Entry& entry) {
    std::cout << name(place.part) << ' ' << place.offset << ": ";
    for (const std::string& word : entry.words) std::cout << (&word == &entry.words[0] ? "" : ", ") << word;
    std::cout << "\n  " << entry.gloss << '\n';
    if constexpr (requires { entry.examples; }) {
      for (const std::string& each : entry.examples)
        std::cout << "  in " << entry.language << ": " << each << '\n';
    }
    for (const std::string& each : entry.notes) std::cout << "  note: " << each << '\n';
  }

  [[nodiscard]] std::vector<std::pair<Place, Entry>> of(const std::string& word) const {
    std::vector<std::pair<Place, Entry>> found;
    for (const Place& place : uses_.get(word).value_or(Uses{}).entries) {
      if (auto entry = entries_.get(place)) found.emplace_back(place, *std::move(entry));
    }
    return found;
  }

  Table<Place, Entry> entries_;
  Table<std::string, Uses> uses_;
};

int main(int argc, char** argv) try {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::string command = words.empty() ? "" : words[0];
  const std::size_t wanted = command == "note" ? 4 : 3;
  if (words.size() != wanted || (command != "fill" && command != "look" && command != "note")) {
    std::cerr << "usage: dictionary fill DB COUNT | look DB WORD | note DB WORD TEXT\n";
    return 1;
  }
  Database database(words[1]);
  database.run("BEGIN");
  Dictionary<dictionary::Entry> dictionary(database);
  if (command == "fill") dictionary.fill(std::stoul(words[2]));
  if (command == "look") dictionary.look(words[2]);
  if (command == "note") dictionary.note(words[2], words[3]);
  database.run("COMMIT");
  return 0;
} catch (const std::exception& error) {
  std::cerr << "dictionary: " << error.what() << '\n';
  return 1;
}
