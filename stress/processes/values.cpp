// SPDX-License-Identifier: BSL-1.0
#include "processes/values.hpp"

#include <byre/ipc/send.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <sstream>

namespace byre::stress::processes {
namespace {

constexpr std::size_t page_size = 4096;

struct Head {
  std::uint64_t seed;
  std::uint32_t number;
  std::uint32_t version;
  std::uint64_t hash;
  std::uint64_t digest;  ///< in page 0, else 0
};

std::uint64_t hash_of(std::uint64_t seed, std::size_t number, std::uint32_t version) noexcept {
  return test::RandomEngine(seed ^ (std::uint64_t{version} << 32 | number))();
}

Head head_of(const std::byte* page) noexcept {
  Head head;
  std::memcpy(&head, page, sizeof head);
  return head;
}

/// Fills `nbytes` bytes, at least those of a head.
void fill(std::byte* page, std::size_t nbytes, const Head& head) noexcept {
  std::memcpy(page, &head, sizeof head);
  for (std::size_t at = sizeof head; at < nbytes; at += sizeof head.hash) {
    std::memcpy(page + at, &head.hash, std::min(sizeof head.hash, nbytes - at));
  }
}

}  // namespace

Value::Value(Kind kind, std::size_t pages, Allocator& allocator, test::Random& random) {
  // Not a whole number of pages, to reach all code for the rest.
  const std::size_t nbytes = pages * page_size + random.number(sizeof(Head), page_size - 1);
  switch (kind) {
    case Kind::buffer:
      data_ = Buffer::allocate(nbytes, allocator);
      break;
    case Kind::storage:
      data_ = Storage::allocate(nbytes, allocator);
      break;
    case Kind::tiles:
      data_ = TiledBuffer(nbytes, allocator);
      break;
  }
  contents_.seed = random.engine()();
  for (std::size_t number = 0; number < page_count(); ++number) {
    std::byte* const page = mutable_page(number);
    std::memset(page, 0, sizeof(Head));
    mark(page, number, random);
  }
  put_digest(mutable_page(0));
}

Value Value::lazy_clone() const {
  Value clone = *this;  // of a Storage, this is another handle
  if (const auto* const storage = std::get_if<Storage>(&data_)) {
    clone.data_ = storage->lazy_clone();
  }
  return clone;
}

void Value::mark(std::byte* page, std::size_t number, test::Random& random) {
  const auto version = static_cast<std::uint32_t>(random.engine()());
  const Head head{.seed = contents_.seed,
                  .number = static_cast<std::uint32_t>(number),
                  .version = version,
                  .hash = hash_of(contents_.seed, number, version),
                  .digest = 0};
  contents_.digest += head.hash - head_of(page).hash;
  fill(page, page_nbytes(number), head);
}

void Value::put_digest(std::byte* first_page) const noexcept {
  std::memcpy(first_page + offsetof(Head, digest), &contents_.digest, sizeof contents_.digest);
}

void Value::write(std::size_t pages, test::Random& random) {
  for (; pages != 0; --pages) {
    const std::size_t number = random.below(page_count());
    mark(mutable_page(number), number, random);
  }
  put_digest(mutable_page(0));
}

void Value::write_behind(test::Random& random) {
  const auto writable = [this](std::size_t number) { return const_cast<std::byte*>(page(number)); };
  const std::size_t number = random.below(page_count());
  mark(writable(number), number, random);
  put_digest(writable(0));
}

std::string Value::difference() const {
  std::ostringstream text;
  const std::size_t count = page_count();
  std::uint64_t digest = 0;
  for (std::size_t number = 0; number < count; ++number) {
    const std::byte* const read = page(number);
    const Head head = head_of(read);
    Head expected = head;
    expected.hash = hash_of(head.seed, head.number, head.version);
    expected.digest = number == 0 ? head.digest : 0;
    std::array<std::byte, page_size> filled;
    fill(filled.data(), page_nbytes(number), expected);
    const bool is_whole = std::memcmp(read, filled.data(), page_nbytes(number)) == 0;
    if (!is_whole || head.seed != contents_.seed || head.number != number) {
      text << "page " << number << " of " << count << " has seed " << head.seed << ", number "
           << head.number << ", version " << head.version << " and "
           << (is_whole ? "its bytes" : "other bytes") << ", expected seed " << contents_.seed;
      return text.str();
    }
    digest += head.hash;
  }
  const std::uint64_t written = head_of(page(0)).digest;
  if (digest != contents_.digest || written != digest) {
    text << "the sum of the hashes of " << count << " pages is " << digest << ", in page 0 "
         << written << ", expected " << contents_.digest;
  }
  return text.str();
}

std::size_t Value::nbytes() const {
  return std::visit([](const auto& data) { return data.nbytes(); }, data_);
}

std::size_t Value::page_count() const {
  return (nbytes() + page_size - 1) / page_size;
}

std::size_t Value::page_nbytes(std::size_t number) const {
  return std::min(page_size, nbytes() - number * page_size);
}

const std::byte* Value::page(std::size_t number) const {
  const std::size_t at = number * page_size;
  if (const auto* const tiles = std::get_if<TiledBuffer>(&data_)) {
    return tiles->tile(at / tiles->tile_nbytes()).data() + at % tiles->tile_nbytes();
  }
  const auto* const buffer = std::get_if<Buffer>(&data_);
  return (buffer != nullptr ? buffer->data() : std::get<Storage>(data_).data()) + at;
}

std::byte* Value::mutable_page(std::size_t number) {
  const std::size_t at = number * page_size;
  if (auto* const tiles = std::get_if<TiledBuffer>(&data_)) {
    return tiles->mutable_tile(at / tiles->tile_nbytes()).data() + at % tiles->tile_nbytes();
  }
  auto* const buffer = std::get_if<Buffer>(&data_);
  return (buffer != nullptr ? buffer->mutable_data() : std::get<Storage>(data_).mutable_data()) +
         at;
}

Origin Value::origin() const {
  const auto* const buffer = std::get_if<Buffer>(&data_);
  const auto* const storage = std::get_if<Storage>(&data_);
  return buffer != nullptr    ? buffer->origin()
         : storage != nullptr ? storage->origin()
                              : Origin::allocated;
}

bool Value::shares_data_with(const Value& other) const {
  return kind() != Kind::tiles && other.kind() != Kind::tiles && page(0) == other.page(0);
}

std::optional<Materialized> Value::materialize() {
  if (auto* const buffer = std::get_if<Buffer>(&data_)) {
    return buffer->materialize();
  }
  auto* const storage = std::get_if<Storage>(&data_);
  return storage != nullptr ? std::optional(storage->materialize()) : std::nullopt;
}

ExportedPages Value::exported() const {
  return std::visit([](const auto& data) { return export_pages(data); }, data_);
}

Value::Data Value::received(Kind kind, int socket) {
  switch (kind) {
    case Kind::buffer:
      return byre::receive<Buffer>(socket);
    case Kind::storage:
      return byre::receive<Storage>(socket);
    case Kind::tiles:
      return byre::receive<TiledBuffer>(socket);
  }
  return {};
}

Value::Data Value::imported(Kind kind, std::span<const std::byte> message,
                            std::span<const int> descriptors) {
  switch (kind) {
    case Kind::buffer:
      return import_pages<Buffer>(message, descriptors);
    case Kind::storage:
      return import_pages<Storage>(message, descriptors);
    case Kind::tiles:
      return import_pages<TiledBuffer>(message, descriptors);
  }
  return {};
}

}  // namespace byre::stress::processes
