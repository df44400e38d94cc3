#include "config/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/error.h"
#include "config/option_description.h"

namespace megadlm::config {
namespace {

constexpr int kMany = 1 << 20;

/// Both spellings of a flag, and its negation.
std::string spellings(const FlagSpec& flag) {
  const std::string underscored = key_of(flag.name);
  std::string text = "--" + flag.name;
  if (underscored != flag.name) text += ",--" + underscored;
  if (flag.negatable && flag.values == FlagSpec::Values::none && !flag.name.starts_with("no-")) {
    text += ",!--no-" + flag.name;
    if (underscored != flag.name) text += ",!--no_" + underscored;
  }
  if (flag.name == "help") text += ",-h";
  return text;
}

/// `ignored` takes what CLI11 converts; the texts are read from the option itself.
CLI::Option* declare(CLI::App& app, const FlagSpec& flag, std::string& ignored) {
  const CLI::callback_t accept = [](const CLI::results_t&) { return true; };
  if (flag.values == FlagSpec::Values::none) {
    return app.add_flag(spellings(flag), ignored)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
  CLI::Option* option = app.add_option(spellings(flag), accept);
  if (flag.values == FlagSpec::Values::many) {
    option->expected(1, kMany)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  } else {
    option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
  // Otherwise "[MASK]" would be read as a list.
  return option->allow_extra_args(false);
}

/// CLI11 takes the next argument for "--name=": give it the empty text instead.
std::vector<std::string> reversed(const std::vector<std::string>& arguments) {
  std::vector<std::string> result;
  for (const std::string& argument : arguments) {
    if (argument.starts_with("--") && argument.size() > 3 && argument.find('=') == argument.size() - 1) {
      result.push_back(argument.substr(0, argument.size() - 1));
      result.emplace_back();
    } else {
      result.push_back(argument);
    }
  }
  std::reverse(result.begin(), result.end());
  return result;
}

}  // namespace

CommandLine read_command_line(const std::vector<std::string>& arguments, const std::vector<FlagSpec>& flags) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  std::map<std::string, CLI::Option*> options;
  std::string ignored;
  for (const FlagSpec& flag : flags) options[flag.name] = declare(app, flag, ignored);
  try {
    app.parse(reversed(arguments));
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string text = error.what();
    base::fail_usage("{}: its value is missing", text.substr(0, text.find(':')));
  } catch (const CLI::ParseError& error) {
    base::fail_usage("{}", error.what());
  }

  CommandLine line;
  for (const auto& [name, option] : options) {
    if (option->count() > 0) line.flags[name] = option->results();
  }
  bool after_unknown = false;
  for (const std::string& extra : app.remaining()) {
    if (extra.size() > 1 && extra.front() == '-' && extra.find_first_not_of("-=") != std::string::npos) {
      line.unknown.push_back(extra.substr(0, extra.find('=')));
      after_unknown = true;
    } else if (!after_unknown) {
      line.positionals.push_back(extra);
    }
  }
  return line;
}

}  // namespace megadlm::config
