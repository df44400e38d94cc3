#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "config/option.h"

namespace megadlm::config {

/// What one value of an option is.
enum class ValueKind { flag, integer, number, text, choice };

/// One value; a choice is held as its text.
using Value = std::variant<bool, int64_t, double, std::string>;

/// A name with underscores, as YAML and JSON write it: "num-layers" to "num_layers".
inline std::string key_of(std::string_view name) {
  std::string key(name);
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

/// An option without its C++ type: what parsing, help, YAML and JSON need.
struct OptionDescription {
  std::string name;  ///< "num-layers"
  std::string help;
  std::string group;
  ValueKind kind = ValueKind::text;
  bool list = false;      ///< any number of values
  bool optional = false;  ///< may be absent
  std::vector<std::string> choices;
  Bounds bounds;
  std::vector<Value> default_values;  ///< what the member held when it was declared
  /// Stores checked values: exactly one unless `list`; none makes an optional absent or a list empty.
  std::function<void(const std::vector<Value>&)> set;
  /// The present values; none for an absent optional or an empty list.
  std::function<std::vector<Value>()> get;

  std::string key() const { return key_of(name); }
};

namespace binding {

/// How a member's type is held in a Value.
template <class T>
struct Scalar {
  static_assert(std::is_enum_v<T>, "an option is bool, int64_t, double, std::string or an enumeration");
  static constexpr ValueKind kind = ValueKind::choice;
  static std::vector<std::string> choices() {
    std::vector<std::string> names;
    for (const auto& entry : EnumNames<T>::value) names.emplace_back(entry.second);
    return names;
  }
  static Value to_value(T member) { return std::string(name_of(member)); }
  static T from_value(const Value& value) {
    const auto& entries = EnumNames<T>::value;
    const auto found = std::find_if(entries.begin(), entries.end(), [&](const auto& entry) {
      return entry.second == std::get<std::string>(value);
    });
    return found->first;
  }
};

template <class T, ValueKind kind_>
struct Plain {
  static constexpr ValueKind kind = kind_;
  static std::vector<std::string> choices() { return {}; }
  static Value to_value(const T& member) { return member; }
  static T from_value(const Value& value) { return std::get<T>(value); }
};
template <>
struct Scalar<bool> : Plain<bool, ValueKind::flag> {};
template <>
struct Scalar<int64_t> : Plain<int64_t, ValueKind::integer> {};
template <>
struct Scalar<double> : Plain<double, ValueKind::number> {};
template <>
struct Scalar<std::string> : Plain<std::string, ValueKind::text> {};

/// A member that holds exactly one value.
template <class T>
struct Member {
  using Element = T;
  static constexpr bool list = false, optional = false;
  static std::vector<Value> get(const T& member) { return {Scalar<T>::to_value(member)}; }
  static void set(T& member, const std::vector<Value>& values) {
    member = Scalar<T>::from_value(values.front());
  }
};
template <class T>
struct Member<std::optional<T>> {
  using Element = T;
  static constexpr bool list = false, optional = true;
  static std::vector<Value> get(const std::optional<T>& member) {
    return member ? std::vector<Value>{Scalar<T>::to_value(*member)} : std::vector<Value>{};
  }
  static void set(std::optional<T>& member, const std::vector<Value>& values) {
    member = values.empty() ? std::nullopt : std::optional<T>(Scalar<T>::from_value(values.front()));
  }
};
template <class T>
struct Member<std::vector<T>> {
  using Element = T;
  static constexpr bool list = true, optional = false;
  static std::vector<Value> get(const std::vector<T>& member) {
    std::vector<Value> values;
    for (const T& element : member) values.push_back(Scalar<T>::to_value(element));
    return values;
  }
  static void set(std::vector<T>& member, const std::vector<Value>& values) {
    member.clear();
    for (const Value& value : values) member.push_back(Scalar<T>::from_value(value));
  }
};

}  // namespace binding

/// Describes one member of an options struct. The description keeps a reference to it.
template <class T>
OptionDescription describe(T& member, std::string_view name, std::string_view help, std::string_view group,
                           Bounds bounds) {
  using Access = binding::Member<T>;
  using Element = typename Access::Element;
  OptionDescription description;
  description.name = name;
  description.help = help;
  description.group = group;
  description.kind = binding::Scalar<Element>::kind;
  description.list = Access::list;
  description.optional = Access::optional;
  description.choices = binding::Scalar<Element>::choices();
  description.bounds = bounds;
  description.set = [&member](const std::vector<Value>& values) { Access::set(member, values); };
  description.get = [&member] { return Access::get(member); };
  description.default_values = description.get();
  return description;
}

}  // namespace megadlm::config
