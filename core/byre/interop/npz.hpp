// SPDX-License-Identifier: BSL-1.0
/// Tensors in .npz files, which are zip archives of .npy files: read, written, and mapped so that a model of many
/// tensors is lazily cloned straight from disk. npy.hpp has those for one array.
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

/// Archives are read strictly. Members are stored or deflated, have names of their own that end in ".npy", and do not
/// overlap; zip64 and data descriptors are read, encryption and archives of several files are not. Anything else
/// throws a FileError that names the file, before the memory is asked for that it speaks of; so does each array that
/// read_npy would refuse. Names are the bytes of the archive without ".npy", UTF-8 in files of NumPy and byre.
/// Tensors are on the host. Any thread may call these at any time.

/// The arrays of a file, in its order and in fresh memory, of either byte order. All are checked against their
/// CRC-32. Throws FileError, OutOfMemory.
BYRE_API NamedTensors load_npz(FileName name);

/// The same from a file that is in memory already.
BYRE_API NamedTensors read_npz(std::span<const std::byte> bytes);

/// The arrays of a file that is mapped once. Each that is stored, in this machine's byte order and aligned to its
/// size, as save_npz stores them, is where it is in the file: its storage is a lazy clone of the file, whose origin()
/// says mapped, and no byte is copied until it is written. Its CRC-32 is not checked, as that would read all of it:
/// only directory, headers and bools are read. All others, and those without elements, are loaded as by load_npz.
/// Throws FileError, OutOfMemory. See Buffer::map_file.
BYRE_API NamedTensors map_npz(FileName name);

/// Whether the bytes are in the archive as they are, which map_npz needs, or smaller.
enum class NpzCompression : bool { stored, deflated };

/// Writes tensors from any device, which numpy.load reads, into a file as save_npy does. Data begin at multiples of 64
/// bytes. The archive is zip64's, of any size. The date of each member is 1980-01-01, so that the same tensors are the
/// same bytes. Throws InvalidArgument for two of one name, and for a name that has more than 65,531 bytes, or a zero
/// byte, which ends it for NumPy; StateError for an uninitialized tensor, DTypeError for bf16, which the format does
/// not have; FileError, OutOfMemory.
BYRE_API void save_npz(FileName name, std::span<const std::pair<std::string, Tensor>> tensors,
                       NpzCompression compression = NpzCompression::stored,
                       CallSite site = CallSite::current());

}  // namespace byre::inline v0
#endif
