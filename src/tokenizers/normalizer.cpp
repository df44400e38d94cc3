#include "tokenizers/normalizer.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>

#include "base/error.h"

namespace megadlm::tokenizers {
namespace {

const icu::Normalizer2* find(const std::string& form, UErrorCode& status) {
  if (form == "NFC") return icu::Normalizer2::getNFCInstance(status);
  if (form == "NFD") return icu::Normalizer2::getNFDInstance(status);
  if (form == "NFKC") return icu::Normalizer2::getNFKCInstance(status);
  if (form == "NFKD") return icu::Normalizer2::getNFKDInstance(status);
  return nullptr;
}

}  // namespace

bool is_normal_form(const std::string& form) {
  UErrorCode status = U_ZERO_ERROR;
  return find(form, status) != nullptr;
}

std::string normalize(const std::string& text, const std::string& form) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* normalizer = find(form, status);
  base::require(normalizer != nullptr, "normaliser '{}' is not one of NFC, NFD, NFKC, NFKD", form);
  std::string result;
  icu::StringByteSink<std::string> sink(&result);
  normalizer->normalizeUTF8(0, text, sink, nullptr, status);
  base::require(U_SUCCESS(status), "cannot normalise text: {}", u_errorName(status));
  return result;
}

}  // namespace megadlm::tokenizers
