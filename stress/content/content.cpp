// SPDX-License-Identifier: BSL-1.0
#include "content.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace byre::stress {
namespace {

using Word = std::uint64_t;
constexpr std::size_t word_nbytes = sizeof(Word);

struct Head {
  Word identity;
  Word version;
  Word nbytes;
  Word checksum;
};
static_assert(sizeof(Head) == head_nbytes);

/// Every bit of the result depends on every bit of `word`.
Word mix(Word word) noexcept {
  for (const Word factor : {Word{0xff51afd7ed558ccd}, Word{0xc4ceb9fe1a85ec53}}) {
    word = (word ^ (word >> 33)) * factor;
  }
  return word ^ (word >> 33);
}

Word hash_of(Content content) noexcept {
  return mix(mix(content.identity) + content.version);
}

/// The words after the head: an arithmetic sequence, which is cheap to make and, its step being odd,
/// repeats no word.
class Sequence {
 public:
  explicit Sequence(Content content) noexcept : next_(hash_of(content)) {}
  Word next() noexcept { return next_ += 0x9e3779b97f4a7c15; }

 private:
  Word next_;
};

Word load(const std::byte* place, std::size_t nbytes = word_nbytes) noexcept {
  Word word = 0;
  std::memcpy(&word, place, nbytes);
  return word;
}

/// The low `nbytes` bytes in memory order.
Word begin_of(Word word, std::size_t nbytes) noexcept {
  return load(reinterpret_cast<const std::byte*>(&word), nbytes);
}

/// Of fewer bytes than a head has.
using Short = std::array<std::byte, head_nbytes>;
Short short_form(Content content, std::size_t nbytes) noexcept {
  Short bytes;
  Sequence sequence({content.identity, content.version + (Word{nbytes} << 56)});
  for (std::size_t at = 0; at < head_nbytes; at += word_nbytes) {
    const Word word = mix(sequence.next());
    std::memcpy(&bytes[at], &word, word_nbytes);
  }
  bytes[0] = static_cast<std::byte>(mix(content.identity) + content.version);
  return bytes;
}

Head head_of(const std::byte* data) noexcept {
  Head head;
  std::memcpy(&head, data, head_nbytes);
  return head;
}

struct Compared {
  Word differing;  // bits, of all words together
  Word checksum;   // of these bytes
};

Compared compare_rest(const std::byte* data, std::size_t nbytes, Content content) noexcept {
  Sequence sequence(content);
  Compared found{0, 0};
  std::size_t at = head_nbytes;
  for (; at + word_nbytes <= nbytes; at += word_nbytes) {
    const Word word = load(data + at);
    found.differing |= word ^ sequence.next();
    found.checksum += word;
  }
  const Word rest = load(data + at, nbytes - at);
  found.differing |= rest ^ begin_of(sequence.next(), nbytes - at);
  found.checksum += rest;
  return found;
}

/// Where the first byte is that is not of `content`.
std::size_t first_wrong(const std::byte* data, std::size_t nbytes, Content content) noexcept {
  std::size_t right = 0;
  std::size_t end = nbytes + 1;
  while (right + 1 < end) {
    const std::size_t middle = right + (end - right) / 2;
    (reads(data, middle, content, nbytes) ? right : end) = middle;
  }
  return right;
}

std::string torn_text(const std::byte* data, std::size_t nbytes, Content expected) {
  const std::string from = std::to_string(first_wrong(data, nbytes, expected));
  return "torn or overwritten: of " + std::to_string(nbytes) + " bytes that have to be " +
         text_of(expected) + ", byte " + from + " is the first that is not";
}

const char* what_kind(Content found, Content expected) noexcept {
  if (found.identity != expected.identity) {
    return "foreign";
  }
  return found.version < expected.version ? "stale, or a write was lost" : "written meanwhile";
}

}  // namespace

void write_content(std::byte* data, std::size_t nbytes, Content content) noexcept {
  if (nbytes < head_nbytes) {
    const Short bytes = short_form(content, nbytes);
    std::copy_n(bytes.begin(), nbytes, data);
    return;
  }
  Sequence sequence(content);
  Word checksum = hash_of(content) + nbytes;
  std::size_t at = head_nbytes;
  for (; at + word_nbytes <= nbytes; at += word_nbytes) {
    const Word word = sequence.next();
    checksum += word;
    std::memcpy(data + at, &word, word_nbytes);
  }
  const Word rest = begin_of(sequence.next(), nbytes - at);
  std::memcpy(data + at, &rest, nbytes - at);
  const Head head{content.identity, content.version, nbytes, checksum + rest};
  std::memcpy(data, &head, head_nbytes);
}

bool reads(const std::byte* data, std::size_t nbytes, Content content,
           std::size_t written_nbytes) noexcept {
  if (written_nbytes < head_nbytes) {
    const Short bytes = short_form(content, written_nbytes);
    return std::equal(data, data + std::min(nbytes, written_nbytes), bytes.begin());
  }
  Head expected{content.identity, content.version, written_nbytes, 0};
  if (nbytes < head_nbytes) {
    // Without the rest there is no checksum to compare.
    const std::size_t before_checksum = std::min(nbytes, offsetof(Head, checksum));
    return std::memcmp(data, &expected, before_checksum) == 0;
  }
  const Compared found = compare_rest(data, nbytes, content);
  const Head head = head_of(data);
  expected.checksum =
      nbytes == written_nbytes ? hash_of(content) + nbytes + found.checksum : head.checksum;
  return found.differing == 0 && std::memcmp(&head, &expected, head_nbytes) == 0;
}

std::optional<std::string> fault_in(const std::byte* data, std::size_t nbytes, Content expected) {
  if (reads(data, nbytes, expected, nbytes)) {
    return std::nullopt;
  }
  if (nbytes < head_nbytes) {
    return "wrong: its " + std::to_string(nbytes) + " bytes are not " + text_of(expected);
  }
  const Head head = head_of(data);
  const Content found{head.identity, head.version};
  if (found == expected || !reads(data, nbytes, found, nbytes)) {
    return torn_text(data, nbytes, expected);
  }
  return std::string(what_kind(found, expected)) + ": it reads " + text_of(found) +
         ", all of it, and has to be " + text_of(expected);
}

std::string text_of(Content content) {
  return "version " + std::to_string(content.version) + " of " + std::to_string(content.identity);
}

}  // namespace byre::stress
