// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/interop/detail/zip_deflate.hpp>

#include <zlib.h>

#include <algorithm>
#include <limits>

namespace byre::inline v0::detail {
namespace {

/// Deflated data without a header of zlib's own, with the largest window.
constexpr int raw_window_bits = -15;
constexpr int memory_level = 8;  // zlib's default

/// zlib counts in unsigned int.
uInt at_once(std::size_t nbytes) noexcept {
  return static_cast<uInt>(std::min<std::size_t>(nbytes, std::numeric_limits<uInt>::max()));
}

/// Throws OutOfMemory; else null is never returned.
template <class Begin>
z_stream* began(const Begin& begin, const char* operation) {
  auto stream = std::make_unique<z_stream>();
  const int result = begin(*stream);
  if (result != Z_OK) {  // of these arguments, memory alone can be missing
    throw OutOfMemory::of_heap(operation);
  }
  return stream.release();
}

template <class Work>
DeflateStep step_of(z_stream& stream, std::span<const std::byte> input, std::span<std::byte> output,
                    const Work& work) {
  const uInt input_nbytes = at_once(input.size());
  const uInt output_nbytes = at_once(output.size());
  // zlib reads what is next_in, and declares it const only where a macro asks for that.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(input.data()));
  stream.avail_in = input_nbytes;
  stream.next_out = reinterpret_cast<Bytef*>(output.data());
  stream.avail_out = output_nbytes;
  const int result = work(stream);
  DeflateStep step;
  step.taken = input_nbytes - stream.avail_in;
  step.made = output_nbytes - stream.avail_out;
  step.is_end = result == Z_STREAM_END;
  if (result == Z_MEM_ERROR) {
    throw OutOfMemory::of_heap("inflating");
  }
  if (result == Z_DATA_ERROR) {
    step.wrong = stream.msg;
  }
  return step;
}

}  // namespace

std::uint32_t zip_crc(std::span<const std::byte> bytes, std::uint32_t before) noexcept {
  if (bytes.empty()) {
    return before;  // zlib takes a null pointer for a question
  }
  return static_cast<std::uint32_t>(
      crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

void Inflater::End::operator()(z_stream_s* stream) const noexcept {
  ::inflateEnd(stream);
  delete stream;
}

Inflater::Inflater()
    : stream_(began([](z_stream& stream) { return inflateInit2(&stream, raw_window_bits); },
                    "inflating")) {}

DeflateStep Inflater::step(std::span<const std::byte> input, std::span<std::byte> output) {
  return step_of(*stream_, input, output,
                 [](z_stream& stream) { return ::inflate(&stream, Z_NO_FLUSH); });
}

void Deflater::End::operator()(z_stream_s* stream) const noexcept {
  ::deflateEnd(stream);
  delete stream;
}

Deflater::Deflater()
    : stream_(began(
          [](z_stream& stream) {
            return deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, raw_window_bits,
                                memory_level, Z_DEFAULT_STRATEGY);
          },
          "deflating")) {}

DeflateStep Deflater::step(std::span<const std::byte> input, std::span<std::byte> output) {
  return step_of(*stream_, input, output,
                 [](z_stream& stream) { return ::deflate(&stream, Z_NO_FLUSH); });
}

DeflateStep Deflater::finish(std::span<std::byte> output) {
  return step_of(*stream_, {}, output,
                 [](z_stream& stream) { return ::deflate(&stream, Z_FINISH); });
}

}  // namespace byre::inline v0::detail
