#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "mf/values/writer.hpp"
#include "values/file.hpp"
#include "values/form.hpp"

namespace mf::values {
namespace {

constexpr std::size_t kBuffered = std::size_t{1} << 16U;

Descriptor opened(const std::string& name, bool append) {
  Descriptor file(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | (append ? 0 : O_EXCL), 0666));
  if (!file) {
    if (errno == EEXIST)
      throw failed(name, "exists already; values can be appended to it", Code::unavailable);
    throw not_done(name, errno);
  }
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    throw failed(name, "has another writer", Code::unavailable);
  return file;
}

}  // namespace

struct Writing::State {
  State(const std::filesystem::path& path, const TypeTexts& texts, const ValueWriterOptions& options)
      : name(path.string()), file(opened(name, options.append)) {
    const auto size = ::lseek(file.get(), 0, SEEK_END);
    if (size < 0 || ::lseek(file.get(), 0, SEEK_SET) < 0) throw not_done(name, errno);
    if (size > 0) go_behind(texts, options.drop_cut);
    if (end != 0) return;
    append_head(buffer, texts);
    flush();
  }

  /// Goes to the end of what is there.
  void go_behind(const TypeTexts& texts, bool drop_cut) {
    Records records([this](std::span<std::byte> into) -> std::ptrdiff_t {
      const auto got = ::read(file.get(), into.data(), into.size());
      return got < 0 ? -errno : got;
    });
    TypeTexts theirs;
    auto wrong = records.begin(theirs);
    if (!wrong) {
      if (theirs.descriptor != texts.descriptor)
        throw failed(name, "has another schema: migrate it first", Code::schema_mismatch);
      std::optional<std::span<const std::byte>> value;
      do {
        end = records.offset();
        count = records.number();
        wrong = records.next(value);
      } while (value);
    }
    if (wrong && !(wrong->cut && drop_cut))
      throw failed(name, wrong->words, wrong->of_system ? Code::unavailable : Code::decode_error);
    cut_back();
  }

  void append(std::span<const std::byte> value) {
    if (value.size() > kMostValue)
      throw failed(name,
                   "a value of " + std::to_string(value.size()) + " bytes; at most " +
                       std::to_string(kMostValue) + " are allowed",
                   Code::message_too_large);
    append_record(buffer, count + pending, value);
    ++pending;
    if (buffer.size() >= kBuffered) flush();
  }

  void flush() {
    const auto lost = std::exchange(pending, 0);
    std::span<const std::byte> left(buffer);
    while (!left.empty()) {
      const auto written = ::write(file.get(), left.data(), left.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        const auto error = errno;
        buffer.clear();
        cut_back();
        throw not_done(name, error,
                       "; values in the file: " + std::to_string(count) + ", lost: " + std::to_string(lost));
      }
      left = left.subspan(static_cast<std::size_t>(written));
    }
    end += buffer.size();
    count += lost;
    buffer.clear();
  }

  /// To the last value that is whole.
  void cut_back() {
    const auto place = static_cast<off_t>(end);
    if (::ftruncate(file.get(), place) != 0 || ::lseek(file.get(), place, SEEK_SET) < 0)
      throw not_done(name, errno);
  }

  void close() {
    if (!file) return;
    try {
      flush();
    } catch (...) {
      file.close();
      throw;
    }
    file.close();
  }

  std::string name;
  Descriptor file;
  std::vector<std::byte> buffer;
  std::uint64_t end = 0;  // of what is whole in the file
  std::uint64_t count = 0;
  std::uint64_t pending = 0;
};

Writing::Writing(const std::filesystem::path& path, const TypeTexts& texts, const ValueWriterOptions& options)
    : state_(std::make_unique<State>(path, texts, options)) {}
Writing::Writing(Writing&&) noexcept = default;
Writing& Writing::operator=(Writing&&) noexcept = default;
Writing::~Writing() {
  if (!state_) return;
  try {
    state_->close();
  } catch (const Error&) {  // close() would have thrown it
  }
}

void Writing::append(std::span<const std::byte> value) {
  state_->append(value);
}
void Writing::flush() {
  state_->flush();
}
void Writing::sync() {
  state_->flush();
  if (::fsync(state_->file.get()) != 0) throw not_done(state_->name, errno);
}
void Writing::close() {
  state_->close();
}
std::uint64_t Writing::count() const noexcept {
  return state_->count + state_->pending;
}

}  // namespace mf::values
