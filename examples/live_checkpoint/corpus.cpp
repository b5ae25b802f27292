// SPDX-License-Identifier: BSL-1.0
#include "corpus.hpp"

#include "failure.hpp"
#include "text_files.hpp"

#include <string>
#include <string_view>

namespace examples::live_checkpoint {
namespace {

class Reader {
 public:
  Reader(std::uint64_t most_tokens, Progress& progress)
      : most_tokens_(most_tokens), progress_(&progress) {}

  /// False once there are enough tokens.
  bool read(const std::filesystem::path& path) {
    const auto outcome = read_text(path, [&](std::string_view piece) { return feed(piece); });
    switch (outcome) {
      case ReadOutcome::not_text:
        ++corpus_.files_not_text;
        return true;
      case ReadOutcome::unreadable:
        ++corpus_.files_unreadable;
        return cutter_.finish([&](std::string_view word) { return take(word); });
      case ReadOutcome::stopped:
        ++corpus_.files;
        return false;
      case ReadOutcome::read:
        ++corpus_.files;
        break;
    }
    return cutter_.finish([&](std::string_view word) { return take(word); });
  }

  Corpus&& result() { return std::move(corpus_); }

 private:
  bool feed(std::string_view piece) {
    corpus_.nbytes += piece.size();
    progress_->advance_to(corpus_.tokens.size());
    return cutter_.feed(piece, [&](std::string_view word) { return take(word); });
  }

  bool take(std::string_view word) {
    corpus_.tokens.push_back(corpus_.vocabulary.number_of(word));
    return corpus_.tokens.size() < most_tokens_;
  }

  std::uint64_t most_tokens_;
  Progress* progress_;
  WordCutter cutter_;
  Corpus corpus_;
};

std::string listed(const std::vector<std::filesystem::path>& paths) {
  std::string list;
  for (const auto& path : paths) {
    list += (list.empty() ? "" : ", ") + path.string();
  }
  return list;
}

}  // namespace

Corpus read_corpus(const std::vector<std::filesystem::path>& paths, std::uint64_t most_tokens,
                   Progress& progress) {
  const auto files = find_files(paths);
  Reader reader(most_tokens, progress);
  progress.begin("read text", most_tokens, "tokens");
  for (const auto& file : files) {
    if (!reader.read(file)) {
      break;
    }
  }
  Corpus corpus = reader.result();
  if (corpus.tokens.empty()) {
    throw UsageError("No text found in " + listed(paths) + ": of " + std::to_string(files.size()) +
                     " files " + std::to_string(corpus.files_not_text) +
                     " are binary or compressed, " + std::to_string(corpus.files_unreadable) +
                     " cannot be read and " + std::to_string(corpus.files) + " have no words.");
  }
  progress.advance_to(corpus.tokens.size());
  progress.end();
  return corpus;
}

}  // namespace examples::live_checkpoint
