// SPDX-License-Identifier: BSL-1.0
/// Tensors in .npz files, zip archives of .npy files: saved, loaded, and mapped so that a model of
/// many tensors is lazily cloned straight from disk. npy.hpp is for files of one array.
#pragma once

#include <byre/config.hpp>
#include <byre/files/file_name.hpp>
#include <byre/interop/named_tensors.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <utility>

/// Declared only if byre was built with libzip: Meson option `npz`.
#if BYRE_NPZ
namespace byre::inline v0 {

/// Archives are read strictly. Members must be stored or deflated, have unique names that end in
/// ".npy", and not overlap. Zip64 and data descriptors are supported; encryption and archives of
/// several files are not. Anything else, and each array that read_npy() rejects, throws a FileError
/// that names the file, before memory of the claimed size is allocated. The name of a tensor is the
/// member's name without ".npy", in the bytes of the archive: UTF-8 in files of NumPy and byre.
/// Tensors are on the host. Any thread may call these functions at any time.

/// The arrays of a file, in its order, in fresh memory, of either byte order. Compares the CRC-32
/// of each. Throws FileError, OutOfMemory.
BYRE_API NamedTensors load_npz(FileName name);

/// As load_npz(), from a file that is in memory already.
BYRE_API NamedTensors read_npz(std::span<const std::byte> bytes);

/// The arrays of a file that is mapped once. An array is used in place if it is stored (not
/// deflated), in this machine's byte order, and aligned to its element size, as save_npz() stores
/// arrays. Its storage is then a lazy clone of the file with origin() mapped, and nothing is copied
/// until it is written. Its CRC-32 is not compared, which would read all of the array: only the
/// directory, headers and bools are read. All other arrays, and those without elements, are loaded
/// as by load_npz(). Throws FileError, OutOfMemory. See Buffer::map_file.
BYRE_API NamedTensors map_npz(FileName name);

/// Stored members can be mapped; deflated members are smaller.
enum class NpzCompression : bool { stored, deflated };

/// Saves tensors of any device, as save_npy() does, in a file that numpy.load reads. Data begin at
/// multiples of 64 bytes. The archive is in zip64 format, of any size. Each member has the date
/// 1980-01-01, so equal tensors give equal bytes.
///
/// Throws InvalidArgument if two tensors have one name, and for a name with more than 65,531 bytes
/// or with a zero byte, at which NumPy ends it; StateError for an uninitialized tensor, DTypeError
/// for bf16, which the format lacks; FileError, OutOfMemory.
BYRE_API void save_npz(FileName name, std::span<const std::pair<std::string, Tensor>> tensors,
                       NpzCompression compression = NpzCompression::stored,
                       CallSite site = CallSite::current());

}  // namespace byre::inline v0
#endif
