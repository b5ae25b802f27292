// SPDX-License-Identifier: BSL-1.0
/// The training text, as numbers of words.
#pragma once

#include "files.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

namespace examples::live_checkpoint {

struct Corpus {
  std::vector<std::uint32_t> tokens;  ///< words, numbered in the order of their first appearance
  std::uint32_t words = 0;
};

inline std::vector<fs::path> files_below(const fs::path& path) {
  if (!fs::is_directory(path)) {
    return {path};
  }
  std::vector<fs::path> files;
  for (const auto& entry :
       fs::recursive_directory_iterator(path, fs::directory_options::skip_permission_denied)) {
    // Skips symbolic links: a file would be read a second time through a link.
    if (!entry.is_symlink() && entry.is_regular_file()) {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);  // so that the order does not depend on the file system
  return files;
}

/// True for letters, digits and bytes beyond ASCII. Converts `character` to lower case.
inline bool is_part_of_word(char& character) {
  if (character >= 'A' && character <= 'Z') {
    character = static_cast<char>(character - 'A' + 'a');
  }
  return (character >= 'a' && character <= 'z') || (character >= '0' && character <= '9') ||
         static_cast<unsigned char>(character) >= 0x80;
}

/// Reads at most `most_tokens` words of a file, or of all text files below a directory, in sorted
/// order. Throws UsageError if there is no text, and what throw_if_interrupted() throws.
inline Corpus read_corpus(const fs::path& path, std::uint64_t most_tokens) {
  Corpus corpus;
  std::unordered_map<std::string, std::uint32_t> numbers;
  const auto take = [&](std::string& word) {
    if (!word.empty() && corpus.tokens.size() < most_tokens) {
      const auto [known, is_new] = numbers.emplace(word, corpus.words);
      corpus.words += is_new ? 1 : 0;
      corpus.tokens.push_back(known->second);
    }
    word.clear();
  };
  for (const fs::path& name : files_below(path)) {
    throw_if_interrupted();
    std::ifstream file(name, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    std::string word;
    // Skips pictures and archives, which contain zero bytes.
    for (char character : text.find('\0') == text.npos ? text : "") {
      if (is_part_of_word(character)) {
        word.push_back(character);
      } else {
        take(word);
      }
    }
    take(word);
    if (corpus.tokens.size() == most_tokens) {
      break;
    }
  }
  if (corpus.tokens.empty()) {
    throw UsageError("No text found in " + path.string() + ". Give another --text.");
  }
  return corpus;
}

}  // namespace examples::live_checkpoint
