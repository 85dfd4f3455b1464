// tests/fuzz/make_seeds.py reads the types below, in their order.
#include "vectors/custom.hpp"
#include "wide_subjects.hpp"

namespace mf::codec {

const std::vector<Subject>& custom_subjects() {
  namespace custom = ::vectors::custom;
  static const std::vector<Subject> kAll = {
      subject<custom::Runs>("vectors.custom.Runs"),
      subject<custom::Spot>("vectors.custom.Spot"),
      subject<custom::Stamp>("vectors.custom.Stamp"),
      subject<custom::Parcel>("vectors.custom.Parcel"),
      subject<custom::Choice>("vectors.custom.Choice"),
      subject<custom::Crate>("vectors.custom.Crate"),
      subject<custom::Label>("vectors.custom.Label"),
      subject<Graph<custom::Stop>>("vectors.custom.Stop"),
      subject<Graph<custom::Siding>>("vectors.custom.Siding"),
      subject<custom::Wagon>("vectors.custom.Wagon"),
      subject<custom::Lost>("vectors.custom.Lost"),
  };
  return kAll;
}

}  // namespace mf::codec
