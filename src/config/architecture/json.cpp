#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "config/architecture/architecture.h"
#include "config/option_description.h"
#include "config/value_text.h"

namespace megadlm::config {
namespace {

/// Every field: the options, and the two that follow from the tokenizer.
template <class Self>
std::vector<OptionDescription> fields(Self& architecture) {
  std::vector<OptionDescription> descriptions;
  const auto option = [&](auto& member, std::string_view name, std::string_view help, Bounds bounds = {}) {
    descriptions.push_back(describe(member, name, help, Architecture::group, bounds));
  };
  Architecture::visit(architecture, option);
  option(architecture.vocab_size, "vocab-size", "", at_least(1));
  option(architecture.padded_vocab_size, "padded-vocab-size", "", at_least(1));
  return descriptions;
}

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

nlohmann::json to_json(const Architecture& architecture) {
  Architecture copy = architecture;
  auto json = nlohmann::json::object();
  for (const OptionDescription& field : fields(copy)) {
    std::visit([&](const auto& value) { json[field.key()] = value; }, field.get().front());
  }
  return json;
}

Architecture architecture_from_json(const nlohmann::json& json, const std::string& place) {
  base::require(json.is_object(), "{}: the architecture is not an object", place);
  Architecture architecture;
  std::set<std::string> known;
  for (const OptionDescription& field : fields(architecture)) {
    const std::string key = field.key();
    known.insert(key);
    base::require(json.contains(key), "{}: '{}' is missing", place, key);
    field.set({read_value(field, json[key], fmt::format("{}: {}", place, key))});
  }
  for (const auto& item : json.items()) {
    base::require(known.contains(item.key()), "{}: '{}' is not a field of an architecture", place,
                  item.key());
  }
  return architecture;
}

}  // namespace megadlm::config
