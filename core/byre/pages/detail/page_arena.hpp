// SPDX-License-Identifier: BSL-1.0
/// Memory files that ranges of pages are taken of: one for the process, until it forks or loses the descriptor.
#pragma once

#include <byre/memory/pages.hpp>
#include <byre/system/detail/descriptor.hpp>

#include <boost/intrusive/set.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace byre::inline v0::detail {

class PageArena;

/// Some pages of an arena.
struct PageRange : boost::intrusive::set_base_hook<> {
  PageArena* arena = nullptr;
  std::int64_t offset = 0;
  std::size_t nbytes = 0;
};

/// A memory file. Thread-safety: its owner locks, except for mapping. The descriptor is used only to map pages:
/// code elsewhere may close it and open another file under its number. Ranges are freed through their mappings.
class PageArena {
 public:
  /// The bytes of one file, which has no memory for those that belong to no range.
  static constexpr std::int64_t most_nbytes =
      sizeof(std::size_t) == 8 ? std::int64_t{1} << 46 : std::int64_t{1} << 42;

  /// Null if the system has no memory files, or a limit forbids one. Throws std::bad_alloc.
  static std::unique_ptr<PageArena> create();
  PageArena(const PageArena&) = delete;
  PageArena& operator=(const PageArena&) = delete;
  ~PageArena() = default;

  /// Takes unused pages, from a multiple of `alignment` on. False, and takes nothing, if the arena is full.
  bool take(PageRange& range, std::size_t nbytes, std::size_t alignment) noexcept;
  /// Returns the pages to the arena. True if that was the last range of a retired arena, which is to be deleted.
  bool put_back(PageRange& range) noexcept;

  /// Ends the taking of ranges.
  void retire() noexcept { is_retired_ = true; }
  bool is_empty() const noexcept { return ranges_.empty(); }
  /// Whether more ranges can be mapped.
  bool is_open() const noexcept { return file_.number() >= 0; }

  /// Maps a range at `address`, where the caller has reserved its bytes, or at any address if that is null. Null
  /// if the system refuses, or the descriptor is lost: the caller then unmaps what it reserved.
  std::byte* map(const PageRange& range, int flags, std::byte* address) const noexcept;

 private:
  struct ByOffset {
    using type = std::int64_t;
    type operator()(const PageRange& range) const noexcept { return range.offset; }
  };

  explicit PageArena(Descriptor file) noexcept : file_(std::move(file)) {}
  bool take_from(std::int64_t begin, PageRange& range, std::int64_t nbytes,
                 std::int64_t alignment) noexcept;

  const Descriptor file_;
  boost::intrusive::set<PageRange, boost::intrusive::key_of_value<ByOffset>> ranges_;
  std::int64_t next_ = 0;  // where the search for unused pages goes on
  bool is_retired_ = false;
};

}  // namespace byre::inline v0::detail
