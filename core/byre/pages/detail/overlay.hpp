// SPDX-License-Identifier: BSL-1.0
/// Overlays: private mappings of a file of pages. A write to shared data in pages maps an overlay
/// instead of copying all bytes.
///
/// An overlay is a copier of the file's data until the overlay ends; docs/compositions.md explains
/// why this is correct. An overlay has its own share word. A writer of an overlay's clone maps
/// another overlay of the same file, and copies the pages that were written in the first overlay,
/// so no overlay depends on another.
///
/// A writable clone results in two overlays: the clone at a new address, and the source at its old
/// address, where the overlay replaces the file's own mapping. On the file's share word, these
/// steps are a lazy clone and two claims, so the file has two copiers and no owner.
#pragma once

#include <byre/cow/detail/header.hpp>
#include <byre/error/error.hpp>
#include <byre/observe/detail/observer.hpp>
#include <byre/pages/detail/overlay_list.hpp>
#include <byre/pages/detail/page_file.hpp>
#include <byre/pages/detail/paged.hpp>

#include <memory>
#include <new>
#include <utility>

namespace byre::inline BYRE_ABI::cow {

/// The header of an overlay.
template <sync::Sync Sync>
class basic_overlay final : public basic_header<Sync> {
  using Header = basic_header<Sync>;
  using Paged = basic_paged<Sync>;

 public:
  /// The headers after a writable clone. `source` may be a new header. `clone` is null if the
  /// system or the heap refused the clone.
  struct WritableClone {
    Header* source;
    Header* clone;
    std::size_t copied_nbytes;
  };

  /// Makes a writable clone: the bytes of the source and of the clone may be written through any
  /// pointer.
  /// Requires that the caller is the only owner of `source`, and that `source` is paged or an
  /// overlay. The source keeps its address. If WritableClone::source is a new header, the old
  /// header has no owner any more. Pages that were written in the source are moved only if
  /// `may_move` is true, which requires that no other thread writes them meanwhile.
  static WritableClone create_writable(Header& source, bool may_move) noexcept {
    if (source.origin() == Origin::overlay) {
      return clone_of(static_cast<basic_overlay&>(source), may_move, try_prepare(source));
    }
    auto& base = static_cast<Paged&>(source);
    auto* const place = static_cast<std::byte*>(source.data());
    Prepared for_own = try_prepare(source);
    Prepared for_clone = try_prepare(source);
    if (for_clone.memory == nullptr) {
      return {&source, nullptr, 0};
    }
    basic_overlay* const own = become_overlay(base, std::move(for_own), source, place);
    if (own == nullptr) {
      return {&source, nullptr, 0};
    }
    stats::detail::report_move(place, base.file().data());
    return clone_of(*own, may_move, std::move(for_clone));
  }

  stats::detail::DataFacts facts_of_file() const noexcept { return base_.facts(); }

  /// The data itself, or, for an overlay, the data that it shows in pages that were not written in
  /// it. Requires data in pages.
  static Paged& base_of(Header& header) noexcept {
    return header.origin() == Origin::overlay ? static_cast<basic_overlay&>(header).base_
                                              : static_cast<Paged&>(header);
  }

  /// Collapses pages of the file to huge pages; see PageFile::collapse().
  void collapse(std::size_t offset, std::size_t nbytes) noexcept {
    base_.file().collapse(node_.data, offset, nbytes);
  }

  /// Makes an overlay with the contents of `source`, and returns it with the number of bytes that
  /// were copied for it. Requires that the caller is a copier of `source`, or an owner if `source`
  /// is read-only; the overlay takes over this role in the share word. If no overlay can be mapped,
  /// returns null and takes over nothing. Also takes over nothing if it throws OutOfMemory or
  /// BudgetExceeded.
  static std::pair<Header*, std::size_t> create(Header& source) {
    const bool is_second = source.origin() == Origin::overlay;
    Paged& base = base_of(source);
    if (is_second) {
      base.look_for_other_processes();
    }
    // If the source is the base's only copier, only the source, and overlays being made from it,
    // show the file.
    const auto others = is_second && !base.is_read_only() && base.share().is_sole_copier()
                            ? detail::OtherOverlays::none
                            : detail::OtherOverlays::some;
    if (others == detail::OtherOverlays::none) {
      base.becomes_writable();  // map_overlay() writes pages back
    }
    Prepared prepared(source);
    const auto overlay = base.file().map_overlay(
        is_second ? static_cast<std::byte*>(source.data()) : nullptr, others);
    if (overlay.data == nullptr) {
      return {nullptr, 0};
    }
    Header* const header = add_to_file(construct(std::move(prepared), source, base, overlay.data));
    if (is_second) {
      hold(base);  // until now, the source has kept the base alive
      if (source.share().finish_copy()) {
        source.release();
      }
    }
    return {header, overlay.copied_nbytes};
  }

