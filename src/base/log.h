#pragma once

#include <spdlog/spdlog.h>

#include <string>

namespace megadlm::base {

/// Sends log lines to standard error as `[time] [level] text`. `level` is trace, debug, info, warning,
/// error or off.
void start_logging(const std::string& level = "info");

/// Logs a warning the first time it is called with this text, and never again: fallbacks are loud, once.
void warn_once(const std::string& text);

}  // namespace megadlm::base
