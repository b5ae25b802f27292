// SPDX-License-Identifier: BSL-1.0
/// Arrays to and from other libraries without a byte copied. What is given out to read shares the data as a lazy
/// copy does; what is given out to write is pinned; what comes in is aliased, as its owner may still write.
#pragma once

#include "array.hpp"

#include <byre/interop/dlpack.hpp>
#include <byre/storage/pin.hpp>

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace byre::inline v0::python {

enum class ExportTo : bool { read, write };

/// Throws NotABuffer, naming `operation`, for an array in which elements are repeated.
void expect_writable(const Tensor& tensor, const char* operation);

/// The storage of an array, held for whoever gets its address; see Storage::pin(). Throws CopyRefused and
/// NotABuffer, naming `operation`.
Pin pinned(const Tensor& tensor, ExportTo access, const char* operation);

/// The address of the first element.
inline std::byte* first_element(const Pin& pin, const Tensor& tensor) noexcept {
  return pin.data() == nullptr
             ? nullptr
             : const_cast<std::byte*>(pin.data()) +
                   static_cast<std::size_t>(tensor.storage_offset()) * tensor.itemsize();
}

/// A tensor over memory that `owner` keeps, which is let go of once, later: see later.hpp. Throws as from_dlpack().
Tensor imported(const dlpack::DLTensor& seen, std::uint64_t flags, pybind11::object owner);

/// A tensor over that of another library, which is asked for it by __dlpack__(). Throws as from_dlpack().
Tensor tensor_of_dlpack(const pybind11::object& source, std::optional<bool> copy);

void define_numpy_exchange(pybind11::module_& module, ArrayClass& array);
void define_dlpack_exchange(pybind11::module_& module, ArrayClass& array);
void define_files(pybind11::module_& module);
/// The buffer protocol: bytes to read without materializing; to write, pinned.
void define_buffers(ArrayClass& array);

}  // namespace byre::inline v0::python
