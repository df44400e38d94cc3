#include "config/parser.h"

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "config/command_line.h"
#include "config/help.h"
#include "config/json.h"
#include "config/megatron_options.h"
#include "config/nearest.h"
#include "config/value_text.h"
#include "config/yaml_file.h"

namespace megadlm::config {
namespace {

using Handling = MegatronOption::Handling;

/// A value of one option, from a flag or a file.
struct Assignment {
  std::string key;
  std::vector<std::string> texts;
  std::string place;
  bool null = false;
  bool list = false;
};

}  // namespace

struct Parser::State {
  CommandDescription command;
  std::vector<std::string*> positional_values;
  std::map<std::string, size_t> index;  // key to option
  std::map<std::string, const MegatronOption*> foreign;
  std::map<const MegatronOption*, Assignment> aliases;  // in the table's order; the last source wins
  std::set<std::string> given;

  std::vector<FlagSpec> flag_specs(const std::vector<std::string>& arguments) const;
  [[noreturn]] void fail_unknown(const std::string& place, const std::string& name, bool in_file) const;
  void assign(const Assignment& assignment);
  void apply(const Assignment& assignment, bool from_file);
  void apply_aliases();
  void apply_positionals(const std::vector<std::string>& texts);
  void apply_file(const std::string& path);
};

Parser::Parser(std::string command, std::string summary) : state_(std::make_unique<State>()) {
  state_->command.command = std::move(command);
  state_->command.summary = std::move(summary);
}

Parser::~Parser() = default;

void Parser::add_option(OptionDescription description) {
  const auto [entry, fresh] = state_->index.emplace(description.key(), state_->command.options.size());
  if (!fresh) throw std::logic_error("option declared twice: --" + description.name);
  state_->foreign.erase(description.key());
  state_->command.options.push_back(std::move(description));
}

void Parser::add_positional(std::string name, std::string help, std::string& value) {
  state_->command.positionals.push_back({std::move(name), std::move(help), value.empty()});
  state_->positional_values.push_back(&value);
}

void Parser::accept_megatron_options() {
  for (const MegatronOption& option : megatron_options()) {
    const std::string key = key_of(option.name);
    if (!state_->index.contains(key)) state_->foreign.emplace(key, &option);
  }
}

/// Flags to look for. Of Megatron-LM's many options only those that the command line names: declaring one
/// costs time that grows with their number.
std::vector<FlagSpec> Parser::State::flag_specs(const std::vector<std::string>& arguments) const {
  std::vector<FlagSpec> specs;
  for (const OptionDescription& option : command.options) {
    const auto values = option.kind == ValueKind::flag ? FlagSpec::Values::none
                        : option.list                  ? FlagSpec::Values::many
                                                       : FlagSpec::Values::one;
    specs.push_back({option.name, values});
  }
  std::set<const MegatronOption*> named;
  for (const std::string& argument : arguments) {
    if (!argument.starts_with("--")) continue;
    const auto found = foreign.find(key_of(argument.substr(2, argument.find('=') - 2)));
    if (found != foreign.end()) named.insert(found->second);
  }
  for (const MegatronOption* option : named) {
    const auto values = option->values == MegatronOption::Values::none   ? FlagSpec::Values::none
                        : option->values == MegatronOption::Values::many ? FlagSpec::Values::many
                                                                         : FlagSpec::Values::one;
    specs.push_back({std::string(option->name), values, false});
  }
  return specs;
}

void Parser::State::fail_unknown(const std::string& place, const std::string& name, bool in_file) const {
  std::vector<std::string> names{"config"};
  for (const OptionDescription& option : command.options) names.push_back(option.name);
  for (const auto& entry : foreign) names.emplace_back(entry.second->name);
  std::string plain = name;
  std::replace(plain.begin(), plain.end(), '_', '-');
  auto near = nearest(plain, names);
  if (!near) base::fail_usage("{}: unknown option; see megadlm {} --help", place, command.command);
  base::fail_usage("{}: unknown option; did you mean {}?", place, in_file ? key_of(*near) : "--" + *near);
}

/// Stores checked values into the bound member.
void Parser::State::assign(const Assignment& assignment) {
  const OptionDescription& option = command.options[index.at(assignment.key)];
  if (assignment.null) {
    if (has_no_default(option)) {
      option.set(option.default_values);
      return;
    }
    if (!option.optional && !option.list) {
      base::fail_usage("{}: no value; give {}", assignment.place, accepted(option));
    }
    option.set({});
  } else if (option.list) {
    option.set(parse_values(option, assignment.texts, assignment.place));
  } else if (assignment.list) {
    base::fail_usage("{}: a list; one value is accepted, {}", assignment.place, accepted(option));
  } else if (option.optional && assignment.texts.back() == "none") {
    option.set({});
  } else {
    // The last one wins, but a wrong earlier one is still a mistake to report.
    option.set({parse_values(option, assignment.texts, assignment.place).back()});
  }
  given.insert(option.name);
}

void Parser::State::apply(const Assignment& assignment, bool from_file) {
  if (index.contains(assignment.key)) {
    assign(assignment);
    return;
  }
  const auto found = foreign.find(assignment.key);
  if (found == foreign.end()) fail_unknown(assignment.place, assignment.key, from_file);
  const MegatronOption& option = *found->second;
  if (option.values == MegatronOption::Values::none) {
    OptionDescription flag;
    flag.kind = ValueKind::flag;
    const std::vector<Value> values = parse_values(flag, assignment.texts, assignment.place);
    // An absent flag asks for nothing.
    if (values.empty() || !std::get<bool>(values.back())) return;
  }
  if (option.handling == Handling::alias) {
    aliases.insert_or_assign(&option, assignment);
  } else {
    handle_megatron_option(option, assignment.texts, assignment.place);
  }
}

void Parser::State::apply_aliases() {
  for (const auto& [option, written] : aliases) {
    Assignment assignment = written;
    assignment.key = key_of(option->target());
    if (!option->value().empty()) assignment.texts = {std::string(option->value())};
    if (given.contains(std::string(option->target()))) {
      const auto values = command.options[index.at(assignment.key)].get();
      check_alias(*option, values.empty() ? "none" : to_text(values.front()), assignment.texts,
                  assignment.place);
    } else {
      assign(assignment);
    }
  }
}

void Parser::State::apply_positionals(const std::vector<std::string>& texts) {
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i >= positional_values.size()) {
      base::fail_usage("'{}': unexpected argument; options start with --", texts[i]);
    }
    *positional_values[i] = texts[i];
  }
  for (size_t i = texts.size(); i < positional_values.size(); ++i) {
    const Positional& positional = command.positionals[i];
    if (positional.required) base::fail_usage("{} is missing: {}", positional.name, positional.help);
  }
}

