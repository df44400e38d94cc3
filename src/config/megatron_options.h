#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace megadlm::config {

/// Megatron-LM's options that are not options here (and a few of its forks'), so that a launch script's
/// argument list runs as it is.
struct MegatronOption {
  enum class Values { none, one, many };
  enum class Handling {
    ignored,  ///< has no meaning here: named in a warning
    only,     ///< accepted with one of the values in `accepted`, otherwise refused
    alias,    ///< another spelling of the option `target`, given `value` if it takes none itself
    refused,
  };
  std::string_view name;
  Values values;
  Handling handling;
  std::string_view reason;         ///< why ignored or refused
  std::string_view accepted = "";  ///< `only`: values separated by spaces
  std::string_view target = "";
  std::string_view value = "";
};

/// The whole table.
std::span<const MegatronOption> megatron_options();

/// Warns about or refuses an option of the table that was given with `texts`; not for aliases.
void handle_megatron_option(const MegatronOption& option, const std::vector<std::string>& texts,
                            const std::string& place);

/// An alias whose target was itself given and holds `present`: the two must not contradict each other.
/// `--no-position-embedding` says only that positions are not learned, so that rope agrees with it.
void check_alias(const MegatronOption& option, const std::string& present,
                 const std::vector<std::string>& texts, const std::string& place);

}  // namespace megadlm::config
