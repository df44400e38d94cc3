#include "base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>

#include <mutex>
#include <set>

#include "base/error.h"

namespace megadlm::base {

void start_logging(const std::string& level) {
  const auto parsed = spdlog::level::from_str(level);
  if (parsed == spdlog::level::off && level != "off") {
    fail_usage("--log-level: '{}' is not one of trace, debug, info, warning, error, off", level);
  }
  auto logger =
      std::make_shared<spdlog::logger>("megadlm", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  logger->set_pattern("[%Y-%m-%d %H:%M:%S] [%^%l%$] %v");
  logger->set_level(parsed);
  spdlog::set_default_logger(logger);
}

void warn_once(const std::string& text) {
  static std::mutex mutex;
  static std::set<std::string> seen;
  const std::lock_guard lock(mutex);
  if (seen.insert(text).second) spdlog::warn("{}", text);
}

}  // namespace megadlm::base
