// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/files/detail/input_file.hpp>
#include <byre/files/output_file.hpp>
#include <byre/system/detail/last_error.hpp>

#include <new>

namespace byre::inline BYRE_ABI {

OutputFile::OutputFile(FileName name) {
  try {
    name_ = name.c_str();
    if (const std::error_code error = file_.open(name.c_str())) {
      throw_error(error);
    }
  } catch (const std::bad_alloc&) {
    discard();
    throw OutOfMemory::of_heap("writing a file");
  }
}

OutputFile::~OutputFile() {
  discard();
}

void OutputFile::discard() noexcept {
  if (const std::error_code error = file_.discard()) {
    warn("cannot remove the temporary file \"%.500s/%.100s\": %s. Remove it.",
         file_.folder_name().c_str(), file_.temporary_name().c_str(),
         system::text_of(error).chars.data());
  }
}

void OutputFile::write(const void* data, std::size_t nbytes) {
  throw_if_failed(file_.write(data, nbytes));
}

void OutputFile::write_at(std::uint64_t offset, const void* data, std::size_t nbytes) const {
  if (file_.is_in_place()) {
    throw FileError(
        format_text("cannot write the file \"%.700s\" at byte %llu: it is written in place, so it "
                    "may have no offsets. Write it in order, or choose an ordinary file.",
                    name_.c_str(), static_cast<unsigned long long>(offset)));
  }
  // The temporary file is discarded by the destructor: other threads may be writing to it.
  if (const std::error_code error = file_.write_at(offset, data, nbytes)) {
    throw_text(error, false);
  }
}

void OutputFile::commit() {
  const std::error_code error = file_.commit();
  if (error && file_.is_renamed()) {
    throw FileError(
        format_text("the file \"%.700s\" was written, but may not survive a power failure: %s. "
                    "Check the disk, and write the file again.",
                    name_.c_str(), system::text_of(error).chars.data()));
  }
  throw_if_failed(error);
}

void OutputFile::throw_if_failed(std::error_code error) {
  if (error) {
    throw_error(error);
  }
}

void OutputFile::throw_error(std::error_code error) {
  const bool is_changed = file_.is_in_place();
  discard();
  if (error == std::errc::not_enough_memory) {
    detail::throw_file_error(name_, "write", error, "");
  }
  throw_text(error, is_changed);
}

void OutputFile::throw_text(std::error_code error, bool is_changed) const {
  const bool was_closed = error == std::errc::bad_file_descriptor;
  throw FileError(format_text(
      "cannot write the file \"%.700s\": %s. %s. %s.", name_.c_str(),
      was_closed ? "other code closed its descriptor" : system::text_of(error).chars.data(),
      is_changed ? "It may contain part of the data" : "The file is unchanged",
      was_closed ? "Close only descriptors that your code opened"
      : error == std::errc::too_many_files_open || error == std::errc::too_many_files_open_in_system
          ? "Close other files, or raise the limit of open files"
          : "Choose another place, or free space"));
}

}  // namespace byre::inline BYRE_ABI
