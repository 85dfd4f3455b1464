// Tokens and their keys; tests/vectors/tokens has the table that Python is held to as well.
#include "mf/tokens/token.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <type_traits>

#include "mf/core/error.hpp"
#include "mf/core/secret.hpp"
#include "mf/tokens/keys.hpp"
#include "support/folder.hpp"

namespace mf {
namespace {

using std::chrono::sys_seconds;
using testing::HasSubstr;
using testing::Not;

const boost::json::object& vectors() {
  static const boost::json::value kRead = [] {
    std::stringstream file;
    file << std::ifstream(std::filesystem::path(MF_SOURCE_DIR) / "tests/vectors/tokens/tokens.json").rdbuf();
    return boost::json::parse(file.str());
  }();
  return kRead.as_object();
}

std::string text(const boost::json::object& of, std::string_view name) {
  return std::string(of.at(name).as_string());
}

std::string bytes(const std::string& hex) {
  std::string all;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    all += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return all;
}

sys_seconds now() {
  return sys_seconds(std::chrono::seconds(vectors().at("now").as_int64()));
}

TokenKeys keys() {
  return TokenKeys::of_pem(text(vectors(), "keys"));
}

TokenSigner signer() {
  return TokenSigner::of_pem(Secret(text(vectors(), "signer")));
}

TokenClaims some_claims() {
  return {.subject = "web-1", .audience = "shop.Orders", .expires = now() + std::chrono::hours(1)};
}

std::string refusal_of(const std::string& path, bool is_public) {
  try {
    if (is_public)
      (void)TokenKeys::read(path);
    else
      (void)TokenSigner::read(path);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
    return error.message();
  }
  return "";
}

TEST(Tokens, AreAcceptedOrRefusedForTheReasonOfTheVectors) {
  const auto known = keys();
  const auto& cases = vectors().at("cases").as_array();
  ASSERT_GE(cases.size(), 80U);
  for (const auto& each : cases) {
    const auto& one = each.as_object();
    const std::string token = bytes(text(one, "hex"));
    const auto verdict = known.verify(token, text(vectors(), "audience"), now());
    const std::string wanted = one.at("fault").is_null() ? "accepted" : text(one, "fault");
    EXPECT_EQ(verdict ? "accepted" : name(verdict.fault), wanted) << text(one, "name");
    EXPECT_EQ(verdict.message.empty(), bool(verdict));
    EXPECT_THAT(verdict.message, Not(HasSubstr("web")));
    if (token.size() > 30) {
      EXPECT_THAT(verdict.message, Not(HasSubstr(token.substr(12, 8))));
    }
  }
}

TEST(Tokens, HaveTheClaimsThatWereSigned) {
  const auto verdict = keys().verify(signer().sign(some_claims()).reveal(), "shop.Orders", now());
  ASSERT_TRUE(verdict) << verdict.message;
  auto wanted = some_claims();
  wanted.key_id = signer().id();
  EXPECT_EQ(*verdict.claims, wanted);
}

TEST(Tokens, KeepEveryClaim) {
  auto claims = some_claims();
  claims.subject = "a \"name\" with \\ and \xc3\xa9";
  claims.not_before = now() - std::chrono::hours(2);
  claims.issued = now() - std::chrono::hours(3);
  claims.issuer = "ops";
  const auto verdict = keys().verify(signer().sign(claims).reveal(), "shop.Orders", now());
  ASSERT_TRUE(verdict) << verdict.message;
  claims.key_id = signer().id();
  EXPECT_EQ(*verdict.claims, claims);
}

TEST(Tokens, AreTheSameAsThoseOfTheOtherLanguage) {
  const auto& plain = vectors().at("cases").as_array().front().as_object();
  EXPECT_EQ(signer().sign(some_claims()).reveal(), bytes(text(plain, "hex")));
}

TEST(Tokens, AreNotSignedForClaimsThatNoServerAccepts) {
  for (const std::string& subject : {std::string(), std::string(256, 's'), std::string("a\nb"),
                                     std::string("\xff"), std::string("a\0b", 3)}) {
    auto claims = some_claims();
    claims.subject = subject;
    EXPECT_THROW((void)signer().sign(claims), Error);
  }
  auto claims = some_claims();
  claims.expires = sys_seconds(std::chrono::sys_days(std::chrono::year(10'000) / 1 / 1));
  EXPECT_THROW((void)signer().sign(claims), Error);
}

TEST(Tokens, ExpireAfterTheSkewAndNoSecondEarlier) {
  const Secret token = signer().sign(some_claims());
  const auto end = some_claims().expires + kTokenSkew;
  EXPECT_TRUE(keys().verify(token.reveal(), "shop.Orders", end - std::chrono::milliseconds(1)));
  const auto late = keys().verify(token.reveal(), "shop.Orders", end);
  EXPECT_EQ(late.fault, TokenFault::expired);
  EXPECT_THAT(late.message, HasSubstr("expired at 2026-11-29T05:00:00Z"));
}

TEST(Tokens, AreReadWithoutAKeyByThoseWhoOwnThem) {
  const auto verdict = tokens::read_unverified(signer().sign(some_claims()).reveal());
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict.claims->subject, "web-1");
  EXPECT_EQ(verdict.claims->key_id, signer().id());
}

TEST(TokenKeys, AreNamedByTheirThumbprints) {
  const auto ids = keys().ids();
  ASSERT_EQ(ids.size(), 2U);
  EXPECT_EQ(ids[0], "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");  // RFC 8037, appendix A.3
  EXPECT_EQ(ids[1], vectors().at("ids").as_array().at(1).as_string());
}

TEST(TokenKeys, AreReadFromTheFilesOfASigner) {
  const mftest::Folder folder;
  const std::string path = folder.path() / "key";
  const auto made = TokenSigner::generate();
  tokens::write_new(path, made.private_pem().reveal());
  tokens::write_new(path + ".pub", made.public_pem(), true);
  const auto read = TokenSigner::read(path);
  EXPECT_EQ(read.id(), made.id());
  EXPECT_TRUE(TokenKeys::read(path + ".pub").verify(read.sign(some_claims()).reveal(), "shop.Orders", now()));
  struct stat found{};
  ASSERT_EQ(::stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777U, 0600U);
}

TEST(TokenKeys, AreNotReadFromFilesThatOthersCanUse) {
  const mftest::Folder folder;
  const std::string path = folder.path() / "key";
  tokens::write_new(path, signer().private_pem().reveal());
  for (const mode_t mode : {0640U, 0604U, 0620U, 0601U}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    EXPECT_THAT(refusal_of(path, false), HasSubstr("others may use it (mode 0"));
  }
  ASSERT_EQ(::chmod(path.c_str(), 0400), 0);
  EXPECT_EQ(refusal_of(path, false), "");

  const std::string shown = folder.path() / "key.pub";
  tokens::write_new(shown, signer().public_pem(), true);
  EXPECT_EQ(refusal_of(shown, true), "");
  ASSERT_EQ(::chmod(shown.c_str(), 0664), 0);
  EXPECT_THAT(refusal_of(shown, true), HasSubstr("others may write to it"));
}

TEST(TokenKeys, AreNotReadFromAFileOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const mftest::Folder folder;
  const std::string path = folder.path() / "key";
  tokens::write_new(path, signer().private_pem().reveal());
  ASSERT_EQ(::chown(path.c_str(), 54'321, 0), 0);
  EXPECT_THAT(refusal_of(path, false), HasSubstr("its owner, user 54321, could replace it"));
}

TEST(TokenKeys, SayWhatIsWrongWithAFile) {
  const mftest::Folder folder;
  const std::string path = folder.path() / "file";
  EXPECT_THAT(refusal_of(path, true), HasSubstr("No such file"));
  EXPECT_THAT(refusal_of(folder.path(), true), HasSubstr("no regular file"));
  ASSERT_EQ(::mkfifo((path + ".pipe").c_str(), 0600), 0);
  EXPECT_THAT(refusal_of(path + ".pipe", false), HasSubstr("no regular file"));
  int number = 0;
  const auto wrong = [&](const std::string& content, bool is_public) {
    const std::string made = path + std::to_string(++number);
    tokens::write_new(made, content);
    return refusal_of(made, is_public);
  };
  const std::string one = signer().public_pem();
  EXPECT_THAT(wrong("", true), HasSubstr("no public key"));
  EXPECT_THAT(wrong(one.substr(0, one.size() / 2), true), HasSubstr("damaged"));
  EXPECT_THAT(wrong(one + one.substr(0, one.size() / 2), true), HasSubstr("damaged"));
  EXPECT_THAT(wrong(std::string(signer().private_pem().reveal()), true), HasSubstr("other than public keys"));
  EXPECT_THAT(wrong(one, false), HasSubstr("no private key"));
  std::string many;
  for (std::size_t i = 0; i <= TokenKeys::kMost; ++i) many += one;
  EXPECT_THAT(wrong(many, true), HasSubstr("more than 16 keys"));
  EXPECT_THAT(wrong(std::string(20'000, '\n'), true), HasSubstr("more than 16384 bytes"));
}

TEST(TokenFiles, AreNeverOverwritten) {
  const mftest::Folder folder;
  const std::string path = folder.path() / "token";
  tokens::write_new(path, "one\n");
  EXPECT_THROW(tokens::write_new(path, "two"), Error);
  EXPECT_EQ(tokens::read_token(path).reveal(), "one");
  std::filesystem::create_symlink(folder.path() / "elsewhere", folder.path() / "link");
  EXPECT_THROW(tokens::write_new(folder.path() / "link", "three"), Error);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "elsewhere"));
}

template <class T>
concept IsPrinted = requires(std::ostream& out, const T& value) { out << value; };

TEST(Secrets, AreNotPrintedAndNoText) {
  static_assert(IsPrinted<std::string> && !IsPrinted<Secret>);
  static_assert(!std::is_convertible_v<Secret, std::string> &&
                !std::is_convertible_v<Secret, std::string_view>);
  EXPECT_THAT(testing::PrintToString(Secret("planted")), Not(HasSubstr("planted")));
}

TEST(Secrets, AreCopiedMovedAndCompared) {
  Secret one("planted");
  const Secret copy = one;
  EXPECT_TRUE(copy == one);
  EXPECT_FALSE(copy == Secret("plantee"));
  EXPECT_FALSE(copy == Secret("plant"));
  const Secret moved = std::move(one);
  EXPECT_EQ(moved.reveal(), "planted");
  EXPECT_TRUE(Secret().empty());
  EXPECT_TRUE(Secret("").empty());
}

}  // namespace
}  // namespace mf
