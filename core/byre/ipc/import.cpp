// SPDX-License-Identifier: BSL-1.0
#include <byre/ipc/detail/constant_file.hpp>
#include <byre/ipc/detail/transfers.hpp>
#include <byre/memory/detail/mappings.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/detail/exported_header.hpp>
#include <byre/system/detail/files.hpp>
#include <byre/system/detail/memory_files.hpp>
#include <byre/system/detail/sockets.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>

namespace byre::inline BYRE_ABI::detail {
namespace {

/// The names of DataKind.
const char* name_of(DataKind kind) noexcept {
  constexpr const char* names[] = {"unknown type", "Buffer", "Storage", "TiledBuffer", "Tensor"};
  const auto index = static_cast<std::size_t>(kind);
  return names[index < std::size(names) ? index : 0];
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
    throw_invalid("byre did not write the message");
  }
  if (message.version != TransferMessage::this_version) {
    const Text why = format_text("the message has version %u, required %u", message.version,
                                 TransferMessage::this_version);
    throw_invalid(why.chars.data());
  }
  if (message.kind != kind) {
    const Text why = format_text("the message describes data of the type %s, required %s",
                                 name_of(message.kind), name_of(kind));
    throw_invalid(why.chars.data());
  }
  if (message.nbytes > message.file_nbytes || message.file_nbytes > max_nbytes) {
    const Text why = format_text("the message describes %ju bytes of data in a file of %ju",
                                 static_cast<std::uintmax_t>(message.nbytes),
                                 static_cast<std::uintmax_t>(message.file_nbytes));
    throw_invalid(why.chars.data());
  }
  return message;
}

/// The fields of a message and the files must fit each other: other processes may be hostile. The
/// seals are read before the sizes, which they protect.
void expect_files(const TransferMessage& message, std::span<const Descriptor> files,
                  Accept accept) {
  const std::size_t count =
      (message.file_nbytes != 0 ? 1U : 0U) + (message.patch_nbytes != 0 ? 1U : 0U);
  if (files.size() != count) {
    const Text why =
        format_text("%zu descriptors came with the message, required %zu", files.size(), count);
    throw_invalid(why.chars.data());
  }
  if (count == 2 && !system::is_constant(files[1])) {
    throw_invalid("the file of written pages lacks the seals F_SEAL_SHRINK and F_SEAL_WRITE");
  }
  if (count != 0 && accept == Accept::sealed_files && !system::keeps_its_size(files[0])) {
    throw TransferError(
        format_text("cannot import data: its file lacks F_SEAL_SHRINK, required by "
                    "Accept::sealed_files. Send a copy of the mapped file, or pass "
                    "Accept::any_file."));
  }
  const std::uint64_t sizes[] = {message.file_nbytes, message.patch_nbytes};
  for (std::size_t index = 0; index < count; ++index) {
    const auto status = system::status_of(files[index]);
    if (!status || !status->is_regular || !system::has_ordinary_pages(files[index])) {
      throw_invalid("a descriptor does not belong to a file of ordinary pages");
    }
    if (status->nbytes < sizes[index]) {
      const Text why = format_text("a file has %ju bytes, required %ju",
                                   static_cast<std::uintmax_t>(status->nbytes),
                                   static_cast<std::uintmax_t>(sizes[index]));
      throw_invalid(why.chars.data());
    }
  }
}

std::unique_ptr<PageFile> map_received(Descriptor& file, std::size_t nbytes) {
  std::unique_ptr<PageFile> mapped = import_file(std::move(file), nbytes);
  if (mapped == nullptr) {
    throw_transfer_error("import", "map a file");
  }
  return mapped;
}

/// Copies the runs of a second file to `to`, a mapping of `to_nbytes` bytes. Checks first that all
/// runs fit, and that the table is no longer than a table of that many pages.
std::size_t apply_runs(const std::byte* patch, std::uint64_t patch_nbytes, std::byte* to,
                       std::uint64_t to_nbytes) {
  std::uint64_t count = 0;
  if (patch_nbytes >= sizeof count) {
    std::memcpy(&count, patch, sizeof count);
  }
  const auto run_at = [patch](std::uint64_t index) {
    PatchRun run;
    std::memcpy(&run, patch + sizeof count + index * sizeof run, sizeof run);
    return run;
  };
  bool fits = count <= to_nbytes / system::actual_page_nbytes() + 1 &&
              PatchRun::table_nbytes(count) <= patch_nbytes;
  std::uint64_t left = fits ? patch_nbytes - PatchRun::table_nbytes(count) : 0;
  for (std::uint64_t index = 0; fits && index < count; ++index) {
    const PatchRun run = run_at(index);
    fits = run.nbytes <= left && run.offset <= to_nbytes && run.nbytes <= to_nbytes - run.offset;
    left -= run.nbytes;
  }
  if (!fits) {
    const Text why =
        format_text("the written pages exceed their file, or the %ju bytes of the data",
                    static_cast<std::uintmax_t>(to_nbytes));
    throw_invalid(why.chars.data());
  }
  const std::byte* const runs = patch + PatchRun::table_nbytes(count);
  const std::byte* from = runs;
  for (std::uint64_t index = 0; index < count; ++index) {
    const PatchRun run = run_at(index);
    const auto nbytes = static_cast<std::size_t>(run.nbytes);
    if (!system::populate(to + run.offset, nbytes)) {
      throw OutOfMemory(nbytes, "private pages, to import data of another process");
    }
    std::memcpy(to + run.offset, from, nbytes);
    from += run.nbytes;
  }
  return static_cast<std::size_t>(from - runs);
}

}  // namespace

void throw_invalid(const char* why) {
  throw TransferError(
      format_text("cannot import data: %s. Export it again, by this version of "
                  "byre on this machine.",
                  why));
}

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
  imported.buffer =
      ExportedHeader::over(map_received(files[0], file_nbytes),
                           static_cast<std::size_t>(message.nbytes), paged_allocator());
  if (message.patch_nbytes != 0) {
    const auto patch_nbytes = static_cast<std::size_t>(message.patch_nbytes);
    const auto patch = map_received(files[1], patch_nbytes);
    stats::detail::WriteReport report;
    report.begin();
    if (!ExportedHeader::overlay(imported.buffer)) {
      throw_transfer_error("import", "map a file a second time");
    }
    const std::size_t copied_nbytes =
        apply_runs(patch->data(), patch_nbytes, imported.buffer.mutable_data(), file_nbytes);
    report.copied(stats::detail::DataFacts{}, imported.buffer.facts(),
                  {copied_nbytes, stats::CopyCause::exported, CallSite{}});
  }
  return imported;
}

Imported Transfers::import(std::span<const std::byte> message, std::span<const int> numbers,
                           DataKind kind, Accept accept) {
  std::array<Descriptor, 2> files;
  if (numbers.size() > files.size()) {
    const Text why = format_text("%zu descriptors came with the message, allowed %zu",
                                 numbers.size(), files.size());
    throw_invalid(why.chars.data());
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
