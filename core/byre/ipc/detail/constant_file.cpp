// SPDX-License-Identifier: BSL-1.0
#include <byre/ipc/detail/constant_file.hpp>
#include <byre/ipc/detail/transfers.hpp>
#include <byre/memory/detail/mappings.hpp>
#include <byre/pages/detail/memory_files.hpp>
#include <byre/system/detail/last_error.hpp>

#include <cerrno>
#include <string_view>
#include <system_error>

namespace byre::inline BYRE_ABI::detail {

ConstantFile::ConstantFile(std::size_t nbytes)
    : file_(system::create_memory_file(static_cast<std::int64_t>(whole_pages(nbytes)))),
      nbytes_(static_cast<std::size_t>(whole_pages(nbytes))) {
  if (!file_) {
    throw_transfer_error("export", "create a memory file");
  }
  // Without the lock, because map_pages() may acquire another.
  std::byte* const reserved = map_pages(0, nbytes_, alignment_for(nbytes_), system::Access::none);
  if (reserved != nullptr) {
    // A fork waits: a child's mapping would prevent the seal.
    const sync::Lock lock(files().mutex());
    data_ = system::map_memory_file(file_, 0, nbytes_, system::Writes::to_file, reserved);
    system::keep_from_children(reserved, nbytes_);
  }
  if (data_ == nullptr) {
    detail::unmap(reserved, reserved == nullptr ? 0 : nbytes_);
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
  const int number = error.value();
  const Text text = system::text_of(error);
  if (number == ENOMEM) {
    throw OutOfMemory(
        format_text("cannot %s data: the system refused to %s: %s. Release memory, "
                    "or raise the limit.",
                    operation, step, text.chars.data()));
  }
  const std::string_view name = operation;
  const bool is_at_socket = name == "send" || name == "receive";
  const char* const advice =
      number == EMFILE || number == ENFILE || number == ETOOMANYREFS
          ? "Close files, or raise the limit of open files."
      : is_at_socket && number == EAGAIN ? "Wait until the socket is ready (poll), then call again."
      : is_at_socket ? "Pass a Unix socket that is connected and open on its other side."
                     : "Copy the bytes through a pipe or a file instead.";
  throw TransferError(format_text("cannot %s data: the system refused to %s: %s. %s", operation,
                                  step, text.chars.data(), advice));
}

}  // namespace byre::inline BYRE_ABI::detail
