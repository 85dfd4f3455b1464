#include "http/problem.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <boost/json/string_view.hpp>

#include "mf/core/failure.hpp"
#include "mf/core/text.hpp"
#include "mf/relay/relay.hpp"

namespace mf::http {
namespace {

unsigned status_of_code(Code code) noexcept {
  switch (code) {
    case Code::ok:
      return 200;
    case Code::declared:
      return 422;
    case Code::invalid_argument:
    case Code::decode_error:
      return 400;
    case Code::unauthenticated:
      return 401;
    case Code::permission_denied:
      return 403;
    case Code::unknown_service:
    case Code::unknown_agent:
    case Code::unknown_method:
      return 404;
    case Code::message_too_large:
      return 413;
    case Code::overloaded:
      return 429;
    case Code::schema_mismatch:
    case Code::connection_lost:
    case Code::protocol_error:
      return 502;
    case Code::unavailable:
    case Code::shutting_down:
    case Code::cancelled:
      return 503;
    case Code::deadline_exceeded:
      return 504;
    case Code::handler_failed:
    case Code::internal:
      break;
  }
  return 500;
}

}  // namespace

unsigned status_of(const Problem& problem) noexcept {
  return problem.status != 0 ? problem.status : status_of_code(problem.code);
}

std::string_view words_of(unsigned status) noexcept {
  switch (status) {
    case 200:
      return "OK";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Content";
    case 426:
      return "Upgrade Required";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Internal Server Error";
  }
}

void append_string(std::string& to, std::string_view text) {
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
  if (std::ranges::all_of(text, is_plain)) {
    to.append("\"").append(text).append("\"");
    return;
  }
  const auto plain = is_utf8(text) ? std::string(text) : with_marks(text);
  to += boost::json::serialize(boost::json::string_view(plain));
}

std::string json_of(const Problem& problem) {
  const auto status = status_of(problem);
  std::string json = R"({"type":"urn:mfidl:)";
  json.append(name(problem.code)).append(R"(","title":)");
  append_string(json, words_of(status));
  json.append(R"(,"status":)").append(std::to_string(status)).append(R"(,"detail":)");
  append_string(json, problem.detail);
  json.append(R"(,"code":")").append(name(problem.code)).append(R"(","execution":")");
  json.append(name(problem.execution)).append("\"");
  if (!problem.error.empty()) {
    json += R"(,"error":)";
    append_string(json, problem.error);
    json.append(R"(,"fields":)").append(problem.fields);
  }
  return json += "}";
}

Problem refusal(Code code, std::string detail) {
  return {.code = code, .detail = std::move(detail)};
}

Problem problem_of(const Failure& failure) {
  return {.code = failure.code, .execution = failure.execution, .detail = failure.message};
}

Problem said_to_clients(Problem problem) {
  if (!problem.detail.empty()) problem.detail = relay::Relay::words(problem.detail);
  return problem;
}

Failure failure_of(const Problem& problem) {
  return make_failure(problem.code == Code::declared ? Code::handler_failed : problem.code, problem.execution,
                      problem.detail);
}

}  // namespace mf::http
