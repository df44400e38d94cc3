#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/option.h"

namespace megadlm::config {

/// Where training samples come from.
struct DataOptions {
  static constexpr std::string_view group = "Data";
  std::vector<std::string> data_path;
  std::vector<std::string> valid_data_path;
  std::string split = "969,30,1";
  int64_t seq_length = 0;
  std::string data_cache_path;
  bool reset_position_ids = false;
  bool reset_attention_mask = false;
  bool eod_mask_loss = false;
  bool mock_data = false;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& option) {
    option(self.data_path, "data-path", "Prefix of the training .bin/.idx pair, split by --split.");
    option(self.valid_data_path, "valid-data-path",
           "Prefix of the validation .bin/.idx pair; then all of --data-path is for training.");
    option(self.split, "split", "Shares of documents for training, validation and test.");
    option(self.seq_length, "seq-length", "Tokens in a row.", between(1, 1 << 30));
    option(self.data_cache_path, "data-cache-path",
           "Folder of cached sample indices. Empty: beside the data.");
    option(self.reset_position_ids, "reset-position-ids",
           "Positions start again after an end-of-document token.");
    option(self.reset_attention_mask, "reset-attention-mask", "Tokens see their own document only.");
    option(self.eod_mask_loss, "eod-mask-loss", "End-of-document tokens carry no loss.");
    option(self.mock_data, "mock-data", "Random ids in place of a dataset, for measuring speed.");
  }
};

enum class OnError { stop, skip };
template <>
struct EnumNames<OnError> {
  static constexpr std::array value{std::pair{OnError::stop, std::string_view("stop")},
                                    std::pair{OnError::skip, std::string_view("skip")}};
};

/// `megadlm preprocess`: text to a .bin/.idx pair.
struct PreprocessOptions {
  static constexpr std::string_view group = "Preprocessing";
  std::vector<std::string> input;
  std::string output_prefix;
  std::vector<std::string> json_keys{"text"};
  bool plain_text = false;
  bool append_eod = false;
  OnError on_error = OnError::stop;
  int64_t workers = 0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& option) {
    option(self.input, "input", "JSON-lines files, or plain text with --plain-text.");
    option(self.output_prefix, "output-prefix",
           "The pair is <prefix>_<key>_document.bin and .idx (plain text: key 'text').");
    option(self.json_keys, "json-keys", "Keys to take from each JSON object.");
    option(self.plain_text, "plain-text", "The input is plain text, a document a line.");
    option(self.append_eod, "append-eod", "End each document with the end-of-document token.");
    option(self.on_error, "on-error",
           "What to do with a line that cannot be used: stop, or skip and count it.");
    option(self.workers, "workers", "Tokenising threads. 0: one a core.", at_least(0));
  }
};

}  // namespace megadlm::config
