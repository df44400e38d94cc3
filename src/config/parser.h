#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "config/option_description.h"

namespace megadlm::config {

/// The options of one subcommand, from flags and YAML files.
///
///   Parser parser("pretrain", "Train a language model.");
///   parser.add(architecture);              // any struct with `group` and `visit`, see config/option.h
///   if (!parser.parse(arguments)) return 0;  // help was printed
///
/// Later sources win: defaults, then each `--config FILE` in order, then flags. A scalar flag given again
/// replaces the earlier value; a list flag given again appends. Names may be written with dashes or
/// underscores. Booleans: `--flag`, `--flag=false`, `--no-flag`. An optional is made absent by `none`.
/// Everything wrong is an Error with exit code 2 that names the flag or file:line, the value and what is
/// accepted; nothing is printed or changed on disk before.
class Parser {
 public:
  /// `command` is the text after "megadlm", for example "tokenizer train".
  Parser(std::string command, std::string summary);
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
  ~Parser();

  /// Declares every option of the group and binds it to the group's members, which must outlive the parser.
  template <class Group>
  void add(Group& group) {
    Group::visit(group, [&](auto& member, std::string_view name, std::string_view help, Bounds bounds = {}) {
      add_option(describe(member, name, help, Group::group, bounds));
    });
  }
  void add_option(OptionDescription description);
  /// An argument without a flag, taken in the order of declaration; it must be given unless `value` is not
  /// empty beforehand.
  void add_positional(std::string name, std::string help, std::string& value);
  /// Accepts Megatron-LM's options that have no meaning here: each is named in a warning and ignored, or
  /// refused with the reason (config/megatron_options.h).
  void accept_megatron_options();

  /// Fills the groups. False: help was asked for and printed to standard output.
  bool parse(const std::vector<std::string>& arguments);

  /// Whether a flag or a configuration file named the option ("num-layers").
  bool given(std::string_view option) const;
  /// The final configuration, every option, grouped by comments; `--config` reads it back.
  std::string yaml() const;
  nlohmann::json json() const;
  /// Readable help for a terminal of `columns` characters.
  std::string help(size_t columns = 100) const;
  /// The same as a section of a Markdown page.
  std::string markdown() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace megadlm::config
