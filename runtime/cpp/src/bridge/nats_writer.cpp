#ifdef MF_BRIDGE_NATS
#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <charconv>
#include <system_error>
#include <vector>

#include "bridge/nats.hpp"

// How order holds. Each record but the first of a sending says which one has to be the last in the stream
// ("Nats-Expected-Last-Msg-Id"), so that none gets in front of one that was refused or lost. The first one
// says nothing: it is the oldest that NATS has not acknowledged. NATS recognises by its Nats-Msg-Id a record
// that it has already, and acknowledges it again. If others publish into the same stream, more records are
// sent once more, and the order still holds.

namespace mf::bridge::nats {
namespace {

constexpr std::int64_t kSlice = 100;  // ms for which an answer is awaited before the connection is looked at

struct Answer {
  bool come = false;
  bool kept = false;
  std::int64_t code = 0;
  std::string why{};
};

Answer read_answer(natsMsg* message, const EngineOptions& options) {
  const std::string_view text(natsMsg_GetData(message),
                              static_cast<std::size_t>(natsMsg_GetDataLength(message)));
  boost::system::error_code failed;
  const auto value = boost::json::parse(text, failed);
  const auto* const object = failed ? nullptr : value.if_object();
  if (object == nullptr) return {.come = true, .why = "NATS answered what is no JSON"};
  const auto* const error = object->if_contains("error");
  if (error == nullptr || !error->is_object()) return {.come = true, .kept = true};
  Answer answer{.come = true};
  if (const auto* const code = error->get_object().if_contains("err_code"))
    answer.code = code->to_number<std::int64_t>(failed);
  if (const auto* const why = error->get_object().if_contains("description"); why && why->is_string())
    answer.why = "stream " + options.stream + ": " + std::string(why->get_string());
  return answer;
}

}  // namespace

NatsWriter::NatsWriter(std::unique_ptr<Session> session) : session_(std::move(session)) {
  listen();
}

void NatsWriter::listen() {
  natsInbox* inbox = nullptr;
  if (const auto status = natsInbox_Create(&inbox); status != NATS_OK) throw away("NATS", status);
  inbox_ = inbox;
  natsInbox_Destroy(inbox);
  natsSubscription* answers = nullptr;
  const auto status =
      natsConnection_SubscribeSync(&answers, session_->connection(), (inbox_ + ".*.*").c_str());
  if (status != NATS_OK) throw away("NATS", status);
  answers_.reset(answers);
}

std::size_t NatsWriter::append(std::span<const Record> records, TimePoint until, Refusal& refusal) {
  std::size_t done = 0;
  while (done < records.size()) {
    refusal = {};
    const auto went = send(records.subspan(done), until, refusal);
    done += went;
    // Behind a record that others have got in front of, it goes on with that one as the first.
    if (done < records.size() && (went == 0 || !again_)) break;
  }
  return done;
}

std::size_t NatsWriter::send(std::span<const Record> records, TimePoint until, Refusal& refusal) {
  again_ = false;
  if (session_->closed()) {
    try {
      answers_.reset();
      session_->renew();
      listen();
    } catch (const Error& error) {
      refusal.why = error.message();
      return 0;
    }
  }
  if (!session_->connected()) {
    refusal.why = "NATS at " + session_->where() + " is away";
    return 0;
  }
  const auto reconnects = session_->reconnects();
  ++sending_;
  std::string before;
  std::size_t sent = 0;
  for (; sent < records.size(); ++sent) {
    auto id = id_of(records[sent]);
    const auto status = publish(records[sent], id, before, sent);
    before = std::move(id);
    if (status == NATS_OK) continue;
    refusal.why = "message " + before + ": " + natsStatus_GetText(status);
    refusal.for_good = status == NATS_MAX_PAYLOAD;
    break;
  }
  std::vector<Answer> answers(sent);
  auto last = NATS_OK;
  for (std::size_t missing = sent; missing != 0;) {
    natsMsg* message = nullptr;
    const auto status = last = natsSubscription_NextMsg(&message, answers_.get(), kSlice);
    const Message held(message);
    if (status == NATS_OK) {
      const auto which = number_of(message);
      if (which >= sent || answers[which].come) continue;
      answers[which] = read_answer(message, session_->options());
      --missing;
    } else if (status == NATS_NO_RESPONDERS || mf::now() >= until || !session_->connected() ||
               session_->reconnects() != reconnects) {
      break;
    }
  }
  std::size_t kept = 0;
  while (kept < sent && answers[kept].kept) ++kept;
  if (kept == sent) {
    if (sent != 0) again_ = refusal.for_good;  // the one that was refused is then the first
    return kept;
  }
  const auto& first = answers[kept];
  again_ = first.code == JSStreamWrongLastMsgIDErr;
  refusal.for_good = first.code == JSStreamMessageExceedsMaximumErr;
  refusal.why = first.come ? first.why : "NATS at " + session_->where() + " does not answer";
  if (!first.come && last == NATS_NO_RESPONDERS)
    refusal.why = "no stream of NATS takes the subject " + session_->options().subject;
  return kept;
}

natsStatus NatsWriter::publish(const Record& record, const std::string& id, const std::string& before,
                               std::size_t number) {
  const auto& options = session_->options();
  const auto payload = record.payload.text();
  const auto reply = inbox_ + "." + std::to_string(sending_) + "." + std::to_string(number);
  natsMsg* made = nullptr;
  auto status = natsMsg_Create(&made, options.subject.c_str(), reply.c_str(), payload.data(),
                               static_cast<int>(payload.size()));
  const Message message(made);
  const auto set = [&](const char* key, const std::string& value) {
    if (status == NATS_OK) status = natsMsgHeader_Set(made, key, value.c_str());
  };
  const auto headers = headers_of(record);
  for (std::size_t i = 0; i < headers.size(); ++i) set(kHeaders[i].data(), headers[i]);
  set("Nats-Msg-Id", id);
  set("Nats-Expected-Stream", options.stream);
  if (!before.empty()) set("Nats-Expected-Last-Msg-Id", before);
  return status == NATS_OK ? natsConnection_PublishMsg(session_->connection(), made) : status;
}

/// Of the record that it answers; one that there is not, if it answers an earlier sending.
std::size_t NatsWriter::number_of(natsMsg* message) const {
  constexpr auto kNone = static_cast<std::size_t>(-1);
  const auto start = inbox_ + "." + std::to_string(sending_) + ".";
  const std::string_view subject = natsMsg_GetSubject(message);
  if (!subject.starts_with(start)) return kNone;
  std::size_t number = kNone;
  std::from_chars(subject.data() + start.size(), subject.data() + subject.size(), number);
  return number;
}

}  // namespace mf::bridge::nats
#endif
