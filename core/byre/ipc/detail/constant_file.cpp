// SPDX-License-Identifier: BSL-1.0
#include <byre/ipc/detail/constant_file.hpp>
#include <byre/memory/detail/mappings.hpp>
#include <byre/pages/detail/memory_files.hpp>
#include <byre/system/detail/last_error.hpp>
#include <byre/system/page_nbytes.hpp>

#include <limits>
#include <system_error>

namespace byre::inline BYRE_ABI::detail {

ConstantFile::ConstantFile(std::size_t nbytes)
    : nbytes_((nbytes + page_nbytes - 1) / page_nbytes * page_nbytes) {
  const auto limit = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max()) / 2;
  if (nbytes > limit) {
    throw OutOfMemory(nbytes, "memory files");
  }
  file_ = system::create_memory_file(static_cast<std::int64_t>(nbytes_));
  if (!file_) {
    throw_transfer_error("export", "create a memory file");
  }
  std::byte* const reserved = map_pages(0, nbytes_, alignment_for(nbytes_), system::Access::none);
  if (reserved == nullptr) {
    throw OutOfMemory(nbytes_, "address space, for an export to another process");
  }
  data_ = system::map_memory_file(file_, 0, nbytes_, system::Writes::to_file, reserved);
  if (data_ == nullptr) {
    detail::unmap(reserved, nbytes_);
    throw_transfer_error("export", "map a memory file");
  }
  if (!make_present(data_, nbytes_) || !system::populate(data_, nbytes_)) {
    unmap();
    throw OutOfMemory(nbytes_, "memory files, for an export to another process");
  }
}

ConstantFile::~ConstantFile() {
  unmap();
}

void ConstantFile::unmap() noexcept {
  if (data_ != nullptr) {
    detail::unmap(data_, nbytes_);
    data_ = nullptr;
  }
}

Descriptor ConstantFile::finish() {
  unmap();
  Descriptor opened = system::open_for_others(file_, system::Writers::none);
  if (!opened) {
    throw_transfer_error("export", "seal a memory file");
  }
  return opened;
}

void throw_transfer_error(const char* operation, const char* step) {
  const std::error_code error = system::last_error();
  if (error == std::errc::not_enough_memory || error == std::errc::no_space_on_device) {
    throw OutOfMemory(
        format_text("cannot %s data: the system refused to %s: %s. Release memory, "
                    "or raise the limit.",
                    operation, step, system::text_of(error).chars.data()));
  }
  const bool lacks_descriptors =
      error == std::errc::too_many_files_open || error == std::errc::too_many_files_open_in_system;
  throw TransferError(format_text("cannot %s data: the system refused to %s: %s. %s", operation,
                                  step, system::text_of(error).chars.data(),
                                  lacks_descriptors
                                      ? "Close files, or raise the limit of open files."
                                      : "Copy the bytes through a pipe or a file instead."));
}

}  // namespace byre::inline BYRE_ABI::detail
