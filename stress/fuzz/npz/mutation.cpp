// SPDX-License-Identifier: BSL-1.0
#include "mutation.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "../target.hpp"

namespace byre::fuzz {
namespace {

/// The offset of a number from the signature of its record, and the size of the number.
struct Field {
  std::size_t offset;
  std::size_t nbytes;
};

struct RecordKind {
  const char* name;
  std::string_view signature;
  std::span<const Field> fields;
};

constexpr std::array<Field, 9> local_fields{
    {{0, 4}, {6, 2}, {8, 2}, {14, 4}, {18, 4}, {22, 4}, {26, 2}, {28, 2}, {30, 1}}};
constexpr std::array<Field, 11> directory_fields{{{0, 4},
                                                  {8, 2},
                                                  {10, 2},
                                                  {16, 4},
                                                  {20, 4},
                                                  {24, 4},
                                                  {28, 2},
                                                  {30, 2},
                                                  {32, 2},
                                                  {34, 2},
                                                  {42, 4}}};
constexpr std::array<Field, 8> end_fields{
    {{0, 4}, {4, 2}, {6, 2}, {8, 2}, {10, 2}, {12, 4}, {16, 4}, {20, 2}}};
constexpr std::array<Field, 3> descriptor_fields{{{4, 4}, {8, 4}, {12, 4}}};
constexpr std::array<Field, 7> zip64_end_fields{
    {{4, 8}, {16, 4}, {20, 4}, {24, 8}, {32, 8}, {40, 8}, {48, 8}}};
constexpr std::array<Field, 3> locator_fields{{{4, 4}, {8, 8}, {16, 4}}};

constexpr std::array<RecordKind, 6> kinds{
    {{"a local header", "PK\3\4", local_fields},
     {"a record of the directory", "PK\1\2", directory_fields},
     {"the end record", "PK\5\6", end_fields},
     {"a descriptor", "PK\7\10", descriptor_fields},
     {"the zip64 end record", "PK\6\6", zip64_end_fields},
     {"the locator", "PK\6\7", locator_fields}}};

std::vector<std::size_t> places_of(const std::string& archive, std::string_view signature) {
  std::vector<std::size_t> places;
  for (std::size_t at = archive.find(signature); at != archive.npos;
       at = archive.find(signature, at + 1)) {
    places.push_back(at);
  }
  return places;
}

std::uint64_t number_at(const std::string& archive, std::size_t at, std::size_t nbytes) {
  std::uint64_t number = 0;
  for (std::size_t byte = nbytes; byte-- > 0;) {
    number = number << 8 | static_cast<unsigned char>(archive[at + byte]);
  }
  return number;
}

void put_number(std::string& archive, std::size_t at, std::size_t nbytes, std::uint64_t number) {
  for (std::size_t byte = 0; byte < nbytes; ++byte) {
    archive[at + byte] = static_cast<char>(number >> 8 * byte & 0xFF);
  }
}

/// The replacement of `number`: a number near a limit or near `number`, or an offset in the file.
std::uint64_t other_number(std::uint64_t number, const std::string& archive, Choices& input) {
  switch (input.below(8)) {
    case 0:
      return 0;
    case 1:
      return ~std::uint64_t{0};
    case 2:
      return number + 1 + input.below(4);
    case 3:
      return number - 1 - input.below(4);
    case 4:
      return archive.size() - input.below(64);
    case 5:
      return std::uint64_t{1} << input.below(64);
    case 6:
      return input.number(2);
    default: {
      const std::vector<std::size_t> places = places_of(archive, "PK");
      return places.empty() ? 0 : places[input.below(std::min<std::size_t>(places.size(), 256))];
    }
  }
}

void change_field(std::string& archive, Choices& input) {
  const RecordKind& kind = kinds[input.below(kinds.size())];
  const std::vector<std::size_t> places = places_of(archive, kind.signature);
  if (places.empty()) {
    return;
  }
  const std::size_t at = places[input.below(std::min<std::size_t>(places.size(), 256))];
  const Field& field = kind.fields[input.below(kind.fields.size())];
  if (at + field.offset + field.nbytes <= archive.size()) {
    const std::uint64_t number = number_at(archive, at + field.offset, field.nbytes);
    const std::uint64_t other = other_number(number, archive, input);
    trace("byte %zu of %s: %llx becomes %llx", field.offset, kind.name,
          static_cast<unsigned long long>(number), static_cast<unsigned long long>(other));
    put_number(archive, at + field.offset, field.nbytes, other);
  }
}

/// Changes a number (CRC, a size, flags or method) to one new value in both the local header and
/// the directory record of a file.
void change_both_headers(std::string& archive, Choices& input) {
  struct Pair {
    Field local;
    std::size_t in_directory;
  };
  constexpr std::array<Pair, 5> pairs{
      {{{6, 2}, 8}, {{8, 2}, 10}, {{14, 4}, 16}, {{18, 4}, 20}, {{22, 4}, 24}}};
  const std::vector<std::size_t> locals = places_of(archive, "PK\3\4");
  const std::vector<std::size_t> records = places_of(archive, "PK\1\2");
  const Pair& pair = pairs[input.below(pairs.size())];
  if (locals.empty() || records.empty()) {
    return;
  }
  const std::size_t which =
      input.below(std::min({locals.size(), records.size(), std::size_t{256}}));
  const std::size_t local = locals[which] + pair.local.offset;
  const std::size_t record = records[which] + pair.in_directory;
  if (local + 4 <= archive.size() && record + 4 <= archive.size()) {
    const std::uint64_t other =
        other_number(number_at(archive, local, pair.local.nbytes), archive, input);
    trace("byte %zu of header and record %zu becomes %llx", pair.local.offset, which,
          static_cast<unsigned long long>(other));
    put_number(archive, local, pair.local.nbytes, other);
    put_number(archive, record, pair.local.nbytes, other);
  }
}

}  // namespace

void mutate_archive(std::string& archive, Choices& input) {
  const std::size_t rule = input.below(6);
  if (rule < 2) {
    change_field(archive, input);
    return;
  }
  if (rule == 2) {
    change_both_headers(archive, input);
    return;
  }
  const auto at = static_cast<std::size_t>(input.number(2) % (archive.size() + 1));
  if (rule == 3) {
    trace("cut at byte %zu", at);
    archive.resize(at);
  } else if (rule == 4) {
    trace("insert a byte at byte %zu", at);
    archive.insert(archive.begin() + static_cast<std::ptrdiff_t>(at),
                   static_cast<char>(input.byte()));
  } else if (at < archive.size()) {
    trace("change byte %zu", at);
    archive[at] = static_cast<char>(input.byte());
  }
}

}  // namespace byre::fuzz
