// SPDX-License-Identifier: BSL-1.0
#include <byre/files/detail/input_file.hpp>
#include <byre/files/output_file.hpp>
#include <byre/interop/detail/npy_array.hpp>
#include <byre/interop/detail/npy_error.hpp>
#include <byre/interop/detail/shown.hpp>
#include <byre/interop/detail/tensor_data.hpp>
#include <byre/interop/detail/zip_directory.hpp>
#include <byre/interop/detail/zip_member.hpp>
#include <byre/interop/detail/zip_writer.hpp>
#include <byre/interop/npz.hpp>

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>

namespace byre::inline v0 {
namespace {

using detail::ZipBytes;
using detail::ZipMember;

constexpr std::string_view suffix = ".npy";
constexpr std::size_t name_max_nbytes = 0xFFFF - suffix.size();

/// The archive and the member, as a path within it.
std::string path_of(const ZipMember& member, const char* source) {
  return std::string(source) + "/" + detail::shown(member.name);
}

Tensor load_member(const ZipBytes& bytes, const ZipMember& member, const char* source) {
  const std::string path = path_of(member, source);
  detail::ZipMemberReader reader(bytes, member, source);
  const auto nbytes = static_cast<std::size_t>(member.nbytes);
  std::vector<std::byte> start(std::min(nbytes, npy_header_max_nbytes));
  reader.read(start);
  const NpyHeader header = detail::npy_header_of(start, nbytes, path.c_str());
  Tensor tensor = detail::npy_tensor(header, path.c_str(), [&](std::byte* data, std::size_t) {
    const auto read = std::span(start).subspan(header.data_offset);
    std::memcpy(data, read.data(), read.size());
    reader.read({data + read.size(), header.data_nbytes - read.size()});
    reader.finish();  // before the bytes are taken for bools
  });
  if (header.data_nbytes == 0) {
    reader.finish();
  }
  return tensor;
}

std::string name_of_tensor(const ZipMember& member) {
  return member.name.substr(0, member.name.size() - suffix.size());
}

NamedTensors load(const ZipBytes& bytes, const char* source) {
  NamedTensors tensors;
  for (const ZipMember& member : detail::read_zip_directory(bytes, source)) {
    tensors.emplace_back(name_of_tensor(member), load_member(bytes, member, source));
  }
  return tensors;
}

/// The member where it is in the mapped file, or loaded if it cannot be used there.
Tensor map_member(const Storage& file, std::span<const std::byte> bytes, const ZipMember& member,
                  const char* source) {
  if (member.method == detail::ZipMethod::stored) {
    const auto offset = static_cast<std::size_t>(member.data_offset);
    const auto nbytes = static_cast<std::size_t>(member.nbytes);
    const std::string path = path_of(member, source);
    const NpyHeader header =
        detail::npy_header_of(bytes.subspan(offset, nbytes), nbytes, path.c_str());
    const std::size_t data_offset = offset + header.data_offset;
    if (header.data_nbytes != 0 &&
        detail::place_of_npy(header, data_offset) == detail::NpyPlace::usable) {
      return detail::npy_in_place(header, path.c_str(), file.lazy_clone(), data_offset);
    }
  }
  return load_member(ZipBytes(bytes), member, source);
}

/// Before anything is written.
void expect_names(std::span<const std::pair<std::string, Tensor>> tensors) {
  std::vector<std::string_view> names;
  names.reserve(tensors.size());
  for (const auto& [name, tensor] : tensors) {
    if (name.size() > name_max_nbytes) {
      throw InvalidArgument(
          format_text("save_npz: a name of %zu bytes, \"%s\", where a .npz file has room for %zu. "
                      "Give the tensor a shorter one.",
                      name.size(), detail::shown(name).c_str(), name_max_nbytes));
    }
    if (name.find('\0') != name.npos) {
      throw InvalidArgument(
          format_text("save_npz: the name \"%s\" has a zero byte, where NumPy would end it. Give "
                      "the tensor another name.",
                      detail::shown(name).c_str()));
    }
    names.push_back(name);
  }
  std::ranges::sort(names);
  if (const auto found = std::ranges::adjacent_find(names); found != names.end()) {
    throw InvalidArgument(
        format_text("save_npz: two tensors have the name \"%s\". Give each a name of its own.",
                    detail::shown(*found).c_str()));
  }
}

}  // namespace

NamedTensors load_npz(FileName name) try {
  detail::InputFile file(name.c_str());
  return load(ZipBytes(file), name.c_str());
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("load_npz");
}

NamedTensors read_npz(std::span<const std::byte> bytes) try {
  return load(ZipBytes(bytes), "memory");
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("read_npz");
}

NamedTensors map_npz(FileName name) try {
  const Storage file = Storage::map_file(name);
  const std::span bytes(file.data(), file.nbytes());
  NamedTensors tensors;
  for (const ZipMember& member : detail::read_zip_directory(ZipBytes(bytes), name.c_str())) {
    tensors.emplace_back(name_of_tensor(member), map_member(file, bytes, member, name.c_str()));
  }
  return tensors;
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("map_npz");
}

void save_npz(FileName name, std::span<const std::pair<std::string, Tensor>> tensors,
              NpzCompression compression, CallSite site) try {
  expect_names(tensors);
  std::vector<detail::NpyFile> parts;
  parts.reserve(tensors.size());
  for (const auto& named : tensors) {
    detail::expect_initialized(named.second, "save_npz");
    parts.push_back(detail::npy_file_of(named.second, {}));
  }
  OutputFile file(name);
  detail::ZipWriter archive(file);
  const detail::ZipMethod method = compression == NpzCompression::deflated
                                       ? detail::ZipMethod::deflated
                                       : detail::ZipMethod::stored;
  for (std::size_t at = 0; at < tensors.size(); ++at) {
    const Tensor data = detail::npy_data_of(tensors[at].second, parts[at], {}, site);
    const auto* const bytes =
        data.nbytes() == 0 ? nullptr : static_cast<const std::byte*>(data.raw_data(site));
    archive.add(std::string(tensors[at].first).append(suffix), method,
                {std::as_bytes(std::span(parts[at].header)), {bytes, data.nbytes()}});
  }
  archive.finish();
  file.commit();
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("save_npz");
}

}  // namespace byre::inline v0
