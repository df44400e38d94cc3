#pragma once

#include <array>
#include <limits>
#include <string_view>
#include <utility>

namespace megadlm::config {

/// Accepted values of a numeric option.
struct Bounds {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool open_min = false;
  bool open_max = false;
};
constexpr Bounds at_least(double min) { return {.min = min}; }
constexpr Bounds positive() { return {.min = 0, .open_min = true}; }
constexpr Bounds between(double min, double max) { return {.min = min, .max = max}; }
/// min <= value < max.
constexpr Bounds below(double min, double max) { return {.min = min, .max = max, .open_max = true}; }

/// Spelling of an enumeration's values on the command line, in YAML and in JSON. Specialise with
/// `static constexpr std::array value{std::pair{E::a, std::string_view("a")}, ...}`.
template <class E>
struct EnumNames;

template <class E>
constexpr std::string_view name_of(E value) {
  for (const auto& [candidate, name] : EnumNames<E>::value) {
    if (candidate == value) return name;
  }
  return "?";
}

// An options struct declares each option once:
//
//   template <class Self, class Visitor>
//   static void visit(Self& self, Visitor&& option) {
//     option(self.num_layers, "num-layers", "Number of transformer layers.", at_least(1));
//   }
//
// Members are bool (a flag), int64_t, double, std::string, an enumeration with EnumNames, a std::vector of
// these, or a std::optional of these (absent unless given). The default is the member's initial value. The
// flag is `--num-layers`, the YAML and JSON key `num_layers`. Visitors parse, write help, docs and JSON.

}  // namespace megadlm::config
