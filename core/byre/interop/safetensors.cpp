// SPDX-License-Identifier: BSL-1.0
#include <byre/files/detail/input_file.hpp>
#include <byre/files/output_file.hpp>
#include <byre/interop/detail/safetensors_format.hpp>
#include <byre/interop/detail/tensor_data.hpp>
#include <byre/interop/safetensors.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <optional>

namespace byre::inline BYRE_ABI {
namespace {

detail::StoredElements elements_of(const SafetensorsEntry& entry, const char* source) {
  return {entry.sizes, entry.dtype, std::endian::little, entry.nbytes,
          [&entry, source](const Text& found) {
            detail::refuse_safetensors(
                source,
                format_text("in its tensor \"%s\", %s", detail::printable(entry.name).c_str(),
                            found.chars.data()),
                "A bool is 0 or 1: save tensor != 0.");
          }};
}

void warn_of_skipped(std::span<const SkippedTensor> skipped, const char* source) {
  if (skipped.empty()) {
    return;
  }
  const SkippedTensor& first = skipped.front();
  warn(
      "skipped %zu tensors of \"%.300s\", because byre lacks their dtypes: the first is \"%s\", "
      "'%s' of sizes %.100s. Convert them before saving: tensor.to(torch.float32). "
      "SafetensorsFile::skipped lists all.",
      skipped.size(), source, detail::printable(first.name).c_str(),
      detail::printable(first.dtype).c_str(), to_string(first.sizes).c_str());
}

/// Calls `make(entry)` for each tensor, and warns of skipped tensors.
template <class Make>
SafetensorsFile assemble_file(SafetensorsHeader&& header, const char* source, const Make& make) {
  SafetensorsFile file{{}, std::move(header.metadata), std::move(header.skipped)};
  for (SafetensorsEntry& entry : header.tensors) {
    Tensor tensor = make(std::as_const(entry));
    file.tensors.emplace_back(std::move(entry.name), std::move(tensor));
  }
  warn_of_skipped(file.skipped, source);
  return file;
}

Tensor copied(const SafetensorsEntry& entry, std::span<const std::byte> bytes, const char* source) {
  return loaded(elements_of(entry, source), [&](std::byte* data, std::size_t nbytes) {
    std::memcpy(data, bytes.data() + entry.offset, nbytes);
  });
}

std::vector<detail::SafetensorsPart> parts_of(
    std::span<const std::pair<std::string, Tensor>> tensors) {
  std::vector<detail::SafetensorsPart> parts;
  for (const auto& [name, tensor] : tensors) {
    detail::expect_initialized(
        tensor,
        format_text("save_safetensors of \"%s\"", detail::printable(name).c_str()).chars.data());
    parts.push_back(
        {name, tensor.dtype(), {tensor.sizes().data(), tensor.ndim()}, tensor.nbytes()});
  }
  return parts;
}

}  // namespace

SafetensorsFile load_safetensors(FileName name) try {
  detail::InputFile file(name.c_str());
  std::vector<std::byte> start(std::min(file.nbytes(), detail::safetensors_length_nbytes));
  file.read(start.data(), start.size());
  const std::size_t length_nbytes = start.size();
  start.resize(safetensors_data_offset(start, file.nbytes(), name.c_str()));
  file.read(start.data() + length_nbytes, start.size() - length_nbytes);
  return assemble_file(parse_safetensors_header(start, file.nbytes(), name.c_str()), name.c_str(),
                       [&](const SafetensorsEntry& entry) {
                         file.seek(entry.offset);  // skips the data of unsupported tensors
                         return loaded(
                             elements_of(entry, name.c_str()),
                             [&](std::byte* data, std::size_t nbytes) { file.read(data, nbytes); });
                       });
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("load_safetensors");
}

SafetensorsFile read_safetensors(std::span<const std::byte> bytes) try {
  return assemble_file(
      parse_safetensors_header(bytes, bytes.size()), "memory",
      [&](const SafetensorsEntry& entry) { return copied(entry, bytes, "memory"); });
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("read_safetensors");
}

SafetensorsFile map_safetensors(FileName name) try {
  const Storage file = Storage::map_file(name);
  const std::span bytes(file.data(), file.nbytes());
  const char* const source = name.c_str();
  return assemble_file(parse_safetensors_header(bytes, bytes.size(), source), source,
                       [&](const SafetensorsEntry& entry) {
                         const detail::StoredElements elements = elements_of(entry, source);
                         return are_usable(elements, entry.offset)
                                    ? mapped(elements, file.lazy_clone(), entry.offset)
                                    : copied(entry, bytes, source);
                       });
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("map_safetensors");
}

void save_safetensors(FileName name, std::span<const std::pair<std::string, Tensor>> tensors,
                      std::span<const std::pair<std::string, std::string>> metadata,
                      CallSite site) try {
  const std::vector<detail::SafetensorsPart> given = parts_of(tensors);
  const std::vector<std::size_t> order = detail::writing_order(given);
  std::vector<detail::SafetensorsPart> parts;
  for (const std::size_t number : order) {
    parts.push_back(given[number]);
  }
  const std::string header = detail::safetensors_header(parts, metadata);
  OutputFile file(name);
  file.write(header.data(), header.size());
  for (const std::size_t number : order) {
    detail::write_elements(
        file, detail::to_write(tensors[number].second, std::endian::little, site), site);
  }
  file.commit();
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("save_safetensors");
}

}  // namespace byre::inline BYRE_ABI
