// SPDX-License-Identifier: BSL-1.0
#include <byre/files/output_file.hpp>
#include <byre/interop/detail/npy_array.hpp>
#include <byre/interop/detail/safetensors_format.hpp>
#include <byre/interop/npz.hpp>

#include <zlib.h>

#include <algorithm>
#include <memory>
#include <new>

namespace byre::inline BYRE_ABI {
namespace {

constexpr auto u16 = [](std::uint64_t number) { return detail::little_endian(number, 2); };
constexpr auto u32 = [](std::uint64_t number) { return detail::little_endian(number, 4); };
constexpr auto u64 = [](std::uint64_t number) { return detail::little_endian(number, 8); };

/// Writes an archive from front to back. libzip is not used, because it would seek back to headers,
/// which is impossible in a pipe, and would not align data for mapping. All records are in zip64
/// format, which has 64-bit numbers.
///
/// Source: PKWARE's APPNOTE.TXT 6.3.10, sections 4.3 to 4.5.
class ArchiveWriter {
 public:
  using Pieces = std::initializer_list<std::string_view>;

  explicit ArchiveWriter(OutputFile& file) noexcept : file_(file) {}

  /// Adds a member that consists of the pieces. Its data begin at a multiple of 64 bytes.
  void add(const std::string& name, bool is_deflated, Pieces pieces) {
    std::uint64_t nbytes = 0;
    uLong crc = 0;
    for (const std::string_view piece : pieces) {
      nbytes += piece.size();
      crc = piece.empty()
                ? crc
                : crc32_z(crc, reinterpret_cast<const Bytef*>(piece.data()), piece.size());
    }
    const std::uint64_t offset = position_;
    // The sizes of deflated data follow the data. The UTF-8 flag is set if the name is UTF-8, since
    // Python needs the flag; but libzip rejects the flag for names with control characters.
    const bool is_utf8 = detail::json_string(name) &&
                         std::ranges::none_of(name, [](char c) { return c >= 0 && c < ' '; });
    const unsigned flags = (is_deflated ? 1U << 3 : 0) | (is_utf8 ? 1U << 11 : 0);
    const std::string common = u16(version) + u16(flags) + u16(is_deflated ? 8 : 0) +
                               u32((1 << 5 | 1) << 16);  // the first day of 1980
    const std::string in_front = u64(is_deflated ? 0 : nbytes);
    const std::size_t padding = detail::padding_after(offset + 30 + name.size() + 26);
    const std::string extra = u16(1) + u16(16) + in_front + in_front + u16(0xA11E) +
                              u16(2 + padding) + u16(64) + std::string(padding, '\0');
    write(u32(0x04034B50) + common + u32(is_deflated ? 0 : crc) + u32(in_zip64) + u32(in_zip64) +
          u16(name.size()) + u16(extra.size()) + name + extra);
    const std::uint64_t data_offset = position_;
    if (is_deflated) {
      write_deflated(pieces);
    } else {
      std::ranges::for_each(pieces, [&](auto piece) { write(piece); });
    }
    const std::uint64_t packed_nbytes = position_ - data_offset;
    if (is_deflated) {
      write(u32(0x08074B50) + u32(crc) + u64(packed_nbytes) + u64(nbytes));
    }
    directory_ += u32(0x02014B50) + u16(version) + common + u32(crc) + u32(in_zip64) +
                  u32(in_zip64) + u16(name.size()) + u16(28) + u64(0) + u16(0) + u32(in_zip64) +
                  name + u16(1) + u16(24) + u64(nbytes) + u64(packed_nbytes) + u64(offset);
    ++count_;
  }

  void finish() {
    const std::uint64_t begin = position_;
    write(directory_);
    const std::uint64_t end = position_;
    write(u32(0x06064B50) + u64(44) + u16(version) + u16(version) + u64(0) + u64(count_) +
          u64(count_) + u64(end - begin) + u64(begin) + u32(0x07064B50) + u32(0) + u64(end) +
          u32(1) + u32(0x06054B50) + u32(0) + u32(in_zip64) + u32(in_zip64) + u32(in_zip64) +
          u16(0));
  }

 private:
  static constexpr std::uint64_t version = 45;            // the first version with zip64
  static constexpr std::uint64_t in_zip64 = 0xFFFF'FFFF;  // the number is in the zip64 field

  void write(std::string_view bytes) {
    file_.write(bytes.data(), bytes.size());
    position_ += bytes.size();
  }

  void write_deflated(Pieces pieces) {
    z_stream stream{};
    const int begun =
        deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    if (begun != Z_OK) {  // with these arguments, only lack of memory can be the cause
      throw OutOfMemory::of_heap("save_npz");
    }
    const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, ::deflateEnd);
    std::string made(std::size_t{64} << 10, '\0');
    const auto deflate = [&](std::string_view input, int flush) {
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));  // not written
      stream.avail_in = static_cast<uInt>(input.size());
      do {
        stream.next_out = reinterpret_cast<Bytef*>(made.data());
        stream.avail_out = static_cast<uInt>(made.size());
        ::deflate(&stream, flush);
        write({made.data(), made.size() - stream.avail_out});
      } while (stream.avail_out == 0);
    };
    constexpr std::size_t most = std::size_t{1} << 30;  // zlib's sizes are unsigned int
    for (const std::string_view piece : pieces) {
      for (std::size_t at = 0; at < piece.size(); at += most) {
        deflate(piece.substr(at, most), Z_NO_FLUSH);
      }
    }
    deflate({}, Z_FINISH);
  }

  OutputFile& file_;
  std::uint64_t position_ = 0;
  std::uint64_t count_ = 0;
  std::string directory_;
};

}  // namespace

void save_npz(FileName name, std::span<const std::pair<std::string, Tensor>> tensors,
              NpzCompression compression, CallSite site) try {
  const auto repeated = detail::find_duplicate(detail::keys_of(tensors));
  std::vector<detail::NpyEncoding> parts;
  for (const auto& [given, tensor] : tensors) {
    const bool is_name = given.size() <= 0xFFFF - 4 && given.find('\0') == given.npos;
    if (!is_name || repeated == given) {
      throw InvalidArgument(format_text(
          "save_npz: the name \"%s\" %s. Rename the tensor.", detail::printable(given).c_str(),
          is_name ? "occurs twice"
                  : "has more than 65531 bytes, or a zero byte, at which NumPy ends it"));
    }
    detail::expect_initialized(tensor, "save_npz");
    parts.push_back(detail::npy_encoding_of(tensor, {}));
  }
  OutputFile file(name);
  ArchiveWriter archive(file);
  for (std::size_t at = 0; at < tensors.size(); ++at) {
    const Tensor data = detail::elements_to_save(tensors[at].second, parts[at], {}, site);
    const void* const bytes = data.nbytes() == 0 ? nullptr : data.raw_data(site);
    archive.add(tensors[at].first + ".npy", compression == NpzCompression::deflated,
                {parts[at].header, {static_cast<const char*>(bytes), data.nbytes()}});
  }
  archive.finish();
  file.commit();
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("save_npz");
}

}  // namespace byre::inline BYRE_ABI
