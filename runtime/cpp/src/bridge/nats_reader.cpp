#ifdef MF_BRIDGE_NATS
#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>

#include "bridge/nats.hpp"

namespace mf::bridge::nats {
namespace {

// A reader acknowledges late (docs/bridge.md), so NATS must not send again what it has sent.
constexpr std::int64_t kAckWait = std::int64_t{24} * 3'600 * 1'000'000'000;
constexpr std::int64_t kAckTimeout = 2'000;
// For how long NATS is asked for messages at once, and for how many bytes: the largest message fits.
constexpr std::chrono::milliseconds kPull{1'000};
constexpr std::size_t kMostBytes = std::size_t{72} << 20U;

std::uint64_t acknowledged(const ConsumerInfo& info) {
  return info ? info->AckFloor.Stream : 0;
}

/// A durable name has no dots, spaces and wildcards.
std::string durable(const std::string& name, std::string_view slot) {
  std::string made;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    made += plain ? c : '_';
  }
  return made.append(slot);
}

}  // namespace

NatsReader::NatsReader(std::unique_ptr<Session> session, const std::string& name)
    : session_(std::move(session)), names_(durable(name, "_a"), durable(name, "_b")) {
  open();
  read_ = acknowledged(look(consumer_));
}

ConsumerInfo NatsReader::look(const std::string& consumer) const {
  jsConsumerInfo* info = nullptr;
  jsErrCode code{};
  const auto status = js_GetConsumerInfo(&info, session_->jetstream(), session_->options().stream.c_str(),
                                         consumer.c_str(), nullptr, &code);
  ConsumerInfo held(info);
  if (status == NATS_OK || code == JSConsumerNotFoundErr) return held;
  if (code == JSStreamNotFoundErr)
    throw unusable("NATS has no stream " + session_->options().stream + " any more");
  throw away("consumer " + consumer + " of NATS", status);
}

void NatsReader::open() {
  const auto a = look(names_.first);
  const auto b = look(names_.second);
  const auto from = std::max(acknowledged(a), acknowledged(b)) + 1;
  const bool use_b = a && (!b || acknowledged(a) >= acknowledged(b));
  const auto& made = use_b ? names_.second : names_.first;
  const auto& other = use_b ? names_.first : names_.second;
  delivered_.clear();
  consumer_read_ = 0;
  consumer_.clear();
  remove(made);  // what a reader left that ended while it began
  make(made, from);
  remove(other);
  listen();
  consumer_ = made;
}

void NatsReader::make(const std::string& consumer, std::uint64_t from) {
  const auto& options = session_->options();
  jsConsumerConfig config;
  (void)jsConsumerConfig_Init(&config);
  config.Durable = consumer.c_str();
  config.DeliverPolicy = js_DeliverByStartSequence;
  config.OptStartSeq = from;
  config.AckPolicy = js_AckAll;
  config.AckWait = kAckWait;
  config.MaxAckPending = -1;
  config.FilterSubject = options.subject.c_str();
  jsConsumerInfo* info = nullptr;
  jsErrCode code{};
  const auto status =
      js_AddConsumer(&info, session_->jetstream(), options.stream.c_str(), &config, nullptr, &code);
  const ConsumerInfo held(info);
  if (status != NATS_OK && code != 0)
    throw unusable("stream " + options.stream + ": " + nats_GetLastError(nullptr));
  if (status != NATS_OK) throw away("consumer " + consumer + " of NATS", status);
}

void NatsReader::listen() {
  natsInbox* inbox = nullptr;
  if (const auto status = natsInbox_Create(&inbox); status != NATS_OK) throw away("NATS", status);
  inbox_ = inbox;
  natsInbox_Destroy(inbox);
  natsSubscription* made = nullptr;
  const auto status = natsConnection_SubscribeSync(&made, session_->connection(), inbox_.c_str());
  if (status != NATS_OK) throw away("NATS", status);
  subscription_.reset(made);
  (void)natsSubscription_SetPendingLimits(made, -1, -1);  // what is asked for at once is the bound
  awaited_ = 0;
}

void NatsReader::remove(const std::string& consumer) const {
  jsErrCode code{};
  const auto status = js_DeleteConsumer(session_->jetstream(), session_->options().stream.c_str(),
                                        consumer.c_str(), nullptr, &code);
  if (status != NATS_OK && code != JSConsumerNotFoundErr)
    throw away("consumer " + consumer + " of NATS", status);
}

std::vector<Reader::Read> NatsReader::read(std::size_t most, TimePoint until) {
  std::vector<Read> records;
  if (session_->closed()) {
    subscription_.reset();
    consumer_.clear();
    session_->renew();
  }
  if (consumer_.empty()) open();  // it did not come to that, or something was lost
  if (awaited_ == 0 || mf::now() >= awaited_until_) ask(most);
  while (records.size() < most && next(records, until)) {
    if (consumer_.empty()) return records;
  }
  if (records.empty()) look_after();
  return records;
}

/// For so many more messages. NATS says when it sends no more of them.
void NatsReader::ask(std::size_t most) {
  const auto& options = session_->options();
  const auto subject = "$JS.API.CONSUMER.MSG.NEXT." + options.stream + "." + consumer_;
  const auto what = "{\"batch\":" + std::to_string(most) + ",\"max_bytes\":" + std::to_string(kMostBytes) +
                    ",\"expires\":" + std::to_string(std::chrono::nanoseconds(kPull).count()) + "}";
  const auto status = natsConnection_PublishRequestString(session_->connection(), subject.c_str(),
                                                          inbox_.c_str(), what.c_str());
  if (status != NATS_OK) throw away("stream " + options.stream, status);
  awaited_ = most;
  awaited_until_ = mf::now() + 2 * kPull;
}

/// Takes one more message if it comes until then, and waits for none behind the first record.
bool NatsReader::next(std::vector<Read>& records, TimePoint until) {
  using std::chrono::milliseconds;
  const auto left = std::chrono::duration_cast<milliseconds>(until - mf::now()).count();
  natsMsg* message = nullptr;
  const auto status = natsSubscription_NextMsg(&message, subscription_.get(),
                                               records.empty() ? std::max<std::int64_t>(left, 0) : 0);
  const Message held(message);
  if (status == NATS_TIMEOUT) return false;
  if (status != NATS_OK) throw away("stream " + session_->options().stream, status);
  const char* said = nullptr;
  if (natsMsg_GetDataLength(message) == 0 && natsMsgHeader_Get(message, "Status", &said) == NATS_OK) {
    awaited_ = 0;  // it sends no more
    return false;
  }
  if (awaited_ != 0) --awaited_;
  if (!take(message, records)) consumer_.clear();  // what NATS sent was lost on its way
  return true;
}

/// False: something is missing before it.
bool NatsReader::take(natsMsg* message, std::vector<Read>& into) {
  jsMsgMetaData* made = nullptr;
  if (natsMsg_GetMetaData(&made, message) != NATS_OK) return true;  // it is none of the stream
  const Held<jsMsgMetaData, jsMsgMetaData_Destroy> about(made);
  if (about->Sequence.Consumer != consumer_read_ + 1) return false;
  consumer_read_ = about->Sequence.Consumer;
  const auto stream = about->Sequence.Stream;
  delivered_.push_back({.stream = stream, .reply = natsMsg_GetReply(message)});
  if (stream <= read_) return true;  // it was returned before
  read_ = stream;
  auto& read = into.emplace_back();
  read.offset = static_cast<std::int64_t>(stream);
  const auto fault = read_headers(
      [&](std::string_view name) -> std::optional<std::string_view> {
        const char* value = nullptr;
        if (natsMsgHeader_Get(message, name.data(), &value) != NATS_OK) return std::nullopt;
        return value;
      },
      read.record);
  read.fault = fault.value_or("");
  read.record.payload = Bytes(std::as_bytes(
      std::span(natsMsg_GetData(message), static_cast<std::size_t>(natsMsg_GetDataLength(message)))));
  return true;
}

/// Nothing has come: is the consumer still ours, and was nothing lost behind the last that has come?
void NatsReader::look_after() {
  if (!session_->connected())
    throw away("NATS at " + session_->where() + " is away", NATS_CONNECTION_DISCONNECTED);
  const auto reconnects = session_->reconnects();
  if (reconnects != std::exchange(reconnects_, reconnects)) {
    awaited_ = 0;  // it was another connection that asked
  } else if (mf::now() < looked_at_ + kPull) {
    return;
  }
  looked_at_ = mf::now();
  const auto info = look(consumer_);
  if (!info) {
    const auto& other = consumer_ == names_.first ? names_.second : names_.first;
    if (look(other))
      throw unusable("another bridge reads stream " + session_->options().stream +
                     " under the same name: it has removed the consumer " + consumer_);
    throw unusable("the consumer " + consumer_ + " of NATS was removed");
  }
  if (info->Delivered.Consumer != consumer_read_) consumer_.clear();
}

void NatsReader::keep(const Offsets& read) {
  const auto found = read.find(0);
  if (found == read.end()) return;
  std::string reply;
  std::size_t count = 0;
  for (const auto& each : delivered_) {
    if (each.stream > static_cast<std::uint64_t>(found->second)) break;
    reply = each.reply;
    ++count;
  }
  if (count == 0) return;
  natsMsg* answer = nullptr;
  const auto status =
      natsConnection_RequestString(&answer, session_->connection(), reply.c_str(), "+ACK", kAckTimeout);
  const Message held(answer);
  if (status != NATS_OK) throw away("NATS keeps no offset", status);
  delivered_.erase(delivered_.begin(), delivered_.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace mf::bridge::nats

namespace mf::bridge {
namespace {

class NatsEngine final : public Engine {
 public:
  explicit NatsEngine(EngineOptions options) : options_(std::move(options)) {}
  [[nodiscard]] std::unique_ptr<Writer> writer() override {
    return std::make_unique<nats::NatsWriter>(session());
  }
  [[nodiscard]] std::unique_ptr<Reader> reader(const std::string& name) override {
    return std::make_unique<nats::NatsReader>(session(), name);
  }

 private:
  [[nodiscard]] std::unique_ptr<nats::Session> session() const {
    auto session = std::make_unique<nats::Session>(options_);
    session->need_stream();
    return session;
  }
  const EngineOptions options_;
};

}  // namespace

std::unique_ptr<Engine> open_nats(const EngineOptions& options) {
  return std::make_unique<NatsEngine>(options);
}

}  // namespace mf::bridge
#endif