 private:
  basic_overlay(const Header& source, Paged& base, std::byte* data, detail::Charge charge) noexcept
      : Header({.data = data,
                .nbytes = source.nbytes(),
                .capacity = base.capacity(),
                .allocator = &source.allocator(),
                .origin = Origin::overlay},
               &release),
        base_(base),
        charge_(std::move(charge)) {}
  ~basic_overlay() {
    if (std::byte* const mapping = node_.data) {
      give_up_mapping();
      base_.file().unmap_overlay(mapping);
    }
  }

  void give_up_mapping() noexcept {
    detail::unlist_overlay(listed_);
    base_.file().remove_overlay(node_);
    node_.data = nullptr;
  }

  struct FreeHeader {
    void operator()(void* memory) const noexcept { ::operator delete(memory); }
  };
  /// What an overlay like `source` needs. It is allocated before anything changes.
  struct Prepared {
    Prepared() noexcept = default;
    /// Throws BudgetExceeded, or OutOfMemory if the heap is full.
    explicit Prepared(const Header& source)
        : charge(source.allocator(), source.capacity()),
          memory(::operator new(sizeof(basic_overlay), std::nothrow)) {
      if (memory == nullptr) {
        throw OutOfMemory(sizeof(basic_overlay), "heap, for the header of an overlay");
      }
    }
    detail::Charge charge;
    std::unique_ptr<void, FreeHeader> memory;
  };
  /// Returns an object without memory if there is no memory or the budget refuses.
  static Prepared try_prepare(const Header& source) noexcept try {
    return Prepared(source);
  } catch (const OutOfMemory&) {
    return {};
  }
  static basic_overlay* construct(Prepared prepared, const Header& source, Paged& base,
                                  std::byte* data) noexcept {
    return ::new (prepared.memory.release())
        basic_overlay(source, base, data, std::move(prepared.charge));
  }
  static basic_overlay* add_to_file(basic_overlay* overlay) noexcept {
    overlay->list();
    overlay->node_.data = static_cast<std::byte*>(overlay->data());
    overlay->base_.file().add_overlay(overlay->node_);
    return overlay;
  }

  void list() noexcept {
    listed_.data = this->data();
    listed_.nbytes = this->capacity();
    detail::list_overlay(listed_);
  }

  /// Replaces the mapping at `place` with an overlay of the file of `base`. Requires that the bytes
  /// of the mapping and of the file are equal, and that the caller is the only owner of `base`.
  /// Returns null and changes nothing if `prepared` has no memory or the system refuses.
  static basic_overlay* become_overlay(Paged& base, Prepared prepared, const Header& source,
                                       std::byte* place) noexcept {
    if (prepared.memory == nullptr) {
      return nullptr;
    }
    basic_overlay* const overlay = construct(std::move(prepared), source, base, place);
    if (!base.file().replace_with_overlay(overlay->node_, place, source.capacity())) {
      delete overlay;
      return nullptr;
    }
    overlay->list();
    base.share().add_owner();
    [[maybe_unused]] const bool is_copier = base.share().claim(Wait::never) == Claim::copy;
    [[maybe_unused]] const bool was_last = base.share().drop_owner();
    BYRE_ASSERT(is_copier && !was_last,
                "cannot make a writable clone of pages: they have other owners or copiers");
    return overlay;
  }

