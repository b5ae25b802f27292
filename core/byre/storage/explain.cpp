// SPDX-License-Identifier: BSL-1.0
#include <byre/cow/detail/atomic_slot.hpp>
#include <byre/error/error.hpp>
#include <byre/observe/detail/records.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/detail/exported_header.hpp>
#include <byre/storage/explain.hpp>

#include <cstddef>
#include <cstdint>
#include <new>

namespace byre::inline BYRE_ABI {
namespace {

using detail::PageFile;

/// Indexed by Origin.
constexpr const char* origin_texts[] = {"allocated by",
                                        "adopted, with copies from",
                                        "borrowed, with copies from",
                                        "aliased, with copies from",
                                        "mapped from a file, with copies from",
                                        "in pages of",
                                        "an overlay of pages, with copies from"};

template <class Owner>
const char* effect_of_write(const Owner& owner) noexcept {
  if (is_in_pages(owner.origin()) && owner.nbytes() >= least_paged_nbytes &&
      (owner.is_read_only() || !owner.is_unique())) {
    return "a write copies the pages it touches";
  }
  if (owner.use_count() > 1) {
    return "a write copies them";
  }
  if (owner.is_read_only()) {
    return "a write copies them, because they are read-only";
  }
  if (owner.is_unique()) {
    return "a write modifies them in place";
  }
  return "a write waits for copies of them to end, then modifies them in place";
}

/// Text such as ", cloned at train.cpp:3 and check.cpp:8 (2 times)"; empty if no recording has the
/// call sites.
std::string clone_sites([[maybe_unused]] const std::byte* data) {
  std::string text;
#if BYRE_STATS
  for (const auto& [site, count] : stats::detail::lines_that_cloned_data(data)) {
    const CallSite at = stats::detail::site_at(site);
    if (at.line != 0) {
      text += std::string(text.empty() ? ", cloned at " : " and ") + at.file + ":" +
              std::to_string(at.line) +
              (count == 1 ? "" : " (" + std::to_string(count) + " times)");
    }
  }
#endif
  return text;
}

const char* origin_text(Origin origin, const PageFile* file) noexcept {
  if (file != nullptr && file->is_imported()) {
    return origin == Origin::overlay ? "an overlay of pages of another process, with copies from"
                                     : "imported from another process, with copies from";
  }
  return origin_texts[static_cast<std::size_t>(origin)];
}

template <class Owner>
std::string explain_owner(const Owner& owner, const Buffer& buffer) {
  if (owner.data() == nullptr && owner.use_count() == 0) {
    return "no bytes: nothing to write";
  }
  const std::uint32_t owners = owner.use_count();
  static_assert(cow::atomic_slot_layout.stock == 32768, "the text below contains this number");
  const bool may_be_in_slot = owners > cow::atomic_slot_layout.stock / 2;
  auto* const paged = detail::ExportedHeader::paged_of(buffer);
  const bool is_elsewhere = paged != nullptr && paged->look_for_other_processes();
  const PageFile* const file = paged == nullptr ? nullptr : &paged->file();
  return format_text("%zu bytes at 0x%jx, %s the %s%s, shared by %u %s%s%s", owner.nbytes(),
                     static_cast<std::uintmax_t>(reinterpret_cast<std::uintptr_t>(owner.data())),
                     origin_text(owner.origin(), file), owner.allocator().name(),
                     file != nullptr && file->has_other_data()
                         ? ", in a file with other data, so an export copies them"
                         : "",
                     owners, owners == 1 ? "owner" : "owners",
                     may_be_in_slot ? " (an AtomicBuffer that contains them counts as 32768)" : "",
                     is_elsewhere ? " and by other processes" : "")
             .chars.data() +
         (owners == 1 ? "" : clone_sites(owner.data())) + ": " + effect_of_write(owner) + ".";
}

}  // namespace

std::string explain(const Buffer& buffer) try {
  return explain_owner(buffer, buffer);
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("explain");
}
std::string explain(const Storage& storage) try {
  const std::string sentence =
      storage ? explain_owner(storage, detail::ExportedHeader::buffer_of(storage))
              : explain(Buffer());
  return storage.is_pinned() ? sentence +
                                   " A lazy clone copies them: they are pinned, and a pointer to "
                                   "them may be written."
                             : sentence;
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("explain");
}

}  // namespace byre::inline BYRE_ABI
