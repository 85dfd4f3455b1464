#include "commands.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace testbed {

namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

document::Way parse_way(std::string_view word) {
  if (word == "single") return document::Way::single;
  if (word == "message") return document::Way::message_batch;
  if (word == "application") return document::Way::application_batch;
  throw std::invalid_argument(std::string(word) + " is no way to call: single, message, application");
}

void need(const Words& words, std::size_t count) {
  if (words.size() != count)
    throw std::invalid_argument("this command needs " + std::to_string(count) + " words");
}

Question parse_question(const Words& words) {
  return {.text = "",
          .collections = split(words[1], ','),
          .limit = static_cast<std::uint32_t>(std::stoul(words[2])),
          .way = parse_way(words[0])};
}

void print(const Answer& answer, std::ostream& out) {
  for (const auto& [collection, failure] : answer.skipped) {
    out << "skipped\t" << collection << '\t' << mf::name(failure.code) << '\t' << mf::name(failure.execution)
        << '\n';
  }
  for (std::size_t i = 0; i < answer.hits.size(); ++i) {
    const auto& document = answer.documents[i];
    out << "hit\t" << answer.hits[i].doc << '\t' << answer.hits[i].score << '\t' << document.title << '\t'
        << document.content << '\n';
  }
}

void print(const document::Traffic& traffic, std::ostream& out) {
  out << '\t' << traffic.calls << '\t' << traffic.messages << '\t' << traffic.sent << '\t' << traffic.received
      << '\n';
}

std::int64_t microseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time).count();
}

void build_index(const document::DocumentsClient& documents, const index::IndexClient& indexes,
                 const Words& words, std::ostream& out) {
  need(words, 2);
  indexes.at(words[0]).clear();
  const auto report = documents.index(words[0], parse_way(words[1]));
  out << "indexed\t" << report.documents << '\t' << microseconds(report.analysis) << '\t'
      << microseconds(report.indexing);
  print(report.traffic, out);
}

void check(const Questions& questions, const std::vector<std::string>& queries, const Words& words,
           std::ostream& out) {
  need(words, 3);
  auto question = parse_question(words);
  TrafficCount count;
  for (const auto& text : queries) {
    question.text = text;
    out << "query\t" << text << '\n';
    print(questions.ask(question, &count), out);
  }
  out << "traffic";
  print(count.total(), out);
}

void time(const Questions& questions, const std::vector<std::string>& queries, const Words& words,
          std::ostream& out) {
  need(words, 4);
  auto question = parse_question(words);
  const auto rounds = std::max(std::stoul(words[3]), 1UL);
  for (const auto& text : queries) {
    question.text = text;
    std::vector<std::int64_t> times;
    for (unsigned long round = 0; round < rounds; ++round) {
      const auto start = std::chrono::steady_clock::now();
      (void)questions.ask(question);
      times.push_back(microseconds(std::chrono::steady_clock::now() - start));
    }
    std::sort(times.begin(), times.end());
    out << "time\t" << text << '\t' << times[times.size() / 2] << '\n';
  }
}

}  // namespace

Commands commands_of(mf::Client& client, std::vector<std::string> queries) {
  const auto questions = std::make_shared<Questions>(client);
  const document::DocumentsClient documents(client);
  const index::IndexClient indexes(client);
  return {{"load",
           [documents](const Words& words, std::ostream& out) {
             need(words, 2);
             const auto count = documents.load(words[0], words[1]);  // first: it may throw
             out << "loaded\t" << count << '\n';
           }},
          {"index", [documents, indexes](const Words& words,
                                         std::ostream& out) { build_index(documents, indexes, words, out); }},
          {"stats",
           [indexes](const Words& words, std::ostream& out) {
             need(words, 1);
             const auto stats = indexes.at(words[0]).stats();
             out << "stats\t" << stats.documents << '\t' << stats.terms << '\n';
           }},
          {"check", [questions, queries](const Words& words,
                                         std::ostream& out) { check(*questions, queries, words, out); }},
          {"time", [questions, queries](const Words& words, std::ostream& out) {
             time(*questions, queries, words, out);
           }}};
}

void obey(const Commands& commands, std::istream& in, std::ostream& out) {
  for (std::string line; std::getline(in, line);) {
    auto words = split(line, ' ');
    if (words.empty()) continue;
    try {
      const auto command = commands.find(words.front());
      if (command == commands.end()) throw std::invalid_argument("there is no command " + words.front());
      words.erase(words.begin());
      command->second(words, out);
    } catch (const document::IndexingFailed& error) {
      out << "failed\t" << error.collection << ": " << error.reason << '\n';
    } catch (const document::UnreadableFile& error) {
      out << "failed\t" << error.reason << '\n';
    } catch (const std::exception& error) {
      out << "failed\t" << error.what() << '\n';
    }
    out << "done" << std::endl;
  }
}

}  // namespace testbed
