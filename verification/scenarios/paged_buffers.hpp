// SPDX-License-Identifier: BSL-1.0
/// Buffers of paged data for scenarios. A page is modeled by a cell whose accesses the checker
/// watches. As in the system's private mappings, a page of an overlay shows the file's value until
/// the overlay is written.
#pragma once

#include <memory>
#include <new>
#include <optional>

#include "buffers.hpp"
#include "simulated_system.hpp"

namespace byre::verification {

/// A mapped page. The file's own mapping shares the file's value. An overlay shows the file's value
/// until it is written, and then its own value until the page is written back.
struct Page {
  Page(Stored& stored, bool shared) : of_file(&stored), is_shared(shared) {}

  bool shows_own() const { return is_own.get() && !was_written_back; }
  unsigned get() const {
    if (was_written_back) {
      of_file->lock.acquire();
    }
    return shows_own() ? value.get() : of_file->value.get();
  }
  void set(unsigned written) {
    if (is_shared) {
      of_file->value.set(written);
      return;
    }
    is_own.set(true);
    value.set(written);
    if (!was_written || was_written_back) {
      const PreemptionDisabled alone;
      of_file->lock.pass_through();
      was_written = true;
      was_written_back = false;
    }
  }

  Stored* of_file;
  bool is_shared;
  // State of the system: it has recorded the first write; the page shows the file again.
  bool was_written = false;
  bool was_written_back = false;
  Checked::Plain<bool> is_own{false};
  Cell value{0};
};

class CellFile final : public byre::detail::PageFile {
 public:
  /// `refuses_written`: map_overlay() refuses each source that is an overlay but not the file's
  /// only overlay, as if so many of its pages had been written that they cannot be copied.
  /// `release_count`: the destructor increments it.
  explicit CellFile(System& system, bool refuses_written = false, bool is_exportable = false,
                    Cell* release_count = nullptr)
      : system_(system),
        stored_(system.create_file()),
        refuses_written_(refuses_written),
        is_exportable_(is_exportable),
        release_count_(release_count) {
    set_own();
  }
  ~CellFile() override {
    own_.reset();
    const auto call = call_if_exportable(step_of<"system.close_file">());
    system_.give_up(stored_);
    if (release_count_ != nullptr) {
      release_count_->set(release_count_->get() + 1);
    }
  }

  bool is_exportable() const noexcept override { return is_exportable_; }
  byre::detail::FileForOthers open_for_others() noexcept override {
    const System::Call call(system_, step_of<"system.open_for_others">());
    was_exported_ = true;
    System::open_elsewhere(stored_);
    return {any_descriptor(), true};
  }
  bool is_open_elsewhere() noexcept override {
    const System::Call call(system_, step_of<"system.is_open_elsewhere">());
    return stored_.opened != 0;
  }
  bool wait_until_closed_elsewhere(void (*unlock)(void* context) noexcept,
                                   void* context) noexcept override {
    return system_.wait_until_closed(stored_, [=]() noexcept { unlock(context); });
  }

  Stored& stored() noexcept { return stored_; }
  bool was_written_back() const noexcept { return was_written_back_; }

  byre::detail::Overlay map_overlay(std::byte* source, byre::detail::OtherOverlays others,
                                    byre::detail::MovedPages) noexcept override {
    if (source != nullptr && others == byre::detail::OtherOverlays::some && refuses_written_) {
      return {nullptr, 0};
    }
    begin();
    auto* const overlay = new Page(stored_, false);
    if (source != nullptr) {
      auto& written = *reinterpret_cast<Page*>(source);
      if (others == byre::detail::OtherOverlays::none) {
        write_back(written);
      } else if (written.shows_own()) {
        overlay->set(written.value.get());
      }
    }
    if (has_only_overlays_) {
      Checked::pause();  // other overlays may end before this one is in the list
    }
    return {reinterpret_cast<std::byte*>(overlay), 0};
  }

  bool replace_with_overlay(byre::detail::OverlayNode& node, std::byte* place,
                            std::size_t) noexcept override {
    auto& overlay = *reinterpret_cast<Page*>(place);
    if (place == data()) {
      static_cast<void>(own_.release());
      own_ = std::make_unique<Page>(stored_, true);
      set_own();
      overlay.is_shared = false;
    } else {
      overlay.of_file = &stored_;
      overlay.is_own.set(false);
      overlay.was_written = false;
    }
    node.data = place;
    overlays_.push_back(node);
    has_only_overlays_ = true;
    return true;
  }
  std::unique_ptr<PageFile> copy_to_new_file(const std::byte* source) override {
    auto file = std::make_unique<CellFile>(system_, false, is_exportable_);
    file->stored_.value.set(reinterpret_cast<const Page*>(source)->get());
    return file;
  }

