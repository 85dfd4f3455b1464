#include "mf/evolution/plan.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "evolution/planner.hpp"

namespace mf::evolution {
namespace {

using described::kNone;
using described::kNoType;
using described::Method;
using described::PairIndex;
using described::Rule;
using described::Schema;

/// The parts of a method, before verdicts are known. kNone: the method has no such part.
struct Parts {
  PairIndex params = kNone;
  PairIndex params_stream = kNone;
  PairIndex results = kNone;
  PairIndex results_stream = kNone;
  std::vector<ErrorPlan> errors;
};

std::string_view last(std::string_view full) noexcept {
  return full.substr(full.rfind('.') + 1);
}

std::string replicated(const Method& method) {
  return method.replicated.empty() ? "not replicated" : "replicated " + std::string(method.replicated);
}

std::vector<Named> names_of(const Schema& schema) {
  std::vector<Named> names;
  for (const auto& method : schema.methods())
    names.push_back({.name = method.name, .was = schema.was(method)});
  return names;
}

/// "per collection string"
struct Per {
  std::string_view name;
  std::string_view type;

  explicit Per(const Schema& schema) : name(schema.per()) {
    const auto space = std::min(name.find(' '), name.size());
    type = name.substr(std::min(space + 1, name.size()));
    name = name.substr(0, space);
  }
  [[nodiscard]] std::string words() const {
    if (name.empty()) return "per nothing";
    return "per " + std::string(name) + " " + std::string(last(type));
  }
};

/// A program of those pairs and defaults alone that these roots reach; it changes the roots.
described::Program only(const described::Program& program, const std::vector<PairIndex*>& roots) {
  described::Program kept;
  kept.from = program.from;
  kept.to = program.to;
  kept.names_of_to = program.names_of_to;
  std::unordered_map<PairIndex, PairIndex> places;
  std::unordered_map<std::uint32_t, std::uint32_t> default_places;
  std::vector<PairIndex> order;
  const auto place = [&](PairIndex& of) {
    if (of == kNone) return;
    const auto [found, is_new] = places.try_emplace(of, static_cast<PairIndex>(order.size()));
    if (is_new) order.push_back(of);
    of = found->second;
  };
  const auto place_default = [&](std::uint32_t& of) {
    if (of == kNone) return;
    const auto next = static_cast<std::uint32_t>(kept.defaults.size());
    const auto [found, is_new] = default_places.try_emplace(of, next);
    if (is_new) kept.defaults.push_back(program.defaults[of]);
    of = found->second;
  };
  for (auto* const root : roots) place(*root);
  for (std::size_t i = 0; i < order.size(); ++i) {  // it grows meanwhile
    auto pair = program.pairs[order[i]];
    const auto first = pair.first;
    if (pair.rule == Rule::same) pair.element = pair.key = kNone;
    place(pair.key);
    place(pair.element);
    place_default(pair.fallback);
    if (pair.rule == Rule::record || pair.rule == Rule::alternatives) {
      pair.first = static_cast<std::uint32_t>(kept.fields.size());
      for (std::uint32_t at = 0; at < pair.count; ++at) {
        auto& step = kept.fields.emplace_back(program.fields[first + at]);
        place(step.pair);
        place_default(step.fallback);
      }
    } else if (pair.rule == Rule::enumeration || pair.rule == Rule::flags) {
      pair.first = static_cast<std::uint32_t>(kept.members.size());
      for (std::uint32_t at = 0; at < pair.count; ++at) kept.members.push_back(program.members[first + at]);
    }
    kept.pairs.push_back(pair);
  }
  return kept;
}

class Making {
 public:
  explicit Making(Plan& plan)
      : plan_(plan),
        here_(*plan.here),
        there_(*plan.there),
        requests_(here_, there_, true, all_requests_),
        results_(there_, here_, false, all_results_) {
    all_requests_.from = all_results_.to = &here_;
    all_requests_.to = all_results_.from = &there_;
    all_results_.names_of_to = true;  // paths are those of the consumer
  }

  void service() {
    if (!same_agents()) return;
    const auto places = partners(names_of(there_), names_of(here_));
    std::vector<Parts> parts;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto& ours = here_.methods()[i];
      auto& method = plan_.methods.emplace_back();
      const auto* const other = places[i] == kNone ? nullptr : &there_.methods()[places[i]];
      auto& of = parts.emplace_back();
      if (other == nullptr) {
        refuse(method, ours, "method only here", Verdict::unknown_method);
        continue;
      }
      method.there = other->name;
      if (ours.name != other->name) method.verdict = Verdict::adapts;
      if (const auto why = shape(ours, *other); !why.empty()) {
        refuse(method, ours, why, Verdict::refused);
        continue;
      }
      method.params_type = other->params;
      method.results_type = other->results;
      method.own_results_type = ours.results;
      of = take_apart(ours, *other);
    }
    if (!settle()) return;
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (plan_.methods[i].callable()) decide(plan_.methods[i], here_.methods()[i], parts[i]);
    finish();
  }

