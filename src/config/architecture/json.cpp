#include <nlohmann/json.hpp>

#include "config/architecture/architecture.h"
#include "config/json.h"

namespace megadlm::config {
namespace {

/// Every field: the options, and the two that follow from the tokenizer.
std::vector<OptionDescription> fields(Architecture& architecture) {
  std::vector<OptionDescription> descriptions = describe_group(architecture);
  descriptions.push_back(
      describe(architecture.vocab_size, "vocab-size", "", Architecture::group, at_least(1)));
  descriptions.push_back(
      describe(architecture.padded_vocab_size, "padded-vocab-size", "", Architecture::group, at_least(1)));
  return descriptions;
}

}  // namespace

nlohmann::json to_json(const Architecture& architecture) {
  Architecture copy = architecture;
  return values_to_json(fields(copy));
}

Architecture architecture_from_json(const nlohmann::json& json, const std::string& place) {
  Architecture architecture;
  values_from_json(fields(architecture), json, place);
  return architecture;
}

}  // namespace megadlm::config
