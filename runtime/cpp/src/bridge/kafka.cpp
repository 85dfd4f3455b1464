// Kafka as an engine: a topic of Kafka keeps the records, and a consumer group how far each reader has come.
//
// Records of one publisher and agent have one key, so they are in one partition, in order. The producer is
// idempotent, so that what it sends again is kept once and in order; a bridge that was started anew may
// append what is there already, and readers drop that (outward.hpp).
#ifdef MF_BRIDGE_KAFKA
#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <utility>

#include "mf/bridge/engine.hpp"
#include "mf/core/error.hpp"

namespace mf::bridge {
namespace {

constexpr int kRequest = 5'000;  // ms
constexpr int kSlice = 100;      // ms between two looks at whether it is time to give up

template <auto Destroy>
struct Destroyer {
  template <class T>
  void operator()(T* held) const noexcept {
    Destroy(held);
  }
};
template <class T, auto Destroy>
using Held = std::unique_ptr<T, Destroyer<Destroy>>;
using Client = Held<rd_kafka_t, rd_kafka_destroy>;
using Partitions = Held<rd_kafka_topic_partition_list_t, rd_kafka_topic_partition_list_destroy>;
using Message = Held<rd_kafka_message_t, rd_kafka_message_destroy>;

Error away(const std::string& what, rd_kafka_resp_err_t error) {
  return {Code::unavailable, Execution::unknown, what + ": " + rd_kafka_err2str(error)};
}
Error unusable(const std::string& why) {
  return {Code::invalid_argument, Execution::not_executed, why};
}

std::string servers_of(const std::string& url) {
  std::string servers;
  std::string_view rest = url;
  while (!rest.empty()) {
    const auto end = rest.find(',');
    auto each = rest.substr(0, end);
    if (each.starts_with("kafka://")) each.remove_prefix(8);
    servers.append(servers.empty() ? "" : ",").append(each);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return servers;
}

/// The state of the connections to the brokers, as all callbacks note it.
struct Standing {
  std::atomic<bool> all_down{false};
  std::atomic<bool> refused{false};  // a broker has refused the credentials
  /// Keeps why brokers refuse this client: what TLS or SASL says.
  void note(int error, const char* words) {
    if (error != RD_KAFKA_RESP_ERR__AUTHENTICATION && error != RD_KAFKA_RESP_ERR__SSL) return;
    if (error == RD_KAFKA_RESP_ERR__AUTHENTICATION) refused = true;
    const std::scoped_lock lock(mutex_);
    why_ = words;
  }
  /// A broker has accepted this client: earlier refusals do not matter any more.
  void forget() {
    all_down = refused = false;
    const std::scoped_lock lock(mutex_);
    why_.clear();
  }
  /// What is added to the message of a failure: ": " and the reason, or nothing.
  [[nodiscard]] std::string why() const {
    const std::scoped_lock lock(mutex_);
    return why_.empty() ? "" : ": " + why_;
  }

 private:
  mutable std::mutex mutex_;
  std::string why_;
};

using Settings = std::vector<std::pair<std::string, std::string>>;

Client open_client(rd_kafka_type_t type, const EngineOptions& options, Settings settings, Standing& standing,
                   void (*delivered)(rd_kafka_t*, const rd_kafka_message_t*, void*) = nullptr) {
  auto* const config = rd_kafka_conf_new();
  settings.insert(settings.begin(), {"bootstrap.servers", servers_of(options.url)});
  settings.insert(settings.end(), options.settings.begin(), options.settings.end());
  std::array<char, 512> why{};
  for (const auto& [key, value] : settings) {
    if (rd_kafka_conf_set(config, key.c_str(), value.c_str(), why.data(), why.size()) == RD_KAFKA_CONF_OK)
      continue;
    rd_kafka_conf_destroy(config);
    throw unusable("Kafka: " + std::string(why.data()));
  }
  rd_kafka_conf_set_opaque(config, &standing);
  rd_kafka_conf_set_log_cb(config, [](const rd_kafka_t*, int, const char*, const char*) {});
  rd_kafka_conf_set_error_cb(config, [](rd_kafka_t*, int error, const char* words, void* opaque) {
    auto& standing = *static_cast<Standing*>(opaque);
    if (error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) standing.all_down = true;
    standing.note(error, words);
  });
  if (delivered != nullptr) rd_kafka_conf_set_dr_msg_cb(config, delivered);
  Client client(rd_kafka_new(type, config, why.data(), why.size()));
  if (!client) {
    rd_kafka_conf_destroy(config);
    throw unusable("Kafka: " + std::string(why.data()));
  }
  return client;
}

/// Throws what Engine::writer() may.
void need_topic(rd_kafka_t* client, const EngineOptions& options, const Standing& standing) {
  Held<rd_kafka_topic_t, rd_kafka_topic_destroy> topic(
      rd_kafka_topic_new(client, options.stream.c_str(), nullptr));
  const rd_kafka_metadata_t* made = nullptr;
  const auto error = rd_kafka_metadata(client, 0, topic.get(), &made, kRequest);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    (void)rd_kafka_poll(client, 0);  // runs the callbacks with the errors of brokers
    auto failed = away("Kafka at " + shown_url(options.url) + " does not answer", error);
    if (standing.refused) throw unusable(failed.message() + standing.why());
    throw Error(failed.code(), failed.execution(), failed.message() + standing.why());
  }
  const Held<const rd_kafka_metadata_t, rd_kafka_metadata_destroy> metadata(made);
  const auto found = made->topic_cnt == 1 ? made->topics[0].err : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
  if (found == RD_KAFKA_RESP_ERR_NO_ERROR) return;
  if (found != RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
    throw away("topic " + options.stream + " of Kafka", found);
  if (!options.create) throw unusable("Kafka has no topic " + options.stream + ": make it, or say --create");
  std::array<char, 512> why{};
  auto* topics = rd_kafka_NewTopic_new(options.stream.c_str(), -1, -1, why.data(), why.size());
  if (topics == nullptr) throw unusable("Kafka: " + std::string(why.data()));
  const Held<rd_kafka_NewTopic_t, rd_kafka_NewTopic_destroy> wanted(topics);
  const Held<rd_kafka_queue_t, rd_kafka_queue_destroy> answers(rd_kafka_queue_new(client));
  rd_kafka_CreateTopics(client, &topics, 1, nullptr, answers.get());
  const Held<rd_kafka_event_t, rd_kafka_event_destroy> answer(rd_kafka_queue_poll(answers.get(), kRequest));
  if (!answer) throw away("Kafka makes no topic " + options.stream, RD_KAFKA_RESP_ERR__TIMED_OUT);
  auto failed = rd_kafka_event_error(answer.get());
  if (failed == RD_KAFKA_RESP_ERR_NO_ERROR) {
    const auto* const result = rd_kafka_event_CreateTopics_result(answer.get());
    std::size_t count = 0;
    const auto* const* const results = rd_kafka_CreateTopics_result_topics(result, &count);
    if (count == 1) failed = rd_kafka_topic_result_error(results[0]);
  }
  if (failed != RD_KAFKA_RESP_ERR_NO_ERROR && failed != RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
    throw away("Kafka makes no topic " + options.stream, failed);
}

class KafkaWriter final : public Writer {
 public:
  explicit KafkaWriter(const EngineOptions& options) : options_(options) {
    open();
    need_topic(client_.get(), options_, standing_);
  }
  ~KafkaWriter() override { close(); }
  KafkaWriter(const KafkaWriter&) = delete;
  KafkaWriter& operator=(const KafkaWriter&) = delete;

  // What was handed to the library stays there until it is kept or refused: the next call begins with the
  // first record that was not appended, and waits on.
  [[nodiscard]] std::size_t append(std::span<const Record> records, TimePoint until,
                                   Refusal& refusal) override {
    refusal = {};
    while (handed_.size() < (alone_ ? 1 : records.size()) && !failed()) {
      if (!hand(records[handed_.size()], refusal)) break;
    }
    while (!answered() && mf::now() < until) (void)rd_kafka_poll(client_.get(), kSlice);
    std::size_t kept = 0;
    while (kept < handed_.size() && handed_[kept]->done && handed_[kept]->error == 0) ++kept;
    if (failed() && answered()) {
      const auto error = handed_[kept]->error;
      refusal.why = rd_kafka_err2str(error);
      refusal.for_good = error == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE && handed_.size() == 1;
      alone_ = true;  // the error does not name the record of a batch that was refused
      open();
      return kept;
    }
    if (kept < handed_.size())
      refusal.why = (standing_.all_down ? "no broker of " + where_ + " answers"
                                        : "Kafka at " + where_ + " has not acknowledged it") +
                    standing_.why();
    handed_.erase(handed_.begin(), handed_.begin() + static_cast<std::ptrdiff_t>(kept));
    if (kept != 0) {
      alone_ = false;
      standing_.forget();
    }
    return kept;
  }

 private:
  struct Handed {
    std::atomic<bool> done{false};
    rd_kafka_resp_err_t error{};
  };

  static void delivered(rd_kafka_t* /*client*/, const rd_kafka_message_t* message, void* /*opaque*/) {
    auto& handed = *static_cast<Handed*>(message->_private);
    handed.error = message->err;
    handed.done = true;
  }

  // A failure may leave later records behind an earlier one, so it ends the producer, and a new one begins
  // with the first record that is not kept. Nothing has a time limit: a record that was given up could come
  // later than those behind it.
  void open() {
    close();
    client_ = open_client(RD_KAFKA_PRODUCER, options_,
                          {{"enable.idempotence", "true"},
                           {"enable.gapless.guarantee", "true"},
                           {"message.timeout.ms", "0"},
                           {"linger.ms", "1"}},
                          standing_, &KafkaWriter::delivered);
  }
  void close() {
    if (!client_) return;
    (void)rd_kafka_purge(client_.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    (void)rd_kafka_flush(client_.get(), kRequest);  // what answers refer to goes afterwards
    client_.reset();
    handed_.clear();
  }

  [[nodiscard]] bool answered() const {
    return std::ranges::all_of(handed_, [](const auto& each) { return each->done.load(); });
  }
  [[nodiscard]] bool failed() const {
    return std::ranges::any_of(handed_, [](const auto& each) { return each->done && each->error != 0; });
  }

  /// False: not now, or not at all.
  [[nodiscard]] bool hand(const Record& record, Refusal& refusal) {
    Held<rd_kafka_headers_t, rd_kafka_headers_destroy> headers(rd_kafka_headers_new(kHeaders.size()));
    const auto values = headers_of(record);
    for (std::size_t i = 0; i < values.size(); ++i)
      (void)rd_kafka_header_add(headers.get(), kHeaders[i].data(), -1, values[i].data(),
                                static_cast<ssize_t>(values[i].size()));
    const auto key = source_of(record);
    const auto payload = record.payload.text();
    auto handed = std::make_unique<Handed>();
    const auto error = rd_kafka_producev(
        client_.get(), RD_KAFKA_V_TOPIC(options_.stream.c_str()), RD_KAFKA_V_KEY(key.data(), key.size()),
        RD_KAFKA_V_VALUE(const_cast<char*>(payload.data()), payload.size()),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_HEADERS(headers.get()),
        RD_KAFKA_V_OPAQUE(handed.get()), RD_KAFKA_V_END);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
      (void)headers.release();  // they are the message's now
      handed_.push_back(std::move(handed));
      return true;
    }
    refusal.why = rd_kafka_err2str(error);
    refusal.for_good = handed_.empty() && error == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE;
    return false;
  }

  const EngineOptions options_;
  const std::string where_ = shown_url(options_.url);
  Standing standing_;
  std::vector<std::unique_ptr<Handed>> handed_;
  bool alone_ = false;  // one record at a time
  Client client_;
};

class KafkaReader final : public Reader {
 public:
  KafkaReader(const EngineOptions& options, const std::string& name)
      : options_(options),
        client_(open_client(RD_KAFKA_CONSUMER, options,
                            {{"group.id", name},
                             {"group.instance.id", name},
                             {"enable.auto.commit", "false"},
                             {"auto.offset.reset", "earliest"},
                             {"session.timeout.ms", "6000"}},
                            standing_)) {
    (void)rd_kafka_poll_set_consumer(client_.get());
    need_topic(client_.get(), options_, standing_);
    const Partitions topics(rd_kafka_topic_partition_list_new(1));
    (void)rd_kafka_topic_partition_list_add(topics.get(), options_.stream.c_str(), RD_KAFKA_PARTITION_UA);
    const auto error = rd_kafka_subscribe(client_.get(), topics.get());
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) throw unusable("Kafka: " + std::string(rd_kafka_err2str(error)));
  }
  ~KafkaReader() override { (void)rd_kafka_consumer_close(client_.get()); }
  KafkaReader(const KafkaReader&) = delete;
  KafkaReader& operator=(const KafkaReader&) = delete;

  [[nodiscard]] std::vector<Read> read(std::size_t most, TimePoint until) override {
    std::vector<Read> records;
    while (records.size() < most) {
      using std::chrono::milliseconds;
      const auto left = std::chrono::duration_cast<milliseconds>(until - mf::now()).count();
      const int wait = records.empty() ? static_cast<int>(std::max<std::int64_t>(left, 0)) : 0;
      const Message message(rd_kafka_consumer_poll(client_.get(), wait));
      if (!message) break;
      if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        take(*message, records);
      } else {
        look(*message);
      }
    }
    if (records.empty() && standing_.all_down.exchange(false))
      throw away("Kafka at " + shown_url(options_.url) + standing_.why(),
                 RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN);
    return records;
  }

  void keep(const Offsets& read) override {
    const Partitions offsets(rd_kafka_topic_partition_list_new(static_cast<int>(read.size())));
    for (const auto& [partition, offset] : read)
      rd_kafka_topic_partition_list_add(offsets.get(), options_.stream.c_str(), partition)->offset =
          offset + 1;
    const auto error = rd_kafka_commit(client_.get(), offsets.get(), 0);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) throw away("Kafka keeps no offset", error);
  }

