// SPDX-License-Identifier: BSL-1.0
#include <byre/ipc/detail/constant_file.hpp>
#include <byre/ipc/detail/transfers.hpp>
#include <byre/memory/detail/mappings.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/detail/exported_header.hpp>
#include <byre/system/detail/files.hpp>
#include <byre/system/detail/memory_files.hpp>
#include <byre/system/detail/sockets.hpp>
#include <byre/system/page_nbytes.hpp>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

namespace byre::inline BYRE_ABI::detail {
namespace {

const char* name_of(DataKind kind) noexcept {
  constexpr const char* names[] = {"", "a Buffer", "a Storage", "a TiledBuffer", "a Tensor"};
  const auto index = static_cast<std::size_t>(kind);
  return index != 0 && index < std::size(names) ? names[index] : "an unknown type";
}

[[noreturn]] void throw_invalid(const char* why) {
  throw TransferError(
      format_text("cannot import data: %s. Export it again, by this version of "
                  "byre on this machine.",
                  why));
}

TransferMessage read_message(std::span<const std::byte> bytes, DataKind kind) {
  TransferMessage message;
  if (bytes.size() != sizeof message) {
    const Text why =
        format_text("the message has %zu bytes, required %zu", bytes.size(), sizeof message);
    throw_invalid(why.chars.data());
  }
  std::memcpy(&message, bytes.data(), sizeof message);
  if (message.magic != TransferMessage::magic_of_byre) {
    throw_invalid("the message is not one of byre");
  }
  if (message.version != TransferMessage::this_version) {
    const Text why = format_text("the message has version %u, required %u", message.version,
                                 TransferMessage::this_version);
    throw_invalid(why.chars.data());
  }
  if (message.kind != kind) {
    throw TransferError(format_text("cannot import %s: the message describes %s. Import that.",
                                    name_of(kind), name_of(message.kind)));
  }
  if (message.nbytes > max_nbytes || message.nbytes > message.file_nbytes ||
      message.file_nbytes > max_nbytes || message.details_nbytes > message.details.size()) {
    throw_invalid("the sizes in the message contradict each other");
  }
  return message;
}

/// The fields of a message and the files must fit each other: other processes may be hostile.
void expect_files(const TransferMessage& message, std::span<const Descriptor> files,
                  Accept accept) {
  const std::size_t count =
      (message.file_nbytes != 0 ? 1U : 0U) + (message.patch_nbytes != 0 ? 1U : 0U);
  if (files.size() != count) {
    const Text why =
        format_text("%zu descriptors came with the message, required %zu", files.size(), count);
    throw_invalid(why.chars.data());
  }
  const std::uint64_t sizes[] = {message.file_nbytes, message.patch_nbytes};
  for (std::size_t index = 0; index < count; ++index) {
    const auto status = system::status_of(files[index]);
    if (!status || !status->is_regular) {
      throw_invalid("a descriptor does not belong to a file");
    }
    if (status->nbytes < sizes[index]) {
      const Text why = format_text("a file has %ju bytes, required %ju",
                                   static_cast<std::uintmax_t>(status->nbytes),
                                   static_cast<std::uintmax_t>(sizes[index]));
      throw_invalid(why.chars.data());
    }
  }
  if (count == 2 && !system::is_constant(files[1])) {
    throw_invalid("other processes can change the written pages that came with the message");
  }
  if (count != 0 && accept == Accept::sealed_files && !system::keeps_its_size(files[0])) {
    throw TransferError(
        format_text("cannot import data: its file is not a memory file that keeps its size, as "
                    "required by Accept::sealed_files. Have the sender copy the mapped file."));
  }
}

/// A mapping that ends with the object.
class Mapped {
 public:
  Mapped(const Descriptor& file, std::size_t nbytes)
      : data_(map_file_pages(file, nbytes, system::Access::read)), nbytes_(nbytes) {
    if (data_ == nullptr) {
      throw_transfer_error("import", "map a file");
    }
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ~Mapped() { unmap(data_, nbytes_); }

  const std::byte* data() const noexcept { return data_; }

 private:
  std::byte* data_;
  std::size_t nbytes_;
};

/// Copies the runs of a second file to `to`, a mapping of `to_nbytes` bytes. Checks first that all
/// runs fit.
void apply_runs(const std::byte* patch, std::size_t patch_nbytes, std::byte* to,
                std::size_t to_nbytes) {
  PatchRun head;
  const auto run_at = [patch](std::size_t index) {
    PatchRun run;
    std::memcpy(&run, patch + (index + 1) * sizeof run, sizeof run);
    return run;
  };
  if (patch_nbytes < sizeof head) {
    throw_invalid("the file of written pages is too short");
  }
  std::memcpy(&head, patch, sizeof head);
  const std::uint64_t count = head.offset;
  const std::uint64_t most = patch_nbytes / sizeof(PatchRun) - 1;
  const std::uint64_t table_nbytes =
      count > most ? patch_nbytes
                   : ((count + 1) * sizeof(PatchRun) + page_nbytes - 1) / page_nbytes * page_nbytes;
  std::uint64_t left = table_nbytes > patch_nbytes ? 0 : patch_nbytes - table_nbytes;
  bool fits = count <= most;
  for (std::uint64_t index = 0; fits && index < count; ++index) {
    const PatchRun run = run_at(index);
    fits = run.nbytes <= left && run.offset <= to_nbytes && run.nbytes <= to_nbytes - run.offset;
    left -= fits ? run.nbytes : 0;
  }
  if (!fits) {
    throw_invalid("the written pages that came with the message do not fit the data");
  }
  const std::byte* from = patch + table_nbytes;
  for (std::uint64_t index = 0; index < count; ++index) {
    const PatchRun run = run_at(index);
    if (!system::populate(to + run.offset, run.nbytes)) {
      throw OutOfMemory(run.nbytes, "private pages, to import data of another process");
    }
    std::memcpy(to + run.offset, from, run.nbytes);
    from += run.nbytes;
  }
}

}  // namespace

Imported Transfers::import(std::span<const std::byte> bytes, std::span<Descriptor> files,
                           DataKind kind, Accept accept) {
  Imported imported{Buffer(), read_message(bytes, kind)};
  const TransferMessage& message = imported.message;
  expect_files(message, files, accept);
  if (message.file_nbytes == 0) {
    imported.buffer = Buffer::allocate(0, paged_allocator());
    return imported;
  }
  const auto file_nbytes = static_cast<std::size_t>(message.file_nbytes);
  auto file = import_file(std::move(files[0]), file_nbytes);
  if (file == nullptr) {
    throw_transfer_error("import", "map a file");
  }
  imported.buffer = ExportedHeader::over(std::move(file), static_cast<std::size_t>(message.nbytes),
                                         paged_allocator());
  if (message.patch_nbytes != 0) {
    const auto patch_nbytes = static_cast<std::size_t>(message.patch_nbytes);
    const Mapped patch(files[1], patch_nbytes);
    if (!ExportedHeader::overlay(imported.buffer)) {
      throw_transfer_error("import", "map a file a second time");
    }
    apply_runs(patch.data(), patch_nbytes, imported.buffer.mutable_data(), file_nbytes);
  }
  return imported;
}

Imported Transfers::import(std::span<const std::byte> message, std::span<const int> numbers,
                           DataKind kind, Accept accept) {
  std::array<Descriptor, 2> files;
  if (numbers.size() > files.size()) {
    throw_invalid("more than 2 descriptors came with the message");
  }
  for (std::size_t index = 0; index < numbers.size(); ++index) {
    files[index] = system::duplicate_of(numbers[index]);
    if (!files[index]) {
      throw_transfer_error("import", "duplicate a descriptor");
    }
  }
  return import(message, std::span(files).first(numbers.size()), kind, accept);
}

}  // namespace byre::inline BYRE_ABI::detail