  static WritableClone clone_of(basic_overlay& source, bool may_move, Prepared prepared) noexcept {
    if (prepared.memory == nullptr) {
      return {&source, nullptr, 0};
    }
    Paged& base = source.base_;
    base.look_for_other_processes();
    const bool is_last = may_move && !base.is_read_only() && base.share().is_sole_copier();
    if (is_last) {
      base.becomes_writable();  // map_overlay() writes pages back
    }
    const auto overlay =
        base.file().map_overlay(static_cast<std::byte*>(source.data()),
                                is_last ? detail::OtherOverlays::none : detail::OtherOverlays::some,
                                detail::MovedPages::any);
    if (overlay.data == nullptr) {
      return may_move ? clone_in_new_file(source, std::move(prepared))
                      : WritableClone{&source, nullptr, 0};
    }
    hold(base);
    return {&source, add_to_file(construct(std::move(prepared), source, base, overlay.data)),
            overlay.copied_nbytes};
  }

  /// Makes the clone in a new file, which also becomes the file of `source`. Used if so many pages
  /// were written in `source` that copying them for each clone would cost more.
  static WritableClone clone_in_new_file(basic_overlay& source, Prepared prepared) noexcept {
    const WritableClone none{&source, nullptr, 0};
    auto* const place = static_cast<std::byte*>(source.data());
    Prepared own = try_prepare(source);
    Paged* const base = own.memory == nullptr ? nullptr : create_file_like(source);
    if (base == nullptr) {
      return none;
    }
    std::size_t written_nbytes = 0;
    stats::detail::if_listening(
        [&] { written_nbytes = detail::count_written_pages(place, source.capacity()); });
    const auto overlay = base->file().map_overlay(nullptr, detail::OtherOverlays::some);
    basic_overlay* const moved =
        overlay.data == nullptr ? nullptr : become_overlay(*base, std::move(own), source, place);
    if (moved == nullptr) {
      if (overlay.data != nullptr) {
        base->file().unmap_overlay(overlay.data);
      }
      static_cast<Header*>(base)->release();
      return none;
    }
    hold(*base);
    const WritableClone clones{
        moved, add_to_file(construct(std::move(prepared), source, *base, overlay.data)),
        source.nbytes()};
    stats::detail::if_listening([&] {
      stats::detail::record(stats::detail::RecordKind::overlay_end, place, source.capacity(), {},
                            written_nbytes);
    });
    source.give_up_mapping();
    Header& old = source;
    if (old.share().drop_owner()) {
      old.release();
    }
    return clones;
  }

  /// A new file with the bytes of `source`. Null if the system or the heap lacks memory.
  static Paged* create_file_like(const basic_overlay& source) noexcept try {
    detail::Charge charge(source.allocator(), source.capacity());
    auto file = source.base_.file().copy_to_new_file(static_cast<const std::byte*>(source.data()));
    if (file == nullptr) {
      return nullptr;
    }
    const typename Header::Description description{.data = file->data(),
                                                   .nbytes = source.nbytes(),
                                                   .capacity = file->nbytes(),
                                                   .allocator = &source.allocator(),
                                                   .origin = Origin::paged};
    Header* const made = Paged::create(description, std::move(file), std::move(charge));
    stats::detail::report_tag(static_cast<const Header&>(source), *made);
    return static_cast<Paged*>(made);
  } catch (const OutOfMemory&) {
    return nullptr;
  }

  static void hold(Paged& base) noexcept {
    if (base.is_read_only()) {
      base.share().add_owner();
    } else {
      base.share().add_copy();
    }
  }

  static void release(Header& header) noexcept {
    auto& self = static_cast<basic_overlay&>(header);
    Paged& base = self.base_;
    if (self.node_.data != nullptr) {
      stats::detail::if_listening([&] {
        stats::detail::record(stats::detail::RecordKind::overlay_end, self.data(), self.capacity(),
                              {}, detail::count_written_pages(self.data(), self.capacity()));
      });
    }
    stats::detail::if_listening([&] { stats::detail::ledger::remove(&header); });
    delete &self;
    if (base.is_read_only() ? base.share().drop_owner() : base.share().finish_copy()) {
      base.release();
    }
  }

  Paged& base_;
  const detail::Charge charge_;  // destroyed after the mapping
  detail::OverlayNode node_;
  detail::ListedOverlay listed_;
};

}  // namespace byre::inline BYRE_ABI::cow
