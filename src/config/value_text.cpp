#include "config/value_text.h"

#include <charconv>
#include <cmath>

#include "base/error.h"

namespace megadlm::config {
namespace {

template <class Number>
bool read_number(std::string_view text, Number& number) {
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

std::optional<bool> read_flag(const std::string& text) {
  for (const char* word : {"true", "True", "TRUE", "yes", "on", "1"}) {
    if (text == word) return true;
  }
  for (const char* word : {"false", "False", "FALSE", "no", "off", "0"}) {
    if (text == word) return false;
  }
  return std::nullopt;
}

std::string range_text(const Bounds& bounds) {
  const bool lower = std::isfinite(bounds.min), upper = std::isfinite(bounds.max);
  std::string text;
  if (lower)
    text = fmt::format(" {} {}", bounds.open_min ? "above" : upper ? "from" : "of at least", bounds.min);
  if (upper)
    text += fmt::format(" {} {}", bounds.open_max ? "below" : lower ? "up to" : "of at most", bounds.max);
  if (lower && upper && bounds.open_max) return fmt::format(" from {} to below {}", bounds.min, bounds.max);
  return text;
}

Value parse_value(const OptionDescription& option, const std::string& text, const std::string& place) {
  switch (option.kind) {
    case ValueKind::flag:
      if (const auto flag = read_flag(text)) return *flag;
      break;
    case ValueKind::integer:
      if (int64_t number = 0; read_number(text, number)) return number;
      break;
    case ValueKind::number:
      if (double number = 0; read_number(text, number) && std::isfinite(number)) return number;
      break;
    case ValueKind::choice:
      if (std::find(option.choices.begin(), option.choices.end(), text) != option.choices.end()) return text;
      break;
    case ValueKind::text:
      return text;
  }
  base::fail_usage("{}: '{}' is not {}", place, text, accepted(option));
}

}  // namespace

std::string accepted(const OptionDescription& option) {
  switch (option.kind) {
    case ValueKind::flag:
      return "true or false";
    case ValueKind::integer:
      return "a whole number" + range_text(option.bounds);
    case ValueKind::number:
      return "a number" + range_text(option.bounds);
    case ValueKind::choice:
      return fmt::format("one of {}", fmt::join(option.choices, ", "));
    case ValueKind::text:
      break;
  }
  return "text";
}

bool in_bounds(const OptionDescription& option, const Value& value) {
  double number = 0;
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    number = static_cast<double>(*integer);
  } else if (const auto* real = std::get_if<double>(&value)) {
    number = *real;
  } else {
    return true;
  }
  const Bounds& bounds = option.bounds;
  return (bounds.open_min ? number > bounds.min : number >= bounds.min) &&
         (bounds.open_max ? number < bounds.max : number <= bounds.max);
}

bool has_no_default(const OptionDescription& option) {
  return !option.list && !option.default_values.empty() && !in_bounds(option, option.default_values.front());
}

void check_bounds(const OptionDescription& option, const Value& value, const std::string& place) {
  if (!in_bounds(option, value)) {
    base::fail_usage("{}: {} is out of range: give {}", place, to_text(value), accepted(option));
  }
}

std::vector<Value> parse_values(const OptionDescription& option, const std::vector<std::string>& texts,
                                const std::string& place) {
  std::vector<Value> values;
  for (const std::string& text : texts) {
    values.push_back(parse_value(option, text, place));
    check_bounds(option, values.back(), place);
  }
  return values;
}

std::string to_text(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* integer = std::get_if<int64_t>(&value)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  return std::get<std::string>(value);
}

}  // namespace megadlm::config
