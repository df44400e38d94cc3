#include "config/megatron_options.h"

#include <algorithm>
#include <iterator>
#include <sstream>

#include "base/error.h"
#include "base/log.h"
#include "config/megatron_table.h"

namespace megadlm::config {
namespace {

using Values = MegatronOption::Values;
using Handling = MegatronOption::Handling;

/// The words of a text that outlives them.
std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> result;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (end > 0) result.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::vector<MegatronOption> expand(std::span<const MegatronRow> rows) {
  std::vector<MegatronOption> options;
  for (const MegatronRow& row : rows) {
    for (const auto& [names, values] :
         {std::pair{row.flags, Values::none}, std::pair{row.with_value, Values::one},
          std::pair{row.with_list, Values::many}}) {
      for (const std::string_view name : words(names)) {
        options.push_back({name, values, row.handling, row.reason, row.accepted});
      }
    }
  }
  return options;
}

}  // namespace

std::string_view MegatronOption::value() const {
  const size_t equals = accepted.find('=');
  return equals == std::string_view::npos ? std::string_view() : accepted.substr(equals + 1);
}

const std::vector<MegatronOption>& megatron_options() {
  static const std::vector<MegatronOption> options = expand(megatron_rows());
  return options;
}

void handle_megatron_option(const MegatronOption& option, const std::vector<std::string>& texts,
                            const std::string& place) {
  const std::string given = option.values == Values::none ? "" : fmt::format(" {}", fmt::join(texts, " "));
  if (option.handling == Handling::refused)
    base::fail_usage("{}{}: not supported: {}", place, given, option.reason);
  if (option.handling == Handling::only) {
    const std::vector<std::string_view> allowed = words(option.accepted);
    for (const std::string& text : texts) {
      if (std::find(allowed.begin(), allowed.end(), text) == allowed.end()) {
        base::fail_usage("{}: '{}' is not supported, only {}: {}", place, text, fmt::join(allowed, " or "),
                         option.reason);
      }
    }
  }
  base::warn_once(fmt::format("{}{}: ignored: {}", place, given, option.reason));
}

void check_alias(const MegatronOption& option, const std::string& present,
                 const std::vector<std::string>& texts, const std::string& place) {
  const bool not_learned = option.name == "no-position-embedding";
  const bool agrees = not_learned ? present != "learned_absolute" : !texts.empty() && texts.back() == present;
  if (!agrees) base::fail_usage("{}: contradicts --{} {}", place, option.target(), present);
}

}  // namespace megadlm::config
