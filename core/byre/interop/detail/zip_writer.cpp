// SPDX-License-Identifier: BSL-1.0
#include <byre/interop/detail/zip_deflate.hpp>
#include <byre/interop/detail/zip_writer.hpp>

#include <array>
#include <utility>

namespace byre::inline v0::detail {
namespace {

/// Of a byte that begins a character of UTF-8, how many bytes that has; 0 of any other.
std::size_t length_of_character(unsigned lead) noexcept {
  if (lead < 0x80) {
    return 1;
  }
  if (lead < 0xC0) {
    return 0;
  }
  return lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF8 ? 4 : 0;
}

/// Strictly, as Python decodes names: no surrogates, nothing longer than need be.
bool is_utf8(std::string_view text) noexcept {
  constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x1'0000};
  while (!text.empty()) {
    const auto lead = static_cast<unsigned char>(text[0]);
    const std::size_t length = length_of_character(lead);
    if (length == 0 || length > text.size()) {
      return false;
    }
    std::uint32_t code = length == 1 ? lead : lead & (0x7FU >> length);
    for (const char next : text.substr(1, length - 1)) {
      if ((next & 0xC0) != 0x80) {
        return false;
      }
      code = code << 6 | (static_cast<std::uint32_t>(next) & 0x3F);
    }
    if (code < least[length] || code > 0x10'FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
      return false;
    }
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace

void ZipWriter::write(std::span<const std::byte> bytes) {
  file_.write(bytes.data(), bytes.size());
  position_ += bytes.size();
}

void ZipWriter::add(std::string name, ZipMethod method,
                    std::initializer_list<std::span<const std::byte>> pieces) {
  ZipMember member;
  member.name = std::move(name);
  member.method = method;
  member.header_offset = position_;
  // Other bytes are of no encoding that is said, so that Python reads the archive all the same.
  if (is_utf8(member.name)) {
    member.flags |= zip_flags::utf8;
  }
  for (const std::span<const std::byte> piece : pieces) {
    member.crc = zip_crc(piece, member.crc);
    member.nbytes += piece.size();
  }
  if (method == ZipMethod::deflated) {
    member.flags |= zip_flags::descriptor;
    write(zip_local_header(member));
    member.packed_nbytes = deflate(pieces);
    write(zip_descriptor(member));
  } else {
    member.packed_nbytes = member.nbytes;
    write(zip_local_header(member));
    for (const std::span<const std::byte> piece : pieces) {
      write(piece);
    }
  }
  directory_ += zip_directory_record(member);
  ++count_;
}

std::uint64_t ZipWriter::deflate(std::initializer_list<std::span<const std::byte>> pieces) {
  const std::uint64_t begin = position_;
  Deflater deflater;
  std::vector<std::byte> buffer(deflate_buffer_nbytes);
  const auto write_made = [&](const DeflateStep& step) {
    write(std::span<const std::byte>(buffer).first(step.made));
    return step;
  };
  for (std::span<const std::byte> piece : pieces) {
    while (!piece.empty()) {
      piece = piece.subspan(write_made(deflater.step(piece, buffer)).taken);
    }
  }
  while (!write_made(deflater.finish(buffer)).is_end) {
  }
  return position_ - begin;
}

void ZipWriter::finish() {
  const std::uint64_t offset = position_;
  write(directory_);
  write(zip_end(count_, offset, directory_.size()));
}

}  // namespace byre::inline v0::detail
