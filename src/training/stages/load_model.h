#pragma once

#include <filesystem>
#include <memory>

#include "config/options/objective.h"
#include "models/language_model.h"
#include "tokenizers/vocabulary.h"

namespace megadlm::training {

/// A trained model with what is needed to use it.
struct LoadedModel {
  std::unique_ptr<models::LanguageModel> model;
  tokenizers::Vocabulary vocabulary;
  config::ObjectiveOptions objective;
  int64_t seq_length = 0;
  int64_t iteration = 0;
  std::filesystem::path checkpoint;
};

/// Loads a run's newest checkpoint, or the checkpoint whose own folder is given, in the type that it was
/// trained in. Errors name the folder and file.
LoadedModel load_model(const std::filesystem::path& folder);

}  // namespace megadlm::training
