// The file is described in runtime/python/mf/described/recordings.py, whose words these are: tests of both
// languages read tests/vectors/recordings.
#include "mf/testing/recorded.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <queue>
#include <system_error>

#include "mf/codec/described/json.hpp"
#include "mf/codec/described/schema.hpp"
#include "mf/codec/json_members.hpp"
#include "mf/core/log.hpp"
#include "mf/core/service_texts.hpp"
#include "mf/core/text.hpp"

namespace mf::testing {
namespace {

constexpr std::uint32_t kForm = 1;
constexpr std::size_t kMostLine = std::size_t{32} << 20U;
constexpr std::size_t kWindow = 1024;                         // calls that wait for one that began before
constexpr std::size_t kMostWaiting = std::size_t{64} << 20U;  // bytes of their lines
constexpr std::size_t kMostDescriptions = 1000;
constexpr std::size_t kMostMembers = 32;
constexpr double kMostSeconds = 1e9;
/// A line may hold values that are nested too deep for JSON: request() and result() refuse such a value, and
/// all other calls of the file are still read.
constexpr codec::Limits kLineLimits{.depth = 2 * codec::Limits{}.depth + 2};

[[noreturn]] void refuse_file(std::string words) {
  throw Error(Code::invalid_argument, Execution::not_executed, words);
}

[[noreturn]] void refuse_text(std::string_view path, std::size_t line, const codec::DecodeError& error) {
  throw Error(error.code, Execution::not_executed,
              "'" + std::string(path) + "': line " + std::to_string(line) + ": " + error.message());
}

/// A name that the file gives, for the text of an error: shortened and escaped, in the same form as in
/// Python.
std::string shown(std::string_view name) {
  return log_quoted(shortened(name));
}

/// The lines of a file, with the place of each. Nothing is read after one was refused.
class Lines {
 public:
  explicit Lines(std::string path) : path_(std::move(path)), file_(std::fopen(path_.c_str(), "rbe")) {
    if (!file_) refuse_read();
  }

  /// False: there are no more. A line ends with its line feed, which the last one may lack.
  bool next() {
    if (has_refused_) return false;
    begins_ += line_.size();
    line_.clear();
    ++number_;
    for (;;) {
      if (at_ == have_) {
        have_ = std::fread(block_.data(), 1, block_.size(), file_.get());
        at_ = 0;
        if (have_ == 0) break;
      }
      const auto* const from = block_.data() + at_;
      const auto* const end = std::find(from, have_end(), '\n');
      const bool whole = end != have_end();
      const auto size = static_cast<std::size_t>(end - from) + (whole ? 1 : 0);
      line_.append(from, size);
      at_ += size;
      if (line_.size() > kMostLine) refuse("is longer than 32 MiB");
      if (whole) return true;
    }
    if (std::ferror(file_.get()) != 0) refuse_read();
    return !line_.empty();
  }

  [[nodiscard]] std::string_view line() const noexcept { return line_; }
  [[nodiscard]] bool is_cut() const noexcept { return !line_.ends_with('\n'); }
  [[nodiscard]] std::size_t number() const noexcept { return number_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  [[nodiscard]] bool has_refused() const noexcept { return has_refused_; }

  /// These are of the line that was read last.
  [[noreturn]] void refuse(std::string_view words) {
    has_refused_ = true;
    refuse_file("'" + path_ + "': line " + std::to_string(number_) + " (at byte " + std::to_string(begins_) +
                ") " + std::string(words));
  }
  [[noreturn]] void refuse_content(std::string_view words) {
    has_refused_ = true;
    refuse_file("'" + path_ + "': line " + std::to_string(number_) + ": " + std::string(words));
  }
  [[noreturn]] void refuse_value(const codec::DecodeError& error) {
    has_refused_ = true;
    refuse_text(path_, number_, error);
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { static_cast<void>(std::fclose(file)); }
  };

  [[nodiscard]] const char* have_end() const noexcept { return block_.data() + have_; }
  [[noreturn]] void refuse_read() {
    has_refused_ = true;
    refuse_file("'" + path_ + "' cannot be read: " + std::generic_category().message(errno));
  }

  const std::string path_;
  const std::unique_ptr<std::FILE, Close> file_;
  std::vector<char> block_ = std::vector<char>(std::size_t{64} << 10U);
  std::size_t at_ = 0;
  std::size_t have_ = 0;
  std::string line_;
  std::size_t begins_ = 0;
  std::size_t number_ = 0;
  bool has_refused_ = false;
};

/// A line is not what it should be: where it was cut, the reader leaves it out.
struct BadLine {};

/// The members of a line, which must outlive them. All throw BadLine.
class Members {
 public:
  explicit Members(std::string_view line) {
    auto members = json_members(line, kMostMembers, kLineLimits);
    if (!members) throw BadLine();
    members_ = *std::move(members);
  }

