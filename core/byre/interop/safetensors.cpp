// SPDX-License-Identifier: BSL-1.0
#include <byre/files/detail/input_file.hpp>
#include <byre/files/output_file.hpp>
#include <byre/interop/detail/safetensors_format.hpp>
#include <byre/interop/detail/safetensors_writing.hpp>
#include <byre/interop/detail/shown.hpp>
#include <byre/interop/detail/tensor_data.hpp>
#include <byre/interop/safetensors.hpp>
#include <byre/tensor/detail/operands.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <optional>

namespace byre::inline v0 {
namespace {

bool is_in_order_of_machine(DType dtype) {
  return std::endian::native == std::endian::little || itemsize(dtype) == 1;
}

void expect_bools(const SafetensorsEntry& entry, const std::byte* data, const char* source) {
  if (const auto odd = detail::odd_bool_in({data, entry.nbytes}, entry.dtype)) {
    detail::refuse_safetensors(source,
                               format_text("of its tensor \"%s\", %s",
                                           detail::shown(entry.name).c_str(), odd->chars.data()),
                               "A bool is 0 or 1: save tensor != 0.");
  }
}

/// A tensor whose data `fill(destination, entry)` brings.
template <class Fill>
Tensor filled(const SafetensorsEntry& entry, const char* source, const Fill& fill) {
  Tensor tensor = Tensor::empty(entry.sizes, entry.dtype);
  if (entry.nbytes != 0) {
    auto* const data =
        static_cast<std::byte*>(detail::ElementAccess::to_write(tensor, CallSite::current()));
    fill(data, entry);
    expect_bools(entry, data, source);
    if (!is_in_order_of_machine(entry.dtype)) {
      detail::swap_bytes(data, entry.nbytes, entry.dtype);
    }
  }
  return tensor;
}

void warn_of_skipped(std::span<const SkippedTensor> skipped, const char* source) {
  if (skipped.empty()) {
    return;
  }
  const SkippedTensor& first = skipped.front();
  warn(
      "%zu of the tensors of \"%.300s\" are skipped: byre lacks the dtype of the first, \"%s\", "
      "'%s' of sizes %.100s. Convert it where the file is made: tensor.to(torch.float32). "
      "SafetensorsFile::skipped names all, as does byre.skipped(path) in Python.",
      skipped.size(), source, detail::shown(first.name).c_str(), detail::shown(first.dtype).c_str(),
      to_string(first.sizes).c_str());
}

/// The tensors that `make(entry)` makes.
template <class Make>
SafetensorsFile made_of(SafetensorsHeader&& header, const char* source, const Make& make) {
  SafetensorsFile file{{}, std::move(header.metadata), std::move(header.skipped)};
  for (SafetensorsEntry& entry : header.tensors) {
    Tensor tensor = make(std::as_const(entry));
    file.tensors.emplace_back(std::move(entry.name), std::move(tensor));
  }
  warn_of_skipped(file.skipped, source);
  return file;
}

/// What fills a tensor from the bytes of the whole file.
auto copied_from(std::span<const std::byte> bytes) {
  return [bytes](void* destination, const SafetensorsEntry& entry) {
    std::memcpy(destination, bytes.data() + entry.offset, entry.nbytes);
  };
}

/// A lazy clone of the file, where only this tensor's part is seen.
Tensor mapped_part(const SafetensorsEntry& entry, const Storage& file) {
  const Layout layout = contiguous_layout(entry.sizes, "map_safetensors");
  return Tensor::over(file.lazy_clone(), {0}, entry.dtype)
      .as_strided(layout.sizes, layout.strides,
                  static_cast<std::int64_t>(entry.offset / itemsize(entry.dtype)));
}

std::vector<detail::SafetensorsPart> parts_of(
    std::span<const std::pair<std::string, Tensor>> tensors) {
  std::vector<detail::SafetensorsPart> parts;
  for (const auto& [name, tensor] : tensors) {
    detail::expect_initialized(
        tensor,
        format_text("save_safetensors of \"%s\"", detail::shown(name).c_str()).chars.data());
    parts.push_back(
        {name, tensor.dtype(), {tensor.sizes().data(), tensor.ndim()}, tensor.nbytes()});
  }
  return parts;
}

void write_data(OutputFile& file, const Tensor& tensor, CallSite site) {
  Tensor data = detail::dense_on_host(tensor, site);
  if (data.nbytes() == 0) {
    return;
  }
  if (!is_in_order_of_machine(data.dtype())) {
    data = data.clone(site);
    detail::swap_bytes(static_cast<std::byte*>(detail::ElementAccess::to_write(data, site)),
                       data.nbytes(), data.dtype());
  }
  file.write(data.raw_data(site), data.nbytes());
}

}  // namespace

SafetensorsFile load_safetensors(FileName name) try {
  detail::InputFile file(name.c_str());
  std::vector<std::byte> start(std::min(file.nbytes(), detail::safetensors_length_nbytes));
  file.read(start.data(), start.size());
  const std::size_t length_nbytes = start.size();
  start.resize(safetensors_data_offset(start, file.nbytes(), name.c_str()));
  file.read(start.data() + length_nbytes, start.size() - length_nbytes);
  return made_of(parse_safetensors_header(start, file.nbytes(), name.c_str()), name.c_str(),
                 [&](const SafetensorsEntry& entry) {
                   return filled(entry, name.c_str(), [&](void* data, const auto& wanted) {
                     file.seek(wanted.offset);  // behind what is skipped
                     file.read(data, wanted.nbytes);
                   });
                 });
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("load_safetensors");
}

SafetensorsFile read_safetensors(std::span<const std::byte> bytes) try {
  constexpr const char* source = "memory";
  return made_of(
      parse_safetensors_header(bytes, bytes.size(), source), source,
      [&](const SafetensorsEntry& entry) { return filled(entry, source, copied_from(bytes)); });
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("read_safetensors");
}

SafetensorsFile map_safetensors(FileName name) try {
  const Storage file = Storage::map_file(name);
  const std::span bytes(file.data(), file.nbytes());
  const char* const source = name.c_str();
  return made_of(parse_safetensors_header(bytes, bytes.size(), source), source,
                 [&](const SafetensorsEntry& entry) {
                   if (entry.nbytes == 0 || entry.offset % itemsize(entry.dtype) != 0 ||
                       !is_in_order_of_machine(entry.dtype)) {
                     return filled(entry, source, copied_from(bytes));
                   }
                   expect_bools(entry, bytes.data() + entry.offset, source);
                   return mapped_part(entry, file);
                 });
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("map_safetensors");
}

void save_safetensors(FileName name, std::span<const std::pair<std::string, Tensor>> tensors,
                      std::span<const std::pair<std::string, std::string>> metadata,
                      CallSite site) try {
  const std::vector<detail::SafetensorsPart> given = parts_of(tensors);
  const std::vector<std::size_t> order = detail::order_of(given);
  std::vector<detail::SafetensorsPart> parts;
  for (const std::size_t number : order) {
    parts.push_back(given[number]);
  }
  const std::string header = detail::safetensors_header(parts, metadata);
  OutputFile file(name);
  file.write(header.data(), header.size());
  for (const std::size_t number : order) {
    write_data(file, tensors[number].second, site);
  }
  file.commit();
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("save_safetensors");
}

}  // namespace byre::inline v0
