// bench-values FOLDER MEGABYTES: writes files of values of recorded.mfidl, reads them, reads them by the
// later schema, and rewrites them to that. Prints a line of JSON for each type, in MB of recorded.mfidl's
// file a second.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "later.hpp"
#include "mf/values/reader.hpp"
#include "mf/values/writer.hpp"
#include "recorded.hpp"

namespace {

std::filesystem::path folder;
std::size_t bytes;

recorded::Sample sample(std::uint32_t number) {
  recorded::Sample made;
  made.sensor = number;
  made.value = number / 3.0;
  made.state = number % 10 == 0 ? "maintenance" : "running";
  return made;
}

recorded::Page page(std::uint32_t number) {
  recorded::Page made;
  for (std::uint32_t i = 0; i < 100; ++i) {
    recorded::Hit hit;
    hit.doc = number * 100 + i;
    hit.score = 1.0F / static_cast<float>(i + 1);
    hit.title = "a title of some length, number " + std::to_string(i);
    hit.positions = {i, 3 * i, 300 * i};
    hit.features.assign(20, 0.5F);
    made.hits.push_back(hit);
  }
  return made;
}

template <class Work>
double mb_per_s(std::uintmax_t size, const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return static_cast<double>(size) / 1e6 / took.count();
}

template <class T>
std::size_t read(const std::filesystem::path& path, const std::string& was) {
  mf::ValueReader<T> values(path, {.was = was});
  std::size_t count = 0;
  while (auto value = values.next()) {
    static_cast<void>(value->value());
    ++count;
  }
  return count;
}

template <class Recorded, class Later, class Make>
void measure(const std::string& name, const Make& make) {
  const auto path = folder / (name + ".mfv");
  const auto later = folder / (name + ".later.mfv");
  const auto one = make(7);
  std::size_t count = 0;
  const auto write = [&] {
    mf::ValueWriter<Recorded> out(path);
    for (count = 0; count % 1'000 != 0 || std::filesystem::file_size(path) < bytes; ++count) out.write(one);
    out.close();
  };
  const auto start = std::chrono::steady_clock::now();
  write();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const auto size = std::filesystem::file_size(path);
  const auto full = "recorded." + name;
  const auto all = [&](std::size_t found) {
    if (found != count) throw std::runtime_error("values are missing");
  };
  const auto plain = mb_per_s(size, [&] { all(read<Recorded>(path, {})); });
  const auto adapted = mb_per_s(size, [&] { all(read<Later>(path, full)); });
  const auto migrated = mb_per_s(size, [&] {
    mf::ValueReader<Later> values(path, {.was = full});
    mf::ValueWriter<Later> out(later);
    while (auto value = values.next()) out.write(value->value());
    out.close();
  });
  std::printf(
      R"({"work": "%s", "write": %.1f, "read": %.1f, "read by the later schema": %.1f, "rewrite": %.1f})"
      "\n",
      name.c_str(), static_cast<double>(size) / 1e6 / took.count(), plain, adapted, migrated);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "bench-values FOLDER MEGABYTES\n");
    return 2;
  }
  folder = argv[1];
  bytes = std::stoul(argv[2]) * 1'000'000;
  measure<recorded::Sample, later::Sample>("Sample", sample);
  measure<recorded::Page, later::Page>("Page", page);
  return 0;
}
