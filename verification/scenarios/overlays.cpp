// SPDX-License-Identifier: BSL-1.0
/// Overlays: data in pages, which writers of shared data see privately. A page here is a watched cell, and what an
/// overlay has not written it reads in its file, as the system's pages are.
#include <memory>

#include "buffers.hpp"

namespace byre::verification {
namespace {

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

  byre::detail::Overlay map_overlay(const std::byte* source) noexcept override {
    auto* const overlay = new Page(&page_);
    if (source != nullptr) {
      const auto& written = *reinterpret_cast<const Page*>(source);
      if (written.is_own.get()) {
        overlay->set(written.value.get());
      }
    }
    return {reinterpret_cast<std::byte*>(overlay), 0};
  }
  void unmap_overlay(std::byte* overlay) noexcept override {
    delete reinterpret_cast<Page*>(overlay);
  }

 private:
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

using PagedBuffer = CheckedBuffer<basic_share_word>;

PagedBuffer paged_buffer(unsigned value, CellFiles& files) {
  auto buffer = PagedBuffer::allocate(sizeof(Page), files);
  reinterpret_cast<Page*>(buffer.mutable_data())->set(value);
  return buffer;
}

unsigned read_page(const PagedBuffer& buffer) {
  return reinterpret_cast<const Page*>(buffer.data())->get();
}

void write_page(PagedBuffer& buffer, unsigned value) {
  reinterpret_cast<Page*>(buffer.mutable_data())->set(value);
}

/// All owners of the same pages write.
template <unsigned Owners>
class OverlaysRaceWriters {
 public:
  static constexpr unsigned threads = Owners;

  OverlaysRaceWriters() {
    buffers_[0] = paged_buffer(7, files_);
    for (unsigned index = 1; index < threads; ++index) {
      buffers_[index] = buffers_[0];
    }
  }

  void thread(unsigned index) {
    PagedBuffer& buffer = buffers_[index];
    expect(read_page(buffer) == 7, "an owner reads what it was given");
    write_page(buffer, index);
    expect(read_page(buffer) == index, "a writer reads what it wrote");
    drop(buffer);
  }

 private:
  CellFiles files_;
  PagedBuffer buffers_[threads];
};

/// One owns the file and writes; the other two own an overlay of it: one writes, which maps another overlay, and
/// one reads and lets go.
class OverlaysOfOverlays {
 public:
  static constexpr unsigned threads = 3;

  OverlaysOfOverlays() {
    buffers_[0] = paged_buffer(7, files_);
    buffers_[1] = buffers_[0];
    write_page(buffers_[1], 8);
    buffers_[2] = buffers_[1];
  }

  void thread(unsigned index) {
    PagedBuffer& buffer = buffers_[index];
    expect(read_page(buffer) == (index == 0 ? 7U : 8U), "an owner reads what it was given");
    if (index != 2) {
      write_page(buffer, index);
      expect(read_page(buffer) == index, "a writer reads what it wrote");
    }
    drop(buffer);
  }

 private:
  CellFiles files_;
  PagedBuffer buffers_[threads];
};

/// An overlay that was not written shows its file: who owns that may write in place only when no overlay is left,
/// not even one that was mapped by a clone of the first.
class UnwrittenOverlays {
 public:
  static constexpr unsigned threads = 2;

  UnwrittenOverlays() {
    buffers_[0] = paged_buffer(7, files_);
    PagedBuffer overlay = buffers_[0];
    overlay.mutable_data();
    buffers_[1] = overlay;
    buffers_[1].mutable_data();
  }

  void thread(unsigned index) {
    PagedBuffer& buffer = buffers_[index];
    if (index == 0) {
      write_page(buffer, 9);
    } else {
      expect(read_page(buffer) == 7, "the file is constant while an overlay shows it");
    }
    drop(buffer);
  }

 private:
  CellFiles files_;
  PagedBuffer buffers_[threads];
};

}  // namespace

const Scenario overlays_race_writers = scenario<OverlaysRaceWriters<2>>({
    .name = "overlays_race_writers",
    .shows =
        "Who writes shared pages sees them as it wrote them, and nobody else does: promise 1, I4.",
});

const Scenario three_overlays_race_writers = scenario<OverlaysRaceWriters<3>>({
    .name = "three_overlays_race_writers",
    .shows = "The same of three owners.",
    .quick = preemptions(1),
    .deep = reduced_search,
});

const Scenario overlays_of_overlays = scenario<OverlaysOfOverlays>({
    .name = "overlays_of_overlays",
    .shows = "An overlay of a clone of an overlay keeps their file constant and alive.",
    .quick = preemptions(1),
    .deep = reduced_search,
});

const Scenario unwritten_overlays = scenario<UnwrittenOverlays>({
    .name = "unwritten_overlays",
    .shows = "A file is written in place once no overlay is left: I4, I5.",
});

}  // namespace byre::verification
