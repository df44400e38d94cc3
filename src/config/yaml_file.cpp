#include "config/yaml_file.h"

#include <yaml-cpp/yaml.h>

#include <map>

#include "base/error.h"
#include "base/file.h"
#include "config/value_text.h"

namespace megadlm::config {
namespace {

std::string line_of(const std::filesystem::path& path, const YAML::Mark& mark) {
  return mark.is_null() ? path.string() : fmt::format("{}:{}", path.string(), mark.line + 1);
}

YAML::Node load_mapping(const std::filesystem::path& path) {
  const std::string text = base::read_file(path);
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.empty()) return YAML::Node(YAML::NodeType::Map);
    if (documents.size() > 1) {
      base::fail_usage("{}: {} YAML documents; one is accepted", path.string(), documents.size());
    }
    const YAML::Node& root = documents.front();
    if (root.IsNull()) return YAML::Node(YAML::NodeType::Map);
    if (!root.IsMap()) {
      base::fail_usage("{}: the file is not a mapping of option names to values", line_of(path, root.Mark()));
    }
    return root;
  } catch (const YAML::Exception& error) {
    base::fail_usage("{}: not YAML: {}", line_of(path, error.mark), error.msg);
  }
}

YamlEntry read_entry(const std::filesystem::path& path, const YAML::Node& key, const YAML::Node& value) {
  if (!key.IsScalar()) base::fail_usage("{}: a key is an option's name", line_of(path, key.Mark()));
  YamlEntry entry;
  entry.key = key_of(key.Scalar());
  entry.place = fmt::format("{}: {}", line_of(path, key.Mark()), key.Scalar());
  if (value.IsNull()) {
    entry.null = true;
  } else if (value.IsScalar()) {
    entry.texts.push_back(value.Scalar());
  } else if (value.IsSequence()) {
    entry.list = true;
    for (const YAML::Node& element : value) {
      if (!element.IsScalar())
        base::fail_usage("{}: the list holds something that is not a plain value", entry.place);
      entry.texts.push_back(element.Scalar());
    }
  } else {
    base::fail_usage("{}: a nested mapping; options are written side by side, without groups", entry.place);
  }
  return entry;
}

void emit_value(YAML::Emitter& emitter, const OptionDescription& option, const Value& value) {
  if (option.kind == ValueKind::text) {
    emitter << YAML::DoubleQuoted << to_text(value);
  } else {
    emitter << to_text(value);
  }
}

}  // namespace

std::vector<YamlEntry> read_yaml(const std::filesystem::path& path) {
  std::vector<YamlEntry> entries;
  std::map<std::string, std::string> seen;
  for (const auto& pair : load_mapping(path)) {
    entries.push_back(read_entry(path, pair.first, pair.second));
    const auto [earlier, fresh] = seen.emplace(entries.back().key, entries.back().place);
    if (!fresh) base::fail_usage("{}: given twice, first at {}", entries.back().place, earlier->second);
  }
  return entries;
}

std::string write_yaml(const std::vector<OptionDescription>& options) {
  YAML::Emitter emitter;
  emitter << YAML::BeginMap;
  std::string group;
  for (const OptionDescription& option : options) {
    if (option.group != group) {
      if (!group.empty()) emitter << YAML::Newline;
      emitter << YAML::Comment(group = option.group);
    }
    emitter << YAML::Key << option.key() << YAML::Value;
    const std::vector<Value> values = option.get();
    if (option.list) {
      emitter << YAML::Flow << YAML::BeginSeq;
      for (const Value& value : values) emit_value(emitter, option, value);
      emitter << YAML::EndSeq;
    } else if (values.empty() || !in_bounds(option, values.front())) {
      emitter << YAML::Null;
    } else {
      emit_value(emitter, option, values.front());
    }
  }
  emitter << YAML::EndMap << YAML::Newline;
  return emitter.c_str();
}

}  // namespace megadlm::config
