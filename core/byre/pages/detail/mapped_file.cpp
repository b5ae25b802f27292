// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/files/detail/input_file.hpp>
#include <byre/memory/detail/mappings.hpp>
#include <byre/pages/detail/simple_file.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/system/detail/files.hpp>
#include <byre/system/detail/last_error.hpp>

#include <memory>
#include <new>
#include <utility>

namespace byre::inline BYRE_ABI::detail {
namespace {

/// A mapped file. The file is closed after it was mapped, because the number of open files of a
/// process is limited. To map an overlay, the file is opened again by its name. If the name then
/// refers to another file or to no file, no overlay is mapped.
class MappedFile final : public SimpleFile {
 public:
  explicit MappedFile(const FileName& name) {
    const OpenedFile file = open_regular_file(name, "map");
    if (file.nbytes == 0) {
      throw_file_error(name, "map", "it is empty", "Use Buffer::allocate(0) for an empty buffer.");
    }
    path_ = system::absolute_name(name.c_str());
    if (path_ == nullptr && system::last_error() == std::errc::not_enough_memory) {
      throw std::bad_alloc();
    }
    std::byte* const mapping = map_file_pages(file.descriptor, file.nbytes, system::Access::read);
    if (mapping == nullptr) {
      throw_file_error(name, "map", system::last_error(),
                       "Read it into a buffer from Buffer::allocate() instead.");
    }
    set_mapping(mapping, file.nbytes);
    identity_ = file.descriptor.identity();
  }

  FileForOthers open_for_others() noexcept override { return {open_again(), false}; }

 private:
  Descriptor open_again() const noexcept {
    Descriptor file = path_ == nullptr ? Descriptor() : system::open_to_read(path_.get());
    return file.identity() == identity_ ? std::move(file) : Descriptor();
  }

  std::byte* map_privately() const noexcept override {
    const Descriptor file = nbytes() < least_paged_nbytes ? Descriptor() : open_again();
    if (!file) {
      return nullptr;
    }
    std::byte* const mapping = map_file_pages(file, nbytes(), system::Access::read_write);
    if (mapping == nullptr) {
      return nullptr;
    }
    // The number is negative if other code has closed the descriptor meanwhile. Another file may
    // have been opened under the descriptor's number, and the mapping may show that file.
    if (file.number() < 0) {
      unmap(mapping, nbytes());
      return nullptr;
    }
    return mapping;
  }

  FileIdentity identity_;
  system::OwnedName path_;
};

}  // namespace

std::unique_ptr<PageFile> map_file(const FileName& name) try {
  return std::make_unique<MappedFile>(name);
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("mapping a file");
}

}  // namespace byre::inline BYRE_ABI::detail
