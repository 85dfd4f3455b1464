// The rules of interop.mfidl in C++: what servers answer by and clients expect. programs/servant.py is the
// same in Python; neither may know the other's language, or how a call has come.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "interop.server.hpp"

namespace interop_test {

/// Any number of threads may call; notes are kept in the order in which the calls ran.
class Room final : public interop::ShapesServant {
 public:
  explicit Room(std::string name) : name_(std::move(name)) {}

  std::string who() override { return name_; }
  std::vector<std::int64_t> take_notes() override;

  void in0_out0() override;
  void in1_out0(const std::string& a) override;
  void in2_out0(std::uint8_t a, const interop::Point& b) override;
  void in3_out0(std::int32_t a, const std::vector<std::int32_t>& b, const std::string& c) override;
  void in4_out0(std::int8_t a, std::uint16_t b, std::int32_t c, std::uint64_t d) override;
  void in5_out0(const interop::Pair& a, const std::optional<interop::Pair>& b, const mf::Bytes& c,
                interop::Rank d, bool e) override;
  void in6_out0(double a, double b, double c, double d, double e, float f) override;

  std::uint64_t in0_out1() override;
  std::int64_t in1_out1(std::int32_t a) override;
  std::vector<std::int32_t> in2_out1(const std::vector<std::int32_t>& a, std::int32_t b) override;
  std::optional<std::string> in3_out1(double a, double b, double c) override;
  double in4_out1(const std::string& a, const mf::Bytes& b, bool c, float d) override;
  std::map<std::uint32_t, std::vector<std::string>> in5_out1(const std::set<std::string>& a,
                                                             const std::map<std::string, std::uint32_t>& b,
                                                             const interop::Cell& c, interop::Language d,
                                                             const std::optional<interop::Rank>& e) override;
  std::int64_t in6_out1(std::int8_t a, std::int16_t b, std::int32_t c, std::int64_t d, std::uint32_t e,
                        std::uint64_t f) override;

  interop::ShapesIn0Out2Result in0_out2() override;
  interop::ShapesIn1Out2Result in1_out2(const interop::Moment& a) override;
  interop::ShapesIn2Out2Result in2_out2(const interop::Point& a, const interop::Point& b) override;
  interop::ShapesIn3Out2Result in3_out2(const std::string& a, const std::string& b, std::uint32_t c) override;
  interop::ShapesIn4Out2Result in4_out2(std::int64_t a, std::int64_t b, std::uint64_t c, double d) override;
  interop::ShapesIn5Out2Result in5_out2(const interop::Tree& a, const interop::Hit& b,
                                        const std::vector<interop::Hit>& c,
                                        const std::map<interop::Rank, interop::Hit>& d,
                                        const std::optional<std::int64_t>& e) override;
  interop::ShapesIn6Out2Result in6_out2(bool a, std::uint8_t b, std::uint16_t c, std::uint32_t d,
                                        std::uint64_t e, std::int64_t f) override;

  void note0() override;
  void note1(std::int64_t a) override;
  void note2(const std::string& a, const std::vector<std::int64_t>& b) override;
  void note3(std::uint8_t a, std::uint8_t b, std::uint8_t c) override;
  void note4(const interop::Point& a, const interop::Point& b, bool c, interop::Rank d) override;
  void note5(const std::string& a, const std::string& b, const std::optional<std::int64_t>& c,
             const interop::Hit& d, const mf::Bytes& e) override;
  void note6(std::int32_t a, std::int32_t b, std::int32_t c, std::int32_t d, std::int32_t e,
             std::int32_t f) override;

  std::string text(const std::string& a) override;
  interop::Everything mirror(const interop::Everything& value) override;
  std::uint32_t fail(std::uint32_t how) override;
  std::uint32_t slow(std::uint32_t milliseconds) override;
  std::uint32_t bounded(std::uint32_t n, const std::string& word) override;

 private:
  template <class... Numbers>
  void leave(Numbers... numbers);

  const std::string name_;
  std::mutex mutex_;
  std::vector<std::int64_t> notes_;
};

}  // namespace interop_test