  void add_overlay(byre::detail::OverlayNode& node) noexcept override {
    const PreemptionDisabled alone;
    overlays_.push_back(node);
    --begun_;
  }

  /// Frees the file's pages if only one overlay remains and has replaced them, as a file in memory
  /// does.
  void remove_overlay(byre::detail::OverlayNode& node) noexcept override {
    const auto call = call_if_exportable(step_of<"system.free_pages">());
    const PreemptionDisabled alone;
    overlays_.remove(node);
    if (has_only_overlays_) {
      stored_.lock.acquire();
      if (!was_exported_ && overlays_.has_one() && begun_ == 0) {
        const Page& last = *reinterpret_cast<const Page*>(overlays_.front().data);
        if (last.was_written && !last.was_written_back) {
          stored_.value.set(freed);
        }
      }
      stored_.lock.pass_through();
    }
  }

  void unmap_overlay(std::byte* overlay) noexcept override {
    delete reinterpret_cast<Page*>(overlay);
  }

 private:
  static constexpr unsigned freed = 1'000'000;

  void begin() noexcept {
    const PreemptionDisabled alone;
    ++begun_;
    if (has_only_overlays_) {
      stored_.lock.acquire();
      stored_.lock.pass_through();
    }
  }

  void set_own() noexcept { set_mapping(reinterpret_cast<std::byte*>(own_.get()), sizeof(Page)); }

  std::optional<System::Call> call_if_exportable(sync::Step step) {
    return is_exportable_ ? std::optional<System::Call>(std::in_place, system_, step)
                          : std::optional<System::Call>();
  }

  /// Several threads may write back one page at once. Only the first thread stores its value.
  void write_back(Page& page) {
    const auto call = call_if_exportable(step_of<"system.write_back">());
    const PreemptionDisabled alone;
    stored_.lock.acquire();
    if (page.shows_own()) {
      was_written_back_ = true;
      stored_.value.set(page.value.get());
      page.was_written_back = true;
    }
    stored_.lock.pass_through();
  }

  System& system_;
  Stored& stored_;
  byre::detail::IntrusiveList<byre::detail::OverlayNode> overlays_;
  unsigned begun_ = 0;
  bool has_only_overlays_ = false;
  bool was_exported_ = false;
  bool was_written_back_ = false;
  std::unique_ptr<Page> own_ = std::make_unique<Page>(stored_, true);
  const bool refuses_written_;
  const bool is_exportable_;
  Cell* const release_count_;
};

class CellFiles final : public byre::detail::PageAllocator {
 public:
  Block allocate(const Request&) override { throw std::bad_alloc(); }
  void deallocate(const Block&) noexcept override {}
  std::unique_ptr<byre::detail::PageFile> create_file(std::size_t) override {
    return std::make_unique<CellFile>(system, refuses_written, are_exportable, release_count);
  }
  const char* name() const noexcept override { return "pages of cells"; }

  System system;
  bool refuses_written = false;   ///< applies to files that are created from now on
  bool are_exportable = false;    ///< likewise
  Cell* release_count = nullptr;  ///< likewise
};

inline Page& page_of(CheckedBuffer& buffer) {
  return *reinterpret_cast<Page*>(buffer.mutable_data());
}

inline CheckedBuffer paged_buffer_of(unsigned value, CellFiles& files) {
  auto buffer = CheckedBuffer::allocate(sizeof(Page), files);
  page_of(buffer).set(value);
  return buffer;
}

inline unsigned read_page(const CheckedBuffer& buffer) {
  return reinterpret_cast<const Page*>(buffer.data())->get();
}

/// One buffer for each thread. The scenario fills them with data of its files.
template <unsigned Owners>
class PagedOwners {
 public:
  static constexpr unsigned threads = Owners;

 protected:
  /// Owner `index` writes the value `index`. `expected`: the value that the owner has to read
  /// before and after it requests write access.
  void write_own(unsigned index, unsigned expected) {
    CheckedBuffer& buffer = buffers_[index];
    expect(read_page(buffer) == expected, "an owner reads the shared value");
    Page& page = page_of(buffer);
    expect(read_page(buffer) == expected, "an overlay starts with the value of its source");
    page.set(index);
    expect(read_page(buffer) == index, "a writer reads what it wrote");
  }

  CellFiles files_;
  CheckedBuffer buffers_[threads];
};

}  // namespace byre::verification
