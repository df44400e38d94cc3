#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace megadlm::config {

/// An option of Megatron-LM (or of MegaDLMs) that is not an option here. Knowing it lets a launch script's
/// argument list run as it is.
struct MegatronOption {
  enum class Values { none, one, many };
  enum class Handling {
    ignored,  ///< has no meaning here: named in a warning
    only,     ///< accepted with one of the values in `accepted`, otherwise refused
    alias,    ///< another spelling of the option `accepted`, or of "option=value"
    refused,
  };
  std::string_view name;
  Values values;
  Handling handling;
  std::string_view reason;         ///< why ignored or refused
  std::string_view accepted = {};  ///< see Handling

  /// Of an alias: the option that it stands for, and the value that it gives ("" where it takes its own).
  std::string_view target() const { return accepted.substr(0, accepted.find('=')); }
  std::string_view value() const;
};

/// The whole table.
const std::vector<MegatronOption>& megatron_options();

/// Warns about or refuses an option that was given with `texts`; not for aliases.
void handle_megatron_option(const MegatronOption& option, const std::vector<std::string>& texts,
                            const std::string& place);

/// An alias whose target was itself given and holds `present`: the two must not contradict each other.
/// `--no-position-embedding` says only that positions are not learned, so that rope agrees with it.
void check_alias(const MegatronOption& option, const std::string& present,
                 const std::vector<std::string>& texts, const std::string& place);

}  // namespace megadlm::config
