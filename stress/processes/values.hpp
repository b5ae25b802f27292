// SPDX-License-Identifier: BSL-1.0
/// Values whose contents check themselves.
#pragma once

#include <byre/ipc/exported_pages.hpp>
#include <byre/storage/buffer.hpp>
#include <byre/storage/storage.hpp>
#include <byre/storage/tiles/tiled_buffer.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "support/random.hpp"

namespace byre::stress::processes {

/// The expected contents of a value. Each page has a head with the seed of the value, its number, a
/// version and a hash of the three, and repeats the hash up to its end; the last page may be
/// shorter than the others. Each write makes a random version, so pages that were written by
/// different processes differ. The digest is the sum of the hashes. Page 0 contains it, too, so a
/// mixture of two states is recognized.
struct Contents {
  std::uint64_t seed = 0;
  std::uint64_t digest = 0;
};

enum class Kind : std::uint8_t { buffer, storage, tiles };

class Value {
 public:
  using Data = std::variant<Buffer, Storage, TiledBuffer>;

  /// A value of `pages` pages and a part of one.
  Value(Kind kind, std::size_t pages, Allocator& allocator, test::Random& random);
  /// Data that was imported, and its contents when it was exported.
  Value(Data data, const Contents& contents)
      : data_(std::move(data)), contents_(contents), is_imported_(true) {}

  Value lazy_clone() const;
  /// Writes `pages` random pages, and page 0.
  void write(std::size_t pages, test::Random& random);
  /// Writes a page as write() does, but without notice to byre: a fault.
  void write_behind(test::Random& random);

  /// Describes a difference from the expected contents. Empty if the value has these.
  std::string difference() const;

  Kind kind() const noexcept { return static_cast<Kind>(data_.index()); }
  const Data& data() const noexcept { return data_; }
  const Contents& contents() const noexcept { return contents_; }
  std::size_t page_count() const;
  bool is_imported() const noexcept { return is_imported_; }
  Origin origin() const;
  bool shares_data_with(const Value& other) const;
  /// The result of a write that changes nothing; nothing for tiles.
  std::optional<Materialized> materialize();

  ExportedPages exported() const;
  static Data received(Kind kind, int socket);
  static Data imported(Kind kind, std::span<const std::byte> message,
                       std::span<const int> descriptors);

 private:
  std::size_t nbytes() const;
  std::size_t page_nbytes(std::size_t number) const;
  /// Gives a page another version. put_digest() must follow.
  void mark(std::byte* page, std::size_t number, test::Random& random);
  void put_digest(std::byte* first_page) const noexcept;
  const std::byte* page(std::size_t number) const;
  std::byte* mutable_page(std::size_t number);

  Data data_;
  Contents contents_;
  bool is_imported_ = false;
};

}  // namespace byre::stress::processes