  /// The JSON of a value.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const noexcept {
    for (const auto& [key, value] : members_)
      if (key == name) return value;
    return std::nullopt;
  }
  [[nodiscard]] std::optional<std::string> text(std::string_view name) const {
    return std::optional<std::string>(find(name));
  }
  template <class T>
  [[nodiscard]] T get(std::string_view name) const {
    const auto text = find(name);
    if (!text) throw BadLine();
    auto value = from_json<T>(*text);
    if (!value) throw BadLine();
    return *std::move(value);
  }
  template <class T>
  [[nodiscard]] T get_or(std::string_view name, T otherwise) const {
    return find(name) ? get<T>(name) : otherwise;
  }
  [[nodiscard]] std::chrono::nanoseconds seconds(std::string_view name) const {
    const auto given = get<double>(name);
    if (!(std::abs(given) <= kMostSeconds)) throw BadLine();  // NaN, too
    return std::chrono::nanoseconds(std::llround(given * 1e9));
  }
  [[nodiscard]] Code code(std::string_view name) const {
    const auto given = get<std::string>(name);
    for (std::uint16_t each = 0; each <= kLastCode; ++each)
      if (given == mf::name(static_cast<Code>(each))) return static_cast<Code>(each);
    throw BadLine();
  }
  [[nodiscard]] std::shared_ptr<const RecordedDescription> description(std::string_view name) const {
    return std::make_shared<const RecordedDescription>(RecordedDescription{
        get<std::string>(name), get<std::string>("descriptor"), get<std::string>("annex")});
  }

 private:
  JsonMembers members_;
};

/// The first line, which says what the file is.
Members head_of(Lines& lines, std::string_view key, std::string_view made_by) {
  std::uint32_t form = 0;
  try {
    static_cast<void>(lines.next());
    Members head(lines.line());
    form = head.get<std::uint32_t>(key);
    if (form == kForm) return head;
  } catch (const BadLine&) {
    refuse_file("'" + lines.path() + "' is no recording of `" + std::string(made_by) + "`");
  }
  refuse_file("'" + lines.path() + "' is a recording of version " + std::to_string(form) +
              ", and this reads version 1");
}

/// What `read` makes of the next line of which it makes something; nothing: there are no more.
template <class Read>
auto next_of(Lines& lines, std::string_view what, const Read& read) -> decltype(read(lines.line())) {
  while (lines.next()) {
    try {
      if (auto found = read(lines.line())) return found;
    } catch (const BadLine&) {
      if (lines.is_cut()) return std::nullopt;
      lines.refuse("is no " + std::string(what));
    }
  }
  return std::nullopt;
}

/// By the schema of the test, which is read once for each service.
std::shared_ptr<const described::Schema> schema_of(const ServiceInfo& service) {
  static std::mutex& mutex = *new std::mutex;  // threads may outlive statics
  static auto& known = *new std::map<const ServiceInfo*, std::shared_ptr<const described::Schema>>;
  const std::scoped_lock lock(mutex);
  auto& found = known[&service];
  if (!found) {
    auto read = described::Schema::read(descriptor_of(service), annex_of(service));
    found = std::make_shared<const described::Schema>(std::move(read.value()));
  }
  return found;
}

/// The place of a fault, as Python says it: behind what the value is of.
codec::DecodeError within(std::string_view root, codec::DecodeError error) {
  const bool follows = error.path.empty() || error.path.starts_with('[') || root.empty();
  error.path = std::string(root) + (follows ? "" : ".") + error.path;
  return error;
}

void check_method(const RecordedCall& call, const ServiceInfo& service, const MethodInfo& method) {
  if (call.service != service.name || call.method != method.name) {
    refuse_file("'" + call.path + "': line " + std::to_string(call.line) + ": it is a call of " +
                shown(call.service) + "." + shown(call.method) + ", not of " + std::string(service.name) +
                "." + std::string(method.name));
  }
}

}  // namespace

// ---- calls

class RecordedCalls::State {
 public:
  State(std::string path, std::initializer_list<std::reference_wrapper<const ServiceInfo>> services)
      : lines_(std::move(path)), services_(services.begin(), services.end()) {
    static_cast<void>(head_of(lines_, "mf_calls", "mf record --calls"));
  }

