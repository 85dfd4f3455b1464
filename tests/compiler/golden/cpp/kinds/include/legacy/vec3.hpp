// A type that was there before the schema.
#pragma once

namespace legacy {

struct Vec3 {
  float x = 0;
  float y = 0;
  float z = 0;
};

}  // namespace legacy
