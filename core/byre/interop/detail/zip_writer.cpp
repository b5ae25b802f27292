// SPDX-License-Identifier: BSL-1.0
#include <byre/interop/detail/zip_deflate.hpp>
#include <byre/interop/detail/zip_writer.hpp>

#include <algorithm>
#include <utility>

namespace byre::inline v0::detail {
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
  if (std::ranges::any_of(member.name, [](char c) { return (c & 0x80) != 0; })) {
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
