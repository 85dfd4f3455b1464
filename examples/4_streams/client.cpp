// glosses-client FILE LETTERS COUNT [tcp://HOST:PORT]
//
// Uploads the file, and shows the first COUNT of its lines in which these letters stand.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "glosses.client.hpp"
#include "mf/codec/hash.hpp"

namespace {

constexpr std::size_t kPiece = 16 * 1024;

void upload(const glosses::LibraryClient& library, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  auto stream = library.upload("glosses");
  std::string whole;  // only for the hash
  std::vector<std::byte> piece(kPiece);
  // write() waits while the server has not taken what came before; it gives false if it wants no more.
  do {
    file.read(reinterpret_cast<char*>(piece.data()), kPiece);
    piece.resize(static_cast<std::size_t>(file.gcount()));
    whole.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  } while (!piece.empty() && stream.write(piece));
  const glosses::Stored stored = stream.finish();
  std::cout << "stored " << stored.size << " bytes in " << stored.lines << " lines, "
            << (stored.hash == mf::hash64(whole) ? "as they were sent" : "which differ from what was sent")
            << '\n';
}

void follow(const glosses::LibraryClient& library, const std::string& letters, std::uint32_t count) {
  auto matches = library.find("glosses", letters);
  while (count > 0) {
    const auto match = matches.next();
    if (!match) break;
    std::cout << match->line << ": " << match->text.substr(0, match->text.find(" | ")) << '\n';
    --count;
  }
  // The server stops searching as soon as it hears of this; a reader that is dropped does the same.
  matches.cancel();
}

int run(char** arguments, const char* address) {
  mf::Client client(address);
  const glosses::LibraryClient library(client);
  upload(library, arguments[1]);
  follow(library, arguments[2], static_cast<std::uint32_t>(std::strtoul(arguments[3], nullptr, 10)));
  std::cout << (library.last_search().complete ? "the whole file was searched\n"
                                               : "the search was stopped\n");
  try {
    for (const auto& match : library.find("verbs", arguments[2])) std::cout << match << '\n';
  } catch (const glosses::NoSuchFile& error) {
    std::cout << "no file " << error.name << '\n';
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) {
    std::cerr << "usage: glosses-client FILE LETTERS COUNT [tcp://HOST:PORT]\n";
    return 2;
  }
  try {
    return run(argv, argc > 4 ? argv[4] : "tcp://127.0.0.1:7403");
  } catch (const std::exception& error) {
    std::cerr << "glosses-client: " << error.what() << '\n';
    return 1;
  }
}
