// SPDX-License-Identifier: BSL-1.0
#include <byre/error/detail/quoted_text.hpp>
#include <byre/interop/detail/safetensors_format.hpp>
#include <byre/interop/safetensors_header.hpp>

#include <algorithm>
#include <cinttypes>
#include <new>
#include <string_view>

namespace byre::inline BYRE_ABI {
namespace {

using detail::refuse_safetensors;
using detail::safetensors_length_nbytes;

constexpr const char* save_again = "The header is wrong: save it again.";

/// Throws a FileError that names the tensor and the source.
[[noreturn]] void refuse_tensor(const char* source, const std::string& name, const Text& found,
                                const char* advice) {
  refuse_safetensors(
      source,
      format_text("its tensor \"%s\" %.350s", detail::printable(name).c_str(), found.chars.data()),
      advice);
}

void expect_length(std::span<const std::byte> start, std::size_t nbytes, const char* operation) {
  if (start.size() < nbytes) {
    throw InvalidArgument(
        format_text("%s: got %zu bytes of the file, required %zu. Read more of it.", operation,
                    start.size(), nbytes));
  }
}

/// DType::uninitialized if byre lacks the dtype.
DType dtype_of_entry(const detail::SafetensorsJsonEntry& entry) noexcept {
  const auto* const found =
      std::ranges::find(detail::safetensors_types, entry.dtype, &detail::SafetensorsType::code);
  return found == detail::safetensors_types.end() ? DType::uninitialized : found->dtype;
}

/// The size of all elements in bytes.
std::size_t nbytes_of_entry(const detail::SafetensorsJsonEntry& entry, DType dtype,
                            const char* source) {
  try {
    const std::int64_t numel = detail::element_count(entry.sizes, "shape");
    return detail::byte_count(numel, itemsize(dtype), "shape");
  } catch (const ShapeError& error) {
    refuse_tensor(
        source, entry.name,
        format_text("is rejected: %.300s", detail::without_full_stop(error.what()).chars.data()),
        save_again);
  }
}

/// Checks that the data of the entry begin at `end`, where the data before them end.
void expect_next(const detail::SafetensorsJsonEntry& entry, std::uint64_t end,
                 std::uint64_t data_nbytes, const char* source) {
  const std::uint64_t first = entry.offsets[0];
  const std::uint64_t last = entry.offsets[1];
  const auto refuse = [&](const Text& found, const char* advice) {
    refuse_tensor(source, entry.name,
                  format_text("has data_offsets %" PRIu64 " to %" PRIu64 ": %s", first, last,
                              found.chars.data()),
                  advice);
  };
  if (last < first) {
    refuse(format_text("their end precedes their start"), save_again);
  }
  if (last > data_nbytes) {
    refuse(format_text("the data have %" PRIu64 " bytes", data_nbytes),
           "Was it cut short? Save it again.");
  }
  if (first < end) {
    refuse(format_text("they overlap data that end at %" PRIu64, end),
           "Copy shared data before saving: tensor.clone().");
  }
  if (first > end) {
    refuse(format_text("bytes from %" PRIu64 " on belong to no tensor", end),
           "Save it without gaps.");
  }
}

SafetensorsEntry checked(detail::SafetensorsJsonEntry& entry, DType dtype, std::size_t data_offset,
                         const char* source) {
  const std::size_t nbytes = nbytes_of_entry(entry, dtype, source);
  const std::uint64_t present = entry.offsets[1] - entry.offsets[0];
  if (nbytes != present) {
    refuse_tensor(source, entry.name,
                  format_text("has sizes %.200s of %s: %zu bytes expected, %" PRIu64 " found",
                              to_string(entry.sizes).c_str(), name_of(dtype), nbytes, present),
                  save_again);
  }
  return {std::move(entry.name), dtype, std::move(entry.sizes),
          data_offset + static_cast<std::size_t>(entry.offsets[0]), nbytes};
}

}  // namespace

std::size_t safetensors_data_offset(std::span<const std::byte> start, std::size_t file_nbytes,
                                    const char* source) {
  if (file_nbytes < safetensors_length_nbytes) {
    refuse_safetensors(
        source,
        format_text("its %zu bytes end within the 8-byte length of its header", file_nbytes),
        "Is it a complete .safetensors file?");
  }
  expect_length(start, safetensors_length_nbytes, "safetensors_data_offset");
  const std::uint64_t length = detail::read_little_endian(start.first(safetensors_length_nbytes));
  if (length > safetensors_header_max_nbytes) {
    refuse_safetensors(source,
                       format_text("its header has %" PRIu64 " bytes, allowed are %zu", length,
                                   safetensors_header_max_nbytes),
                       "Is it a .safetensors file?");
  }
  if (length > file_nbytes - safetensors_length_nbytes) {
    refuse_safetensors(source,
                       format_text("its header has %" PRIu64 " bytes, but %zu are present", length,
                                   file_nbytes - safetensors_length_nbytes),
                       "Was it cut short? Save it again.");
  }
  return safetensors_length_nbytes + static_cast<std::size_t>(length);
}

SafetensorsHeader parse_safetensors_header(std::span<const std::byte> start,
                                           std::size_t file_nbytes, const char* source) try {
  const std::size_t data_offset = safetensors_data_offset(start, file_nbytes, source);
  expect_length(start, data_offset, "parse_safetensors_header");
  const std::string_view text(
      reinterpret_cast<const char*>(start.data()) + safetensors_length_nbytes,
      data_offset - safetensors_length_nbytes);
  detail::SafetensorsJson texts = detail::read_safetensors_json(text, source);
  std::ranges::stable_sort(texts.tensors, {}, &detail::SafetensorsJsonEntry::offsets);
  const std::size_t data_nbytes = file_nbytes - data_offset;
  SafetensorsHeader header{{}, {}, std::move(texts.metadata)};
  std::uint64_t end = 0;
  for (detail::SafetensorsJsonEntry& entry : texts.tensors) {
    expect_next(entry, end, data_nbytes, source);
    end = entry.offsets[1];
    const DType dtype = dtype_of_entry(entry);
    if (dtype == DType::uninitialized) {
      header.skipped.push_back({std::move(entry.name), std::move(entry.dtype),
                                std::move(entry.sizes),
                                data_offset + static_cast<std::size_t>(entry.offsets[0]),
                                static_cast<std::size_t>(entry.offsets[1] - entry.offsets[0])});
    } else {
      header.tensors.push_back(checked(entry, dtype, data_offset, source));
    }
  }
  if (end != data_nbytes) {
    refuse_safetensors(
        source, format_text("%" PRIu64 " bytes of data belong to no tensor", data_nbytes - end),
        "Save nothing after the tensors.");
  }
  return header;
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("parse_safetensors_header");
}

}  // namespace byre::inline BYRE_ABI
