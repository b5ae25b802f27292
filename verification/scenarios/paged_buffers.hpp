// SPDX-License-Identifier: BSL-1.0
/// Buffers of data in pages, for scenarios. A page here is a watched cell, and what an overlay has not written it
/// reads in its file, as the system's pages are.
#pragma once

#include <memory>
#include <new>

#include "buffers.hpp"

namespace byre::verification {

/// A page that is mapped: shared with its file, or an overlay, whose own value is seen once it was written.
struct Page {
  Page(Cell& stored, bool shared) : of_file(&stored), is_shared(shared) {}

  unsigned get() const { return is_own.get() ? value.get() : of_file->get(); }
  void set(unsigned written) {
    if (is_shared) {
      of_file->set(written);
      return;
    }
    is_own.set(true);
    value.set(written);
  }

  Cell* of_file;
  bool is_shared;
  Checked::Plain<bool> is_own{false};
  Cell value{0};
};

class CellFile final : public byre::detail::PageFile {
 public:
  CellFile() { set_own(); }

  byre::detail::Overlay map_overlay(std::byte* source, byre::detail::OtherOverlays others,
                                    byre::detail::MovedPages) noexcept override {
    if (source != nullptr && others == byre::detail::OtherOverlays::some && refuses_written_) {
      return {nullptr, 0};
    }
    auto* const overlay = new Page(stored_, false);
    if (source != nullptr) {
      const auto& written = *reinterpret_cast<const Page*>(source);
      if (written.is_own.get() && others == byre::detail::OtherOverlays::none) {
        write_back(written.value.get());
      } else if (written.is_own.get()) {
        overlay->set(written.value.get());
      }
    }
    return {reinterpret_cast<std::byte*>(overlay), 0};
  }

  std::byte* overlay_own_data() noexcept override {
    Page* const own = own_.release();
    own->is_shared = false;
    own_ = std::make_unique<Page>(stored_, true);
    set_own();
    return reinterpret_cast<std::byte*>(own);
  }
  bool overlay_at(std::byte* place, std::size_t) noexcept override {
    auto& overlay = *reinterpret_cast<Page*>(place);
    overlay.of_file = &stored_;
    overlay.is_own.set(false);
    return true;
  }
  std::unique_ptr<PageFile> copy_to_new_file(const std::byte* source) override {
    auto file = std::make_unique<CellFile>();
    file->stored_.set(reinterpret_cast<const Page*>(source)->get());
    return file;
  }

  /// From now on, for overlays of overlays beside others: too much of those is written.
  void refuse_written() noexcept { refuses_written_ = true; }

  void unmap_overlay(std::byte* overlay) noexcept override {
    delete reinterpret_cast<Page*>(overlay);
  }

 private:
  void set_own() noexcept { set_mapping(reinterpret_cast<std::byte*>(own_.get()), sizeof(Page)); }

  /// Several may at once, the same value, of which one is first.
  void write_back(unsigned value) {
    const NobodyElseRuns alone;
    system_.acquire();
    if (stored_.get() != value) {
      stored_.set(value);
    }
    system_.pass_through();
  }

  ModelLock system_;
  Cell stored_{0};
  std::unique_ptr<Page> own_ = std::make_unique<Page>(stored_, true);
  bool refuses_written_ = false;
};

class CellFiles final : public byre::detail::PageAllocator {
 public:
  Block allocate(const Request&) override { throw std::bad_alloc(); }
  void deallocate(const Block&) noexcept override {}
  std::unique_ptr<byre::detail::PageFile> create_file(std::size_t) override {
    auto file = std::make_unique<CellFile>();
    if (refuses_written) {
      file->refuse_written();
    }
    return file;
  }
  const char* name() const noexcept override { return "pages of cells"; }

  bool refuses_written = false;  ///< of files that are created from now on
};

template <template <class> class Share>
CheckedBuffer<Share> paged_buffer_of(unsigned value, CellFiles& files) {
  auto buffer = CheckedBuffer<Share>::allocate(sizeof(Page), files);
  reinterpret_cast<Page*>(buffer.mutable_data())->set(value);
  return buffer;
}

template <class Buffer>
unsigned read_page(const Buffer& buffer) {
  return reinterpret_cast<const Page*>(buffer.data())->get();
}

template <class Buffer>
void write_page(Buffer& buffer, unsigned value) {
  reinterpret_cast<Page*>(buffer.mutable_data())->set(value);
}

}  // namespace byre::verification
