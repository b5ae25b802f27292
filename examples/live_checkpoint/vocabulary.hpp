// SPDX-License-Identifier: BSL-1.0
/// Numbers the words of a text in the order in which they first appear. A word's number is its row
/// in the table, so the words everybody uses stand close together at the front, and what one file
/// alone talks about stands together too: few tiles are written at any time, and few are copied.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace examples::live_checkpoint {

class Vocabulary {
 public:
  /// The number of `word`, which gets the next one if it is new. Throws Failure beyond 2^32 words.
  std::uint32_t number_of(std::string_view word);

  /// By number.
  const std::deque<std::string>& words() const noexcept { return words_; }

 private:
  std::deque<std::string> words_;  ///< a deque: the keys below are views of these
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

/// Cuts text, which may come in pieces, into words: runs of letters, digits and whatever is not
/// ASCII, in lower case. What a word has beyond `longest_word_nbytes` is left out.
class WordCutter {
 public:
  static constexpr std::size_t longest_word_nbytes = 64;

  /// Calls `take(word)` for each word that ends in `piece`, until it returns false: then so does
  /// this.
  template <class Take>
  bool feed(std::string_view piece, Take&& take) {
    for (const char character : piece) {
      if (is_part_of_word(character)) {
        append(character);
      } else if (!finish(take)) {
        return false;
      }
    }
    return true;
  }

  /// The same for the word that the text ends with.
  template <class Take>
  bool finish(Take&& take) {
    if (word_.empty()) {
      return true;
    }
    const bool more = take(std::string_view(word_));
    word_.clear();
    return more;
  }

 private:
  static bool is_part_of_word(char character) noexcept {
    const auto byte = static_cast<unsigned char>(character);
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte >= 0x80;
  }
  void append(char character) {
    if (word_.size() < longest_word_nbytes) {
      const bool upper = character >= 'A' && character <= 'Z';
      word_.push_back(upper ? static_cast<char>(character - 'A' + 'a') : character);
    }
  }

  std::string word_;
};

}  // namespace examples::live_checkpoint