  void topic() {
    if (!same_agents()) return;
    auto& method = plan_.methods.emplace_back();
    plan_.value = results_.pair(there_.value(), here_.value());
    if (!settle()) return;
    method.verdict = results_.verdict(plan_.value);
    if (!method.callable()) {
      auto reason = results_.own_reason(plan_.value, "value");
      if (reason.empty()) reason = results_.reason(plan_.value);
      method.reason = plan_.refusal = named(reason);
    }
    if (!method.callable() || results_.identical(plan_.value)) plan_.value = kNone;
    finish();
  }

 private:
  [[nodiscard]] std::string named(std::string_view reason) const {
    return std::string(last(here_.name())) + ": " + std::string(reason);
  }

  /// False: an agent of one schema is no agent of the other.
  bool same_agents() {
    const Per ours(here_);
    const Per theirs(there_);
    bool same = ours.type == theirs.type;
    const auto enum_here = here_.declared(ours.type);
    const auto enum_there = there_.declared(theirs.type);
    if (enum_here != kNoType && enum_there != kNoType) {
      const auto pair = requests_.pair(enum_here, enum_there);
      same = requests_.keeps_numbers(pair);
    }
    if (!same) plan_.refusal = named(ours.words() + " here, " + theirs.words() + " there");
    return same;
  }

  void refuse(MethodPlan& method, const Method& ours, std::string_view why, Verdict verdict) const {
    method.verdict = verdict;
    method.reason = std::string(last(here_.name())) + "." + std::string(ours.name) + ": " + std::string(why);
  }

  [[nodiscard]] std::string stream(std::string_view which, described::TypeIndex ours,
                                   described::TypeIndex theirs) const {
    if ((ours == kNoType) == (theirs == kNoType)) return {};
    return differ(which, short_expression(here_, ours), short_expression(there_, theirs));
  }

  /// Why two methods cannot correspond, whatever their values are.
  [[nodiscard]] std::string shape(const Method& ours, const Method& theirs) const {
    if (ours.oneway != theirs.oneway)
      return ours.oneway ? "one-way here, not there" : "one-way there, not here";
    if (ours.replicated != theirs.replicated)
      return replicated(ours) + " here, " + replicated(theirs) + " there";
    if (auto why = stream("parameter stream", ours.params_stream, theirs.params_stream); !why.empty())
      return why;
    return stream("result stream", ours.results_stream, theirs.results_stream);
  }

  [[nodiscard]] Parts take_apart(const Method& ours, const Method& theirs) {
    Parts parts;
    parts.params = requests_.pair(ours.params, theirs.params);
    if (ours.params_stream != kNoType)
      parts.params_stream = requests_.pair(ours.params_stream, theirs.params_stream);
    if (ours.results != kNoType && theirs.results != kNoType)
      parts.results = results_.pair(theirs.results, ours.results);
    if (ours.results_stream != kNoType)
      parts.results_stream = results_.pair(theirs.results_stream, ours.results_stream);
    const auto own = here_.throws(ours);
    for (const auto error : there_.throws(theirs)) {
      const auto& type = there_.type(error);
      auto& plan = parts.errors.emplace_back(ErrorPlan{.name = std::string(type.short_name)});
      const auto same_name = [&](described::TypeIndex each) { return here_.type(each).name == type.name; };
      const auto found = std::ranges::find_if(own, same_name);
      if (found == own.end()) continue;
      plan.here = static_cast<std::uint16_t>(found - own.begin());
      plan.way = results_.pair(error, *found);
    }
    return parts;
  }

  bool settle() {
    if (!requests_.within_bounds() || !results_.within_bounds()) {
      plan_.refusal = named("its schema there is too large to be compared with");
      plan_.methods.clear();
      return false;
    }
    requests_.settle();
    results_.settle();
    return true;
  }

