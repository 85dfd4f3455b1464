#include "mf/protocol/state.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace mf::protocol {
namespace {

TEST(State, ATypeOutsideTheSetIsForbiddenEverywhere) {
  for (const Role role : {Role::client, Role::server})
    for (const State state : {State::fresh, State::open, State::draining, State::closed, State::forbidden})
      for (const unsigned type : {0U, 17U, 127U, 128U, 255U})
        EXPECT_EQ(after(role, state, static_cast<FrameType>(type)), State::forbidden);
}

TEST(State, OnlyHelloAndRefuseComeFirst) {
  for (const Role role : {Role::client, Role::server})
    for (unsigned type = 1; type <= kLastFrameType; ++type) {
      const State state = after(role, State::fresh, static_cast<FrameType>(type));
      const bool may =
          type == static_cast<unsigned>(FrameType::hello) || type == static_cast<unsigned>(FrameType::refuse);
      EXPECT_EQ(state != State::forbidden, may) << type;
    }
}

TEST(State, NothingFollowsRefuse) {
  for (const Role role : {Role::client, Role::server}) {
    ASSERT_EQ(after(role, State::open, FrameType::refuse), State::closed);
    for (unsigned type = 1; type <= kLastFrameType; ++type)
      EXPECT_EQ(after(role, State::closed, static_cast<FrameType>(type)), State::forbidden);
  }
}

TEST(State, EachTypeIsSentByWhomTheDocumentSays) {
  const std::vector<FrameType> client{FrameType::bind, FrameType::request, FrameType::describe,
                                      FrameType::end, FrameType::unbind};
  const std::vector<FrameType> server{FrameType::bound, FrameType::reply, FrameType::goaway,
                                      FrameType::descriptor};
  const std::vector<FrameType> both{FrameType::refuse, FrameType::ping, FrameType::pong,
                                    FrameType::cancel, FrameType::data, FrameType::credit};
  const auto may = [](Role role, FrameType type) {
    return after(role, State::open, type) != State::forbidden;
  };
  for (const FrameType type : client)
    EXPECT_TRUE(may(Role::client, type) && !may(Role::server, type)) << name(type);
  for (const FrameType type : server)
    EXPECT_TRUE(!may(Role::client, type) && may(Role::server, type)) << name(type);
  for (const FrameType type : both)
    EXPECT_TRUE(may(Role::client, type) && may(Role::server, type)) << name(type);
}

TEST(State, UnknownTypesFrom128OnAreSkippedAfterHello) {
  for (const unsigned type : {128U, 255U}) {
    EXPECT_FALSE(may_be_skipped(State::fresh, static_cast<FrameType>(type)));
    EXPECT_TRUE(may_be_skipped(State::open, static_cast<FrameType>(type)));
    EXPECT_TRUE(may_be_skipped(State::draining, static_cast<FrameType>(type)));
    EXPECT_FALSE(may_be_skipped(State::closed, static_cast<FrameType>(type)));
  }
  EXPECT_FALSE(may_be_skipped(State::open, static_cast<FrameType>(127)));
}

TEST(State, WhatWasBegunIsFinishedAfterGoaway) {
  ASSERT_EQ(after(Role::server, State::open, FrameType::goaway), State::draining);
  EXPECT_EQ(after(Role::server, State::draining, FrameType::reply), State::draining);
  EXPECT_EQ(after(Role::server, State::draining, FrameType::bound), State::draining);
  EXPECT_EQ(after(Role::server, State::draining, FrameType::refuse), State::closed);
}

}  // namespace
}  // namespace mf::protocol