void Parser::State::apply_file(const std::string& path) {
  for (const YamlEntry& entry : read_yaml(path)) {
    apply({entry.key, entry.texts, entry.place, entry.null, entry.list}, true);
  }
}

bool Parser::parse(const std::vector<std::string>& arguments) {
  std::vector<FlagSpec> specs = state_->flag_specs(arguments);
  specs.push_back({"config", FlagSpec::Values::many});
  specs.push_back({"help", FlagSpec::Values::none});
  specs.push_back({"help-markdown", FlagSpec::Values::none});
  const CommandLine line = read_command_line(arguments, specs);
  if (line.flags.contains("help") || line.flags.contains("help-markdown")) {
    std::fputs((line.flags.contains("help") ? help() : markdown()).c_str(), stdout);
    return false;
  }
  if (!line.unknown.empty()) {
    const std::string& flag = line.unknown.front();
    state_->fail_unknown(flag, flag.substr(std::min(flag.find_first_not_of('-'), flag.size())), false);
  }
  state_->apply_positionals(line.positionals);
  if (const auto files = line.flags.find("config"); files != line.flags.end()) {
    for (const std::string& path : files->second) state_->apply_file(path);
  }
  for (const auto& [name, texts] : line.flags) {
    if (name == "config") continue;
    state_->apply({key_of(name), texts, "--" + name}, false);
  }
  state_->apply_aliases();
  return true;
}

bool Parser::given(std::string_view option) const { return state_->given.contains(std::string(option)); }

std::string Parser::yaml() const { return write_yaml(state_->command.options); }

nlohmann::json Parser::json() const { return values_to_json(state_->command.options); }

std::string Parser::help(size_t columns) const { return help_text(state_->command, columns); }
std::string Parser::markdown() const { return markdown_text(state_->command); }

}  // namespace megadlm::config
