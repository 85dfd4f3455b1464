// Main's side of the driver: commands on standard input, one a line, its answers on standard output, the
// fields between tabs.
//
//   load COLLECTION PATH                  loaded DOCUMENTS
//   index COLLECTION WAY                  indexed DOCUMENTS ANALYSIS INDEXING CALLS MESSAGES SENT RECEIVED:
//   microseconds, then bytes;
//                                         what the index had is cleared first
//   stats COLLECTION                      stats DOCUMENTS TERMS
//   check WAY COLLECTIONS LIMIT           every query once: query TEXT, skipped COLLECTION CODE EXECUTION,
//   hit DOC SCORE TITLE CONTENT,
//                                         and at the end traffic CALLS MESSAGES SENT RECEIVED
//   time WAY COLLECTIONS LIMIT ROUNDS     time TEXT MICROSECONDS for every query: the median of the rounds
//
// WAY is single, message or application; COLLECTIONS are separated by commas. The last line is "done"; the
// one before it "failed REASON" if the command failed. services/main_process.py answers in the same words.
#pragma once

#include <functional>
#include <istream>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "questions.hpp"

namespace testbed {

/// What follows a command's name.
using Words = std::vector<std::string>;
using Commands = std::map<std::string, std::function<void(const Words&, std::ostream&)>, std::less<>>;

/// The commands above. They keep no reference to the client, but must not outlive it.
[[nodiscard]] Commands commands_of(mf::Client& client, std::vector<std::string> queries);

/// Reads commands until the input ends.
void obey(const Commands& commands, std::istream& in, std::ostream& out);

}  // namespace testbed