 private:
  void take(const rd_kafka_message_t& message, std::vector<Read>& into) const {
    auto& read = into.emplace_back();
    read.partition = message.partition;
    read.offset = message.offset;
    rd_kafka_headers_t* headers = nullptr;
    (void)rd_kafka_message_headers(&message, &headers);
    const auto fault = read_headers(
        [&](std::string_view name) -> std::optional<std::string_view> {
          const void* value = nullptr;
          std::size_t size = 0;
          if (headers == nullptr || rd_kafka_header_get_last(headers, name.data(), &value, &size) != 0)
            return std::nullopt;
          return std::string_view(static_cast<const char*>(value), size);
        },
        read.record);
    read.fault = fault.value_or("");
    read.record.payload = Bytes(std::span(static_cast<const std::byte*>(message.payload), message.len));
  }

  /// What is no record: most of it passes.
  void look(const rd_kafka_message_t& message) const {
    if (message.err == RD_KAFKA_RESP_ERR__FATAL || message.err == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID)
      throw unusable("another bridge reads topic " + options_.stream + " of Kafka under the same name");
    if (message.err == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED ||
        message.err == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED)
      throw unusable("Kafka: " + std::string(rd_kafka_message_errstr(&message)));
  }

  const EngineOptions options_;
  Standing standing_;
  const Client client_;
};

class KafkaEngine final : public Engine {
 public:
  explicit KafkaEngine(EngineOptions options) : options_(std::move(options)) {}
  [[nodiscard]] std::unique_ptr<Writer> writer() override { return std::make_unique<KafkaWriter>(options_); }
  [[nodiscard]] std::unique_ptr<Reader> reader(const std::string& name) override {
    return std::make_unique<KafkaReader>(options_, name);
  }

 private:
  const EngineOptions options_;
};

}  // namespace

std::unique_ptr<Engine> open_kafka(const EngineOptions& options) {
  return std::make_unique<KafkaEngine>(options);
}

}  // namespace mf::bridge
#endif
