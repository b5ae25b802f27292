// SPDX-License-Identifier: BSL-1.0

#include <byre/pages/detail/memory_files.hpp>

#include <utility>

namespace byre::inline BYRE_ABI::detail {
namespace {

/// An unused gap behind each range. Without the gap, the system would merge mappings that are
/// adjacent both in the file and in memory. Unmapping or replacing a part of a merged mapping needs
/// one mapping more, which the system may refuse.
constexpr std::int64_t gap_nbytes = page_nbytes;

}  // namespace

PageRange::PageRange() {
  SizesByOffset sizes;
  sizes.emplace(0, 0);
  entry = sizes.extract(sizes.begin());
}

std::unique_ptr<PageArena> PageArena::create() {
  Descriptor file = system::create_memory_file(most_nbytes);
  return file ? std::unique_ptr<PageArena>(new PageArena(std::move(file), most_nbytes)) : nullptr;
}

std::unique_ptr<PageArena> PageArena::create_own(std::size_t nbytes) {
  if (nbytes > static_cast<std::uint64_t>(most_nbytes / 2)) {
    return nullptr;
  }
  const std::int64_t own_nbytes = static_cast<std::int64_t>(nbytes) + gap_nbytes;
  Descriptor file = system::with_spare_number(system::create_memory_file(own_nbytes));
  if (!file) {
    return nullptr;
  }
  std::unique_ptr<PageArena> arena(new PageArena(std::move(file), own_nbytes));
  arena->retire();
  return arena;
}

bool PageArena::take(PageRange& range, std::size_t nbytes, std::size_t alignment) noexcept {
  if (nbytes > static_cast<std::uint64_t>(nbytes_ - gap_nbytes)) {
    return false;
  }
  const auto wanted = static_cast<std::int64_t>(nbytes);
  const auto multiple = static_cast<std::int64_t>(alignment);
  return take_from(next_, range, wanted, multiple) || take_from(0, range, wanted, multiple);
}

bool PageArena::take_from(std::int64_t begin, PageRange& range, std::int64_t nbytes,
                          std::int64_t alignment) noexcept {
  const auto round_up = [alignment](std::int64_t offset) {
    return (offset + alignment - 1) / alignment * alignment;
  };
  std::int64_t offset = round_up(begin);
  for (auto next = ranges_.lower_bound(begin);; ++next) {
    const std::int64_t end = next == ranges_.end() ? nbytes_ : next->first;
    if (nbytes + gap_nbytes <= end - offset) {
      range.arena = this;
      range.offset = range.entry.key() = offset;
      range.nbytes = range.entry.mapped() = static_cast<std::size_t>(nbytes);
      ranges_.insert(std::move(range.entry));
      next_ = offset + nbytes + gap_nbytes;
      return true;
    }
    if (next == ranges_.end()) {
      return false;
    }
    offset = round_up(next->first + static_cast<std::int64_t>(next->second) + gap_nbytes);
  }
}

bool PageArena::put_back(PageRange& range) noexcept {
  range.entry = ranges_.extract(range.offset);
  range.arena = nullptr;
  return is_retired_ && ranges_.empty();
}

std::byte* PageArena::map(const PageRange& range, system::Writes writes,
                          std::byte* address) const noexcept {
  return system::map_memory_file(file_, range.offset, range.nbytes, writes, address);
}

}  // namespace byre::inline BYRE_ABI::detail
