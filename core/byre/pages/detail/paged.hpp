// SPDX-License-Identifier: BSL-1.0
/// The header of data in the pages of a file.
#pragma once

#include <byre/cow/detail/header.hpp>
#include <byre/error/error.hpp>
#include <byre/observe/detail/observer.hpp>
#include <byre/pages/detail/exported.hpp>
#include <byre/pages/detail/page_file.hpp>

#include <memory>
#include <new>
#include <utility>

namespace byre::inline BYRE_ABI::cow {

/// The header of a file's data. The file belongs to an allocator, or is a mapped file, which is
/// read-only.
template <sync::Sync Sync>
class basic_paged final : public basic_header<Sync> {
  using Header = basic_header<Sync>;

 public:
  /// Creates data with indeterminate contents from an allocator that has pages. Returns null if the
  /// allocator provides no file for it. Throws OutOfMemory.
  static Header* create(std::size_t nbytes, Allocator& allocator) {
    detail::PageAllocator& pages = detail::page_allocator_of(allocator);
    pages.make_room();
    detail::Charge charge(allocator, nbytes);
    auto file = pages.create_file(nbytes);
    if (file == nullptr) {
      return nullptr;
    }
    charge.grow_to(file->nbytes(), allocator.name());
    const typename Header::Description description{.data = file->data(),
                                                   .nbytes = nbytes,
                                                   .capacity = file->nbytes(),
                                                   .allocator = &allocator,
                                                   .origin = Origin::paged};
    return create(description, std::move(file), std::move(charge));
  }

  static Header* create(const typename Header::Description& description,
                        std::unique_ptr<detail::PageFile> file, detail::Charge charge = {}) {
    Header* const header =
        new (std::nothrow) basic_paged(description, std::move(file), std::move(charge));
    if (header == nullptr) {
      throw OutOfMemory(sizeof(basic_paged), "heap, for the header of pages");
    }
    return header;
  }

  detail::PageFile& file() const noexcept { return *file_; }

  /// Opens the file for other processes. The caller is a copier, or an owner if `by_copier` is
  /// false.
  detail::FileForOthers export_file(bool by_copier) noexcept {
    return file_->is_exportable() ? detail::exports<Sync>().open(export_, by_copier)
                                  : file_->open_for_others();  // may open a file by name
  }

  /// If other processes are counted as a copier, looks whether they still have the file open. The
  /// caller is an owner or a copier. Returns whether they are counted still.
  bool look_for_other_processes() noexcept {
    if (file_->is_exportable() && export_.is_counted()) {
      detail::exports<Sync>().look_at(export_);
      return export_.is_counted();
    }
    return false;
  }

  /// As for other headers, but with the address of the file's data: an overlay may have taken the
  /// place of the data at its former address.
  stats::detail::DataFacts facts() const noexcept {
    stats::detail::DataFacts facts = Header::facts();
    facts.data = file_->data();
    return facts;
  }

 private:
  basic_paged(const typename Header::Description& description,
              std::unique_ptr<detail::PageFile> file, detail::Charge charge) noexcept
      : Header(description, [](Header& self) noexcept { delete static_cast<basic_paged*>(&self); }),
        charge_(std::move(charge)),
        file_(std::move(file)),
        export_(*this, *file_) {
    stats::detail::count(stats::detail::plus(own_counter(), this->capacity()));
    stats::detail::report_allocation(*this, counted_nbytes());
    file_->set_owned_by(this, [](const void* self) {
      return static_cast<const basic_paged*>(self)->share().use_count() != 0;
    });
  }
  ~basic_paged() {
    stats::detail::count(stats::detail::minus(own_counter(), this->capacity()));
    stats::detail::report_release(*this, counted_nbytes());
  }

  /// The memory of a mapped file does not come from an allocator, so it is not counted.
  std::size_t counted_nbytes() const noexcept {
    return this->origin() == Origin::paged ? this->capacity() : 0;
  }

  stats::Counter own_counter() const noexcept {
    return this->origin() == Origin::paged ? stats::Counter::paged_bytes
                                           : stats::Counter::mapped_bytes;
  }

  const detail::Charge charge_;  // destroyed after the file
  const std::unique_ptr<detail::PageFile> file_;
  detail::basic_export<Sync> export_;
};

}  // namespace byre::inline BYRE_ABI::cow
