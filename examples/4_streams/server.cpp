// glosses-server [tcp://HOST:PORT]
#include <algorithm>
#include <condition_variable>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "glosses.server.hpp"
#include "mf/codec/hash.hpp"
#include "mf/server/server.hpp"

class Library final : public glosses::LibraryServant {
 public:
  /// Memory is bounded by what is kept: the stream itself holds one window of bytes.
  glosses::Stored upload(const std::string& name, mf::StreamReader<mf::Bytes>& pieces) override {
    std::string text;
    for (const mf::Bytes& piece : pieces) {
      text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    }
    const glosses::Stored stored{
        .size = text.size(),
        .lines = static_cast<std::uint32_t>(std::count(text.begin(), text.end(), '\n')),
        .hash = mf::hash64(text),
    };
    const std::scoped_lock lock(mutex_);
    files_[name] = std::make_shared<const std::string>(std::move(text));
    return stored;
  }

  void find(const std::string& name, const std::string& letters,
            mf::StreamWriter<glosses::Match>& out) override {
    const auto text = file(name);
    glosses::Searched searched;
    try {
      searched.complete = search(*text, letters, out, searched.found);
    } catch (const mf::Error&) {  // write() says so when the client has cancelled the call
      finish(searched);
      throw;
    }
    finish(searched);
  }

  glosses::Searched last_search() override {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return searches_ == 0; });
    return last_;
  }

 private:
  static bool search(std::string_view text, const std::string& letters, mf::StreamWriter<glosses::Match>& out,
                     std::uint32_t& found) {
    for (std::uint32_t line = 1; !text.empty(); ++line) {
      const auto end = std::min(text.find('\n'), text.size());
      const auto content = text.substr(0, end);
      if (content.find(letters) != std::string_view::npos) {
        // This waits while the client does not read: no more is searched than it takes.
        if (!out.write({.line = line, .text = std::string(content)})) return false;
        ++found;
      }
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return true;
  }

  std::shared_ptr<const std::string> file(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    const auto found = files_.find(name);
    if (found == files_.end()) throw glosses::NoSuchFile(name);
    ++searches_;
    return found->second;
  }
  void finish(const glosses::Searched& searched) {
    const std::scoped_lock lock(mutex_);
    last_ = searched;
    --searches_;
    ended_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable ended_;
  std::map<std::string, std::shared_ptr<const std::string>> files_;
  std::uint32_t searches_ = 0;  // under way
  glosses::Searched last_;
};

int main(int argc, char** argv) {
  mf::Server server({.listen = argc > 1 ? argv[1] : "tcp://127.0.0.1:7403"});
  server.offer(std::make_shared<Library>());
  server.start();
  std::cout << server.address().str() << std::endl;
  server.run();
}
