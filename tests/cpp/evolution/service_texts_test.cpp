// Generated services and topics keep the lines of their own; what they reach is in the texts of modules.
#include "mf/core/service_texts.hpp"

#include <gtest/gtest.h>

#include "evolve/after.topics.hpp"
#include "evolve/before.hpp"
#include "mf/controller.hpp"
#include "mf/link/adaptation.hpp"

namespace mf {
namespace {

void expect_whole(const ServiceInfo& service) {
  EXPECT_EQ(link::fingerprint_of(descriptor_of(service)), service.fingerprint) << descriptor_of(service);
}

TEST(TheDescriptorOfAService, HasTheFingerprintThatTheCompilerComputed) {
  expect_whole(::evolve::before::methods::kShopService);
  expect_whole(::evolve::after::methods::kShopService);
  expect_whole(::evolve::after::methods::kBranchService);
  expect_whole(controller::methods::kControllerService);
}

TEST(TheDescriptorOfATopic, HasTheFingerprintThatTheCompilerComputed) {
  expect_whole(::evolve::after::SalesTopic::kTopic.service);
}

TEST(TheDescriptorOfAService, IsPutTogetherOnce) {
  const auto& service = ::evolve::before::methods::kShopService;
  ASSERT_LT(service.descriptor.size(), descriptor_of(service).size());
  EXPECT_EQ(descriptor_of(service).data(), descriptor_of(service).data());
  EXPECT_EQ(annex_of(service).data(), annex_of(service).data());
}

TEST(TheDescriptorOfAService, IsTheOneThatWasSaidIfItHasNoModule) {
  constexpr ServiceInfo kService{.descriptor = "service t.S\n", .annex = "annex t.S\n"};
  EXPECT_EQ(descriptor_of(kService), "service t.S\n");
  EXPECT_EQ(annex_of(kService), "annex t.S\n");
}

}  // namespace
}  // namespace mf
