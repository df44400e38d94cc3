#include "tokenizers/normalizer.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/uniset.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "tokenizers/json_access.h"
#include "tokenizers/unicode.h"

namespace megadlm::tokenizers {
namespace {

using nlohmann::json;

/// A normal form over the characters of Unicode 12.0, without the combining marks since 10.0: the reference
/// knows the former's decompositions and takes the latter for characters that do not combine (measured over
/// all characters with `tokenizers` 0.23.3).
icu::FilteredNormalizer2 make_normal_form(const icu::Normalizer2* (*instance)(UErrorCode&)) {
  UErrorCode status = U_ZERO_ERROR;
  static const icu::UnicodeSet known = [] {
    UErrorCode code = U_ZERO_ERROR;
    icu::UnicodeSet set(icu::UnicodeString(u"[[:age=12.0:]-[[:^ccc=0:]-[:age=9.0:]]]"), code);
    base::require(U_SUCCESS(code), "cannot make the set of normalised characters: {}", u_errorName(code));
    set.freeze();
    return set;
  }();
  const icu::Normalizer2* normalizer = instance(status);
  base::require(U_SUCCESS(status), "cannot load Unicode normalisation: {}", u_errorName(status));
  return {*normalizer, known};
}

std::string normalize(const icu::Normalizer2& normalizer, const std::string& text) {
  std::string result;
  icu::StringByteSink<std::string> sink(&result);
  UErrorCode status = U_ZERO_ERROR;
  normalizer.normalizeUTF8(0, text, sink, nullptr, status);
  base::require(U_SUCCESS(status), "cannot normalise text: {}", u_errorName(status));
  return result;
}

/// Capital letters of Unicode 15.1 to 17.0, which the reference's tables know and ICU may not: a range and
/// the distance to its small letters.
struct NewerCapitals {
  uint32_t first, last;
  int32_t distance;
};
constexpr std::array<NewerCapitals, 10> kNewerCapitals{{{0x1C89, 0x1C89, 1},
                                                        {0xA7CB, 0xA7CB, 0x264 - 0xA7CB},
                                                        {0xA7CC, 0xA7CC, 1},
                                                        {0xA7CE, 0xA7CE, 1},
                                                        {0xA7D2, 0xA7D2, 1},
                                                        {0xA7D4, 0xA7D4, 1},
                                                        {0xA7DA, 0xA7DA, 1},
                                                        {0xA7DC, 0xA7DC, 0x19B - 0xA7DC},
                                                        {0x10D50, 0x10D65, 32},
                                                        {0x16EA0, 0x16EB8, 27}}};

uint32_t small_letter(uint32_t point) {
  const auto known = static_cast<uint32_t>(u_tolower(static_cast<UChar32>(point)));
  if (known != point || point < kNewerCapitals.front().first) return known;
  for (const auto& [first, last, distance] : kNewerCapitals) {
    if (point >= first && point <= last) return static_cast<uint32_t>(static_cast<int32_t>(point) + distance);
  }
  return point;
}

/// Character by character, without context: a sigma at the end of a word is as any other.
std::string lowercase(const std::string& text) {
  std::string result;
  for (size_t position = 0; position < text.size();) {
    const uint32_t point = next_code_point(text, position);
    append_utf8(result, small_letter(point));
    if (point == 0x130) append_utf8(result, 0x307);  // the only letter with a longer lower case: i and a dot
  }
  return result;
}

}  // namespace

Normalizer::Normalizer(const json& normalizer, const std::string& place) { read(normalizer, place, 0); }

void Normalizer::read(const json& normalizer, const std::string& place, int depth) {
  static constexpr std::array<std::pair<const char*, Step>, 5> names{{{"NFC", Step::nfc},
                                                                      {"NFD", Step::nfd},
                                                                      {"NFKC", Step::nfkc},
                                                                      {"NFKD", Step::nfkd},
                                                                      {"Lowercase", Step::lowercase}}};
  if (normalizer.is_null()) return;
  const std::string type = json_type(normalizer);
  if (type == "Sequence") {
    const json& parts = json_member(normalizer, "normalizers");
    base::require(parts.is_array() && depth < kDeepestSequence,
                  "{}: normalizer Sequence needs an array 'normalizers' and at most {} levels", place,
                  kDeepestSequence);
    for (const json& part : parts) read(part, place, depth + 1);
    return;
  }
  for (const auto& [name, step] : names) {
    if (type == name) return steps_.push_back(step);
  }
  base::fail("{}: normalizer '{}' is not supported; accepted: NFC, NFD, NFKC, NFKD, Lowercase, Sequence",
             place, type);
}

std::string Normalizer::apply(Step step, const std::string& text) {
  static const auto nfc = make_normal_form(&icu::Normalizer2::getNFCInstance);
  static const auto nfd = make_normal_form(&icu::Normalizer2::getNFDInstance);
  static const auto nfkc = make_normal_form(&icu::Normalizer2::getNFKCInstance);
  static const auto nfkd = make_normal_form(&icu::Normalizer2::getNFKDInstance);
  switch (step) {
    case Step::nfc:
      return normalize(nfc, text);
    case Step::nfd:
      return normalize(nfd, text);
    case Step::nfkc:
      return normalize(nfkc, text);
    case Step::nfkd:
      return normalize(nfkd, text);
    case Step::lowercase:
      return lowercase(text);
  }
  return text;
}

std::string Normalizer::apply(std::string_view text) const {
  std::string result(text);
  for (const Step step : steps_) result = apply(step, result);
  return result;
}

}  // namespace megadlm::tokenizers
