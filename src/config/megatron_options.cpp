#include "config/megatron_options.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "base/error.h"
#include "base/log.h"

namespace megadlm::config {
namespace {

using enum MegatronOption::Values;
using enum MegatronOption::Handling;

constexpr std::array kTable{
    MegatronOption{"use-flash-attn", none, ignored, "attention picks its kernel itself"},
    MegatronOption{"tensor-model-parallel-size", one, only, "one process trains", "1"},
    MegatronOption{"use-rotary-position-embeddings", none, alias, "", "", "position-embedding-type", "rope"},
    MegatronOption{"no-position-embedding", none, alias, "", "", "position-embedding-type", "none"},
};

}  // namespace

std::span<const MegatronOption> megatron_options() { return kTable; }

void handle_megatron_option(const MegatronOption& option, const std::vector<std::string>& texts,
                            const std::string& place) {
  if (option.handling == refused) base::fail_usage("{}: not supported: {}", place, option.reason);
  if (option.handling == only) {
    std::istringstream words{std::string(option.accepted)};
    const std::vector<std::string> allowed{std::istream_iterator<std::string>(words), {}};
    for (const std::string& text : texts) {
      if (std::find(allowed.begin(), allowed.end(), text) == allowed.end()) {
        base::fail_usage("{}: '{}' is not supported, {} is: {}", place, text, fmt::join(allowed, " or "),
                         option.reason);
      }
    }
  }
  base::warn_once(fmt::format("{}{}{}: ignored: {}", place, texts.empty() || option.values == none ? "" : " ",
                              option.values == none ? "" : fmt::format("{}", fmt::join(texts, " ")),
                              option.reason));
}

void check_alias(const MegatronOption& option, const std::string& present,
                 const std::vector<std::string>& texts, const std::string& place) {
  const bool not_learned = option.name == "no-position-embedding";
  const bool agrees = not_learned ? present != "learned_absolute" : !texts.empty() && texts.back() == present;
  if (!agrees) base::fail_usage("{}: contradicts --{} {}", place, option.target, present);
}

}  // namespace megadlm::config