  /// Makes the programs of the methods that can be called. Whatever should be wrong with them after all is
  /// refused for the methods that it is in.
  void finish() {
    const auto methods = plan_.methods;
    const auto value = plan_.value;
    std::vector<MethodPlan*> all;
    for (auto& method : plan_.methods) all.push_back(&method);
    if (make_programs(all).empty()) return;
    plan_.methods = methods;
    plan_.value = value;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto wrong = make_programs({all[i]});
      plan_.methods[i] = methods[i];
      if (wrong.empty()) continue;
      if (here_.of() != Schema::Of::service) {
        plan_.value = kNone;
        plan_.refusal = named(wrong);
        return;
      }
      refuse(plan_.methods[i], here_.methods()[i], wrong, Verdict::refused);
      for_ways(plan_.methods[i], [](PairIndex& way) { way = kNone; });
    }
    plan_.value = value;
    if (const auto wrong = make_programs(all); !wrong.empty()) plan_.refusal = named(wrong);
  }

  /// Returns what is wrong with them.
  std::string make_programs(const std::vector<MethodPlan*>& methods) {
    std::vector<PairIndex*> requests;
    std::vector<PairIndex*> results{&plan_.value};
    for (auto* const method : methods) {
      requests.insert(requests.end(), {&method->params, &method->params_stream});
      results.insert(results.end(), {&method->results, &method->results_stream});
      for (auto& error : method->errors) results.push_back(&error.way);
    }
    plan_.requests = only(all_requests_, requests);
    plan_.results = only(all_results_, results);
    auto wrong = described::finish(plan_.requests);
    return wrong.empty() ? described::finish(plan_.results) : wrong;
  }
  template <class Use>
  static void for_ways(MethodPlan& method, const Use& use) {
    use(method.params);
    use(method.params_stream);
    use(method.results);
    use(method.results_stream);
    for (auto& error : method.errors) use(error.way);
  }

  void decide(MethodPlan& method, const Method& ours, const Parts& parts) {
    struct Part {
      const Planner* planner;
      PairIndex pair;
      std::string place;
      PairIndex* way;
    };
    std::vector<Part> all{{&requests_, parts.params, "parameters", &method.params},
                          {&requests_, parts.params_stream, "parameter stream", &method.params_stream},
                          {&results_, parts.results, "results", &method.results},
                          {&results_, parts.results_stream, "result stream", &method.results_stream}};
    method.errors = parts.errors;
    for (auto& error : method.errors)
      all.push_back({&results_, error.way, "throws " + error.name, &error.way});
    std::erase_if(all, [](const Part& part) { return part.pair == kNone; });
    for (const auto& part : all) method.verdict = std::max(method.verdict, part.planner->verdict(part.pair));
    if (method.verdict == Verdict::refused) {
      std::string reason;
      for (const auto& part : all)
        if (reason.empty()) reason = part.planner->own_reason(part.pair, part.place);
      for (const auto& part : all)
        if (reason.empty()) reason = part.planner->reason(part.pair);
      refuse(method, ours, reason, Verdict::refused);
      method.errors.clear();
      return;
    }
    const auto declared = here_.throws(ours).size();
    bool same = declared == method.errors.size();
    for (std::size_t i = 0; i < method.errors.size(); ++i) same = same && method.errors[i].here == i;
    if (!same) method.verdict = std::max(method.verdict, Verdict::adapts);
    method.converts = !same || !std::ranges::all_of(
                                   all, [](const Part& part) { return part.planner->identical(part.pair); });
    if (!method.converts) return method.errors.clear();
    for (const auto& part : all) *part.way = part.pair;
  }

  Plan& plan_;
  const Schema& here_;
  const Schema& there_;
  described::Program all_requests_;  // with the pairs of methods that are refused, too
  described::Program all_results_;
  Planner requests_;
  Planner results_;
};

std::string_view kind(const Schema& schema) {
  if (schema.of() == Schema::Of::service) return "service";
  return schema.of() == Schema::Of::topic ? "topic" : "value";
}

}  // namespace

std::string_view name(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::equal:
      return "equal";
    case Verdict::adapts:
      return "adapts";
    case Verdict::checked:
      return "checked";
    case Verdict::refused:
      return "refused";
    case Verdict::unknown_method:
      break;
  }
  return "unknown_method";
}

Plan make_plan(std::shared_ptr<const Schema> here, std::shared_ptr<const Schema> there) {
  Plan plan;
  plan.here = std::move(here);
  plan.there = std::move(there);
  plan.requests.from = plan.results.to = plan.here.get();
  plan.requests.to = plan.results.from = plan.there.get();
  if (plan.here->of() != plan.there->of()) {
    plan.refusal = differ(last(plan.here->name()), kind(*plan.here), kind(*plan.there));
    return plan;
  }
  Making making(plan);
  if (plan.here->of() == Schema::Of::service) {
    making.service();
  } else {
    making.topic();
  }
  return plan;
}

}  // namespace mf::evolution
