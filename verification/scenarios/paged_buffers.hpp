// SPDX-License-Identifier: BSL-1.0
/// Buffers of data in pages, for scenarios. A page here is a watched cell, and what an overlay has not written it
/// reads in its file, as the system's pages are.
#pragma once

#include <memory>
#include <new>

#include "buffers.hpp"

namespace byre::verification {

/// A page of a file, or of an overlay.
struct Page {
  explicit Page(const Page* beneath) : of_file(beneath) {}

  unsigned get() const { return of_file == nullptr || is_own.get() ? value.get() : of_file->get(); }
  void set(unsigned written) {
    is_own.set(true);
    value.set(written);
  }

  const Page* const of_file;  // null: it is the file's
  Checked::Plain<bool> is_own{false};
  Cell value{0};
};

class CellFile final : public byre::detail::PageFile {
 public:
  CellFile() : page_(nullptr) { set_mapping(reinterpret_cast<std::byte*>(&page_), sizeof page_); }

  byre::detail::Overlay map_overlay(std::byte* source,
                                    byre::detail::OtherOverlays others) noexcept override {
    auto* const overlay = new Page(&page_);
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
  void unmap_overlay(std::byte* overlay) noexcept override {
    delete reinterpret_cast<Page*>(overlay);
  }

 private:
  /// Several may at once, the same value, of which one is first.
  void write_back(unsigned value) {
    const NobodyElseRuns alone;
    system_.acquire();
    if (page_.value.get() != value) {
      page_.value.set(value);
    }
    system_.pass_through();
  }

  ModelLock system_;
  Page page_;
};

class CellFiles final : public byre::detail::PageAllocator {
 public:
  Block allocate(const Request&) override { throw std::bad_alloc(); }
  void deallocate(const Block&) noexcept override {}
  std::unique_ptr<byre::detail::PageFile> create_file(std::size_t) override {
    return std::make_unique<CellFile>();
  }
  const char* name() const noexcept override { return "pages of cells"; }
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
