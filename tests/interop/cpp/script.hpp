// The script of calls that every client makes; programs/script.py is the same in Python, check by check.
//
// Each shape is called with all its requests, in every mode, and what comes back is compared with the rules.
// Methods without a result are compared by the notes that they leave: sorted, since calls may run side by
// side, but in order for one-way methods, which promise it. `failures` holds what must go wrong, and how.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "checks.hpp"
#include "interop.client.hpp"
#include "mf/core/function_ref.hpp"
#include "servant.hpp"

namespace interop_test {

inline const std::vector<std::string> kRooms = {"red", "blue"};

class Script {
 public:
  /// `way`: direct (one server, no controller), mf (through a controller) or light.
  Script(mf::Client& client, std::string_view way) : stub_(client), way_(way) {}

  void run();

 private:
  template <class Result>
  using Ends = mf::FunctionRef<mf::Outcomes<Result>()>;

  template <class M, std::size_t kInputs, class Call, class Start, class Batch, class Bulk>
  void shape(const std::string& name, const std::vector<typename M::Request>& requests, Call call,
             Start start, Batch batch, Bulk bulk);
  template <class M, std::size_t kInputs, class Call>
  void scatter(const std::string& name, std::string_view mode,
               const std::vector<typename M::Request>& requests, Call call);
  template <class Result>
  void compare(std::string_view mode, const std::string& what, const std::string& method,
               const std::string& agent, Ends<Result> expected, Ends<Result> run);
  template <class Result>
  std::string differ_anywhere(const std::string& method, const mf::Scattered<Result>& got,
                              mf::FunctionRef<mf::Outcome<Result>(const std::string&)> expected);

  void numbers();
  void texts();
  void structs();
  void notes_left();
  void failures();
  void deadlines();

  std::string notes(const std::string& name, const std::string& agent);
  std::string is_at(const std::string& agent);
  Room& room(const std::string& agent) { return agent == kRooms[0] ? red_ : blue_; }

  interop::ShapesClient stub_;
  std::string way_;
  Room red_{"red"};
  Room blue_{"blue"};
};

}  // namespace interop_test