  std::optional<RecordedCall> next() {
    if (lines_.has_refused()) return std::nullopt;  // nor the calls that wait
    while (!ended_ && waiting_.size() <= kWindow && held_ <= kMostWaiting) {
      auto call = next_of(lines_, "call", [this](std::string_view line) { return read(line); });
      if (!call) {
        ended_ = true;
        break;
      }
      held_ += call->size;
      waiting_.push_back(*std::move(call));
      std::push_heap(waiting_.begin(), waiting_.end(), began_later);
    }
    if (waiting_.empty()) return std::nullopt;
    std::pop_heap(waiting_.begin(), waiting_.end(), began_later);
    auto first = std::move(waiting_.back());
    waiting_.pop_back();
    held_ -= first.size;
    return std::move(first.call);
  }

 private:
  struct Waiting {
    RecordedCall call;
    std::size_t size = 0;  // of its line
  };

  static bool began_later(const Waiting& one, const Waiting& other) noexcept {
    return std::pair(one.call.began, one.call.line) > std::pair(other.call.began, other.call.line);
  }

  /// Nothing: it is no call of these services.
  std::optional<Waiting> read(std::string_view line) {
    const Members given(line);
    if (given.find("descriptor")) {
      if (descriptions_.size() == kMostDescriptions) lines_.refuse("is beyond 1,000 descriptions");
      descriptions_.insert_or_assign(given.get<std::uint32_t>("of"), given.description("service"));
      return std::nullopt;
    }
    Waiting made{.call = call_of(given), .size = line.size()};
    const auto service = std::ranges::find_if(
        services_, [&](const ServiceInfo& each) { return each.name == made.call.service; });
    if (service == services_.end()) return std::nullopt;
    if (std::ranges::find(service->get().methods, made.call.method) == service->get().methods.end())
      lines_.refuse_content(made.call.service + " has no method " + shown(made.call.method));
    return made;
  }

  [[nodiscard]] RecordedCall call_of(const Members& given) const {
    RecordedCall call{.path = lines_.path(),
                      .line = lines_.number(),
                      .began = given.seconds("t"),
                      .took = given.seconds("took"),
                      .service = given.get<std::string>("service"),
                      .method = given.get<std::string>("method"),
                      .agent = given.get<std::string>("agent"),
                      .code = given.code("code"),
                      .error = given.get_or<std::string>("error", {}),
                      .stream = given.get_or("stream", false),
                      .arguments = given.text("arguments"),
                      .value = given.text("result"),
                      .description = nullptr};
    if (given.find("of")) {
      const auto found = descriptions_.find(given.get<std::uint32_t>("of"));
      if (found == descriptions_.end()) throw BadLine();
      call.description = found->second;
    }
    return call;
  }

