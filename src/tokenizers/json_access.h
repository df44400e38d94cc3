#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace megadlm::tokenizers {

/// Ids of a file stay below this, so that a wrong one cannot ask for all memory.
inline constexpr uint64_t kLargestVocabulary = 4'000'000;

/// Sequences in sequences of a tokenizer.json, at most.
inline constexpr int kDeepestSequence = 16;

/// A member of a JSON object; null when it is absent or `object` is none.
inline const nlohmann::json& json_member(const nlohmann::json& object, const char* key) {
  static const nlohmann::json null;
  if (!object.is_object()) return null;
  const auto found = object.find(key);
  return found == object.end() ? null : *found;
}

/// The "type" of a part of a tokenizer.json; empty when it has none.
inline std::string json_type(const nlohmann::json& part) {
  const nlohmann::json& type = json_member(part, "type");
  return type.is_string() ? type.get<std::string>() : "";
}

/// A boolean member; `otherwise` when it is absent or of another type.
inline bool json_flag(const nlohmann::json& object, const char* key, bool otherwise) {
  const nlohmann::json& value = json_member(object, key);
  return value.is_boolean() ? value.get<bool>() : otherwise;
}

}  // namespace megadlm::tokenizers
