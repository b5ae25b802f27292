// SPDX-License-Identifier: BSL-1.0
/// What a .safetensors file begins with, of tensors that are not looked at: so it can be made for tensors that
/// fit in no memory.
#pragma once

#include <byre/interop/safetensors_header.hpp>
#include <byre/tensor/dims.hpp>
#include <byre/tensor/dtype.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace byre::inline v0::detail {

struct SafetensorsPart {
  std::string_view name;
  DType dtype;
  std::span<const std::int64_t> sizes;
  std::size_t nbytes;
};

/// The number of each tensor, in the order in which their data are written: the larger elements first, so that
/// all are aligned, and else by name. It is that of the reference implementation.
std::vector<std::size_t> order_of(std::span<const SafetensorsPart> parts);

/// The header with its length, of data in the order of `parts`, which begin at a multiple of 64 bytes. Throws
/// InvalidArgument for names and keys that are there twice or are not UTF-8, for the name __metadata__, and
/// for a header of more than `limit_nbytes` or a file of more bytes than one can have.
std::string safetensors_header(std::span<const SafetensorsPart> parts,
                               std::span<const std::pair<std::string, std::string>> metadata,
                               std::size_t limit_nbytes = safetensors_header_max_nbytes);

}  // namespace byre::inline v0::detail
