#include "mf/access/file.hpp"

#include <mutex>
#include <utility>

#include "mf/core/file_stamp.hpp"
#include "mf/core/flag.hpp"

namespace mf::access {

struct File::State {
  explicit State(std::string path) : file(std::move(path)) {}

  const std::string file;
  Flag flag;  // guards all members below
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
  {
    const std::scoped_lock lock(state_->flag);
    if (state_->rules) return state_->rules;
  }
  const auto stamp = file_stamp(state_->file);  // before: one that is replaced meanwhile is read again
  auto read = Rules::load(state_->file).value();
  const std::scoped_lock lock(state_->flag);
  if (!state_->rules) {
    state_->stamp = stamp;
    state_->rules = std::move(read);
  }
  return state_->rules;
}

Reread File::refresh(bool always, const Log& log) const {
  if (!state_) return Reread::unchanged;
  const auto stamp = file_stamp(state_->file);
  if (!always) {
    const std::scoped_lock lock(state_->flag);
    if (stamp == state_->stamp) return Reread::unchanged;
  }
  auto read = Rules::load(state_->file);
  if (!read) {  // tried again at the next look
    log.write(Level::warning, "access_file_kept", {{"reason", read.failure().message}});
    return Reread::unusable;
  }
  log.write(Level::info, "access_file_read", {{"file", state_->file}, {"lines", read.value()->size()}});
  const std::scoped_lock lock(state_->flag);
  state_->stamp = stamp;
  state_->rules = std::move(read).value();
  return Reread::replaced;
}

}  // namespace mf::access
