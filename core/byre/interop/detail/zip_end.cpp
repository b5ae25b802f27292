// SPDX-License-Identifier: BSL-1.0
#include <byre/interop/detail/zip_end.hpp>
#include <byre/interop/detail/zip_error.hpp>
#include <byre/interop/detail/zip_records.hpp>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <vector>

namespace byre::inline v0::detail {
namespace {

/// The end record, and where it is.
struct End {
  std::size_t offset;
  ZipDirectory directory;
};

/// The place of the last signature that is as far from the end as its comment is long.
std::size_t find_end(const ZipBytes& bytes, const char* source) {
  std::vector<std::byte> tail(std::min(bytes.nbytes(), zip_end_nbytes + zip_comment_max_nbytes));
  bytes.read(bytes.nbytes() - tail.size(), tail);
  for (std::size_t comment = 0; comment + zip_end_nbytes <= tail.size(); ++comment) {
    ZipFields fields(std::span<const std::byte>(tail).last(comment + zip_end_nbytes));
    if (fields.u32() == zip_end_signature) {
      fields.take(zip_end_nbytes - 6);
      if (fields.u16() == comment) {
        return bytes.nbytes() - comment - zip_end_nbytes;
      }
    }
  }
  refuse_zip(source, format_text("it has no end record"), "Is it a .npz file, and all of it?");
}

End read_end(const ZipBytes& bytes, const char* source) {
  End end{find_end(bytes, source), {}};
  const auto record = read_zip_record<zip_end_nbytes>(bytes, end.offset);
  ZipFields fields(record);
  fields.u32();  // the signature
  const bool is_first = fields.u16() == 0;
  const bool has_directory = fields.u16() == 0;
  const std::uint16_t count_here = fields.u16();
  end.directory.count = fields.u16();
  end.directory.nbytes = fields.u32();
  end.directory.offset = fields.u32();
  if (!is_first || !has_directory || count_here != end.directory.count) {
    refuse_parts(source);
  }
  return end;
}

/// Where the record is that ends at the locator in front of the end record.
std::size_t find_zip64_end(const ZipBytes& bytes, std::size_t end_offset, const char* source) {
  if (end_offset >= zip64_locator_nbytes + zip64_end_nbytes) {
    const std::size_t locator_offset = end_offset - zip64_locator_nbytes;
    const auto locator = read_zip_record<zip64_locator_nbytes>(bytes, locator_offset);
    ZipFields fields(locator);
    if (fields.u32() == zip64_locator_signature) {
      const bool is_on_first = fields.u32() == 0;
      const std::uint64_t offset = fields.u64();
      if (!is_on_first || fields.u32() != 1) {
        refuse_parts(source);
      }
      if (offset > locator_offset - zip64_end_nbytes) {
        refuse_zip(source,
                   format_text("its zip64 end record at byte %" PRIu64
                               " is not in front of the locator at byte %zu",
                               offset, locator_offset),
                   save_again);
      }
      return static_cast<std::size_t>(offset);
    }
  }
  refuse_zip(source, format_text("its directory does not end where the end record begins"),
             save_again);
}

/// The directory of an archive whose numbers do not fit its end record, or that has both records all the same.
ZipDirectory read_zip64_end(const ZipBytes& bytes, const End& end, const char* source) {
  const std::size_t offset = find_zip64_end(bytes, end.offset, source);
  const auto record = read_zip_record<zip64_end_nbytes>(bytes, offset);
  ZipFields fields(record);
  const std::uint32_t signature = fields.u32();
  const std::uint64_t nbytes = fields.u64();
  if (signature != zip64_end_signature ||
      nbytes != end.offset - zip64_locator_nbytes - offset - 12) {
    refuse_zip(source, format_text("it has no zip64 end record where the locator says"),
               save_again);
  }
  fields.u32();  // two versions
  const bool is_first = fields.u32() == 0;
  const bool has_directory = fields.u32() == 0;
  const std::uint64_t count_here = fields.u64();
  ZipDirectory directory;
  directory.count = fields.u64();
  directory.nbytes = fields.u64();
  directory.offset = fields.u64();
  if (!is_first || !has_directory || count_here != directory.count) {
    refuse_parts(source);
  }
  const auto agrees = [](std::uint64_t number, std::uint64_t full, std::uint64_t saturated) {
    return number == full || number == saturated;
  };
  const ZipDirectory& shortened = end.directory;
  if (!agrees(shortened.count, directory.count, zip_saturated_16) ||
      !agrees(shortened.nbytes, directory.nbytes, zip_saturated_32) ||
      !agrees(shortened.offset, directory.offset, zip_saturated_32)) {
    refuse_zip(source, format_text("its two end records disagree"), save_again);
  }
  if (directory.offset > offset || directory.nbytes != offset - directory.offset) {
    refuse_zip(source,
               format_text("its directory of %" PRIu64 " bytes at byte %" PRIu64
                           " does not end where the zip64 end record begins, at byte %zu",
                           directory.nbytes, directory.offset, offset),
               save_again);
  }
  return directory;
}

}  // namespace

ZipDirectory find_zip_directory(const ZipBytes& bytes, const char* source) {
  const End end = read_end(bytes, source);
  ZipDirectory directory = end.directory;
  if (directory.offset + directory.nbytes != end.offset) {
    directory = read_zip64_end(bytes, end, source);
  }
  if (directory.count > directory.nbytes / zip_directory_record_nbytes) {
    refuse_zip(source,
               format_text("its directory of %" PRIu64 " bytes is said to have %" PRIu64 " members",
                           directory.nbytes, directory.count),
               save_again);
  }
  return directory;
}

}  // namespace byre::inline v0::detail
