#include "tokenizers/training/bpe_trainer.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <queue>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "tokenizers/bpe/byte_alphabet.h"
#include "tokenizers/bpe/word_splitter.h"
#include "tokenizers/unicode.h"

namespace megadlm::tokenizers {
namespace {

using Pair = std::pair<int32_t, int32_t>;

struct PairHash {
  size_t operator()(const Pair& pair) const {
    return std::hash<uint64_t>()((uint64_t{static_cast<uint32_t>(pair.first)} << 32) |
                                 static_cast<uint32_t>(pair.second));
  }
};

/// A piece of text with its count, as ids.
struct Word {
  std::vector<int32_t> symbols;
  int64_t count = 0;
};

/// A pair that waits to be merged: the most frequent first, then the smaller ids.
struct Candidate {
  int64_t count;
  Pair pair;
  bool operator<(const Candidate& other) const {
    return count != other.count ? count < other.count : pair > other.pair;
  }
};

/// The growing vocabulary and the words that it is learned from.
class Merger {
 public:
  explicit Merger(std::vector<Word> words) : words_(std::move(words)) {
    for (size_t i = 0; i < words_.size(); ++i) {
      const auto& symbols = words_[i].symbols;
      for (size_t k = 0; k + 1 < symbols.size(); ++k)
        change({symbols[k], symbols[k + 1]}, words_[i].count, i);
    }
    push_changed();
  }

  /// The next pair to merge; false when none is left.
  bool next(Pair& pair) {
    while (!queue_.empty()) {
      Candidate top = queue_.top();
      queue_.pop();
      const int64_t count = counts_[top.pair];
      if (count != top.count) {
        if (count > 0) queue_.push({count, top.pair});
        continue;
      }
      if (top.count < 1) return false;
      pair = top.pair;
      return true;
    }
    return false;
  }

  void merge(const Pair& pair, int32_t result) {
    const auto places = std::move(places_[pair]);
    places_.erase(pair);
    for (const size_t word : places) merge_in(word, pair, result);
    counts_[pair] = 0;
    push_changed();
  }

 private:
  void change(const Pair& pair, int64_t by, size_t word) {
    counts_[pair] += by;
    if (by > 0) {
      places_[pair].insert(word);
      changed_.insert(pair);
    }
  }

  void merge_in(size_t number, const Pair& pair, int32_t result) {
    auto& symbols = words_[number].symbols;
    const int64_t count = words_[number].count;
    size_t write = 0;
    for (size_t read = 0; read < symbols.size(); ++read) {
      if (read + 1 >= symbols.size() || Pair{symbols[read], symbols[read + 1]} != pair) {
        symbols[write++] = symbols[read];
        continue;
      }
      if (write > 0) {
        change({symbols[write - 1], pair.first}, -count, number);
        change({symbols[write - 1], result}, count, number);
      }
      if (read + 2 < symbols.size()) {
        change({pair.second, symbols[read + 2]}, -count, number);
        change({result, symbols[read + 2]}, count, number);
      }
      symbols[write++] = result;
      ++read;
    }
    symbols.resize(write);
  }

  void push_changed() {
    for (const Pair& pair : changed_) {
      if (counts_[pair] > 0) queue_.push({counts_[pair], pair});
    }
    changed_.clear();
  }

  std::vector<Word> words_;
  std::unordered_map<Pair, int64_t, PairHash> counts_;
  std::unordered_map<Pair, std::unordered_set<size_t>, PairHash> places_;
  std::set<Pair> changed_;
  std::priority_queue<Candidate> queue_;
};

using nlohmann::ordered_json;

ordered_json special_token(int64_t id, const std::string& content) {
  return {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", true}};
}

/// tokenizer.json around a vocabulary and merges.
std::string tokenizer_json(const BpeTrainingOptions& options, ordered_json vocabulary, ordered_json merges) {
  const ordered_json byte_level = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  ordered_json added = ordered_json::array();
  for (size_t i = 0; i < options.special_tokens.size(); ++i) {
    added.push_back(special_token(static_cast<int64_t>(i), options.special_tokens[i]));
  }
  const ordered_json model = {{"type", "BPE"},
                              {"dropout", nullptr},
                              {"unk_token", nullptr},
                              {"continuing_subword_prefix", nullptr},
                              {"end_of_word_suffix", nullptr},
                              {"fuse_unk", false},
                              {"byte_fallback", false},
                              {"ignore_merges", false},
                              {"vocab", std::move(vocabulary)},
                              {"merges", std::move(merges)}};
  const ordered_json json = {
      {"version", "1.0"},          {"truncation", nullptr}, {"padding", nullptr},
      {"added_tokens", added},     {"normalizer", nullptr}, {"pre_tokenizer", byte_level},
      {"post_processor", nullptr}, {"decoder", byte_level}, {"model", model}};
  return json.dump(1) + "\n";
}

}  // namespace

struct BpeTrainer::State {
  WordSplitter splitter;
  std::unordered_map<std::string, int64_t> counts;
};

BpeTrainer::BpeTrainer(const BpeTrainingOptions& options)
    : options_(options), state_(std::make_unique<State>()) {
  const int64_t smallest = static_cast<int64_t>(options.special_tokens.size()) + 256;
  base::require(options.vocab_size >= smallest,
                "--vocab-size {}: a byte-level vocabulary has at least {} tokens", options.vocab_size,
                smallest);
}

BpeTrainer::~BpeTrainer() = default;

void BpeTrainer::add(std::string_view document) {
  require_utf8(document);
  for (size_t position = 0; position < document.size();) {
    const size_t end = state_->splitter.end_of_piece(document, position);
    ++state_->counts[std::string(document.substr(position, end - position))];
    position = end;
  }
}

std::string BpeTrainer::train() const {
  base::require(!state_->counts.empty(),
                "tokenizer train: the text is empty; there is nothing to learn from");
  std::vector<std::string> pieces = options_.special_tokens;
  // The alphabet in the order of its characters, whose UTF-8 sorts as they do.
  const std::set<std::string> alphabet(byte_alphabet().begin(), byte_alphabet().end());
  pieces.insert(pieces.end(), alphabet.begin(), alphabet.end());
  std::unordered_map<std::string, int32_t> ids;
  for (size_t i = 0; i < pieces.size(); ++i) ids.emplace(pieces[i], static_cast<int32_t>(i));

  std::vector<Word> words;
  for (const auto& [text, count] : state_->counts) {
    Word word{{}, count};
    for (const unsigned char byte : text) word.symbols.push_back(ids.at(byte_alphabet()[byte]));
    words.push_back(std::move(word));
  }
  Merger merger(std::move(words));
  ordered_json merges = ordered_json::array();
  for (Pair pair; static_cast<int64_t>(pieces.size()) < options_.vocab_size && merger.next(pair);) {
    const std::string &left = pieces[pair.first], &right = pieces[pair.second], joined = left + right;
    merges.push_back({left, right});
    const auto [place, fresh] = ids.emplace(joined, static_cast<int32_t>(pieces.size()));
    if (fresh) pieces.push_back(joined);
    merger.merge(pair, place->second);
  }
  // In the order of ids; appended without a search for an equal key, since pieces differ.
  ordered_json::object_t vocabulary;
  for (size_t i = 0; i < pieces.size(); ++i) vocabulary.emplace_back(pieces[i], i);
  return tokenizer_json(options_, std::move(vocabulary), std::move(merges));
}

}  // namespace megadlm::tokenizers
