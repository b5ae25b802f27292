// SPDX-License-Identifier: BSL-1.0
/// Tensors in other processes: see ipc/exported_pages.hpp and ipc/send.hpp.
///
///     byre::send(socket, tensor);                                          // in one process
///     byre::Tensor clone = byre::receive<byre::Tensor>(socket);            // in another
#pragma once

#include <byre/ipc/send.hpp>
#include <byre/tensor/tensor.hpp>

namespace byre::inline BYRE_ABI {

/// Exports a tensor with its dtype, sizes and strides. Exports the whole storage, unless the tensor
/// has less than half of its bytes: then the importer gets a contiguous tensor of these elements
/// only, which are copied. Throws the errors of export_pages(const Storage&), and StateError if the
/// tensor is storage- or dtype-uninitialized.
BYRE_API ExportedPages export_pages(const Tensor& tensor, CallSite site = CallSite::current());

/// As send(socket, export_pages(tensor)).
BYRE_API void send(int socket, const Tensor& tensor, CallSite site = CallSite::current());

/// The imported tensor has a storage of its own. Also throws TransferError if the layout in the
/// message does not fit the data, and DTypeError if a bool is neither 0 nor 1.
template <>
BYRE_API Tensor import_pages<Tensor>(std::span<const std::byte> message,
                                     std::span<const int> descriptors, Accept accept);
template <>
BYRE_API Tensor receive<Tensor>(int socket, Accept accept);

}  // namespace byre::inline BYRE_ABI
