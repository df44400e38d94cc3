#include "config/help.h"

#include <fmt/format.h>

#include <sstream>

#include "config/value_text.h"

namespace megadlm::config {
namespace {

constexpr size_t kIndent = 2, kNameColumn = 34;

std::string placeholder(const OptionDescription& option) {
  std::string word;
  switch (option.kind) {
    case ValueKind::flag:
      return "";
    case ValueKind::integer:
      word = "N";
      break;
    case ValueKind::number:
      word = "X";
      break;
    case ValueKind::choice:
      word = "CHOICE";
      break;
    case ValueKind::text:
      word = "TEXT";
      break;
  }
  return option.list ? word + "..." : word;
}

std::string default_text(const OptionDescription& option) {
  if (has_no_default(option)) return "";
  std::vector<std::string> texts;
  for (const Value& value : option.default_values) texts.push_back(to_text(value));
  return fmt::format("{}", fmt::join(texts, " "));
}

/// The declared text with choices and default.
std::string full_help(const OptionDescription& option) {
  std::string text = option.help;
  if (!option.choices.empty()) text += fmt::format(" One of: {}.", fmt::join(option.choices, ", "));
  const std::string value = default_text(option);
  const bool off = option.kind == ValueKind::flag && value == "false";
  if (!value.empty() && !off) text += fmt::format(" [{}]", value);
  return text;
}

std::string wrap(const std::string& text, size_t indent, size_t columns) {
  std::istringstream words(text);
  std::string result, word;
  size_t at = indent;
  while (words >> word) {
    if (at > indent && at + 1 + word.size() > columns) {
      result += fmt::format("\n{:{}}", "", indent);
      at = indent;
    } else if (at > indent) {
      result += ' ';
      ++at;
    }
    result += word;
    at += word.size();
  }
  return result + "\n";
}

std::string help_line(const std::string& name, const std::string& text, size_t columns) {
  std::string line = std::string(kIndent, ' ') + name;
  if (line.size() + 2 > kNameColumn) {
    line += "\n" + std::string(kNameColumn, ' ');
  } else {
    line.resize(kNameColumn, ' ');
  }
  return line + wrap(text, kNameColumn, std::max(columns, kNameColumn + 30));
}

std::string usage(const CommandDescription& command) {
  std::string text = "megadlm " + command.command;
  for (const Positional& positional : command.positionals) {
    text += positional.required ? " " + positional.name : " [" + positional.name + "]";
  }
  return text + " [options]";
}

std::string escape_table_cell(const std::string& text) {
  std::string escaped;
  for (const char letter : text) {
    if (letter == '|' || letter == '<' || letter == '*') escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

std::string markdown_row(const OptionDescription& option) {
  const std::string value = default_text(option);
  std::string choices;
  if (!option.choices.empty()) choices = fmt::format(" One of `{}`.", fmt::join(option.choices, "`, `"));
  const std::string word = placeholder(option);
  return fmt::format("| `--{}{}` | {} | {}{} |\n", option.name, word.empty() ? "" : " " + word,
                     value.empty() ? "" : "`" + value + "`", escape_table_cell(option.help), choices);
}

}  // namespace

std::string help_text(const CommandDescription& command, size_t columns) {
  std::string text = fmt::format("Usage: {}\n\n{}", usage(command), wrap(command.summary, 0, columns));
  if (!command.positionals.empty()) text += "\nArguments\n";
  for (const Positional& positional : command.positionals) {
    text += help_line(positional.name, positional.help, columns);
  }
  std::string group;
  for (const OptionDescription& option : command.options) {
    if (option.group != group) text += "\n" + (group = option.group) + "\n";
    const std::string word = placeholder(option);
    text += help_line("--" + option.name + (word.empty() ? "" : " " + word), full_help(option), columns);
  }
  text += "\nGeneral\n";
  text += help_line(
      "--config FILE...",
      "YAML files of options (num_layers: 4). Later files win over earlier ones, flags over files.", columns);
  text += help_line("-h, --help", "Print this and exit.", columns);
  return text;
}

std::string markdown_text(const CommandDescription& command) {
  std::string text = fmt::format("## {}\n\n{}\n\n`{}`\n", command.command, command.summary, usage(command));
  if (!command.positionals.empty()) text += "\n| argument | |\n| --- | --- |\n";
  for (const Positional& positional : command.positionals) {
    text += fmt::format("| `{}` | {} |\n", positional.name, escape_table_cell(positional.help));
  }
  std::string group;
  for (const OptionDescription& option : command.options) {
    if (option.group != group) {
      text += fmt::format("\n### {}: {}\n\n| option | default | |\n| --- | --- | --- |\n", command.command,
                          group = option.group);
    }
    text += markdown_row(option);
  }
  return text;
}

}  // namespace megadlm::config
