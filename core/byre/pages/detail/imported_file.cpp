// SPDX-License-Identifier: BSL-1.0
#include <byre/pages/detail/memory_files.hpp>
#include <byre/pages/detail/simple_file.hpp>

#include <memory>
#include <new>
#include <utility>

namespace byre::inline BYRE_ABI::detail {
namespace {

/// A file that another process sent. The descriptor stays open, because the file may have no name.
class ImportedFile final : public SimpleFile {
 public:
  ImportedFile(Descriptor file, std::size_t nbytes) noexcept : file_(std::move(file)) {
    set_mapping(map_aligned(file_, 0, nbytes, system::Writes::none), nbytes);
  }

  bool is_imported() const noexcept override { return true; }
  FileForOthers open_for_others() noexcept override { return {system::duplicate_of(file_), false}; }

 private:
  std::byte* map_privately() const noexcept override {
    return map_aligned(file_, 0, nbytes(), system::Writes::private_to_mapping);
  }

  const Descriptor file_;
};

}  // namespace

std::unique_ptr<PageFile> import_file(Descriptor file, std::size_t nbytes) try {
  auto imported = std::make_unique<ImportedFile>(std::move(file), nbytes);
  return imported->data() == nullptr ? nullptr : std::move(imported);
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("importing a file of pages");
}

}  // namespace byre::inline BYRE_ABI::detail
