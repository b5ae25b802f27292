// SPDX-License-Identifier: BSL-1.0
/// Tensors in .npz files, zip archives of .npy files: saves them, loads them, and maps them so that
/// a model of many tensors is lazily cloned straight from disk. npy.hpp is for files of one array.
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
namespace byre::inline BYRE_ABI {

/// Archives are read strictly. Members must be stored or deflated, have unique names that end in
/// ".npy", and not overlap. Zip64 and data descriptors are supported; encryption and archives that
/// span several files are not. If an archive breaks a rule or read_npy() rejects a member, a
/// FileError that names the file is thrown before memory of the claimed size is allocated. A
/// tensor's name is the member's name without ".npy", byte for byte: UTF-8 in files of NumPy and
/// byre. Tensors are on the host. Any thread may call these functions at any time.

/// The arrays of a file, of either byte order, in fresh memory and in the order of the file.
/// Verifies the CRC-32 of each array. Throws FileError if the file cannot be read or is rejected,
/// or OutOfMemory.
BYRE_API NamedTensors load_npz(FileName name);

/// As load_npz(), but reads a file that is in memory already.
BYRE_API NamedTensors read_npz(std::span<const std::byte> bytes);

/// The arrays of a file that is mapped into memory once. An array is used in place if it has
/// elements and is stored (not deflated), in this machine's byte order, and aligned to its element
/// size; save_npz() stores arrays like this. The storage of such an array is a lazy clone of the
/// mapped file, with Origin::mapped, and nothing is copied until the array is written. Its CRC-32
/// is not verified, since that would read the whole array: only the directory, headers and bools
/// are read. All other arrays are loaded as by load_npz(). Buffer::map_file documents mapped
/// memory. Throws the errors of load_npz().
BYRE_API NamedTensors map_npz(FileName name);

/// map_npz() uses stored members in place; deflated members are smaller.
enum class NpzCompression : bool { stored, deflated };

/// Saves tensors of any device, as save_npy() does, in a file that numpy.load reads. Data begin at
/// multiples of 64 bytes. The archive is in zip64 format, so its size is not limited. Each member
/// has the date 1980-01-01, so that equal tensors give equal bytes.
///
/// Throws InvalidArgument if a name occurs twice, has more than 65,531 bytes, or contains a zero
/// byte (NumPy ends the name there); StateError for an uninitialized tensor; DTypeError for bf16,
/// which the format lacks; FileError if the file cannot be written; or OutOfMemory.
BYRE_API void save_npz(FileName name, std::span<const std::pair<std::string, Tensor>> tensors,
                       NpzCompression compression = NpzCompression::stored,
                       CallSite site = CallSite::current());

}  // namespace byre::inline BYRE_ABI
#endif
