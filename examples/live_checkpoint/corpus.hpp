// SPDX-License-Identifier: BSL-1.0
/// The text to train on, as the numbers of its words. Reading stops as soon as there are as many
/// as will be trained, so that a small run over much text is quick.
#pragma once

#include "progress.hpp"
#include "vocabulary.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace examples::live_checkpoint {

struct Corpus {
  std::vector<std::uint32_t> tokens;  ///< word numbers, in the order of the text
  Vocabulary vocabulary;
  std::size_t files = 0;             ///< read, at least in part
  std::size_t files_not_text = 0;    ///< passed over: binary or compressed
  std::size_t files_unreadable = 0;  ///< passed over: no permission, or an error while reading
  std::uint64_t nbytes = 0;          ///< of the text read
};

/// Reads at most `most_tokens` words below `paths`. Throws UsageError for a path that is missing or
/// that has no text, Failure for what cannot be read, Interrupted.
Corpus read_corpus(const std::vector<std::filesystem::path>& paths, std::uint64_t most_tokens,
                   Progress& progress);

}  // namespace examples::live_checkpoint
