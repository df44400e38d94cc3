#include "config/json.h"

#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "config/value_text.h"

namespace megadlm::config {
namespace {

Value read_value(const OptionDescription& field, const nlohmann::json& json, const std::string& place) {
  Value value;
  switch (field.kind) {
    case ValueKind::flag:
      base::require(json.is_boolean(), "{}: {} is not true or false", place, json.dump());
      value = json.get<bool>();
      break;
    case ValueKind::integer:
      base::require(
          json.is_number_integer() && (!json.is_number_unsigned() || json.get<uint64_t>() <= INT64_MAX),
          "{}: {} is not {}", place, json.dump(), accepted(field));
      value = json.get<int64_t>();
      break;
    case ValueKind::number:
      base::require(json.is_number(), "{}: {} is not {}", place, json.dump(), accepted(field));
      value = json.get<double>();
      break;
    case ValueKind::choice:
    case ValueKind::text:
      base::require(json.is_string(), "{}: {} is not {}", place, json.dump(), accepted(field));
      return parse_values(field, {json.get<std::string>()}, place).front();
  }
  check_bounds(field, value, place);
  return value;
}

}  // namespace

nlohmann::json values_to_json(const std::vector<OptionDescription>& options) {
  auto object = nlohmann::json::object();
  for (const OptionDescription& option : options) {
    auto list = nlohmann::json::array();
    for (const Value& value : option.get()) {
      std::visit([&](const auto& scalar) { list.push_back(scalar); }, value);
    }
    if (option.list) {
      object[option.key()] = list;
    } else {
      object[option.key()] = list.empty() ? nlohmann::json(nullptr) : list.front();
    }
  }
  return object;
}

void values_from_json(const std::vector<OptionDescription>& options, const nlohmann::json& json,
                      const std::string& place) {
  base::require(json.is_object(), "{}: expected an object, seen {}", place, json.dump());
  std::set<std::string> known;
  for (const OptionDescription& option : options) {
    const std::string key = option.key();
    known.insert(key);
    base::require(json.contains(key), "{}: '{}' is missing", place, key);
    option.set({read_value(option, json[key], fmt::format("{}: {}", place, key))});
  }
  for (const auto& item : json.items()) {
    base::require(known.contains(item.key()), "{}: '{}' is not a known field", place, item.key());
  }
}

}  // namespace megadlm::config
