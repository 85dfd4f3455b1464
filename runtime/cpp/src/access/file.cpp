#include "mf/access/file.hpp"

#include <mutex>
#include <utility>

#include "mf/core/file_stamp.hpp"

namespace mf::access {

struct File::State {
  explicit State(std::string path) : file(std::move(path)) {}

  const std::string file;
  std::mutex mutex;  // guards all members below
  FileStamp stamp;
  std::shared_ptr<const Rules> rules;  // null before it is read
};

File::File(std::string path) : state_(path.empty() ? nullptr : std::make_shared<State>(std::move(path))) {}

const std::string& File::path() const noexcept {
  static const std::string none;
  return state_ ? state_->file : none;
}

std::shared_ptr<const Rules> File::rules() const {
  if (!state_) return nullptr;
  const std::scoped_lock lock(state_->mutex);
  if (!state_->rules) {
    state_->stamp =
        file_stamp(state_->file);  // before it is read: one that is replaced meanwhile is read again
    state_->rules = Rules::load(state_->file).value();
  }
  return state_->rules;
}

Reread File::refresh(bool always, const Log& log) const {
  if (!state_) return Reread::unchanged;
  const std::scoped_lock lock(state_->mutex);
  const auto stamp = file_stamp(state_->file);
  if (stamp == state_->stamp && !always) return Reread::unchanged;
  auto read = Rules::load(state_->file);
  if (!read) {  // tried again at the next look
    log.write(Level::warning, "access_file_kept", {{"reason", read.failure().message}});
    return Reread::unusable;
  }
  state_->stamp = stamp;
  state_->rules = std::move(read).value();
  log.write(Level::info, "access_file_read", {{"file", state_->file}, {"lines", state_->rules->size()}});
  return Reread::replaced;
}

}  // namespace mf::access