  Lines lines_;
  const std::vector<std::reference_wrapper<const ServiceInfo>> services_;
  std::map<std::uint32_t, std::shared_ptr<const RecordedDescription>> descriptions_;
  std::vector<Waiting> waiting_;
  std::size_t held_ = 0;
  bool ended_ = false;
};

RecordedCalls::RecordedCalls(std::string path,
                             std::initializer_list<std::reference_wrapper<const ServiceInfo>> services)
    : state_(std::make_unique<State>(std::move(path), services)) {}
RecordedCalls::~RecordedCalls() = default;
RecordedCalls::RecordedCalls(RecordedCalls&& other) noexcept = default;
RecordedCalls& RecordedCalls::operator=(RecordedCalls&& other) noexcept = default;

std::optional<RecordedCall> RecordedCalls::next() {
  return state_->next();
}

namespace detail {

std::vector<std::byte> request_bytes(const RecordedCall& call, const ServiceInfo& service,
                                     const MethodInfo& method) {
  check_method(call, service, method);
  const auto schema = schema_of(service);
  auto bytes = described::from_json(*schema, schema->methods()[method.index].params, *call.arguments);
  if (!bytes) refuse_value(call, within(method.name, bytes.error()));
  return *std::move(bytes);
}

std::vector<std::byte> result_bytes(const RecordedCall& call, const ServiceInfo& service,
                                    const MethodInfo& method) {
  check_method(call, service, method);
  const auto schema = schema_of(service);
  const auto results = schema->methods()[method.index].results;
  const auto fields = schema->fields(schema->type(results));
  if (fields.size() != 1) {
    auto bytes = described::from_json(*schema, results, *call.value);
    if (!bytes) refuse_value(call, within("results", bytes.error()));
    return *std::move(bytes);
  }
  // The recording has the bare value: it becomes the only field of the results, one level deeper.
  const auto& type = schema->type(fields.front().type);
  const auto name = fields.front().name;
  const std::string before = "{\"" + std::string(name) + "\":";
  const bool absent = *call.value == "null" && type.kind == described::Kind::optional;
  auto bytes = described::from_json(*schema, results, absent ? "{}" : before + *call.value + "}",
                                    {.depth = codec::Limits{}.depth + 1});
  if (!bytes) {
    auto error = bytes.error();
    error.offset -= std::min(error.offset, before.size());
    if (error.path.starts_with(name)) error.path.erase(0, name.size());
    if (error.path.starts_with('.')) error.path.erase(0, 1);
    const bool named = type.kind == described::Kind::structure || type.kind == described::Kind::alternatives;
    refuse_value(call, within(named ? type.short_name : std::string_view(), std::move(error)));
  }
  return *std::move(bytes);
}

void refuse_value(const RecordedCall& call, const codec::DecodeError& error) {
  refuse_text(call.path, call.line, error);
}

// ---- messages

class MessageLines::State {
 public:
  explicit State(std::string path) : lines(std::move(path)) {
    const auto head = head_of(lines, "mf_recording", "mf record");
    try {
      description = *head.description("topic");
    } catch (const BadLine&) {
      refuse_file("'" + lines.path() + "' is no recording of `mf record`");
    }
  }

  Lines lines;
  RecordedDescription description;
};

MessageLines::MessageLines(std::string path) : state_(std::make_unique<State>(std::move(path))) {}
MessageLines::~MessageLines() = default;
MessageLines::MessageLines(MessageLines&& other) noexcept = default;
MessageLines& MessageLines::operator=(MessageLines&& other) noexcept = default;

std::optional<RecordedMessage<std::string>> MessageLines::next() {
  return next_of(state_->lines, "message",
                 [](std::string_view line) -> std::optional<RecordedMessage<std::string>> {
                   const Members given(line);
                   auto value = given.text("value");
                   if (!value) throw BadLine();
                   return RecordedMessage<std::string>{given.seconds("t"), given.get<std::string>("agent"),
                                                       *std::move(value)};
                 });
}

void MessageLines::refuse(const codec::DecodeError& error) {
  state_->lines.refuse_value(error);
}

const RecordedDescription& MessageLines::description() const noexcept {
  return state_->description;
}

}  // namespace detail
}  // namespace mf::testing
