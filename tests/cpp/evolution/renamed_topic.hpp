// A topic under the name that it has once its module is renamed (renamed.hpp).
#pragma once

#include "evolution/renamed.hpp"
#include "mf/topics/topic.hpp"

namespace mftest {

template <class Topic>
struct RenamedTopic {
  using Value = typename Topic::Value;
  inline static const Renamed kRenamed{Topic::kTopic.service};
  inline static const mf::topics::TopicInfo kTopic{.service = kRenamed.info()};
};

}  // namespace mftest
