// SPDX-License-Identifier: BSL-1.0
#include <byre/interop/detail/npy_error.hpp>
#include <byre/interop/detail/shown.hpp>
#include <byre/interop/detail/zip_directory.hpp>
#include <byre/interop/detail/zip_end.hpp>
#include <byre/interop/detail/zip_error.hpp>
#include <byre/memory/allocator.hpp>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <string_view>

namespace byre::inline v0::detail {
namespace {

/// No deflated byte stands for more: 258 bytes, the longest match, in 2 bits.
constexpr std::uint64_t most_from_a_byte = 1032;

/// What is said of flags and method: that they are of what can be read.
void expect_readable(const ZipMember& member, std::uint16_t method, const char* source) {
  constexpr unsigned encrypted =
      zip_flags::encrypted | zip_flags::strongly_encrypted | zip_flags::headers_encrypted;
  constexpr unsigned known = zip_flags::deflate_options | zip_flags::descriptor | zip_flags::utf8;
  if ((member.flags & encrypted) != 0) {
    refuse_member(source, member.name, format_text("is encrypted"),
                  "Decrypt it, or save it without a password.");
  }
  if ((member.flags & ~known) != 0) {
    refuse_member(source, member.name,
                  format_text("has flags 0x%04x, of which some are not known here", member.flags),
                  save_with_numpy);
  }
  if (method != static_cast<std::uint16_t>(ZipMethod::stored) &&
      method != static_cast<std::uint16_t>(ZipMethod::deflated)) {
    refuse_member(
        source, member.name,
        format_text("is compressed by method %u, and only 0 (stored) and 8 (deflated) are read",
                    unsigned{method}),
        save_with_numpy);
  }
}

void expect_plausible(const ZipMember& member, std::uint64_t directory_offset, const char* source) {
  if (member.packed_nbytes > directory_offset) {
    refuse_member(source, member.name,
                  format_text("has %" PRIu64 " bytes, more than there are", member.packed_nbytes),
                  save_again);
  }
  if (member.nbytes > max_nbytes) {
    refuse_member(source, member.name,
                  format_text("has %" PRIu64 " bytes, more than an object can have on this machine",
                              member.nbytes),
                  save_again);
  }
  if (member.method == ZipMethod::stored && member.packed_nbytes != member.nbytes) {
    refuse_member(source, member.name,
                  format_text("is stored in %" PRIu64 " bytes, and said to have %" PRIu64,
                              member.packed_nbytes, member.nbytes),
                  save_again);
  }
  if (member.method == ZipMethod::deflated &&
      member.nbytes / most_from_a_byte > member.packed_nbytes) {
    refuse_member(
        source, member.name,
        format_text("is said to have %" PRIu64 " bytes, more than %" PRIu64 " deflated ones can be",
                    member.nbytes, member.packed_nbytes),
        "Do not trust it. If it is yours, save it again.");
  }
}

void expect_npy(const ZipMember& member, const char* source) {
  if (!member.name.ends_with(".npy")) {
    refuse_member(source, member.name, format_text("has a name that does not end in .npy"),
                  "An .npz file has arrays alone: numpy.savez writes such.");
  }
}

[[noreturn]] void refuse_directory(const char* source) {
  refuse_zip(source, format_text("its directory does not consist of the records it should have"),
             save_again);
}

/// The next record, of what is left of the directory.
ZipMember read_record(ZipFields& fields, std::uint64_t directory_offset, const char* source) {
  if (fields.left() < zip_directory_record_nbytes ||
      fields.u32() != zip_directory_record_signature) {
    refuse_directory(source);
  }
  fields.u32();  // two versions
  ZipMember member;
  member.flags = fields.u16();
  const std::uint16_t method = fields.u16();
  fields.u32();  // time and date
  member.crc = fields.u32();
  member.packed_nbytes = fields.u32();
  member.nbytes = fields.u32();
  const std::size_t name_nbytes = fields.u16();
  const std::size_t extra_nbytes = fields.u16();
  const std::size_t comment_nbytes = fields.u16();
  const std::uint16_t disk = fields.u16();
  fields.u16();  // attributes of two kinds
  fields.u32();
  member.header_offset = fields.u32();
  if (name_nbytes + extra_nbytes + comment_nbytes > fields.left()) {
    refuse_zip(source, format_text("a record of its directory ends behind the directory"),
               save_again);
  }
  member.name = fields.text(name_nbytes);
  const std::span<const std::byte> extra = fields.take(extra_nbytes);
  fields.take(comment_nbytes);
  if (disk != 0) {
    refuse_parts(source);
  }
  expect_readable(member, method, source);
  member.method = static_cast<ZipMethod>(method);
  if (const char* const wrong = take_zip64_field(extra, member).wrong) {
    refuse_member(source, member.name, format_text("%s", wrong), save_again);
  }
  expect_plausible(member, directory_offset, source);
  expect_npy(member, source);
  return member;
}

/// What is in the file of a member: from its local header to the end of its descriptor.
struct ZipExtent {
  std::uint64_t begin;
  std::uint64_t end;
  std::size_t member;
};

/// True iff the descriptor at `offset` says what the directory does.
bool is_descriptor(std::span<const std::byte> bytes, const ZipMember& member, bool has_signature,
                   bool has_long_sizes) {
  const std::size_t nbytes = (has_signature ? 4U : 0U) + (has_long_sizes ? 20U : 12U);
  if (bytes.size() < nbytes) {
    return false;
  }
  ZipFields fields(bytes);
  const bool begins_well = !has_signature || fields.u32() == zip_descriptor_signature;
  const bool has_crc = fields.u32() == member.crc;
  const std::uint64_t packed_nbytes = has_long_sizes ? fields.u64() : fields.u32();
  const std::uint64_t size = has_long_sizes ? fields.u64() : fields.u32();
  return begins_well && has_crc && packed_nbytes == member.packed_nbytes && size == member.nbytes;
}

/// How many bytes the descriptor behind the data has.
std::size_t descriptor_nbytes(const ZipBytes& bytes, const ZipMember& member,
                              std::uint64_t directory_offset, bool has_long_sizes,
                              const char* source) {
  const std::uint64_t offset = member.data_offset + member.packed_nbytes;
  std::array<std::byte, 24> found{};
  const auto there = std::span(found).first(
      static_cast<std::size_t>(std::min<std::uint64_t>(found.size(), directory_offset - offset)));
  bytes.read(static_cast<std::size_t>(offset), there);
  for (const bool has_signature : {true, false}) {
    if (is_descriptor(there, member, has_signature, has_long_sizes)) {
      return (has_signature ? 4U : 0U) + (has_long_sizes ? 20U : 12U);
    }
  }
  refuse_member(source, member.name,
                format_text("has a descriptor that disagrees with the directory"), save_again);
}

[[noreturn]] void refuse_local_header(const ZipMember& member, const char* source) {
  refuse_member(
      source, member.name,
      format_text("has no local header at byte %" PRIu64 " that says what the directory does",
                  member.header_offset),
      save_again);
}

[[noreturn]] void refuse_place(const ZipMember& member, const char* source) {
  refuse_member(
      source, member.name,
      format_text("is said to be at byte %" PRIu64 ", and is not all in front of the directory",
                  member.header_offset),
      save_again);
}

/// True iff the numbers of a local header are the directory's; a descriptor may have them instead.
bool agrees(const ZipMember& local, const ZipMember& member) {
  const auto is_same = [&](std::uint64_t found, std::uint64_t wanted) {
    return found == wanted || (member.has_descriptor() && found == 0);
  };
  return local.flags == member.flags && local.method == member.method &&
         local.name == member.name && is_same(local.crc, member.crc) &&
         is_same(local.packed_nbytes, member.packed_nbytes) && is_same(local.nbytes, member.nbytes);
}

/// Finds where the data begin. Where the member ends in the file.
std::uint64_t locate(const ZipBytes& bytes, ZipMember& member, std::uint64_t directory_offset,
                     const char* source) {
  const auto expect_room = [&](std::uint64_t offset, std::uint64_t nbytes) {
    if (offset > directory_offset || nbytes > directory_offset - offset) {
      refuse_place(member, source);
    }
  };
  expect_room(member.header_offset, zip_local_header_nbytes);
  const auto header_offset = static_cast<std::size_t>(member.header_offset);
  const auto header = read_zip_record<zip_local_header_nbytes>(bytes, header_offset);
  ZipFields fields(header);
  if (fields.u32() != zip_local_header_signature) {
    refuse_local_header(member, source);
  }
  fields.u16();  // the version
  ZipMember local;
  local.flags = fields.u16();
  local.method = static_cast<ZipMethod>(fields.u16());
  fields.u32();  // time and date
  local.crc = fields.u32();
  local.packed_nbytes = fields.u32();
  local.nbytes = fields.u32();
  const std::size_t name_nbytes = fields.u16();
  const std::size_t extra_nbytes = fields.u16();
  expect_room(member.header_offset + zip_local_header_nbytes, name_nbytes + extra_nbytes);
  std::vector<std::byte> text(name_nbytes + extra_nbytes);
  bytes.read(header_offset + zip_local_header_nbytes, text);
  ZipFields texts(text);
  local.name = texts.text(name_nbytes);
  const Zip64Field zip64 = take_zip64_field(texts.take(extra_nbytes), local);
  if (zip64.wrong != nullptr) {
    refuse_member(source, member.name, format_text("%s", zip64.wrong), save_again);
  }
  if (!agrees(local, member)) {
    refuse_local_header(member, source);
  }
  member.data_offset = member.header_offset + zip_local_header_nbytes + text.size();
  expect_room(member.data_offset, member.packed_nbytes);
  const std::uint64_t end = member.data_offset + member.packed_nbytes;
  return member.has_descriptor()
             ? end + descriptor_nbytes(bytes, member, directory_offset, zip64.is_there, source)
             : end;
}

void expect_no_overlaps(const std::vector<ZipMember>& members, std::vector<ZipExtent> extents,
                        const char* source) {
  std::ranges::sort(extents, {}, &ZipExtent::begin);
  for (std::size_t at = 1; at < extents.size(); ++at) {
    if (extents[at].begin < extents[at - 1].end) {
      refuse_member(source, members[extents[at].member].name,
                    format_text("overlaps the member \"%.100s\"",
                                shown(members[extents[at - 1].member].name).c_str()),
                    "Do not trust it. If it is yours, save it again.");
    }
  }
}

void expect_different_names(const std::vector<ZipMember>& members, const char* source) {
  std::vector<std::string_view> names;
  names.reserve(members.size());
  for (const ZipMember& member : members) {
    names.push_back(member.name);
  }
  std::ranges::sort(names);
  if (const auto found = std::ranges::adjacent_find(names); found != names.end()) {
    refuse_member(source, *found, format_text("is there twice"),
                  "Save each array under a name of its own.");
  }
}

}  // namespace

std::vector<ZipMember> read_zip_directory(const ZipBytes& bytes, const char* source) {
  const ZipDirectory directory = find_zip_directory(bytes, source);
  std::vector<std::byte> records(static_cast<std::size_t>(directory.nbytes));
  bytes.read(static_cast<std::size_t>(directory.offset), records);
  ZipFields fields(records);
  std::vector<ZipMember> members;
  std::vector<ZipExtent> extents;
  members.reserve(static_cast<std::size_t>(directory.count));
  extents.reserve(members.capacity());
  for (std::uint64_t left = directory.count; left > 0; --left) {
    members.push_back(read_record(fields, directory.offset, source));
    ZipMember& member = members.back();
    const std::uint64_t end = locate(bytes, member, directory.offset, source);
    extents.push_back({member.header_offset, end, members.size() - 1});
  }
  if (fields.left() != 0) {
    refuse_directory(source);
  }
  expect_no_overlaps(members, std::move(extents), source);
  expect_different_names(members, source);
  return members;
}

}  // namespace byre::inline v0::detail
